package files

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// The kinds of toolkit.Fact about a file.
const (
	factHash   = "sha256"
	factAbsent = "absent"
)

// change is one planned write of a whole file.
type change struct {
	target guard.WriteTarget
	old    []byte
	new    []byte
}

// plan states the change: the diff, the file it touches, and what must still
// hold when it runs.
func (c *change) plan(summary string) toolkit.Plan {
	p := toolkit.Plan{
		Summary: summary,
		Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: c.target.Path}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewDiff, Path: c.target.Path, Old: shown(c.old), New: shown(c.new)},
		Facts:   []toolkit.Fact{{Kind: factAbsent, Target: c.target.Path}},
	}
	if c.target.Exists {
		p.Facts = []toolkit.Fact{{Kind: factHash, Target: c.target.Path, Value: guard.Hash(c.old)}}
	}
	if c.target.Info.Nlink > 1 {
		p.Preview.Notes = append(p.Preview.Notes, "the file has other hard links; they keep the old content")
	}
	if reason, ok := guard.RunsLater(c.target.Path); ok {
		p.Asks = append(p.Asks, fmt.Sprintf("%s is not only data: %s", c.target.Path, reason))
		p = p.AtLevel(toolkit.Dangerous)
	}
	return p
}

// shown is a file's content in a preview. A preview never shortens text; bytes
// that are no text cannot be judged by reading, so their hash stands for them.
func shown(data []byte) string {
	if guard.IsBinary(data) {
		return fmt.Sprintf("(binary, %d bytes, sha256 %s)\n", len(data), guard.Hash(data))
	}
	return guard.ToText(data)
}

// expectation is what the plan's fact demands of the file.
func expectation(p toolkit.Plan) (guard.Expect, error) {
	for _, f := range p.Facts {
		switch f.Kind {
		case factHash:
			return guard.Expect{SHA256: f.Value}, nil
		case factAbsent:
			return guard.Expect{Absent: true}, nil
		}
	}
	return guard.Expect{}, toolkit.Errorf(toolkit.CodeChanged, "the plan does not say what the file was.")
}

// readForChange reads the file that a change starts from; nil for a new one.
func readForChange(ctx context.Context, w *toolkit.Workspace, given string, t guard.WriteTarget) ([]byte, error) {
	if !t.Exists {
		return nil, nil
	}
	switch {
	case t.Info.IsDir():
		return nil, toolkit.Errorf(CodeNotAFile, "%s is a folder.", given).WithHint("Name a file in it.")
	case t.Info.Mode.IsRegular() && t.Info.Mode.Perm()&0o222 == 0:
		return nil, toolkit.Errorf(CodeReadOnly, "%s is read-only (mode %v).", given, t.Info.Mode.Perm()).
			WithHint("Ask the user to make it writable.")
	}
	data, _, err := w.Files.ReadAll(t.Path, maxEditable)
	if err != nil {
		return nil, explain(ctx, w, given, err)
	}
	return data, nil
}

// outcome is the changed file as the result reports it, and its diff.
func outcome(rel string, created bool, old, updated []byte) (toolkit.Change, string) {
	diff := unified(rel, old, updated)
	added, removed := countDiff(diff)
	kind := "changed"
	if created {
		kind = "created"
	}
	return toolkit.Change{Path: rel, Kind: kind, Added: added, Removed: removed}, diff
}

// maxDiffInput bounds what is compared line by line: a diff of more says
// nothing to a reader and costs seconds.
const maxDiffInput = 1 << 20

func unified(rel string, old, updated []byte) string {
	if guard.IsBinary(old) || guard.IsBinary(updated) || len(old)+len(updated) > maxDiffInput {
		return ""
	}
	return udiff.Unified("a/"+rel, "b/"+rel, guard.ToText(old), guard.ToText(updated))
}

func countDiff(diff string) (added, removed int) {
	for line := range strings.SplitSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// lineEnds names a file's line ends.
func lineEnds(data []byte) string {
	crlf := bytes.Count(data, []byte("\r\n"))
	switch {
	case crlf == 0:
		return "LF"
	case crlf == bytes.Count(data, []byte("\n")):
		return "CRLF"
	}
	return "mixed"
}
