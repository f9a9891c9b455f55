package pocket

import (
	"testing"

	"github.com/ollama/ollama/api"
)

// BenchmarkDecode measures generated tokens: one network pass each, at a
// context of 128 to 512 tokens.
func BenchmarkDecode(b *testing.B) {
	s := loaded(b)
	tokens := make([]int, 128)
	if _, err := s.eval(b.Context(), tokens); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		if len(s.tokens) == 512 {
			s.keep(128)
		}
		if _, err := s.eval(b.Context(), tokens[:1]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

// BenchmarkPrompt measures prompt tokens, 256 at a time into an empty cache.
func BenchmarkPrompt(b *testing.B) {
	s := loaded(b)
	tokens := make([]int, 256)
	b.ResetTimer()
	for range b.N {
		s.keep(0)
		if _, err := s.eval(b.Context(), tokens); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(tokens))/b.Elapsed().Seconds(), "tokens/s")
}

// BenchmarkFirstToken measures the time from a request to its first chunk, with
// the model loaded and another prompt in its cache.
func BenchmarkFirstToken(b *testing.B) {
	client := newServer(b).Client()
	n := 1
	texts := []string{"what can you do for me today?", "hello, who are you and what can you do?"}
	for i := range b.N {
		req := with(ask(texts[i%2]), func(r *api.ChatRequest) { r.Options = map[string]any{"num_predict": n} })
		if err := client.Chat(b.Context(), req, func(api.ChatResponse) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad measures what the first request pays for.
func BenchmarkLoad(b *testing.B) {
	for range b.N {
		loaded(b)
	}
}

func loaded(tb testing.TB) *state {
	tb.Helper()
	f, err := parseFile(ggufBytes)
	if err != nil {
		tb.Fatal(err)
	}
	w, err := loadWeights(f, ggufBytes)
	if err != nil {
		tb.Fatal(err)
	}
	return newState(w)
}
