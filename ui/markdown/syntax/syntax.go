// Package syntax colours source text for the terminal.
//
// It guarantees that the text itself is unchanged: without the styles, the
// lines that it returns are the lines that it was given. An unknown language,
// text that is too long or a lexer that fails give plain text, never an error.
//
// The lexers are chroma's. They are embedded here, file by file, because the
// package chroma/lexers parses all its 280 definitions when a program starts,
// 10 to 28 ms whether or not any code is ever shown. Here nothing is loaded
// before the first call. Go is scanned by go/scanner.
//
// All functions are safe for concurrent use; a Palette is immutable.
package syntax

import (
	"embed"
	"io/fs"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"

	"chela/themes"
)

// MaxSource is the length in bytes above which text is not coloured. Beyond it
// the time to do so is seen, and hardly anybody reads on.
const MaxSource = 64 << 10

//go:embed lexers/*.xml
var files embed.FS

// registry loads the embedded lexers' names; their rules are compiled when a
// language is first used.
var registry = sync.OnceValue(func() *chroma.LexerRegistry {
	reg := chroma.NewLexerRegistry()
	paths, _ := fs.Glob(files, "lexers/*.xml")
	for _, path := range paths {
		if lexer, err := chroma.NewXMLLexer(files, path); err == nil {
			reg.Register(lexer)
		}
	}
	return reg
})

// Palette holds the pens for the kinds of words in source text.
type Palette struct {
	text, keyword, typ, function, str, number, comment, operator themes.Pen
}

// NewPalette derives a palette from a theme's styles.
func NewPalette(h themes.Highlight) *Palette {
	return &Palette{
		text: themes.NewPen(h.Text), keyword: themes.NewPen(h.Keyword), typ: themes.NewPen(h.Type),
		function: themes.NewPen(h.Function), str: themes.NewPen(h.String), number: themes.NewPen(h.Number),
		comment: themes.NewPen(h.Comment), operator: themes.NewPen(h.Operator),
	}
}

// Lines returns the lines of source, coloured as the language, a name, an alias
// or a file name. The source must be harmless already; see ui/safetext. A last
// line without a newline is never coloured: it is still being written, and the
// lines before it keep their look while it grows.
func (p *Palette) Lines(source, language string) []string {
	whole := strings.LastIndexByte(source, '\n') + 1
	done, rest := source[:whole], source[whole:]
	var out []string
	if done != "" {
		out = p.split(done, language)
	}
	if rest != "" {
		out = append(out, p.text.Draw(rest))
	}
	return out
}

func (p *Palette) split(source, language string) []string {
	w := writer{lines: make([]string, 0, strings.Count(source, "\n"))}
	if len(source) > MaxSource || !p.tokens(&w, source, language) {
		w = writer{lines: w.lines[:0]}
		w.write(p.text, source)
	}
	return w.lines
}

// tokens writes the coloured source and reports whether it could.
func (p *Palette) tokens(w *writer, source, language string) (ok bool) {
	language = strings.ToLower(strings.TrimSpace(language))
	switch {
	case language == "":
		return false
	case language == "go" || language == "golang" || strings.HasSuffix(language, ".go"):
		return p.scanGo(w, source)
	}
	lexer := registry().Get(language)
	if lexer == nil {
		return false
	}
	it, err := lexer.Tokenise(nil, source)
	if err != nil {
		return false
	}
	n := 0
	for tok := it(); tok != chroma.EOF; tok = it() {
		w.write(p.pen(tok.Type), tok.Value)
		n += len(tok.Value)
	}
	// A lexer that ends its input with a newline of its own, or drops any,
	// must not change what is shown.
	return n == len(source)
}

func (p *Palette) pen(t chroma.TokenType) themes.Pen {
	switch {
	case t.InCategory(chroma.Comment):
		return p.comment
	case t == chroma.KeywordType || t == chroma.NameClass || t == chroma.NameNamespace:
		return p.typ
	case t.InCategory(chroma.Keyword), t == chroma.NameTag:
		return p.keyword
	case t == chroma.NameFunction || t == chroma.NameFunctionMagic || t == chroma.NameBuiltin || t == chroma.NameDecorator || t == chroma.NameAttribute:
		return p.function
	case t.InSubCategory(chroma.LiteralString), t == chroma.GenericInserted:
		return p.str
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.NameConstant, t == chroma.GenericDeleted:
		return p.number
	case t.InCategory(chroma.Operator), t.InCategory(chroma.Punctuation):
		return p.operator
	}
	return p.text
}

// writer collects styled pieces into lines, each complete in itself.
type writer struct {
	lines []string
	cur   strings.Builder
}

func (w *writer) write(pen themes.Pen, text string) {
	for {
		line, rest, more := strings.Cut(text, "\n")
		pen.Write(&w.cur, line)
		if !more {
			return
		}
		w.lines = append(w.lines, w.cur.String())
		w.cur.Reset()
		text = rest
	}
}
