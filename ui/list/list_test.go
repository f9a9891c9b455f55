package list

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

// note is an item of n lines.
type note struct {
	id       string
	n        int
	version  uint64
	finished bool
	renders  int
}

func (n *note) ID() string      { return n.id }
func (n *note) Version() uint64 { return n.version }
func (n *note) Finished() bool  { return n.finished }

func (n *note) Render(width int, selected bool) []string {
	n.renders++
	out := make([]string, n.n)
	for i := range out {
		out[i] = fmt.Sprintf("%s.%d", n.id, i)
		if selected {
			out[i] = ">" + out[i]
		}
	}
	// Narrower means higher, as with wrapped text.
	if width < 10 {
		out = append(out, slices.Clone(out)...)
	}
	return out
}

func (n *note) grow(by int) { n.n, n.version = n.n+by, n.version+1 }

func notes(from, to, lines int) []Item {
	var out []Item
	for i := from; i < to; i++ {
		out = append(out, &note{id: fmt.Sprint(i), n: lines})
	}
	return out
}

func filled(width, height, n, lines int) *List {
	l := New(width, height)
	l.Append(notes(0, n, lines)...)
	return l
}

func TestFollowingShowsTheEndAsContentArrives(t *testing.T) {
	l := filled(20, 3, 10, 2)
	want := []string{"8.1", "9.0", "9.1"}
	if diff := cmp.Diff(want, l.Lines()); diff != "" {
		t.Error(diff)
	}
	l.At(9).(*note).grow(1)
	if diff := cmp.Diff([]string{"9.0", "9.1", "9.2"}, l.Lines()); diff != "" {
		t.Error(diff)
	}
	l.Append(notes(10, 11, 1)...)
	if diff := cmp.Diff([]string{"9.1", "9.2", "10.0"}, l.Lines()); diff != "" {
		t.Error(diff)
	}
}

func TestScrollingUpEndsFollowingAndCountsWhatIsNew(t *testing.T) {
	l := filled(20, 3, 10, 2)
	l.Lines()
	l.ScrollLines(-1)
	before := l.Lines()
	if l.Following() || l.NewBelow() != 0 {
		t.Fatalf("following %v, %d new", l.Following(), l.NewBelow())
	}
	l.Append(notes(10, 13, 1)...)
	if diff := cmp.Diff(before, l.Lines()); diff != "" {
		t.Errorf("new content moved the view: %s", diff)
	}
	if l.NewBelow() != 3 {
		t.Errorf("%d new below, want 3", l.NewBelow())
	}
	l.ScrollLines(2)
	l.Lines()
	if l.NewBelow() != 2 || l.Following() {
		t.Errorf("after one of them was seen: %d new, following %v", l.NewBelow(), l.Following())
	}
	l.End()
	if diff := cmp.Diff([]string{"10.0", "11.0", "12.0"}, l.Lines()); diff != "" || l.NewBelow() != 0 || !l.Following() {
		t.Errorf("End: %s%d new, following %v", diff, l.NewBelow(), l.Following())
	}
}

func TestScrollingDownToTheEndFollowsAgain(t *testing.T) {
	l := filled(20, 4, 10, 2)
	l.ScrollPages(-2)
	l.ScrollLines(3)
	if l.Following() {
		t.Fatal("follows before the end")
	}
	l.ScrollPages(5)
	if !l.Following() {
		t.Fatal("does not follow at the end")
	}
}

func TestMovesByLinesPagesAndItems(t *testing.T) {
	tests := []struct {
		name string
		move func(*List)
		want string
	}{
		{"home", func(l *List) { l.Home() }, "0.0"},
		{"a line down", func(l *List) { l.Home(); l.ScrollLines(1) }, "0.1"},
		{"a page down overlaps by a line", func(l *List) { l.Home(); l.ScrollPages(1) }, "0.3"},
		{"items down", func(l *List) { l.Home(); l.ScrollItems(2) }, "2.0"},
		{"to the start of a cut item", func(l *List) { l.Home(); l.ScrollLines(6); l.ScrollItems(-1) }, "1.0"},
		{"an item up", func(l *List) { l.Home(); l.ScrollLines(5); l.ScrollItems(-1) }, "0.0"},
		{"not beyond the end", func(l *List) { l.Home(); l.ScrollItems(99) }, "9.0"},
		{"not beyond the start", func(l *List) { l.ScrollLines(-999) }, "0.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := filled(20, 4, 10, 5)
			tt.move(l)
			if got := l.Lines()[0]; got != tt.want {
				t.Errorf("first line is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReadingPlaceSurvivesChangesAbove(t *testing.T) {
	tests := map[string]func(*List){
		"insert at the start": func(l *List) { l.Insert(0, notes(100, 150, 3)...) },
		"insert at the top":   func(l *List) { i, _, _ := l.ItemAt(0); l.Insert(i, notes(100, 101, 3)...) },
		"remove":              func(l *List) { l.Remove("3") },
		"grow":                func(l *List) { l.At(2).(*note).grow(40) },
		"replace":             func(l *List) { l.Replace("1", &note{id: "1b", n: 9}) },
		"append":              func(l *List) { l.Append(notes(100, 150, 3)...) },
		"set items": func(l *List) {
			l.SetItems(append(notes(100, 120, 1), notes(0, 50, 3)...))
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			l := filled(20, 6, 50, 3)
			l.Home()
			l.ScrollLines(61)
			before := l.Lines()
			change(l)
			if diff := cmp.Diff(before, l.Lines()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResizeKeepsTheFirstItemInView(t *testing.T) {
	l := filled(20, 6, 50, 4)
	l.Home()
	l.ScrollLines(42)
	i, _, _ := l.ItemAt(0)
	l.Resize(5, 9)
	if j, _, _ := l.ItemAt(0); j != i {
		t.Errorf("first item was %d, is %d", i, j)
	}
	l.Resize(20, 6)
	if j, line, _ := l.ItemAt(0); j != i || line != 2 {
		t.Errorf("back at the old size: item %d line %d, want %d line 2", j, line, i)
	}
}

func TestSelectionStaysInViewAndOnItsItem(t *testing.T) {
	l := filled(20, 5, 20, 2)
	l.SetSelecting(true)
	selected := func() string { it, _ := l.Selected(); return it.ID() }
	if selected() != "19" {
		t.Fatalf("starts on %s, want the last", selected())
	}
	l.Move(-3)
	if selected() != "16" || l.Following() {
		t.Fatalf("on %s, following %v", selected(), l.Following())
	}
	if !slices.Contains(l.Lines(), ">16.0") || !slices.Contains(l.Lines(), ">16.1") {
		t.Errorf("not in view: %q", l.Lines())
	}
	l.Insert(0, notes(100, 110, 1)...)
	l.Remove("3")
	if selected() != "16" {
		t.Errorf("moved to %s", selected())
	}
	l.Remove("16")
	if selected() != "17" {
		t.Errorf("after its removal on %s, want its successor", selected())
	}
	l.Move(99)
	if selected() != "19" || !l.Following() {
		t.Errorf("at the end on %s, following %v", selected(), l.Following())
	}
	l.Append(notes(20, 21, 1)...)
	if selected() != "20" {
		t.Errorf("does not move along with the end: on %s", selected())
	}
	if !l.Select("0") || l.Select("none") || !slices.Contains(l.Lines(), ">0.0") {
		t.Errorf("Select: %q", l.Lines())
	}
}

func TestWhatIsSelectedComesAlongWhenKeysMoveTheView(t *testing.T) {
	l := filled(20, 5, 20, 2)
	l.SetSelecting(true)
	for _, step := range []struct {
		name string
		move func()
		want string
	}{
		{"to the start", l.Home, "0"},
		{"a page down", func() { l.ScrollPages(1) }, "2"},
		{"to the end", l.End, "19"},
		{"a page up", func() { l.ScrollPages(-1) }, "17"},
	} {
		step.move()
		it, _ := l.Selected()
		if it.ID() != step.want || !slices.ContainsFunc(l.Lines(), func(s string) bool { return strings.HasPrefix(s, ">") }) {
			t.Errorf("%s: %s is selected, want %s; shown: %q", step.name, it.ID(), step.want, l.Lines())
		}
	}
}

func TestItemAtMatchesWhatIsDrawn(t *testing.T) {
	l := filled(20, 7, 20, 3)
	l.Home()
	l.ScrollLines(4)
	for y, line := range l.Lines() {
		i, n, ok := l.ItemAt(y)
		if !ok || line != fmt.Sprintf("%d.%d", i, n) {
			t.Errorf("line %d shows %q, ItemAt says %d.%d %v", y, line, i, n, ok)
		}
	}
	if _, _, ok := l.ItemAt(7); ok {
		t.Error("there is an item below the view")
	}
	if _, _, ok := filled(20, 7, 1, 3).ItemAt(5); ok {
		t.Error("there is an item below the last one")
	}
}

func TestUnchangedItemsAreRenderedOnce(t *testing.T) {
	l := filled(20, 6, 100, 2)
	last := l.At(99).(*note)
	for range 50 {
		l.Lines()
		last.grow(0)
	}
	if n := l.At(98).(*note).renders; n != 1 {
		t.Errorf("unchanged item rendered %d times", n)
	}
	if n := last.renders; n != 50 {
		t.Errorf("changed item rendered %d times for 50 versions", n)
	}
	if n := l.At(10).(*note).renders; n != 0 {
		t.Errorf("invisible item rendered %d times", n)
	}
	last.finished = true
	last.grow(1)
	l.Lines()
	last.grow(1)
	l.Lines()
	if n := last.renders; n != 51 {
		t.Errorf("finished item rendered %d times, want it frozen after 51", n)
	}
	l.Invalidate()
	if got := l.Lines()[5]; got != "99.3" {
		t.Errorf("after Invalidate the last line is %q", got)
	}
}

func TestLinesThatBreakTheContractAreCut(t *testing.T) {
	l := New(8, 4)
	l.Append(raw{"much too wide", "two\nlines", "\x1b[1mwide and bold\x1b[m"})
	for _, line := range l.Lines() {
		if ansi.StringWidth(line) > 8 || strings.Contains(line, "\n") {
			t.Errorf("line %q", line)
		}
	}
}

type raw []string

func (raw) ID() string                  { return "raw" }
func (raw) Version() uint64             { return 0 }
func (r raw) Render(int, bool) []string { return r }

func TestCacheStaysWithinItsBounds(t *testing.T) {
	l := New(80, 10)
	wide := strings.Repeat("x", 80)
	for i := range 3000 {
		l.Append(&big{id: fmt.Sprint(i), line: wide})
	}
	for range 300 {
		l.ScrollPages(-9)
		l.Lines()
		if l.cache.bytes > MaxCached {
			t.Fatalf("%d bytes cached", l.cache.bytes)
		}
	}
	sum := 0
	for _, e := range l.cache.entries {
		sum += e.bytes
	}
	if sum != l.cache.bytes {
		t.Errorf("counted %d bytes, holds %d", l.cache.bytes, sum)
	}
}

// big renders to about 100 KB.
type big struct{ id, line string }

func (b *big) ID() string      { return b.id }
func (b *big) Version() uint64 { return 0 }
func (b *big) Render(int, bool) []string {
	return slices.Repeat([]string{b.line}, 1000)
}

func TestSameIDReplacesInPlace(t *testing.T) {
	l := filled(20, 9, 3, 1)
	l.Append(&note{id: "1", n: 2})
	l.Insert(0, &note{id: "2", n: 2}, &note{id: "x", n: 1}, &note{id: "x", n: 2})
	want := []string{"x.0", "x.1", "0.0", "1.0", "1.1", "2.0", "2.1", "", ""}
	if diff := cmp.Diff(want, l.Lines()); diff != "" {
		t.Error(diff)
	}
	if l.Replace("0", &note{id: "1", n: 1}) || l.Replace("none", &note{id: "y"}) {
		t.Error("Replace took an ID that belongs to another item")
	}
}
