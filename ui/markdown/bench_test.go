package markdown

import (
	"strings"
	"testing"
)

// answer is a 16 KB answer of the usual kinds of blocks.
func answer() string {
	return strings.Repeat(sample[:strings.Index(sample, "Setext")], 16<<10/strings.Index(sample, "Setext")+1)[:16<<10]
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
