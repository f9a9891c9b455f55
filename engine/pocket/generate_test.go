package pocket

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
	"pgregory.net/rapid"
)

func TestTheCacheDoesNotChangeTheResult(t *testing.T) {
	t.Parallel()
	s := loaded(t)
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfN(rapid.IntRange(0, s.vocab-1), 1, 40).Draw(t, "tokens")
		s.keep(0)
		want, err := s.eval(context.Background(), tokens)
		if err != nil {
			t.Fatal(err)
		}
		want = slices.Clone(want)
		s.keep(rapid.IntRange(0, len(tokens)-1).Draw(t, "kept"))
		for len(s.tokens) < len(tokens) {
			n := rapid.IntRange(1, len(tokens)-len(s.tokens)).Draw(t, "part")
			got, err := s.eval(context.Background(), tokens[len(s.tokens):len(s.tokens)+n])
			if err != nil {
				t.Fatal(err)
			}
			if len(s.tokens) == len(tokens) && !slices.Equal(got, want) {
				t.Fatalf("the logits differ from those of the whole prompt at once")
			}
		}
	})
}

func TestFit(t *testing.T) {
	t.Parallel()
	prompt := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, c := range []struct {
		name         string
		window, keep int
		truncate     bool
		want         []int
		err          error
	}{
		{"fits exactly", 10, 4, false, prompt, nil},
		{"too long is refused", 9, 4, false, nil, errTooLong},
		{"the middle goes", 6, 2, true, []int{0, 1, 6, 7, 8, 9}, nil},
		{"one token can always be dropped", 4, 9, true, []int{0, 1, 2, 9}, nil},
		{"a negative num_keep keeps what it can", 5, -1, true, []int{0, 1, 2, 3, 9}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := completion{prompt: prompt, truncate: c.truncate, opts: api.Options{NumKeep: c.keep, Runner: api.Runner{NumCtx: c.window}}}
			got, err := r.fit()
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	if _, err := (&completion{}).fit(); !errors.Is(err, errNoInput) {
		t.Errorf("an empty prompt gave %v, want %v", err, errNoInput)
	}
}

func TestAFullWindowShiftsOrEnds(t *testing.T) {
	t.Parallel()
	s, tok := loaded(t), modelTokenizer(t)
	run := func(shift bool) (outcome, int) {
		s.keep(0)
		longest := 0
		c := completion{prompt: tok.encode("<|user|>hello<|assistant|>"), shift: shift, opts: api.Options{NumPredict: 40, NumKeep: 2, Runner: api.Runner{NumCtx: 12}}}
		out, err := s.generate(t.Context(), tok, c, func(piece) error {
			longest = max(longest, len(s.tokens))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out, longest
	}
	ended, longest := run(false)
	// Seven prompt tokens fill the window with five generated ones; the sixth
	// is known without a place for it.
	if ended.reason != doneLength || ended.EvalCount != 6 || longest != 12 {
		t.Errorf("without shift: %q after %d tokens, window %d; want length after 6, 12", ended.reason, ended.EvalCount, longest)
	}
	shifted, longest := run(true)
	if shifted.EvalCount <= ended.EvalCount || longest != 12 {
		t.Errorf("with shift: %d tokens, window %d; want more than %d, 12", shifted.EvalCount, longest, ended.EvalCount)
	}
}

func TestDropKeepsFrontAndRecentHalf(t *testing.T) {
	t.Parallel()
	s := loaded(t)
	if _, err := s.eval(t.Context(), []int{0, 1, 2, 3, 4, 5, 6, 7}); err != nil {
		t.Fatal(err)
	}
	again := s.drop(2, 8, []int{8})
	if d := cmp.Diff([]int{0, 1}, s.tokens); d != "" {
		t.Errorf("kept (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]int{5, 6, 7, 8}, again); d != "" {
		t.Errorf("to compute again (-want +got):\n%s", d)
	}
}

func TestLogprobsAreLogarithmsOfProbabilities(t *testing.T) {
	t.Parallel()
	lp := logprobs([]float32{0, 0, 0, 0}, 2, 9, &tokenizer{text: []string{"a", "b", "é", "d"}})
	const quarter = -1.3862943611198906
	if lp.Logprob != quarter || lp.Token != "é" || !slices.Equal(lp.Bytes, []int{0xc3, 0xa9}) {
		t.Errorf("%+v, want token é with ln(1/4) and two bytes", lp.TokenLogprob)
	}
	if len(lp.TopLogprobs) != 4 || lp.TopLogprobs[3].Token != "d" {
		t.Errorf("top %+v, want the four tokens in order", lp.TopLogprobs)
	}
}

func TestStopSequences(t *testing.T) {
	t.Parallel()
	stops := []string{"", "END", "\n\n"}
	for text, want := range map[string]struct {
		cut        string
		stop, wait bool
	}{
		"plain":      {"plain", false, false},
		"an END now": {"an ", true, false},
		"an EN":      {"an EN", false, true},
		"line\n":     {"line\n", false, true},
		"a\n\nEND":   {"a\n\n", true, true},
	} {
		cut, stop := cutAtStop(text, stops)
		if cut != want.cut || stop != want.stop {
			t.Errorf("cutAtStop(%q) = %q, %v; want %q, %v", text, cut, stop, want.cut, want.stop)
		}
		if got := mayBecomeStop(text, stops); got != want.wait {
			t.Errorf("mayBecomeStop(%q) = %v", text, got)
		}
	}
}

func TestTextIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		inside bool
		valid  string
	}{
		"":              {false, ""},
		"aé":            {false, "aé"},
		"a\xc3":         {true, "a"},
		"a\xe2\x82":     {true, "a"},
		"\xf0\x9f\x98":  {true, ""},
		"a\xffb":        {false, "a"},
		"\x80\x80\x80":  {false, ""},
		"\uFFFD stays.": {false, "\uFFFD stays."},
	} {
		if got := endsInsideRune(text); got != want.inside {
			t.Errorf("endsInsideRune(%q) = %v", text, got)
		}
		if got := validPrefix(text); got != want.valid {
			t.Errorf("validPrefix(%q) = %q, want %q", text, got, want.valid)
		}
	}
}
