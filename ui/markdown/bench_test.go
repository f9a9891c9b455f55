package markdown

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// answer is a 16 KB answer of the usual kinds of blocks; no two blocks of code
// in it are the same, so that remembering them across blocks does not flatter.
func answer() string {
	part, _, _ := strings.Cut(sample, "Setext")
	var b strings.Builder
	for i := 0; b.Len() < 16<<10; i++ {
		n := strconv.Itoa(i)
		b.WriteString(strings.NewReplacer("f(x)", "f"+n+"(x)", "After(d)", "After(d"+n+")", "indented", "indented "+n).Replace(part))
	}
	return b.String()[:16<<10]
}

const delta = 40 // bytes, a few tokens

// BenchmarkStreamWhole is what streaming costs when each delta renders all,
// with nothing kept from one to the next.
func BenchmarkStreamWhole(b *testing.B) {
	text := answer()
	for b.Loop() {
		r := dark()
		for i := delta; i < len(text); i += delta {
			r.code = codeCache{}
			r.Render(text[:i], 80)
		}
	}
}

// BenchmarkStreamTail is the same answer through a Stream.
func BenchmarkStreamTail(b *testing.B) {
	text := answer()
	for b.Loop() {
		s := dark().NewStream()
		for i := 0; i < len(text); i += delta {
			s.Append(text[i:min(i+delta, len(text))])
			s.Lines(80)
		}
		s.Finish()
		s.Lines(80)
	}
}

func BenchmarkRender16KB(b *testing.B) {
	text := answer()
	r := dark()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.code = codeCache{}
		r.Render(text, 80)
	}
}

// BenchmarkStreamAgainstWhole reports how many times cheaper a Stream is.
func BenchmarkStreamAgainstWhole(b *testing.B) {
	text := answer()
	for b.Loop() {
		begin := time.Now()
		r := dark()
		for i := delta; i < len(text); i += delta {
			r.code = codeCache{}
			r.Render(text[:i], 80)
		}
		whole := time.Since(begin)
		begin = time.Now()
		s := dark().NewStream()
		for i := 0; i < len(text); i += delta {
			s.Append(text[i:min(i+delta, len(text))])
			s.Lines(80)
		}
		s.Finish()
		s.Lines(80)
		b.ReportMetric(float64(whole)/float64(time.Since(begin)), "times-cheaper")
	}
}
