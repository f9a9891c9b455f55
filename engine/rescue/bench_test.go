package rescue_test

import (
	"strings"
	"testing"

	"chela/engine/rescue"
)

// BenchmarkHostile reads 64 KB of what makes careless readers go back and forth.
func BenchmarkHostile(b *testing.B) {
	tools := essential(b)
	for _, piece := range hostile {
		text := strings.Repeat(piece, 64<<10/len(piece))
		b.Run(piece, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				rescue.Parse(text, rescue.Options{Tools: tools, Done: "stop"})
			}
		})
	}
}

// BenchmarkAnswer reads an ordinary answer of 8 KB, with code and without calls.
func BenchmarkAnswer(b *testing.B) {
	tools := essential(b)
	text := strings.Repeat("It reads the file, then `main` calls it:\n\n```go\nfunc main() { run(a[0]) }\n```\n\nSo <b>that</b> is all.\n\n", 80)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		rescue.Parse(text, rescue.Options{Tools: tools, Done: "stop"})
	}
}
