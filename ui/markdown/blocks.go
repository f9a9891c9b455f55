package markdown

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"chela/ui/safetext"
	"chela/ui/wrap"
)

// canvas draws the blocks of one parsed source.
type canvas struct {
	*Renderer
	source []byte
	quoted bool
}

// blocks draws the siblings from first up to but without end, with a blank line
// between them if loose.
func (c canvas) blocks(first, end ast.Node, width, depth int, loose bool) []string {
	var out []string
	for n := first; n != nil && n != end; n = n.NextSibling() {
		lines := c.block(n, width, depth)
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 && loose {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

func (c canvas) block(n ast.Node, width, depth int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return c.heading(n, width)
	case *ast.Paragraph, *ast.TextBlock:
		return c.paragraph(n, width)
	case *ast.ThematicBreak:
		return []string{c.pens.get(face{base: faintText}).Draw(strings.Repeat("─", width))}
	case *ast.Blockquote:
		c.quoted = true
		return c.indented(n.FirstChild(), width, depth, c.pens.get(face{base: faintText}).Draw("│")+" ")
	case *ast.List:
		return c.list(n, width, depth)
	case *ast.FencedCodeBlock:
		return c.codeBlock(n, safetext.Line(string(n.Language(c.source))), width)
	case *ast.CodeBlock:
		return c.codeBlock(n, "", width)
	case *ast.HTMLBlock:
		return c.html(n, width)
	case *extast.Table:
		return c.table(n, width)
	case *ast.LinkReferenceDefinition:
		return nil
	}
	// Anything that a later parser adds is at least shown as it was written.
	return c.verbatim(n, width)
}

func (c canvas) face() face {
	if c.quoted {
		return face{base: quoteText}
	}
	return face{}
}

func (c canvas) heading(n *ast.Heading, width int) []string {
	f := face{base: headingText}
	if n.Level > 2 {
		f = face{bold: true}
	}
	styled := c.inline(n, f)
	if styled == "" {
		return nil
	}
	return wrap.Words(styled, width)
}

func (c canvas) paragraph(n ast.Node, width int) []string {
	styled := c.inline(n, c.face())
	if styled == "" {
		return nil
	}
	return wrap.Words(styled, width)
}

// indented draws siblings behind a prefix. Beyond maxDepth the prefix is left
// out, since there is no room for both it and the text.
func (c canvas) indented(first ast.Node, width, depth int, prefix string) []string {
	if depth >= maxDepth {
		prefix = ""
	}
	lines := c.blocks(first, nil, max(width-ansi.StringWidth(prefix), 1), depth+1, true)
	for i := range lines {
		lines[i] = prefix + lines[i]
	}
	return lines
}

func (c canvas) list(n *ast.List, width, depth int) []string {
	number, last := n.Start, n.Start+n.ChildCount()-1
	digits := len(strconv.Itoa(last))
	var out []string
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := "• "
		if n.IsOrdered() {
			s := strconv.Itoa(number)
			marker = strings.Repeat(" ", max(digits-len(s), 0)) + s + string(n.Marker) + " "
			number++
		}
		if depth >= maxDepth {
			marker = ""
		}
		indent := len([]rune(marker))
		lines := c.blocks(item.FirstChild(), nil, max(width-indent, 1), depth+1, !n.IsTight)
		if len(lines) == 0 {
			lines = []string{""}
		}
		if len(out) > 0 && !n.IsTight {
			out = append(out, "")
		}
		out = append(out, c.pens.get(face{base: faintText}).Draw(marker)+lines[0])
		for _, line := range lines[1:] {
			if line != "" {
				line = strings.Repeat(" ", indent) + line
			}
			out = append(out, line)
		}
	}
	return out
}

// codeBlock draws code two cells in, in its language's colours.
func (c canvas) codeBlock(n ast.Node, language string, width int) []string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(c.source))
	}
	source := b.String()
	coloured := c.highlight(source, language)
	indent := "  "
	if width < 12 {
		indent = ""
	}
	out := make([]string, 0, len(coloured))
	for _, line := range coloured {
		for _, part := range wrap.Hard(line, width-len(indent)) {
			if part != "" {
				part = indent + part
			}
			out = append(out, part)
		}
	}
	return out
}

// highlight colours the finished lines and leaves the last one, which is still
// being written, out of the key of the cache.
func (c canvas) highlight(source, language string) []string {
	done := strings.LastIndexByte(source, '\n') + 1
	lines := c.code.lines(source[:done], language, func() []string {
		return append([]string{}, c.palette.Lines(source[:done], language)...)
	})
	if done < len(source) {
		return append(lines[:len(lines):len(lines)], c.palette.Lines(source[done:], "")...)
	}
	return lines
}

// html shows HTML as it is written: what a renderer would hide, a person should
// see.
func (c canvas) html(n *ast.HTMLBlock, width int) []string {
	lines := c.verbatim(n, width)
	if n.HasClosure() {
		lines = append(lines, c.faintLine(n.ClosureLine.Value(c.source), width)...)
	}
	return lines
}

func (c canvas) verbatim(n ast.Node, width int) []string {
	var out []string
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		out = append(out, c.faintLine(seg.Value(c.source), width)...)
	}
	return out
}

func (c canvas) faintLine(line []byte, width int) []string {
	return wrap.Hard(c.pens.get(face{base: faintText}).Draw(strings.TrimRight(string(line), "\n")), width)
}
