// Package diff draws the difference between two texts for review.
//
// It guarantees that everything that changes is shown: long lines wrap instead
// of being cut, a change in nothing but blanks, tabs or line endings is made
// visible, and content passes through ui/safetext. No line is wider than asked
// for. Unchanged text is folded to a few lines around each change.
//
// A Diff is not safe for concurrent use.
package diff

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Context is how many unchanged lines are kept around a change.
const Context = 3

// Kind says what happens to a line.
type Kind uint8

// The kinds of lines.
const (
	Same Kind = iota
	Added
	Deleted
)

// Line is one line of a hunk, without its newline.
type Line struct {
	Kind Kind
	Text string
	// Old and New are the line's numbers, from 1; 0 where it does not exist.
	Old, New int
	// NoNewline says that the file ends in this line without a newline.
	NoNewline bool
}

// Hunk is a group of changes with the unchanged lines around them.
type Hunk struct {
	Lines []Line
	// Skipped is the number of unchanged lines folded away above.
	Skipped int
	// Dropped is set while the person has taken the hunk out of the change.
	Dropped bool
}

// Diff is the change of one file.
type Diff struct {
	Path  string
	Hunks []Hunk

	old    string
	hasOld bool // made by New, so that Result can apply it
}

// New compares two versions of the file at path.
func New(path, old, updated string) (*Diff, error) {
	u, err := udiff.ToUnifiedDiff(path, path, old, udiff.Lines(old, updated), Context)
	if err != nil {
		return nil, fmt.Errorf("compare the versions of %q: %w", path, err)
	}
	d := &Diff{Path: path, old: old, hasOld: true}
	for _, h := range u.Hunks {
		var lines []Line
		for _, l := range h.Lines {
			text, ended := strings.CutSuffix(l.Content, "\n")
			kind := Same
			switch l.Kind {
			case udiff.Insert:
				kind = Added
			case udiff.Delete:
				kind = Deleted
			}
			lines = append(lines, Line{Kind: kind, Text: text, NoNewline: !ended})
		}
		d.add(lines, h.FromLine, h.ToLine)
	}
	return d, nil
}

// add numbers the lines of a hunk and appends it. A side without lines starts
// at the line that it follows, as in a unified diff's header.
func (d *Diff) add(lines []Line, from, to int) {
	from, to = max(from, 1), max(to, 1)
	h := Hunk{Lines: lines, Skipped: from - 1}
	if n := len(d.Hunks); n > 0 {
		h.Skipped = max(from-d.Hunks[n-1].end(), 0)
	}
	for i := range lines {
		l := &lines[i]
		if l.Kind != Added {
			l.Old = from
			from++
		}
		if l.Kind != Deleted {
			l.New = to
			to++
		}
	}
	d.Hunks = append(d.Hunks, h)
}

// end is the first old line behind the hunk.
func (h Hunk) end() int {
	for i := len(h.Lines) - 1; i >= 0; i-- {
		if h.Lines[i].Old > 0 {
			return h.Lines[i].Old + 1
		}
	}
	return 1
}

// Stats counts the added and deleted lines of the hunks that are kept.
func (d *Diff) Stats() (added, deleted int) {
	for _, h := range d.Hunks {
		if h.Dropped {
			continue
		}
		for _, l := range h.Lines {
			switch l.Kind {
			case Added:
				added++
			case Deleted:
				deleted++
			}
		}
	}
	return added, deleted
}

// Summary is the size of the change in short: "+6 -2".
func (d *Diff) Summary() string {
	added, deleted := d.Stats()
	return fmt.Sprintf("+%d -%d", added, deleted)
}

// Toggle drops hunk i from the change or takes it back, and reports whether it
// is kept now. An index that does not exist changes nothing.
func (d *Diff) Toggle(i int) (kept bool) {
	if i < 0 || i >= len(d.Hunks) {
		return false
	}
	d.Hunks[i].Dropped = !d.Hunks[i].Dropped
	return !d.Hunks[i].Dropped
}

// Result is the new version with the kept hunks only. It needs the old version,
// so it fails for a Diff that came from [Parse].
func (d *Diff) Result() (string, error) {
	if !d.hasOld {
		return "", fmt.Errorf("apply the diff of %q: only its patch is known, not the file; apply the whole patch instead", d.Path)
	}
	old := strings.SplitAfter(d.old, "\n")
	var b strings.Builder
	at := 1 // the next old line, from 1
	for _, h := range d.Hunks {
		for range h.Skipped {
			b.WriteString(old[at-1])
			at++
		}
		for _, l := range h.Lines {
			if l.Old > 0 {
				at = l.Old + 1
			}
			if l.Kind == Deleted && !h.Dropped || l.Kind == Added && h.Dropped {
				continue
			}
			b.WriteString(l.Text)
			if !l.NoNewline {
				b.WriteByte('\n')
			}
		}
	}
	for _, line := range old[min(at-1, len(old)):] {
		b.WriteString(line)
	}
	return b.String(), nil
}
