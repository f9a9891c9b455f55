package list

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestInvariants drives a list with any sequence of operations and compares it
// with a rendering of everything, without a cache.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := New(rapid.IntRange(1, 20).Draw(t, "width"), rapid.IntRange(0, 12).Draw(t, "height"))
		next := 0
		some := func(t *rapid.T) []Item {
			out := make([]Item, rapid.IntRange(1, 4).Draw(t, "count"))
			for i := range out {
				out[i] = &note{id: fmt.Sprint(next), n: rapid.IntRange(0, 15).Draw(t, "lines")}
				next++
			}
			return out
		}
		pick := func(t *rapid.T) *note {
			if l.Len() == 0 {
				t.Skip("no item")
			}
			return l.At(rapid.IntRange(0, l.Len()-1).Draw(t, "item")).(*note)
		}
		delta := rapid.IntRange(-30, 30)
		t.Repeat(map[string]func(*rapid.T){
			"append":  func(t *rapid.T) { l.Append(some(t)...) },
			"insert":  func(t *rapid.T) { l.Insert(rapid.IntRange(0, l.Len()).Draw(t, "at"), some(t)...) },
			"remove":  func(t *rapid.T) { l.Remove(pick(t).id) },
			"replace": func(t *rapid.T) { l.Replace(pick(t).id, some(t)[0]) },
			"grow": func(t *rapid.T) {
				n := pick(t)
				n.grow(rapid.IntRange(-n.n, 6).Draw(t, "by"))
			},
			"set": func(t *rapid.T) {
				items := slices.Clone(l.items)
				l.SetItems(append(some(t), items[:rapid.IntRange(0, len(items)).Draw(t, "keep")]...))
			},
			"lines":  func(t *rapid.T) { l.ScrollLines(delta.Draw(t, "n")) },
			"pages":  func(t *rapid.T) { l.ScrollPages(rapid.IntRange(-2, 2).Draw(t, "n")) },
			"items":  func(t *rapid.T) { l.ScrollItems(rapid.IntRange(-4, 4).Draw(t, "n")) },
			"home":   func(*rapid.T) { l.Home() },
			"end":    func(*rapid.T) { l.End() },
			"select": func(t *rapid.T) { l.Select(pick(t).id) },
			"move":   func(t *rapid.T) { l.Move(rapid.IntRange(-4, 4).Draw(t, "n")) },
			"mode":   func(t *rapid.T) { l.SetSelecting(rapid.Bool().Draw(t, "on")) },
			"resize": func(t *rapid.T) {
				l.Resize(rapid.IntRange(1, 20).Draw(t, "width"), rapid.IntRange(0, 12).Draw(t, "height"))
			},
			"trim": func(*rapid.T) { l.trim(0) },
			"":     func(t *rapid.T) { check(t, l) },
		})
	})
}

func check(t *rapid.T, l *List) {
	got := l.Lines()
	if len(got) != l.height {
		t.Fatalf("%d lines, want %d", len(got), l.height)
	}
	var all []string
	start := 0
	for i, it := range l.items {
		if i == l.top {
			start = len(all) + l.off
		}
		all = append(all, render(it, l.width, l.selecting && i == l.sel)...)
		if at, ok := l.Index(it.ID()); !ok || at != i {
			t.Fatalf("index of %s is %d, want %d", it.ID(), at, i)
		}
	}
	want := append([]string{}, all[min(start, len(all)):min(start+l.height, len(all))]...)
	for len(want) < l.height {
		want = append(want, "")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("differs from uncached rendering: %s", diff)
	}
	end := max(len(all)-l.height, 0)
	if l.height > 0 && start > end {
		t.Fatalf("%d lines below the end are shown", start-end)
	}
	if l.height > 0 && l.follow && start != end {
		t.Fatalf("follows, but starts at %d of %d", start, end)
	}
	if n := l.NewBelow(); n < 0 || n > l.Len() {
		t.Fatalf("%d new of %d", n, l.Len())
	}
	if it, ok := l.Selected(); ok && it != l.items[l.sel] {
		t.Fatal("selected item is another one")
	}
}
