package window_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela/engine/window"
)

func result(turn, tokens int, path string) window.Item {
	return window.Item{Kind: window.ToolResult, Turn: turn, Tokens: tokens, Tool: "read_file", Path: path}
}

func said(kind window.Kind, turn, tokens int) window.Item {
	return window.Item{Kind: kind, Turn: turn, Tokens: tokens}
}

func TestFit(t *testing.T) {
	user, call, text := window.UserText, window.ToolCall, window.AssistantText
	long := []window.Item{
		said(user, 1, 100), said(call, 1, 50), result(1, 1000, "a"), said(text, 1, 100),
		said(user, 2, 100), said(call, 2, 50), result(2, 1500, "b"), said(call, 2, 50), result(2, 1200, "c"), said(text, 2, 100),
		said(user, 3, 100), said(call, 3, 50), result(3, 1000, "b"), said(call, 3, 50), result(3, 1000, "d"),
	}
	failed := result(1, 2000, "b")
	failed.Error = true
	for name, c := range map[string]struct {
		state window.State
		fold  []int
		sum   []int
		full  bool
		tight bool
	}{
		"room enough changes nothing":         {state: window.State{Items: long, Prefix: 1000, Window: 16384}},
		"superseded goes before older":        {state: window.State{Items: long, Prefix: 500, Window: 8192, Reserve: 2000}, fold: []int{2, 6, 8}},
		"a read of another file stays":        {state: window.State{Items: long[:5], Prefix: 2500, Window: 4096}, fold: []int{2}, tight: true},
		"the last results of the turn stay":   {state: window.State{Items: []window.Item{said(user, 1, 2000), result(1, 900, "a"), result(1, 340, "b"), result(1, 340, "c"), result(1, 340, "d")}, Window: 4096}, fold: []int{1}, tight: true},
		"old turns are summarised":            {state: window.State{Items: append([]window.Item{said(user, 1, 400), said(text, 1, 4000), said(user, 2, 100), said(text, 2, 1000)}, said(user, 3, 1500)), Window: 8192}, sum: []int{0, 1}},
		"of large ones only the last stays":   {state: window.State{Items: []window.Item{said(user, 1, 10), result(1, 900, "a"), result(1, 900, "b"), result(1, 900, "c"), result(1, 900, "d")}, Window: 4096}, fold: []int{1, 2}},
		"the running turn's first steps go":   {state: window.State{Items: []window.Item{said(user, 1, 100), said(call, 1, 3000), result(1, 50, "a"), said(call, 1, 100), result(1, 50, "b"), said(call, 1, 100), result(1, 50, "c"), said(call, 1, 100), result(1, 50, "d")}, Window: 4096}, sum: []int{1, 2}},
		"the prompt alone is too much":        {state: window.State{Items: []window.Item{said(user, 1, 4000)}, Window: 4096}, full: true, tight: true},
		"the prefix alone is too much":        {state: window.State{Prefix: 4000, Window: 4096}, full: true, tight: true},
		"an open error goes last":             {state: window.State{Items: []window.Item{said(user, 1, 10), failed, result(1, 3000, "x"), result(1, 600, "y"), result(1, 600, "z"), result(1, 600, "q")}, Window: 8192}, fold: []int{2}, tight: false},
		"a window that is not known":          {state: window.State{Items: long}},
		"small results are not worth folding": {state: window.State{Items: []window.Item{said(user, 1, 3500), result(1, 100, "a"), said(user, 2, 10)}, Window: 4096}, full: true, tight: true},
		"the fourth tight plan ends the turn": {state: window.State{Items: []window.Item{said(user, 1, 2000), result(1, 900, "a"), result(1, 340, "b"), result(1, 340, "c"), result(1, 340, "d")}, Window: 4096, Tight: window.MaxTight}, fold: []int{1}, tight: true, full: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := window.Fit(c.state)
			if d := cmp.Diff(c.fold, p.Fold); d != "" {
				t.Errorf("folds (-want +got):\n%s%+v", d, p)
			}
			if d := cmp.Diff(c.sum, p.Summarise); d != "" {
				t.Errorf("summarises (-want +got):\n%s%+v", d, p)
			}
			if p.Full != c.full || p.Tight != c.tight {
				t.Errorf("full %v, tight %v; want %v, %v: %+v", p.Full, p.Tight, c.full, c.tight, p)
			}
			if (p.Acts() || p.Full) == (p.Reason == "") {
				t.Errorf("a plan that does something has a reason: %+v", p)
			}
		})
	}
}

// apply does what the engine does with a plan.
func apply(s window.State, p window.Plan) window.State {
	out := s
	out.Items = nil
	if p.Summary > 0 {
		out.Items = append(out.Items, window.Item{Kind: window.Summary, Tokens: p.Summary, Kept: p.Summary - window.SummaryTokens(s.Window)})
	}
	for i, it := range s.Items {
		if slices.Contains(p.Summarise, i) {
			continue
		}
		if slices.Contains(p.Fold, i) {
			it.Tokens, it.Folded = window.FoldTokens, true
		}
		out.Items = append(out.Items, it)
	}
	if p.Tight && p.Acts() {
		out.Tight++
	}
	return out
}

func total(s window.State) int {
	n := s.Prefix
	for _, it := range s.Items {
		n += it.Tokens
	}
	return n
}

// persons is what the person wrote, in tokens, wherever it is.
func persons(s window.State) int {
	n := 0
	for _, it := range s.Items {
		switch it.Kind {
		case window.UserText:
			n += it.Tokens
		case window.Summary:
			n += it.Kept
		}
	}
	return n
}

func conversation(t *rapid.T) window.State {
	s := window.State{
		Window: rapid.SampledFrom(window.Steps).Draw(t, "window"), Prefix: rapid.IntRange(0, 3000).Draw(t, "prefix"),
		Reserve: rapid.IntRange(0, 4000).Draw(t, "reserve"),
	}
	turns := rapid.IntRange(1, 6).Draw(t, "turns")
	for turn := 1; turn <= turns; turn++ {
		s.Items = append(s.Items, said(window.UserText, turn, rapid.IntRange(1, 600).Draw(t, "user")))
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			s.Items = append(s.Items, said(window.ToolCall, turn, rapid.IntRange(10, 900).Draw(t, "call")))
			r := result(turn, rapid.IntRange(5, 3000).Draw(t, "result"), rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "path"))
			r.Error = rapid.Bool().Draw(t, "error")
			s.Items = append(s.Items, r)
		}
		if turn < turns || rapid.Bool().Draw(t, "answered") {
			s.Items = append(s.Items, said(window.AssistantText, turn, rapid.IntRange(1, 800).Draw(t, "answer")))
		}
	}
	return s
}

func TestFitFreesRoomOnceAndKeepsThePersonsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := conversation(t)
		p := window.Fit(s)
		if p.Before != total(s) {
			t.Fatalf("before: %d, want %d", p.Before, total(s))
		}
		after := apply(s, p)
		if total(after) != p.After || p.After > p.Before {
			t.Fatalf("after: %d tokens, planned %d, before %d", total(after), p.After, p.Before)
		}
		if p.Acts() && !p.Full && p.After > s.Window*window.HighWater/100 {
			t.Fatalf("%d of %d tokens in use after the plan", p.After, s.Window)
		}
		if persons(after) != persons(s) {
			t.Fatalf("the person wrote %d tokens, %d are left", persons(s), persons(after))
		}
		running := s.Items[len(s.Items)-1].Turn
		for _, i := range slices.Concat(p.Fold, p.Summarise) {
			if it := s.Items[i]; it.Kind == window.UserText && (it.Turn == running || slices.Contains(p.Fold, i)) {
				t.Fatalf("item %d is the person's: %+v", i, it)
			}
		}
		again := window.Fit(after)
		if again.Acts() {
			t.Fatalf("a second plan without news: %+v after %+v", again, p)
		}
	})
}

// A turn that goes on for long is not compacted in every step, when results
// take up to a fifth of the free window, as the engine bounds them.
func TestFitCannotLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := window.State{Window: rapid.SampledFrom(window.Steps[:4]).Draw(t, "window"), Prefix: 1500, Items: []window.Item{said(window.UserText, 1, 50)}}
		share := rapid.IntRange(1, 20).Draw(t, "percent of what is free")
		acted, steps := 0, 0
		for ; steps < 200; steps++ {
			size := max((s.Window-total(s))*share/100, 20)
			s.Items = append(s.Items, said(window.ToolCall, 1, 40), result(1, size, ""))
			p := window.Fit(s)
			if p.Full {
				break
			}
			if p.Acts() {
				acted++
			}
			s = apply(s, p)
		}
		if acted > window.MaxTight+1 && acted*2 > steps {
			t.Fatalf("%d compactions in %d steps, window %d", acted, steps, s.Window)
		}
	})
}
