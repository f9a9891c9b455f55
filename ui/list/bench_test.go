package list

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// message renders to prepared lines, so that the list alone is measured.
type message struct {
	id      string
	version uint64
	lines   []string
}

func (m *message) ID() string                { return m.id }
func (m *message) Version() uint64           { return m.version }
func (m *message) Render(int, bool) []string { return m.lines }

func session(n int) *List {
	l := New(200, 50)
	line := strings.Repeat("word ", 38)
	for i := range n {
		l.Append(&message{id: fmt.Sprint(i), lines: slices.Repeat([]string{line}, 12)})
	}
	return l
}

// BenchmarkStream draws a frame after each growth of the last of 10,000 items.
func BenchmarkStream(b *testing.B) {
	l := session(10_000)
	last := l.At(9_999).(*message)
	l.Lines()
	b.ReportAllocs()
	for b.Loop() {
		last.version++
		l.Lines()
	}
}

func BenchmarkScroll(b *testing.B) {
	l := session(10_000)
	b.ReportAllocs()
	n := -1
	for b.Loop() {
		if l.top == 0 || l.follow {
			n = -n
		}
		l.ScrollLines(3 * n)
		l.Lines()
	}
}

func BenchmarkResize(b *testing.B) {
	l := session(10_000)
	l.ScrollPages(-50)
	w := 0
	b.ReportAllocs()
	for b.Loop() {
		w ^= 1
		l.Resize(199+w, 50)
		l.Lines()
	}
}
