package files

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// section is what a patch says about one file.
type section struct {
	old, new string // names; empty: there is none before, or afterwards
	hunks    []hunk
}

// hunk is one place that changes.
type hunk struct {
	lines   []hunkLine
	known   bool // at is known
	at      int  // line where it begins in the old file, from 1; with no old lines the one before
	anchors []string
	atEnd   bool // its last line is the file's
}

// hunkLine is one line of a hunk. Op is ' ', '-' or '+'; the end of a line that
// has none, or is not known to have one, is empty.
type hunkLine struct {
	op byte
	textLine
}

// diffHead is the first line of a hunk: with numbers, or with a line of the file
// or nothing in their place, as models write it.
var diffHead = regexp.MustCompile(`^@@+\s*(?:-(\d+)(?:,(\d+))?\s+\+(\d+)(?:,(\d+))?)?\s*(?:@@+)?\s?(.*?)(?:\s*@@+)?\s*$`)

// parseDiff reads a unified diff. What models leave out or get wrong is mended
// first: counts, line numbers, the blank before a context line, prefixes and
// headers. name stands in where the diff names no file; empty: it must.
func parseDiff(text, name string) ([]section, error) {
	m := &mender{name: name}
	mended, err := m.mend(text)
	if err != nil {
		return nil, err
	}
	parsed, _, err := gitdiff.Parse(strings.NewReader(mended))
	if err != nil {
		return nil, fmt.Errorf("it is no unified diff: %w", err)
	}
	var out []section
	next := 0
	for _, f := range parsed {
		if f.IsBinary {
			return nil, fmt.Errorf("the diff of %s is binary, which is not supported", f.NewName)
		}
		if f.IsCopy {
			return nil, fmt.Errorf("the diff copies %s, which is not supported: create the file instead", f.OldName)
		}
		s := section{old: f.OldName, new: f.NewName}
		if f.IsNew {
			s.old = ""
		}
		if f.IsDelete {
			s.new = ""
		}
		for _, frag := range f.TextFragments {
			h := m.hunks[next]
			next++
			for _, l := range frag.Lines {
				h.lines = append(h.lines, hunkLine{l.Op.String()[0], newTextLine(l.Line)})
			}
			s.hunks = append(s.hunks, h)
		}
		if len(s.hunks) > 0 || s.old != s.new { // else only its mode changes, or nothing
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("it holds no change: a hunk has lines that begin with + or -")
	}
	return out, nil
}

// mender makes a strict git diff of what a model wrote.
type mender struct {
	name  string
	out   strings.Builder
	hunks []hunk // of the fragments, in order, without their lines

	named bool // a file header was written
	git   bool // the header in progress began with "diff --git"
}

func (m *mender) mend(text string) (string, error) {
	lines := strings.SplitAfter(unfence(text), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
	for i := 0; i < len(lines); {
		l := lines[i]
		switch {
		case strings.HasPrefix(l, "diff --git "):
			m.out.WriteString(l)
			m.named, m.git = true, true
			i++
		case strings.HasPrefix(l, "GIT binary patch"):
			return "", fmt.Errorf("it holds a binary patch, which is not supported")
		case isFileHeader(lines, i):
			if err := m.header(lines[i], lines[i+1]); err != nil {
				return "", err
			}
			if i += 2; i < len(lines) && !strings.HasPrefix(lines[i], "@@") && isBody(lines[i]) && !startsFile(lines, i) {
				i = m.hunk("@@\n", lines, i)
			}
		case strings.HasPrefix(l, "@@"), !m.named && m.name != "" && isChange(l):
			if err := m.need(); err != nil {
				return "", err
			}
			head := "@@\n"
			if strings.HasPrefix(l, "@@") {
				head = l
				i++
			}
			i = m.hunk(head, lines, i)
		default:
			if m.git && isExtended(l) {
				m.out.WriteString(l)
			}
			i++ // prose, or a line of a header that says nothing here
		}
	}
	return m.out.String(), nil
}

// unfence takes a diff out of a Markdown code block, and takes carriage returns
// off that belong to the transport: those on every line.
func unfence(text string) string {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "```") && strings.HasSuffix(trimmed, "```") {
		if _, body, ok := strings.Cut(trimmed, "\n"); ok {
			text = strings.TrimSuffix(body, "```")
		}
	}
	if n := strings.Count(text, "\n"); n > 0 && n == strings.Count(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return text
}

func isFileHeader(lines []string, i int) bool {
	return i+1 < len(lines) && strings.HasPrefix(lines[i], "--- ") && strings.HasPrefix(lines[i+1], "+++ ")
}

// startsFile reports whether a new file begins at a line.
func startsFile(lines []string, i int) bool {
	return strings.HasPrefix(lines[i], "diff --git ") || isFileHeader(lines, i) && (i+2 == len(lines) || strings.HasPrefix(lines[i+2], "@@"))
}

func isBody(l string) bool   { return l[0] == ' ' || isChange(l) }
func isChange(l string) bool { return l[0] == '+' || l[0] == '-' }

func isExtended(l string) bool {
	for _, p := range []string{"old mode ", "new mode ", "deleted file mode ", "new file mode ", "rename from ", "rename to ", "copy from ", "copy to "} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	return false
}

// need makes sure that a hunk belongs to a file.
func (m *mender) need() error {
	if m.named {
		return nil
	}
	if m.name == "" {
		return fmt.Errorf("it does not say which file it changes: begin with --- a/NAME and +++ b/NAME")
	}
	m.named = true
	quoted := strconv.Quote("a/" + m.name)
	fmt.Fprintf(&m.out, "diff --git %s %s\n--- %s\n+++ %s\n", quoted, strconv.Quote("b/"+m.name), quoted, strconv.Quote("b/"+m.name))
	return nil
}

// header writes the names of a file in the one form that is certain.
func (m *mender) header(oldLine, newLine string) error {
	before, after := headerName(oldLine), headerName(newLine)
	a, stripA := strings.CutPrefix(before, "a/")
	b, stripB := strings.CutPrefix(after, "b/")
	none := func(name string) bool { return name == "/dev/null" || name == "" }
	if (stripA || none(before)) && (stripB || none(after)) {
		before, after = a, b
	}
	name := after
	switch {
	case none(before) && none(after):
		return fmt.Errorf("a file of it has no name before and none afterwards")
	case none(after):
		name = before
	}
	if !m.git {
		fmt.Fprintf(&m.out, "diff --git %s %s\n", strconv.Quote("a/"+name), strconv.Quote("b/"+name))
		switch {
		case none(before):
			m.out.WriteString("new file mode 100644\n")
		case none(after):
			m.out.WriteString("deleted file mode 100644\n")
		default:
			before = after // as patch does: old names are often made up, like x.orig
		}
	}
	for _, n := range []struct{ mark, prefix, name string }{{"---", "a/", before}, {"+++", "b/", after}} {
		if none(n.name) {
			fmt.Fprintf(&m.out, "%s /dev/null\n", n.mark)
			continue
		}
		fmt.Fprintf(&m.out, "%s %s\n", n.mark, strconv.Quote(n.prefix+n.name))
	}
	m.named, m.git = true, false
	return nil
}

// headerName is the name in a --- or +++ line, without a time after it.
func headerName(line string) string {
	name, _, _ := strings.Cut(strings.TrimRight(line[4:], "\r\n"), "\t")
	name = strings.TrimSpace(name)
	if plain, err := strconv.Unquote(name); err == nil {
		return plain
	}
	return name
}

// hunk writes a hunk with true counts and returns the line after it. The counts
// of its header only tell whether blank lines at its end belong to it.
func (m *mender) hunk(head string, lines []string, i int) int {
	h := hunk{}
	wantOld, wantNew, counted := 0, 0, false
	if p := diffHead.FindStringSubmatch(strings.TrimRight(head, "\r\n")); p != nil {
		h.at, h.known = number(p[1], 0), p[1] != ""
		wantOld, wantNew, counted = number(p[2], 1), number(p[4], 1), h.known
		if anchor := strings.TrimSpace(p[5]); !h.known && strings.Trim(anchor, ". -+0123456789,") != "" {
			h.anchors = []string{anchor}
		}
	}
	var body []string
	olds, news, changes := 0, 0, 0
	for ; i < len(lines); i++ {
		l := lines[i]
		if full := counted && olds >= wantOld && news >= wantNew; strings.HasPrefix(l, "@@") || strings.HasPrefix(l, "diff --git ") || startsFile(lines, i) && (!counted || full) {
			break
		} else if full && !isBody(l) && l[0] != '\\' {
			break // what follows is prose
		}
		switch l[0] {
		case '+':
			news++
			changes++
		case '-':
			olds++
			changes++
		case '\\':
			l = "\\ No newline at end of file\n"
			if len(body) == 0 {
				continue
			}
		case ' ':
			olds, news = olds+1, news+1
		default:
			l = " " + l // the blank before a context line was left out
			olds, news = olds+1, news+1
		}
		body = append(body, l)
	}
	for n := len(body); n > 0 && strings.TrimRight(body[n-1], "\r\n") == " " && (!counted || olds > wantOld); n-- {
		body, olds, news = body[:n-1], olds-1, news-1
	}
	if changes == 0 {
		return i
	}
	m.hunks = append(m.hunks, h)
	fmt.Fprintf(&m.out, "@@ -%d,%d +%d,%d @@\n%s", max(h.at, 1), olds, max(h.at, 1), news, strings.Join(body, ""))
	return i
}

func number(digits string, otherwise int) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return otherwise
	}
	return n
}

// reversed is the patch that undoes another.
func reversed(list []section) []section {
	out := make([]section, len(list))
	for i, s := range list {
		out[i] = section{old: s.new, new: s.old}
		for _, h := range s.hunks {
			r := hunk{known: h.known, at: h.at, anchors: h.anchors, atEnd: h.atEnd}
			for _, l := range h.lines {
				switch l.op {
				case '+':
					l.op = '-'
				case '-':
					l.op = '+'
				}
				r.lines = append(r.lines, l)
			}
			out[i].hunks = append(out[i].hunks, r)
		}
	}
	return out
}
