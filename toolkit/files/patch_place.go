package files

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"chela/toolkit"
)

// maxFuzz is how many lines of context at either end of a hunk may differ from
// the file, as with patch(1).
const maxFuzz = 2

// textLine is a line and what ends it: "\n", "\r\n" or nothing.
type textLine struct{ text, end string }

func newTextLine(raw string) textLine {
	text := strings.TrimSuffix(raw, "\n")
	if text == raw {
		return textLine{raw, ""}
	}
	if body, crlf := strings.CutSuffix(text, "\r"); crlf {
		return textLine{body, "\r\n"}
	}
	return textLine{text, "\n"}
}

func splitText(data []byte) []textLine {
	var out []textLine
	for l := range bytes.Lines(data) {
		out = append(out, newTextLine(string(l)))
	}
	return out
}

func joinText(lines []textLine) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteString(l.end)
	}
	return b.Bytes()
}

// placed is where a hunk was found.
type placed struct {
	hunk  int // index
	at    int // first line that it covers, from 0
	lines []hunkLine
	fuzz  int  // context lines that differ, at either end
	off   int  // lines away from where it said
	loose bool // blanks at line ends differ
	blind bool // nothing was compared: it only adds, at a line number
	exact bool // the ends of the lines are the file's too
}

func (p placed) olds() int {
	n := 0
	for _, l := range p.lines {
		if l.op != '+' {
			n++
		}
	}
	return n
}

// patched is a file with hunks applied.
type patched struct {
	data  []byte
	fuzz  int
	notes []string // what was not as the patch said
}

// applyHunks applies hunks to a file, all or none. Each must fit in one place
// only: where its number says, or else where its lines are found.
func applyHunks(rel string, data []byte, hunks []hunk) (patched, error) {
	bom := []byte(nil)
	if bytes.HasPrefix(data, bomUTF8) {
		bom, data = bomUTF8, data[len(bomUTF8):]
	}
	f := &patchFile{rel: rel, lines: splitText(data)}
	for i := range hunks {
		if err := f.place(i, len(hunks), &hunks[i]); err != nil {
			return patched{}, err
		}
	}
	out := patched{data: append(bom, f.result()...)}
	for _, p := range f.placed {
		out.fuzz = max(out.fuzz, p.fuzz)
		var what []string
		if p.off != 0 {
			what = append(what, fmt.Sprintf("found %s from its line number", plural(abs(p.off), "line", "lines")))
		}
		if p.fuzz > 0 {
			what = append(what, fmt.Sprintf("%s of context ignored at its ends (fuzz)", plural(p.fuzz, "line", "lines")))
		}
		if p.loose {
			what = append(what, "blanks at line ends ignored")
		}
		if p.blind {
			what = append(what, "placed by its line number alone: it has no context")
		}
		if len(what) > 0 {
			out.notes = append(out.notes, fmt.Sprintf("hunk %d: %s", p.hunk+1, strings.Join(what, ", ")))
		}
	}
	return out, nil
}

type patchFile struct {
	rel    string
	lines  []textLine
	placed []placed
	drift  int // how far the last hunk was from where it said
	after  int // the first line after the last hunk
}

// place finds the one place of a hunk.
func (f *patchFile) place(index, of int, h *hunk) error {
	from, err := f.anchor(index, h)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.op != '+' }) {
		return f.insert(index, h, from)
	}
	last := -1
	for fuzz := range maxFuzz + 1 {
		lead, trail := h.context()
		lead, trail = min(lead, fuzz), min(trail, fuzz)
		if lead+trail == last {
			break // no more context to leave out
		}
		last = lead + trail
		lines := h.lines[lead : len(h.lines)-trail]
		if fuzz > 0 && !slices.ContainsFunc(lines, func(l hunkLine) bool { return l.op != '+' && strings.TrimSpace(l.text) != "" }) {
			break // blank lines are everywhere
		}
		for _, loose := range []bool{false, true} {
			p := placed{hunk: index, lines: lines, loose: loose, fuzz: max(lead, trail)}
			found := f.find(p, from, h.atEnd)
			if len(found) == 0 {
				continue
			}
			want := h.at - 1 + lead
			at, ok := choose(found, h.known, want+f.drift, want)
			if !ok {
				return f.ambiguous(index, of, found)
			}
			p.at = at
			if h.known {
				p.off = at - want
				f.drift = p.off
			}
			f.keep(p)
			return nil
		}
	}
	return f.missing(index, of, h)
}

// context counts the lines of context before the first change and after the
// last.
func (h *hunk) context() (lead, trail int) {
	change := func(l hunkLine) bool { return l.op != ' ' }
	lead = slices.IndexFunc(h.lines, change)
	for i, l := range slices.Backward(h.lines) {
		if change(l) {
			return lead, len(h.lines) - 1 - i
		}
	}
	return lead, 0
}

// choose takes the only place, or the one where the patch says.
func choose(found []int, known bool, wants ...int) (int, bool) {
	if len(found) == 1 {
		return found[0], true
	}
	for _, w := range wants {
		if known && slices.Contains(found, w) {
			return w, true
		}
	}
	return 0, false
}

// find returns where the old lines of a hunk are, behind what was placed, or
// else anywhere.
func (f *patchFile) find(p placed, from int, atEnd bool) []int {
	var old []string
	form := func(s string) string {
		if p.loose {
			return strings.TrimRight(s, " \t\r")
		}
		return s
	}
	for _, l := range p.lines {
		if l.op != '+' {
			old = append(old, form(l.text))
		}
	}
	var behind, before, end []int
	for at := from; at+len(old) <= len(f.lines); at++ {
		same := true
		for i := 0; same && i < len(old); i++ {
			same = form(f.lines[at+i].text) == old[i]
		}
		switch {
		case !same || f.taken(at, at+len(old)):
		case atEnd && at+len(old) == len(f.lines):
			end = append(end, at)
		case at >= f.after:
			behind = append(behind, at)
		default:
			before = append(before, at)
		}
	}
	switch {
	case len(end) > 0:
		return end
	case len(behind) > 0:
		return behind
	}
	return before
}

// taken reports whether a placed hunk covers a part of these lines.
func (f *patchFile) taken(from, to int) bool {
	return slices.ContainsFunc(f.placed, func(p placed) bool { return from < p.at+p.olds() && p.at < to })
}

// anchor returns the line after the last of the lines that a hunk is said to
// follow.
func (f *patchFile) anchor(index int, h *hunk) (int, error) {
	from := 0
	for _, a := range h.anchors {
		at := -1
		for _, same := range []func(string) bool{
			func(l string) bool { return l == a },
			func(l string) bool { return strings.TrimSpace(l) == strings.TrimSpace(a) },
			func(l string) bool { return strings.Contains(l, strings.TrimSpace(a)) },
		} {
			if i := slices.IndexFunc(f.lines[from:], func(l textLine) bool { return same(l.text) }); i >= 0 {
				at = from + i
				break
			}
		}
		if at < 0 {
			return 0, toolkit.Errorf(CodePatch, "hunk %d: the line %q after @@ is not in %s.", index+1, a, f.rel).WithHint("Copy a line of the file, or write @@ alone.")
		}
		from = at + 1
	}
	if len(h.anchors) > 0 && slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.op != '+' }) {
		from-- // the line may be the first of the hunk as well
	}
	return from, nil
}

// insert places a hunk that only adds.
func (f *patchFile) insert(index int, h *hunk, from int) error {
	p := placed{hunk: index, lines: h.lines}
	switch {
	case len(h.anchors) > 0:
		p.at = from
	case h.atEnd || len(f.lines) == 0:
		p.at = len(f.lines)
	case h.known && h.at+f.drift >= 0 && h.at+f.drift <= len(f.lines):
		p.at, p.blind = h.at+f.drift, true
	case h.known:
		return toolkit.Errorf(CodePatch, "hunk %d adds after line %d, and %s has %d lines.", index+1, h.at, f.rel, len(f.lines)).WithHint("Add lines of context to it.")
	default:
		return toolkit.Errorf(CodePatch, "hunk %d only adds lines, so where it belongs in %s is not known.", index+1, f.rel).WithHint("Add the lines before and after it as context.")
	}
	f.keep(p)
	return nil
}

func (f *patchFile) keep(p placed) {
	p.exact = p.olds() > 0
	i := p.at
	for _, l := range p.lines {
		if l.op != '+' {
			p.exact = p.exact && l.textLine == f.lines[i]
			i++
		}
	}
	f.after = i
	f.placed = append(f.placed, p)
}

// result is the file with all hunks applied. Context keeps the bytes of the
// file. New lines end as the lines around them do, unless the patch knows the
// ends of the lines it names.
func (f *patchFile) result() []byte {
	order := slices.Clone(f.placed)
	slices.SortStableFunc(order, func(a, b placed) int { return a.at - b.at })
	var out []textLine
	next, added := 0, false
	take := func(to int) {
		if next < to {
			out, next, added = append(out, f.lines[next:to]...), to, false
		}
	}
	markedEnd := false
	for _, p := range order {
		take(p.at)
		for _, l := range p.lines {
			switch l.op {
			case ' ':
				take(next + 1)
			case '-':
				next++
			case '+':
				if n := l.textLine; p.exact || l.end == "" {
					out, markedEnd = append(out, n), p.exact
				} else {
					out, markedEnd = append(out, textLine{n.text, f.end(next)}), false
				}
				added = true
			}
		}
	}
	take(len(f.lines))
	for i := range out {
		if i+1 < len(out) && out[i].end == "" {
			out[i].end = f.end(i)
		}
	}
	if n := len(f.lines); added && !markedEnd && n > 0 && f.lines[n-1].end == "" {
		out[len(out)-1].end = ""
	}
	return joinText(out)
}

// end is how lines end around a place.
func (f *patchFile) end(at int) string {
	for _, i := range []int{at - 1, at} {
		if i >= 0 && i < len(f.lines) && f.lines[i].end != "" {
			return f.lines[i].end
		}
	}
	for _, l := range f.lines {
		if l.end != "" {
			return l.end
		}
	}
	return "\n"
}

func (f *patchFile) ambiguous(index, of int, found []int) error {
	const most = 10
	var at []string
	for _, i := range found[:min(len(found), most)] {
		at = append(at, fmt.Sprint(i+1))
	}
	return toolkit.Errorf(CodeAmbiguous, "%s fits %s in %d places, at lines %s.", nth(index, of), f.rel, len(found), strings.Join(at, ", ")).
		WithHint("Add lines of context before or after it, or the right line number.")
}

// missing says that a hunk fits nowhere, and what is there instead.
func (f *patchFile) missing(index, of int, h *hunk) error {
	e := toolkit.Errorf(CodePatch, "%s does not fit %s: its lines are not there.", nth(index, of), f.rel)
	var old []string
	after := placed{loose: true}
	for _, l := range h.lines {
		if l.op != '+' {
			old = append(old, l.text)
		}
		if l.op != '-' {
			after.lines = append(after.lines, hunkLine{' ', l.textLine})
		}
	}
	if at := f.find(after, 0, false); len(after.lines) > 0 && len(at) > 0 {
		return e.WithHint("Its result is there already, at line %d: it may be applied.", at[0]+1)
	}
	near := closest(newDocument(joinText(f.lines)), strings.Join(old, "\n"))
	if len(near) == 0 {
		return e.WithHint("Read the file and copy its lines into the patch.")
	}
	return e.WithHint("The nearest lines, to copy without their numbers:\n%s", strings.Join(near, "  ...\n"))
}

func nth(index, of int) string {
	if of == 1 {
		return "the hunk"
	}
	return fmt.Sprintf("hunk %d of %d", index+1, of)
}

func abs(n int) int { return max(n, -n) }
