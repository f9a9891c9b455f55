// Package media has the tools for pictures, speech and what is drawn on the
// screen.
//
// It guarantees: files are read and written through the workspace's guard only;
// a picture's size is known before it is decoded, so that a small file cannot
// fill the memory; programs are started by their arguments, without a shell,
// and text reaches them on their input; what a call will write is named in its
// plan and must still be absent when it is written.
package media

import (
	"errors"
	"fmt"
	"io/fs"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// The codes of failures.
const (
	CodeFormat   toolkit.Code = "UNSUPPORTED_FORMAT"
	CodeNotAFile toolkit.Code = "NOT_A_FILE"
	CodeTooLarge toolkit.Code = "FILE_TOO_LARGE"
	CodeNoFile   toolkit.Code = "FILE_NOT_FOUND"
	CodeImage    toolkit.Code = "IMAGE_ERROR"
	CodeSpeech   toolkit.Code = "TTS_FAILED"
	CodeNoImage  toolkit.Code = "NO_IMAGE_URL"
)

// explain turns a failure to read or write a file into one for the model. What
// the floor refuses stays so.
func explain(path string, err error) error {
	_, denied := guard.AsDenied(err)
	switch {
	case denied:
		return err
	case errors.Is(err, fs.ErrNotExist):
		return toolkit.Errorf(CodeNoFile, "%s does not exist.", path).WithHint("Look for it with search_files.")
	case errors.Is(err, guard.ErrNotRegular):
		return toolkit.Errorf(CodeNotAFile, "%s is no file.", path).WithHint("Name a file.")
	case errors.Is(err, guard.ErrTooLarge):
		return toolkit.Errorf(CodeTooLarge, "%s has more than %d MiB.", path, maxPicture>>20)
	}
	var changed *guard.Changed
	if errors.As(err, &changed) {
		return toolkit.Errorf(toolkit.CodeChanged, "%w.", err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// newFile plans a file that is not there yet: its true path, the effect and the
// fact that it is absent.
func newFile(w *toolkit.Workspace, path string) (string, toolkit.Effect, toolkit.Fact, error) {
	t, err := w.Files.Locate(path)
	if err != nil {
		return "", toolkit.Effect{}, toolkit.Fact{}, explain(path, err)
	}
	if t.Exists {
		return "", toolkit.Effect{}, toolkit.Fact{}, toolkit.Errorf(toolkit.CodeInvalid, "%s is there already.", path).WithHint("Name another file.")
	}
	return t.Path, toolkit.Effect{Kind: toolkit.Writes, Target: t.Path}, toolkit.Fact{Kind: "absent", Target: t.Path}, nil
}

// target is the file that a plan says is written; "" if none is.
func target(p toolkit.Plan) string {
	for _, e := range p.Effects {
		if e.Kind == toolkit.Writes {
			return e.Target
		}
	}
	return ""
}

// create writes the file of a plan.
func create(w *toolkit.Workspace, p toolkit.Plan, data []byte) (guard.Written, toolkit.Change, error) {
	path := target(p)
	if path == "" {
		return guard.Written{}, toolkit.Change{}, toolkit.Errorf(toolkit.CodeChanged, "the plan names no file to write.")
	}
	wr, err := w.Files.WriteIf(path, data, guard.Expect{Absent: true})
	if err != nil {
		return wr, toolkit.Change{}, explain(path, err)
	}
	return wr, toolkit.Change{Path: wr.Path, Kind: "created"}, nil
}
