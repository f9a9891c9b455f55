package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"chela/ui/safetext"
)

// inline returns the styled text of a block's children. It holds newlines where
// the source breaks lines.
func (c canvas) inline(n ast.Node, f face) string {
	var b strings.Builder
	c.children(&b, n, f)
	return strings.TrimRight(b.String(), "\n ")
}

func (c canvas) children(b *strings.Builder, n ast.Node, f face) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		c.span(b, child, f)
	}
}

func (c canvas) span(b *strings.Builder, n ast.Node, f face) {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(c.source)
		if n.IsRaw() {
			c.draw(b, string(value), f)
		} else {
			c.draw(b, decode(value), f)
		}
		switch {
		case n.SoftLineBreak() && !n.HardLineBreak() && c.filled(n.Segment.Stop):
			b.WriteByte(' ')
		case n.HardLineBreak() || n.SoftLineBreak():
			b.WriteByte('\n')
		}
	case *ast.String:
		c.draw(b, safetext.Line(string(n.Value)), f)
	case *ast.CodeSpan:
		f.base = codeText
		c.draw(b, c.rawText(n), f)
	case *ast.Emphasis:
		if n.Level >= 2 {
			f.bold = true
		} else {
			f.italic = true
		}
		c.children(b, n, f)
	case *extast.Strikethrough:
		f.strike = true
		c.children(b, n, f)
	case *ast.Link:
		c.link(b, n, f)
	case *ast.AutoLink:
		f.base = linkText
		c.draw(b, shownURL(n.Label(c.source)), f)
	case *ast.Image:
		f.base = urlText
		alt := c.flat(n)
		if alt != "" {
			alt = ": " + alt
		}
		c.draw(b, "[image"+alt+"] "+shownURL(n.Destination), f)
	case *ast.RawHTML:
		f.base = faintText
		for i := range n.Segments.Len() {
			seg := n.Segments.At(i)
			c.draw(b, strings.ReplaceAll(string(seg.Value(c.source)), "\n", " "), f)
		}
	case *extast.TaskCheckBox:
		if n.IsChecked {
			c.draw(b, "✓ ", face{base: linkText})
		} else {
			c.draw(b, "○ ", face{base: faintText})
		}
	default:
		c.children(b, n, f)
	}
}

// filledLine is the length in bytes from which a line of the source counts as
// wrapped by width.
const filledLine = 60

// filled reports whether the line that ends at stop was broken because it was
// full, not because its writer meant a break.
func (c canvas) filled(stop int) bool {
	return stop-bytes.LastIndexByte(c.source[:stop], '\n')-1 >= filledLine
}

func (c canvas) draw(b *strings.Builder, text string, f face) {
	c.pens.get(f).Write(b, text)
}

// link shows the text of a link and where it leads, unless they are the same.
func (c canvas) link(b *strings.Builder, n *ast.Link, f face) {
	url := shownURL(n.Destination)
	f.base = linkText
	text := c.flat(n)
	if text == "" {
		c.draw(b, url, f)
		return
	}
	c.children(b, n, f)
	if text != url && "mailto:"+text != url {
		c.draw(b, " ("+url+")", face{base: urlText})
	}
}

// flat is the text below n without styles, on one line.
func (c canvas) flat(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.WriteString(decode(n.Segment.Value(c.source)))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.AutoLink:
			b.WriteString(shownURL(n.Label(c.source)))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// rawText is the text of a code span, where nothing is decoded.
func (c canvas) rawText(n ast.Node) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			b.WriteString(strings.ReplaceAll(string(t.Segment.Value(c.source)), "\n", " "))
		}
	}
	return b.String()
}

// shownURL is a destination as text: decoded, harmless, and with its host in
// ASCII, so that no look-alike letter passes.
func shownURL(dest []byte) string {
	url := decode(dest)
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return safetext.ASCII(scheme) + "://" + safetext.ASCII(rest[:end]) + rest[end:]
}

// decode resolves backslash escapes and character references. What they stand
// for comes from outside like all the rest, and is made harmless again.
func decode(value []byte) string {
	if !bytes.ContainsAny(value, `\&`) {
		return string(value)
	}
	out := make([]byte, 0, len(value))
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\' && i+1 < len(value) && util.IsPunct(value[i+1]):
			i++
			out = append(out, value[i])
		case c == '&':
			// The longest name that HTML knows has 31 letters.
			end := bytes.IndexByte(value[i:min(len(value), i+34)], ';')
			if end < 0 {
				out = append(out, c)
				continue
			}
			ref := value[i : i+end+1]
			out = append(out, util.ResolveEntityNames(util.ResolveNumericReferences(ref))...)
			i += end
		default:
			out = append(out, c)
		}
	}
	return safetext.Line(string(out))
}
