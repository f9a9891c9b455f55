package pipeline_test

import (
	"testing"

	"chela/engine/pipeline"
)

// BenchmarkSafeCall is the cost of taking one safe call through the five
// steps, with its five writes to a real database.
func BenchmarkSafeCall(b *testing.B) {
	r := newRig(b)
	for b.Loop() {
		if _, err := r.pipe.Do(b.Context(), r.env, []pipeline.Call{call("look", `{"text":"a"}`)}); err != nil {
			b.Fatal(err)
		}
	}
}
