package ui

// Focus is what the keys go to.
type Focus int

// The places that take the focus, in the order of tab.
const (
	FocusComposer Focus = iota
	FocusConversation
	FocusTimeline
	FocusApprovals
	FocusFiles
	focusCount
)

// Zoom is how much of the screen the focused pane takes.
type Zoom int

// The zooms, smallest first.
const (
	ZoomNormal Zoom = iota
	ZoomHalf
	ZoomFull
)

// Rect is a part of the screen in cells. A rect without width or height is not
// shown.
type Rect struct{ X, Y, W, H int }

// Shown reports whether the rect has any cells.
func (r Rect) Shown() bool { return r.W > 0 && r.H > 0 }

// Contains reports whether the cell belongs to the rect.
func (r Rect) Contains(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }

// Shape is the overall form of the screen.
type Shape int

// The shapes, by how much room there is.
const (
	Tiny   Shape = iota // one pane at a time, no borders
	Narrow              // one pane at a time, with tabs and borders
	Wide                // all panes side by side
)

// Layout says where everything is. Rects of panes include their borders.
type Layout struct {
	Shape Shape
	W, H  int

	Tabs     Rect // narrow and tiny: the row of pane names
	Panes    [focusCount]Rect
	Waiting  Rect // narrow and tiny: the line about calls that wait
	Status   Rect
	TooSmall bool
}

// The sizes at which the shape changes. Below the smallest nothing readable
// fits; the screen then says so.
const (
	wideWidth, wideHeight     = 100, 20
	narrowWidth, narrowHeight = 60, 16
	minWidth, minHeight       = 20, 6
)

// Arrange lays the screen out. It is a pure function of its arguments: content
// never moves anything. message is the number of text lines that the message
// being written wants.
func Arrange(w, h int, focus Focus, zoom Zoom, message int) Layout {
	l := Layout{W: w, H: h}
	switch {
	case w < minWidth || h < minHeight:
		l.TooSmall = true
	case w >= wideWidth && h >= wideHeight:
		l.wide(focus, zoom, message)
	case w >= narrowWidth && h >= narrowHeight:
		l.narrow(focus, message)
	default:
		l.tiny(focus)
	}
	return l
}

func (l *Layout) wide(focus Focus, zoom Zoom, message int) {
	l.Shape = Wide
	body := l.H - 1
	l.Status = Rect{0, body, l.W, 1}
	left := clamp(l.W*21/100, 20, 34)
	right := clamp(l.W*34/100, 34, 64)
	pane := focus
	if pane == FocusComposer {
		pane = FocusConversation
	}
	switch {
	case zoom == ZoomFull && pane == FocusConversation:
		l.middle(Rect{0, 0, l.W, body}, message)
		return
	case zoom == ZoomFull:
		l.Panes[pane] = Rect{0, 0, l.W, body}
		return
	case zoom == ZoomHalf && pane == FocusFiles:
		left = l.W / 2
		right = clamp(l.W-left-30, 0, 34)
	case zoom == ZoomHalf && pane != FocusConversation:
		right, left = l.W/2, 0
	case zoom == ZoomHalf:
		left = 0
	}
	l.Panes[FocusFiles] = Rect{0, 0, left, body}
	l.middle(Rect{left, 0, l.W - left - right, body}, message)
	if right == 0 {
		return
	}
	queue := clamp(body*36/100, 7, 18)
	l.Panes[FocusTimeline] = Rect{l.W - right, 0, right, body - queue}
	l.Panes[FocusApprovals] = Rect{l.W - right, body - queue, right, queue}
}

// middle splits a column into conversation and message.
func (l *Layout) middle(r Rect, message int) {
	composer := clamp(message, 2, max(2, r.H/3)) + 3 // borders and the line of hints
	l.Panes[FocusConversation] = Rect{r.X, r.Y, r.W, r.H - composer}
	l.Panes[FocusComposer] = Rect{r.X, r.Y + r.H - composer, r.W, composer}
}

func (l *Layout) narrow(focus Focus, message int) {
	l.Shape = Narrow
	l.Tabs = Rect{0, 0, l.W, 1}
	l.Status = Rect{0, l.H - 1, l.W, 1}
	l.Waiting = Rect{0, l.H - 2, l.W, 1}
	composer := clamp(message, 2, max(2, l.H/4)) + 2
	top, bottom := 1, l.H-2-composer
	l.Panes[FocusComposer] = Rect{0, bottom, l.W, composer}
	l.Panes[shownPane(focus)] = Rect{0, top, l.W, bottom - top}
}

func (l *Layout) tiny(focus Focus) {
	l.Shape = Tiny
	l.Tabs = Rect{0, 0, l.W, 1}
	l.Status = Rect{0, l.H - 1, l.W, 1}
	l.Waiting = Rect{0, l.H - 2, l.W, 1}
	l.Panes[FocusComposer] = Rect{0, l.H - 3, l.W, 1}
	// One rule above the pane and one below it.
	l.Panes[shownPane(focus)] = Rect{0, 2, l.W, l.H - 6}
	if l.H < 8 {
		l.Panes[shownPane(focus)] = Rect{0, 1, l.W, l.H - 4}
	}
}

// shownPane is the pane that a one-pane screen shows for a focus.
func shownPane(f Focus) Focus {
	if f == FocusComposer {
		return FocusConversation
	}
	return f
}

// Visible reports whether the pane has a place on the screen.
func (l Layout) Visible(f Focus) bool { return l.Panes[f].Shown() }

// At returns the pane at a cell.
func (l Layout) At(x, y int) (Focus, bool) {
	for f := range focusCount {
		if l.Panes[f].Contains(x, y) {
			return f, true
		}
	}
	return 0, false
}

// Inner is the part of a pane inside its border.
func (l Layout) Inner(f Focus) Rect {
	r := l.Panes[f]
	if !r.Shown() || l.Shape == Tiny {
		return r
	}
	return Rect{r.X + 1, r.Y + 1, max(r.W-2, 0), max(r.H-2, 0)}
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }
