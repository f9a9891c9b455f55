// Package safetext makes text from outside (models, tools, files, web pages)
// harmless and visible before it reaches the terminal.
//
// It guarantees that what it returns holds no control character other than
// the newlines that [Block] and the approval variants keep, no bidirectional
// or zero-width character, no private-use or unassigned code point, no
// blank-looking letter, no line or paragraph separator and no invalid UTF-8.
// Every such character is replaced by its visible name: <ESC>, <U+202E>,
// <0x9b> for a byte that is not UTF-8. Nothing is dropped silently.
//
// Whole escape sequences are not parsed. An unterminated one therefore cannot
// swallow the text behind it, and one that is split across chunks is as
// harmless as one that is not.
//
// All functions are pure and safe for concurrent use. Text that is already
// clean is returned as it is, without allocation.
package safetext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	// TabWidth is the distance of tab stops in cells; it is what Markdown
	// assumes too, so that indented code survives the expansion.
	TabWidth = 4
	// MaxMarks is how many combining marks one base character may carry.
	// Vietnamese and pointed Hebrew need three; stacks above the limit
	// ("zalgo") draw over neighbouring lines.
	MaxMarks = 5
	// NewlineMark stands for a newline where only one line may be shown.
	NewlineMark = "↵"
	// TabMark stands for a tab in a command.
	TabMark = "␉"
)

// rules says what a variant does with the characters that are legitimate in
// some places only.
type rules struct {
	newline string // replaces a newline; "" keeps it
	tab     string // replaces a tab; "" expands it to the next stop
	crlf    bool   // fold CR LF to LF
	spaces  bool   // escape blanks other than U+0020
}

// Line returns s as one line: newlines (LF or CR LF) become [NewlineMark],
// tabs a single space, and everything harmful its visible name.
func Line(s string) string {
	return clean(s, rules{newline: NewlineMark, tab: " ", crlf: true})
}

// Block returns s with its newlines kept, CR LF folded to LF and tabs expanded
// to stops of [TabWidth] cells. It works line by line: the result for a text
// is the concatenation of the results for its lines. Block(Block(s)) equals
// Block(s).
func Block(s string) string {
	return clean(s, rules{crlf: true})
}

// clean is the one loop behind every variant. It copies nothing until the
// first character that has to change.
func clean(s string, how rules) string {
	var (
		out     []byte // nil while s is unchanged up to i
		col     int    // column of out[seg], for tab stops
		seg     int    // where the measured part of the line starts in out
		marks   = MaxMarks
		changed bool
	)
	replace := func(i int, with string) {
		if !changed {
			out = make([]byte, 0, len(s)+len(s)/8+len(with)+16)
			out = append(out, s[:i]...)
			seg = strings.LastIndexByte(s[:i], '\n') + 1
			changed = true
		}
		out = append(out, with...)
	}
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f {
			marks = 0
			if changed {
				out = append(out, c)
			}
			i++
			continue
		}
		switch {
		case c == '\n' || c == '\r' && how.crlf && strings.HasPrefix(s[i+1:], "\n"):
			width := 1
			if c == '\r' {
				width = 2
			}
			with := how.newline
			if with == "" {
				with = "\n"
			}
			if c == '\n' && with == "\n" {
				if changed {
					out = append(out, '\n')
				}
			} else {
				replace(i, with)
			}
			col, seg = 0, len(out)
			// A mark at the start of a line has no base of its own and
			// would be drawn over what stands to the left, a border say.
			marks = MaxMarks
			if how.newline != "" {
				marks = 0
			}
			i += width
		case c == '\t' && how.tab == "":
			replace(i, "")
			col += ansi.StringWidth(string(out[seg:]))
			n := TabWidth - col%TabWidth
			out = append(out, "    "[:n]...)
			col, seg, marks = col+n, len(out), 0
			i++
		case c == '\t':
			replace(i, how.tab)
			marks = 0
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			mark := unicode.Is(unicode.M, r)
			switch {
			case r == utf8.RuneError && size <= 1:
				replace(i, byteName(c))
				marks = 0
			case !visible(r) || how.spaces && unicode.Is(unicode.Zs, r):
				replace(i, Name(r))
				if !mark {
					marks = 0
				}
			case mark && marks >= MaxMarks:
				replace(i, Name(r))
			default:
				if mark {
					marks++
				} else {
					marks = 0
				}
				if changed {
					out = append(out, s[i:i+size]...)
				}
			}
			i += size
		}
	}
	if !changed {
		return s
	}
	return string(out)
}
