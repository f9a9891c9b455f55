// Package files has the tools that read, search and change files of the
// workspace.
//
// It guarantees: every path goes through guard.FS; a plan to write shows the
// whole change and is refused when the file is not what the plan saw; a patch is
// applied to all of its files or to none, each hunk where it fits only; what a
// search or listing leaves out is counted and said; output stays under the
// workspace's budget; the same files give the same output in the same order.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// The codes of failures that belong to files.
const (
	CodeFileNotFound toolkit.Code = "FILE_NOT_FOUND"
	CodeNotAFile     toolkit.Code = "NOT_A_FILE"
	CodeNotAFolder   toolkit.Code = "NOT_A_FOLDER"
	CodeTooLarge     toolkit.Code = "FILE_TOO_LARGE"
	CodeBinary       toolkit.Code = "BINARY_FILE"
	CodeReadOnly     toolkit.Code = "READ_ONLY"
	CodeNoParent     toolkit.Code = "PARENT_NOT_FOUND"
	CodeNoMatch      toolkit.Code = "STRING_NOT_FOUND"
	CodeAmbiguous    toolkit.Code = "AMBIGUOUS_MATCH"
	CodePattern      toolkit.Code = "INVALID_PATTERN"
)

// maxEditable is the largest file that a plan to write can show whole.
const maxEditable = 8 << 20

// budget is how many characters a result may have.
func budget(w *toolkit.Workspace) int { return min(w.OutputBudget(), toolkit.MaxBudget) }

// explain turns a failure of the file door into an error that a model can act
// on. A refusal by the floor stays in the chain.
func explain(ctx context.Context, w *toolkit.Workspace, given string, err error) error {
	var changed *guard.Changed
	if denied, ok := guard.AsDenied(err); ok || ctx.Err() != nil {
		if ok && denied.Rule == guard.RuleOutside {
			if inside := meant(w, given); inside != "" {
				return toolkit.Errorf(CodeFileNotFound, "%q is outside of the project folder.", given).
					WithHint("Paths are relative to the project folder: use %q.", inside)
			}
		}
		return err
	}
	switch {
	case errors.As(err, &changed):
		return toolkit.Errorf(toolkit.CodeChanged, "%s changed since the call was planned: %w.", given, err).
			WithHint("Read it again, then repeat the change.")
	case errors.Is(err, fs.ErrNotExist):
		return notFound(ctx, w, given)
	case errors.Is(err, guard.ErrNotRegular):
		if info, serr := w.Files.Stat(given); serr == nil && info.IsDir() {
			return toolkit.Errorf(CodeNotAFile, "%s is a folder.", given).WithHint("Use directory_tree to list it.")
		}
		return toolkit.Errorf(CodeNotAFile, "%s is not a regular file: %w.", given, err)
	case errors.Is(err, guard.ErrTooLarge):
		return toolkit.Errorf(CodeTooLarge, "%s is too large: %w.", given, err).WithHint("Use grep, or read_file with offset and lines.")
	}
	return toolkit.Errorf(toolkit.CodeExecution, "%s: %w.", given, err)
}

// meant returns the path in the workspace that an absolute one outside of it
// plainly stands for: models take the workspace for the root of the file
// system, or guess where it is. It is only a suggestion; nothing is opened.
func meant(w *toolkit.Workspace, given string) string {
	tails := []string{strings.TrimLeft(given, "/")}
	if _, tail, ok := strings.Cut(given, "/"+path.Base(w.Root)+"/"); ok {
		tails = append(tails, tail)
	}
	for _, tail := range tails {
		if !strings.HasPrefix(given, "/") || tail == "" {
			continue
		}
		if info, err := w.Files.Stat(tail); err == nil {
			return info.Path
		}
	}
	return ""
}

// notFound says that there is no such file and which ones are like it.
func notFound(ctx context.Context, w *toolkit.Workspace, given string) error {
	e := toolkit.Errorf(CodeFileNotFound, "there is no file or folder %q.", given)
	e.Err = fs.ErrNotExist
	if strings.ContainsAny(given, "*?") {
		return e.WithHint("A path has no wildcards. Use search_files, or glob in grep.")
	}
	if near := nearest(ctx, w, given, 3); len(near) > 0 {
		return e.WithHint("The nearest are: %s.", strings.Join(near, ", "))
	}
	return e.WithHint("Use search_files or directory_tree to find it.")
}

// searchRoot checks the folder or file where a search begins.
func searchRoot(ctx context.Context, w *toolkit.Workspace, given string) (guard.Info, error) {
	if given == "" {
		given = "."
	}
	info, err := w.Files.Stat(given)
	if err != nil {
		return info, explain(ctx, w, given, err)
	}
	return info, nil
}

// searchFolder checks what a call that lists files names: a pattern, and the
// folder to begin at. hint says what to do about a file in its place.
func searchFolder(ctx context.Context, w *toolkit.Workspace, pattern, given, hint string) (*globs, guard.Info, error) {
	g, err := compileGlobs(w, given, "pattern", pattern)
	if err != nil {
		return nil, guard.Info{}, err
	}
	info, err := searchRoot(ctx, w, given)
	if err != nil {
		return nil, info, err
	}
	if !info.IsDir() {
		return nil, info, toolkit.Errorf(CodeNotAFolder, "%s is a file, not a folder.", given).WithHint("%s", hint)
	}
	return g, info, nil
}

// reads is the plan of a call that only reads.
func reads(target, format string, args ...any) toolkit.Plan {
	return toolkit.Plan{
		Summary: fmt.Sprintf(format, args...),
		Effects: []toolkit.Effect{{Kind: toolkit.Reads, Target: target}},
	}
}

// in names a folder for a summary; nothing for the workspace itself.
func in(dir string) string {
	if dir = path.Clean(dir); dir == "." {
		return ""
	}
	return " in " + dir
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
