package files

import (
	"fmt"
	"strings"
)

// The lines of a patch in the form that begins and ends with words.
const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	addFile    = "*** Add File:"
	updateFile = "*** Update File:"
	deleteFile = "*** Delete File:"
	moveTo     = "*** Move to:"
	endOfFile  = "*** End of File"
)

// isBeginForm reports whether a patch is written in that form.
func isBeginForm(text string) bool {
	for l := range strings.Lines(text) {
		for _, mark := range []string{beginPatch, addFile, updateFile, deleteFile} {
			if strings.HasPrefix(l, mark) {
				return true
			}
		}
	}
	return false
}

// parseBegin reads that form: sections that add, update, move or delete a file,
// with hunks that are found by their context.
func parseBegin(text string) ([]section, error) {
	var out []section
	var s *section
	open := false // a hunk takes lines
	hunkOf := func() *hunk {
		if !open {
			s.hunks = append(s.hunks, hunk{})
			open = true
		}
		return &s.hunks[len(s.hunks)-1]
	}
	begin := func(v section) {
		out = append(out, v)
		s, open = &out[len(out)-1], false
	}
	number := 0
	for l := range strings.Lines(unfence(text)) {
		number++
		bare := strings.TrimRight(l, "\r\n")
		name := func(mark string) string { return strings.TrimSpace(strings.TrimPrefix(bare, mark)) }
		switch {
		case strings.HasPrefix(l, beginPatch):
		case strings.HasPrefix(l, endPatch):
			s = nil
		case strings.HasPrefix(l, addFile):
			begin(section{new: name(addFile)})
		case strings.HasPrefix(l, updateFile):
			begin(section{old: name(updateFile), new: name(updateFile)})
		case strings.HasPrefix(l, deleteFile):
			begin(section{old: name(deleteFile)})
		case s == nil:
			if strings.TrimSpace(bare) != "" && len(out) == 0 {
				continue // prose before it
			}
		case strings.HasPrefix(l, moveTo):
			if s.old == "" || s.new != s.old {
				return nil, fmt.Errorf("line %d moves a file that is not updated: put it after %s", number, updateFile)
			}
			s.new = name(moveTo)
		case strings.HasPrefix(l, endOfFile):
			hunkOf().atEnd = true
			open = false
		case s.old == "": // every line is content
			hunkOf().lines = append(hunkOf().lines, hunkLine{'+', newTextLine(strings.TrimPrefix(l, "+"))})
		case s.new == "":
			if strings.TrimSpace(bare) != "" {
				return nil, fmt.Errorf("line %d is part of a file that is deleted: leave it out", number)
			}
		case strings.HasPrefix(l, "@@"):
			if h := len(s.hunks); open && h > 0 && len(s.hunks[h-1].lines) == 0 {
				s.hunks[h-1].anchors = append(s.hunks[h-1].anchors, headOf(bare).anchors...)
				continue
			}
			s.hunks = append(s.hunks, headOf(bare))
			open = true
		default:
			h := hunkOf()
			op, rest := byte(' '), l
			if l[0] == '+' || l[0] == '-' || l[0] == ' ' {
				op, rest = l[0], l[1:]
			}
			h.lines = append(h.lines, hunkLine{op, newTextLine(rest)})
		}
	}
	for i := range out {
		if err := out[i].tidy(); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("it has no file: write %s NAME, %s NAME or %s NAME", addFile, updateFile, deleteFile)
	}
	return out, nil
}

// headOf reads the @@ line of a hunk.
func headOf(line string) hunk {
	h := hunk{}
	if p := diffHead.FindStringSubmatch(line); p != nil {
		h.at, h.known = number(p[1], 0), p[1] != ""
		if anchor := strings.TrimSpace(p[5]); !h.known && strings.Trim(anchor, ".") != "" {
			h.anchors = []string{anchor}
		}
	}
	return h
}

// tidy drops what says nothing, and refuses a section without a change.
func (s *section) tidy() error {
	if s.old == "" && s.new == "" {
		return fmt.Errorf("a file of it has no name")
	}
	kept := s.hunks[:0]
	for _, h := range s.hunks {
		for n := len(h.lines); n > 0 && h.lines[n-1].op == ' ' && strings.TrimSpace(h.lines[n-1].text) == ""; n-- {
			h.lines = h.lines[:n-1]
		}
		changes := false
		for _, l := range h.lines {
			changes = changes || l.op != ' '
		}
		if changes {
			kept = append(kept, h)
		}
	}
	if s.hunks = kept; len(kept) == 0 && s.old == s.new {
		return fmt.Errorf("the update of %s changes nothing: lines to take out begin with -, new ones with +", s.old)
	}
	return nil
}
