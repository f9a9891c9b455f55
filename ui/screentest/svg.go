package screentest

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// Palette is the look of a picture.
type Palette struct{ Background, Foreground string }

// The two looks.
var (
	OnDark  = Palette{"#16181d", "#d6d9e0"}
	OnLight = Palette{"#fbfbf9", "#25272c"}
)

// Size of a cell in a picture, in pixels. The font size is what fits it.
const (
	cellW, cellH = 8.7, 17.0
	fontSize     = 14.5 // at this size the lines of boxes meet from row to row
	baseline     = 13.5
	margin       = 14.0
)

// SVG draws the screen as a picture, from the emulator's cells: what is in it
// is what a terminal shows.
func (t *Terminal) SVG(p Palette) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, h := t.emu.Width(), t.emu.Height()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="'DejaVu Sans Mono', ui-monospace, Menlo, Consolas, monospace" font-size="%.1f">`,
		float64(w)*cellW+2*margin, float64(h)*cellH+2*margin, fontSize)
	fmt.Fprintf(&b, "\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n", p.Background)
	for y := range h {
		for x := 0; x < w; {
			c := t.emu.CellAt(x, y)
			run, n := t.run(x, y, w, c)
			x0, y0 := margin+float64(x)*cellW, margin+float64(y)*cellH
			fg, bg := colours(c, p)
			if bg != "" {
				fmt.Fprintf(&b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x0, y0, float64(n)*cellW, cellH, bg)
			}
			if strings.TrimSpace(run) != "" {
				fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\"%s xml:space=\"preserve\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\">%s</text>\n",
					x0, y0+baseline, fg, attributes(c), float64(n)*cellW, html.EscapeString(run))
			}
			x += n
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// run is the text from a cell on that looks the same, and its width.
func (t *Terminal) run(x, y, w int, first *uv.Cell) (string, int) {
	var b strings.Builder
	n := 0
	for x+n < w {
		c := t.emu.CellAt(x+n, y)
		if !same(first, c) || n > 0 && (upright(c) || upright(first)) {
			break // the sides of boxes stand exactly below each other
		}
		text, width := " ", 1
		if c != nil && c.Content != "" {
			text, width = c.Content, max(c.Width, 1)
		}
		b.WriteString(text)
		n += width
	}
	return b.String(), max(n, 1)
}

// upright reports whether a cell holds the side or corner of a box.
func upright(c *uv.Cell) bool {
	return c != nil && strings.ContainsAny(c.Content, "│┃╮╯┓┛╭╰┏┗")
}

func same(a, b *uv.Cell) bool {
	if a == nil || b == nil {
		return (a == nil || a.Style.IsZero()) && (b == nil || b.Style.IsZero())
	}
	return a.Style.Equal(&b.Style)
}

func colours(c *uv.Cell, p Palette) (fg, bg string) {
	fg = p.Foreground
	if c == nil {
		return fg, ""
	}
	if c.Style.Fg != nil {
		fg = hex(c.Style.Fg)
	}
	if c.Style.Bg != nil {
		bg = hex(c.Style.Bg)
	}
	if c.Style.Attrs&uv.AttrReverse != 0 {
		if bg == "" {
			bg = p.Background
		}
		fg, bg = bg, fg
	}
	return fg, bg
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

func attributes(c *uv.Cell) string {
	if c == nil {
		return ""
	}
	out := ""
	if c.Style.Attrs&uv.AttrBold != 0 {
		out += ` font-weight="bold"`
	}
	if c.Style.Attrs&uv.AttrItalic != 0 {
		out += ` font-style="italic"`
	}
	if c.Style.Attrs&uv.AttrFaint != 0 {
		out += ` opacity="0.7"`
	}
	if c.Style.Underline != 0 {
		out += ` text-decoration="underline"`
	}
	return out
}
