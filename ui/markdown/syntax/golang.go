package syntax

import (
	"go/scanner"
	"go/token"
	"strings"

	"chela/themes"
)

// builtinTypes are the predeclared types of Go.
var builtinTypes = map[string]bool{
	"any": true, "bool": true, "byte": true, "comparable": true, "complex64": true, "complex128": true,
	"error": true, "float32": true, "float64": true, "int": true, "int8": true, "int16": true, "int32": true,
	"int64": true, "rune": true, "string": true, "uint": true, "uint8": true, "uint16": true, "uint32": true,
	"uint64": true, "uintptr": true,
}

// scanGo colours Go source, which may be a fragment or broken.
func (p *Palette) scanGo(w *writer, source string) bool {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(source))
	s.Init(file, []byte(source), func(token.Position, string) {}, scanner.ScanComments)
	at := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			w.write(p.text, source[at:])
			return true
		}
		start := file.Offset(pos)
		if tok == token.SEMICOLON && lit != ";" {
			continue // inserted by the scanner
		}
		// The literal of a comment or raw string lacks carriage returns that
		// the source has; safe text has none, and the check below holds
		// should one get here.
		text := lit
		if tok.IsOperator() {
			text = tok.String()
		}
		if start < at || !strings.HasPrefix(source[start:], text) {
			continue
		}
		w.write(p.text, source[at:start])
		at = start + len(text)
		w.write(p.goPen(tok, lit, source[at:]), text)
	}
}

func (p *Palette) goPen(tok token.Token, lit, after string) themes.Pen {
	switch {
	case tok == token.COMMENT:
		return p.comment
	case tok.IsKeyword():
		return p.keyword
	case tok == token.STRING || tok == token.CHAR:
		return p.str
	case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
		return p.number
	case tok == token.IDENT && builtinTypes[lit]:
		return p.typ
	case tok == token.IDENT && strings.HasPrefix(after, "("):
		return p.function
	case tok == token.IDENT && (lit == "nil" || lit == "true" || lit == "false" || lit == "iota"):
		return p.number
	case tok.IsOperator():
		return p.operator
	}
	return p.text
}
