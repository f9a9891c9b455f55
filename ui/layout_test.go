package ui

import (
	"fmt"
	"testing"
)

// Every size from the smallest terminal to a wall display: nothing overlaps,
// nothing sticks out, and what must be there is there.
func TestLayoutAtEverySize(t *testing.T) {
	for w := 10; w <= 250; w += 5 {
		for h := 4; h <= 70; h += 2 {
			for focus := range focusCount {
				for _, zoom := range []Zoom{ZoomNormal, ZoomHalf, ZoomFull} {
					for _, message := range []int{1, 40} {
						check(t, Arrange(w, h, focus, zoom, message), focus, fmt.Sprintf("%dx%d focus %d zoom %d message %d", w, h, focus, zoom, message))
					}
				}
			}
		}
	}
}

func check(t *testing.T, l Layout, focus Focus, name string) {
	t.Helper()
	if l.TooSmall {
		if l.W >= minWidth && l.H >= minHeight {
			t.Fatalf("%s: said to be too small", name)
		}
		return
	}
	cells := make([]int8, l.W*l.H)
	draw := func(what string, r Rect) {
		if !r.Shown() {
			return
		}
		if r.X < 0 || r.Y < 0 || r.X+r.W > l.W || r.Y+r.H > l.H {
			t.Fatalf("%s: %s %+v sticks out", name, what, r)
		}
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				if cells[y*l.W+x]++; cells[y*l.W+x] > 1 {
					t.Fatalf("%s: %s %+v overlaps another at %d,%d", name, what, r, x, y)
				}
			}
		}
	}
	for f, r := range l.Panes {
		draw(fmt.Sprintf("pane %d", f), r)
	}
	draw("tabs", l.Tabs)
	draw("waiting", l.Waiting)
	draw("status", l.Status)
	if !l.Status.Shown() || l.Status.Y != l.H-1 {
		t.Fatalf("%s: the status line is not at the bottom: %+v", name, l.Status)
	}
	if !l.Visible(focus) {
		t.Fatalf("%s: the focused pane is not shown", name)
	}
	if r := l.Inner(focus); r.W < 1 || r.H < 1 {
		t.Fatalf("%s: no room inside the focused pane: %+v", name, r)
	}
}

func TestLayoutShapes(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want Shape
	}{{40, 10, Tiny}, {59, 40, Tiny}, {60, 16, Narrow}, {80, 24, Narrow}, {99, 60, Narrow}, {100, 19, Narrow}, {100, 20, Wide}, {250, 70, Wide}} {
		if got := Arrange(c.w, c.h, FocusComposer, ZoomNormal, 1).Shape; got != c.want {
			t.Errorf("%dx%d is shape %d, want %d", c.w, c.h, got, c.want)
		}
	}
}

func TestWideShowsAllFivePanes(t *testing.T) {
	l := Arrange(126, 34, FocusComposer, ZoomNormal, 1)
	for f := range focusCount {
		if !l.Visible(f) {
			t.Errorf("pane %d is not shown", f)
		}
	}
}

func TestZoomGivesTheFocusedPaneMore(t *testing.T) {
	for _, f := range []Focus{FocusConversation, FocusTimeline, FocusApprovals, FocusFiles} {
		area := func(z Zoom) int { r := Arrange(140, 40, f, z, 1).Panes[f]; return r.W * r.H }
		if a, b, c := area(ZoomNormal), area(ZoomHalf), area(ZoomFull); a >= b || b >= c {
			t.Errorf("pane %d: %d, %d, %d cells", f, a, b, c)
		}
	}
}

func TestTheMessageGrowsOnlyWithItself(t *testing.T) {
	one, many := Arrange(120, 40, FocusComposer, ZoomNormal, 1), Arrange(120, 40, FocusComposer, ZoomNormal, 100)
	if one.Panes[FocusComposer].H >= many.Panes[FocusComposer].H {
		t.Error("a long message gets no more room")
	}
	if many.Panes[FocusConversation].H < 15 {
		t.Errorf("a long message leaves %d rows of conversation", many.Panes[FocusConversation].H)
	}
}
