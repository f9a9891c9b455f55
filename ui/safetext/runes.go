package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// blank lists code points that Unicode counts as letters, marks or symbols
// but that draw nothing: Hangul fillers, the combining grapheme joiner, Khmer
// inherent vowels, Mongolian and general variation selectors, the empty
// Braille pattern and their like (Default_Ignorable_Code_Point, plus U+2800).
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1},
	},
}

// bidi lists the characters that reorder the text around them.
var bidi = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x061c, Hi: 0x061c, Stride: 1},
		{Lo: 0x200e, Hi: 0x200f, Stride: 1},
		{Lo: 0x202a, Hi: 0x202e, Stride: 1},
		{Lo: 0x2066, Hi: 0x2069, Stride: 1},
	},
}

// InOrder returns s without the characters that reorder the text around them.
// Its width is that of s: it is for a field that is written in, where a name
// in their place would move the cursor.
func InOrder(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(bidi, r) {
			return -1
		}
		return r
	}, s)
}

// visible reports whether r draws something and changes nothing else. The
// graphic categories leave out Cc, Cf, Co, Cs, Cn, Zl and Zp.
func visible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.Is(blank, r)
}

var controlNames = [...]string{
	"<NUL>", "<SOH>", "<STX>", "<ETX>", "<EOT>", "<ENQ>", "<ACK>", "<BEL>",
	"<BS>", "<TAB>", "<LF>", "<VT>", "<FF>", "<CR>", "<SO>", "<SI>",
	"<DLE>", "<DC1>", "<DC2>", "<DC3>", "<DC4>", "<NAK>", "<SYN>", "<ETB>",
	"<CAN>", "<EM>", "<SUB>", "<ESC>", "<FS>", "<GS>", "<RS>", "<US>",
}

// Name is how r is written where it cannot be shown: <ESC> for the ASCII
// controls, <U+202E> for the rest.
func Name(r rune) string {
	switch {
	case r >= 0 && int(r) < len(controlNames):
		return controlNames[r]
	case r == 0x7f:
		return "<DEL>"
	}
	return fmt.Sprintf("<U+%04X>", r)
}

// byteName is how a byte is written that is no part of valid UTF-8.
func byteName(c byte) string {
	const hex = "0123456789abcdef"
	return string([]byte{'<', '0', 'x', hex[c>>4], hex[c&15], '>'})
}

// ASCII returns s with every character outside printable ASCII replaced by its
// name, so that a homoglyph cannot pass for the letter that it imitates.
func ASCII(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			b.WriteString(byteName(s[i]))
		case r >= 0x20 && r <= 0x7e:
			b.WriteByte(s[i])
		default:
			b.WriteString(Name(r))
		}
		i += size
	}
	return b.String()
}
