// Package markdown renders Markdown, as models write it, for the terminal, all
// at once or as it streams in.
//
// It guarantees that no line is wider than asked for; that each line is
// complete in itself, with its styles closed; that nothing of the source can
// act on the terminal or hide in it (see ui/safetext): no control sequences,
// also none that are spelt as character references, no hyperlink sequences;
// that a link shows where it leads, an image is named and never loaded, and
// HTML is shown as it is written; and that a streamed text, once finished,
// looks exactly as if it had been rendered at once.
//
// The source is CommonMark with GitHub's tables, strikethrough, task lists and
// bare links, parsed by goldmark. Line breaks inside a paragraph are kept, for
// models break lines where they mean it, unless the line is long enough to have
// been wrapped by width. The blocks are drawn here rather than
// by glamour, whose renderer decodes character references into live escape
// sequences, emits hyperlink sequences, drops HTML, lets code run over the edge,
// prints to standard output what it does not know, and cannot be resumed.
package markdown

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"chela/themes"
	"chela/ui/markdown/syntax"
	"chela/ui/safetext"
	"chela/ui/wrap"
)

const (
	// MaxDocument is the length in bytes above which a text is shown plain.
	MaxDocument = 1 << 20
	// MaxLine is the length in bytes of a line above which the text that it
	// is in is shown plain. Parsing a line takes time by the square of its
	// length if it is made for that ("[a](" 15,000 times: 3 s); a line of this
	// length takes 50 ms at worst.
	MaxLine = 8 << 10
	// maxDepth is how deep nested quotes and lists are still indented.
	maxDepth = 12
)

// Renderer renders with the styles of one theme. It is not safe for concurrent
// use; the screen has one.
type Renderer struct {
	pens    pens
	palette *syntax.Palette
	code    codeCache
}

// New returns a renderer. It loads nothing; the parser and the lexers come into
// being when they are first needed.
func New(styles themes.Styles) *Renderer {
	return &Renderer{pens: newPens(styles), palette: syntax.NewPalette(styles.Code)}
}

// md is shared: parsing keeps its state in a context of its own.
var md = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(
		extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify,
	)).Parser()
})

// Render returns the lines of source at width cells. It has no blank lines at
// the start and the end, and is empty, not nil, where nothing is to be seen.
func (r *Renderer) Render(source string, width int) []string {
	return r.render(safetext.Block(source), width, nil)
}

// render is Render for text that is already harmless, with link references from
// earlier parts.
func (r *Renderer) render(source string, width int, refs []parser.Reference) []string {
	width = max(width, 1)
	if tooHeavy(source) {
		return r.plain(source, width)
	}
	doc, _ := parse(source, refs)
	c := canvas{Renderer: r, source: []byte(source)}
	if lines := wrap.Cut(c.blocks(doc.FirstChild(), nil, width, 0, true), width); lines != nil {
		return lines
	}
	return []string{}
}

// parse returns the document and the link references that it defines beside
// those that were known.
func parse(source string, known []parser.Reference) (doc ast.Node, fresh []parser.Reference) {
	ctx := parser.NewContext()
	for _, ref := range known {
		ctx.AddReference(ref)
	}
	doc = md().Parse(text.NewReader([]byte(source)), parser.WithContext(ctx))
	all := ctx.References()
	if len(all) == len(known) {
		return doc, nil
	}
	seen := make(map[string]bool, len(known))
	for _, ref := range known {
		seen[util.ToLinkReference(ref.Label())] = true
	}
	for _, ref := range all {
		if !seen[util.ToLinkReference(ref.Label())] {
			fresh = append(fresh, ref)
		}
	}
	return doc, fresh
}

// tooHeavy reports whether source is beyond what is parsed.
func tooHeavy(source string) bool {
	if len(source) > MaxDocument {
		return true
	}
	for len(source) > MaxLine {
		i := strings.IndexByte(source, '\n')
		if i > MaxLine || i < 0 {
			return true
		}
		source = source[i+1:]
	}
	return false
}

// plain is the fallback: the source's own lines, wrapped.
func (r *Renderer) plain(source string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(strings.Trim(source, "\n"), "\n") {
		out = append(out, wrap.Hard(r.pens.get(face{}).Draw(line), width)...)
	}
	return out
}
