package files

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var textLines = rapid.SliceOfN(rapid.StringMatching(`[ \t]{0,3}[a-c(){}"\\]{0,6}[ \t]?`), 1, 12)

// A replaced piece can be put back, to the byte.
func TestReplacingAndReversingRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		lines := textLines.Draw(t, "lines")
		from := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
		to := rapid.IntRange(from, len(lines)-1).Draw(t, "to")
		old := strings.Join(lines[from:to+1], "\n")
		file := []byte(strings.Join(lines, end) + rapid.SampledFrom([]string{"", end}).Draw(t, "last"))
		const with = "<<new\ntext>>"
		m, _ := climb(newDocument(file), old, with, false)
		if m == nil || (m.kind != matchExact && m.kind != matchLineEndings) {
			t.Skip("the piece is empty or there twice")
		}
		d := newDocument(file)
		changed := d.replace(m.spans)
		back := newDocument(changed)
		m2, _ := climb(back, with, old, false)
		if m2 == nil {
			t.Fatalf("the new text is not found in %q", changed)
		}
		if got := back.replace(m2.spans); !bytes.Equal(got, file) {
			t.Fatalf("restored %q, want %q", got, file)
		}
	})
}

// Whatever rung matches, no byte outside of the spans changes, and a match is
// never taken from several.
func checkClimb(t interface{ Fatalf(string, ...any) }, file []byte, old, with string, all bool) {
	d := newDocument(file)
	m, several := climb(d, old, with, all)
	if m == nil {
		return
	}
	if several != nil || (len(m.spans) != 1 && !all) {
		t.Fatalf("%d places, ambiguous %v", len(m.spans), several)
	}
	out := d.replace(m.spans)
	last := 0
	for _, s := range m.spans {
		if s.start < last || s.end < s.start || s.end > len(d.text) {
			t.Fatalf("span %d-%d after %d in %d bytes", s.start, s.end, last, len(d.text))
		}
		last = s.end
	}
	head := file[:d.rawOffset(m.spans[0].start)]
	tail := file[d.rawOffset(last):]
	if !bytes.HasPrefix(out, head) || !bytes.HasSuffix(out, tail) {
		t.Fatalf("by %s: %q became %q; only %q may change", m.kind, file, out, file[len(head):len(file)-len(tail)])
	}
}

func TestNothingOutsideTheMatchChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := textLines.Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		from := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
		to := rapid.IntRange(from, len(lines)-1).Draw(t, "to")
		bend := rapid.SampledFrom([]func(string) string{
			func(s string) string { return s },
			func(s string) string { return strings.ReplaceAll(s, "\t", "    ") },
			func(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") },
			strings.TrimSpace,
			func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, `"`, `\"`), "\n", `\n`) },
			func(s string) string { return "1\t" + strings.ReplaceAll(s, "\n", "\n2\t") },
			func(s string) string { return s + "\n" },
		}).Draw(t, "bend")
		old := bend(strings.Join(lines[from:to+1], "\n"))
		checkClimb(t, []byte(strings.Join(lines, end)), old, rapid.SampledFrom([]string{"", "x", "x\ny", "  x\n"}).Draw(t, "with"),
			rapid.Bool().Draw(t, "all"))
	})
}

func FuzzClimb(f *testing.F) {
	f.Add([]byte("a\r\n\tb\r\nc"), "b\n", "x\ny", false)
	f.Add([]byte("\xef\xbb\xbfa\n  b\n  b\n"), "b", "", true)
	f.Add([]byte("s\n aaaa bbbb\n cccc\ne\n"), "s\n aaaa bbbc\n cccc\ne", "z", false)
	f.Add([]byte("x := \"a\"\n"), `x := \"a\"\n`, `y`, false)
	f.Add([]byte("1: a\n2: b\n"), "1: a\n2: b \n", "3: c", false)
	f.Add([]byte("\xff\r\r\n\n"), "\r\n", "\xfe", true)
	f.Fuzz(func(t *testing.T, file []byte, old, with string, all bool) {
		if old == "" || len(file) > 4<<10 || len(old) > 1<<10 {
			return
		}
		checkClimb(t, file, old, with, all)
		closest(newDocument(file), old)
	})
}
