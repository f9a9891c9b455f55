package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a unified diff, as git and diff -u write it, of any number of
// files. Text between files that is no part of a diff is passed over. An error
// names the line; a hunk that is shorter or longer than its header says is one.
func Parse(patch string) ([]*Diff, error) {
	p := parser{lines: strings.Split(strings.TrimSuffix(patch, "\n"), "\n")}
	for p.at < len(p.lines) {
		if err := p.step(); err != nil {
			return nil, fmt.Errorf("parse the diff, line %d: %w", p.at+1, err)
		}
	}
	return p.out, nil
}

type parser struct {
	lines []string
	at    int
	out   []*Diff
	cur   *Diff
	oldAt string // the path of the last "---" line
}

func (p *parser) step() error {
	line := strings.TrimSuffix(p.lines[p.at], "\r")
	switch {
	case strings.HasPrefix(line, "--- ") && p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ "):
		p.oldAt = path(line)
		name := path(p.lines[p.at+1])
		if name == "/dev/null" {
			name = p.oldAt
		}
		p.cur = &Diff{Path: name}
		p.out = append(p.out, p.cur)
		p.at += 2
		return nil
	case strings.HasPrefix(line, "@@ "):
		if p.cur == nil {
			return fmt.Errorf("the hunk %q comes before a file's --- and +++ lines", clip(line))
		}
		return p.hunk(line)
	}
	p.at++
	return nil
}

// path is the file name of a "---" or "+++" line, without git's a/ or b/ and
// without diff's time stamp.
func path(line string) string {
	name, _, _ := strings.Cut(strings.TrimSuffix(line[4:], "\r"), "\t")
	if unquoted, err := strconv.Unquote(name); err == nil {
		name = unquoted
	}
	if rest, ok := strings.CutPrefix(name, "a/"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(name, "b/"); ok {
		return rest
	}
	return name
}

func (p *parser) hunk(header string) error {
	from, fromLen, to, toLen, err := ranges(header)
	if err != nil {
		return err
	}
	// A side without lines names the line before it.
	if fromLen == 0 {
		from++
	}
	if toLen == 0 {
		to++
	}
	var lines []Line
	for p.at++; p.at < len(p.lines) && (fromLen > 0 || toLen > 0 || strings.HasPrefix(p.lines[p.at], `\`)); p.at++ {
		line := p.lines[p.at]
		if strings.HasPrefix(line, `\`) {
			if len(lines) == 0 {
				return fmt.Errorf("%q stands before any line of the hunk", clip(line))
			}
			lines[len(lines)-1].NoNewline = true
			continue
		}
		if line == "" {
			line = " " // editors strip the blank of an empty context line
		}
		l := Line{Text: line[1:]}
		switch line[0] {
		case ' ':
			fromLen--
			toLen--
		case '+':
			l.Kind = Added
			toLen--
		case '-':
			l.Kind = Deleted
			fromLen--
		default:
			return fmt.Errorf("%q begins with %q; a line of a hunk begins with a blank, + or -", clip(line), line[:1])
		}
		if fromLen < 0 || toLen < 0 {
			return fmt.Errorf("the hunk %q has more lines than its header says", clip(header))
		}
		lines = append(lines, l)
	}
	if fromLen > 0 || toLen > 0 {
		return fmt.Errorf("the hunk %q ends early: %d old and %d new lines are missing", clip(header), fromLen, toLen)
	}
	p.cur.add(lines, from, to)
	return nil
}

// ranges reads "@@ -1,2 +3,4 @@ anything".
func ranges(header string) (from, fromLen, to, toLen int, err error) {
	fields := strings.Fields(header)
	if len(fields) < 4 || fields[3] != "@@" || fields[1][0] != '-' || fields[2][0] != '+' {
		return 0, 0, 0, 0, fmt.Errorf("%q is no hunk header; it looks like @@ -1,2 +3,4 @@", clip(header))
	}
	if from, fromLen, err = span(fields[1][1:]); err != nil {
		return 0, 0, 0, 0, err
	}
	to, toLen, err = span(fields[2][1:])
	return from, fromLen, to, toLen, err
}

func span(s string) (start, count int, err error) {
	first, second, ok := strings.Cut(s, ",")
	count = 1
	// 31 bits, so that line numbers can be added without overflow.
	n, err := strconv.ParseUint(first, 10, 31)
	if err == nil && ok {
		var c uint64
		c, err = strconv.ParseUint(second, 10, 31)
		count = int(c)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%q is no range of lines; it looks like 12,3", clip(s))
	}
	return int(n), count, nil
}

// clip bounds what an error quotes.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
