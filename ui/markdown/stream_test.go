package markdown

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// corpus has what is hard to cut: each text is streamed with a cut at every
// byte.
var corpus = map[string]string{
	"sample":         sample,
	"fence":          "a\n\n```go\nx\n\ny := 1\n\n```\n\nb\n",
	"open fence":     "a\n\n~~~~\nx\n\n```\n\n~~~\n\ny",
	"setext":         "para\n\nhead\n====\n\npara\n-\n\nx\n",
	"lists":          "- a\n\n- b\n\n  more\n\n\n- c\n\n1. x\n\n1. y\n\n2) z\n\nend",
	"list or not":    "1. a\n\n1986\\. b\n\n- a\n\n-b\n\n*c*\n\n* d\n\n+e",
	"quotes":         "> a\n\n> b\nlazy\n\n> c\n>\n> d\n\ne",
	"table":          "| a | b |\n|---|---|\n| 1 | 2 |\n\n| x |\n\n| a |\n|---|\n\nb",
	"html":           "<!-- a\n\nb -->\n\n<div>\n\n*x*\n\n</div>\n\n<pre>\n\ny\n\n</pre>\n\nz",
	"late reference": "See [a] and [b].\n\nMore.\n\n[a]: https://a.example\n\nStill [b].\n\n[b]: <https://b.example> 't'\n\nEnd [a].",
	"early reference": "[a]: https://a.example\n\nSee [a].\n\nMore [a]\n\n[not a\n\nreference]: x\n\n" +
		"[a]: https://other.example\n\n[a]",
	"indented":    "a\n\n    code\n\n    more\n\nb\n\n- x\n\n      code in item\n\n\n    y\n",
	"breaks":      "\n\n\na  \nb\\\nc\n\n\n\nd\n\n***\n\n---\n\n- - -\n",
	"line ends":   "a\r\n\r\nb\r\n\r\n```\r\nc\r\n\r\n```\r\n\r\nd\re\r\n",
	"not ASCII":   "日本語\n\n\u202etext\n\n| 日 | é |\n|---|---|\n| \U0001f468\u200d\U0001f469 | e\u0301 |\n\n\xff\xe6\x97",
	"tabs":        "-\ta\n\n\tb\n\n\tc\td\n\n1.\tx\n\n\t\ty\n",
	"blank lines": "a\n \n\t\nb\n  \n   c\n",
}

func TestStreamedAndFinishedEqualsRenderedAtOnce(t *testing.T) {
	for name, text := range corpus {
		t.Run(name, func(t *testing.T) {
			r := dark()
			for _, width := range []int{24, 80} {
				want := r.Render(text, width)
				for cut := range len(text) + 1 {
					s := r.NewStream()
					s.Append(text[:cut])
					s.Lines(width)
					s.Append(text[cut:])
					s.Lines(width)
					s.Finish()
					if diff := cmp.Diff(want, s.Lines(width)); diff != "" {
						t.Fatalf("cut at %d (%q): %s", cut, text[:cut], diff)
					}
				}
			}
		})
	}
}

// TestEachStateOfAStreamIsARenderingOfItsText streams byte by byte. Links whose
// reference comes later are the documented exception.
func TestEachStateOfAStreamIsARenderingOfItsText(t *testing.T) {
	for name, text := range corpus {
		if strings.Contains(name, "late reference") || name == "sample" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := dark()
			s := r.NewStream()
			for i := range len(text) {
				s.Append(text[i : i+1])
				if want := string(wholeRunes([]byte(text[:i+1]))); len(want) != i+1 {
					continue // half a character is not shown yet
				}
				if diff := cmp.Diff(r.Render(text[:i+1], 40), s.Lines(40)); diff != "" {
					t.Fatalf("after %q: %s", text[:i+1], diff)
				}
			}
		})
	}
}

func TestAnyPiecesAndWidthsGiveTheSameEnd(t *testing.T) {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range corpus {
			if !yield(name) {
				return
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "texts")
		var b strings.Builder
		for _, name := range parts {
			b.WriteString(corpus[name])
			b.WriteString(rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "between"))
		}
		text := b.String()
		r := dark()
		s := r.NewStream()
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 60)).Draw(t, "piece")
			s.Append(rest[:n])
			rest = rest[n:]
			if rapid.Bool().Draw(t, "draw") {
				s.Lines(rapid.SampledFrom([]int{20, 40}).Draw(t, "width"))
			}
		}
		s.Finish()
		s.Append("ignored")
		if diff := cmp.Diff(r.Render(text, 40), s.Lines(40)); diff != "" {
			t.Fatalf("%s", diff)
		}
		if diff := cmp.Diff(r.Render(text, 20), s.Lines(20)); diff != "" {
			t.Fatalf("at another width: %s", diff)
		}
	})
}

func TestSettledTextIsNotRenderedAgain(t *testing.T) {
	s := dark().NewStream()
	s.Append(strings.Repeat("A paragraph of text.\n\n", 500) + "The end")
	s.Lines(80)
	if len(s.tail) > 100 || len(s.settled) == 0 {
		t.Errorf("%d bytes open, %d parts settled", len(s.tail), len(s.settled))
	}
	first := s.Lines(80)[0]
	s.settled[0].source = "no longer looked at"
	s.Append(" grows")
	if got := s.Lines(80)[0]; got != first {
		t.Errorf("the settled part was rendered again: %q", got)
	}
}

func TestAHugeOpenBlockIsPlainUntilFinished(t *testing.T) {
	r := dark()
	text := "Intro\n\n```go\n" + strings.Repeat("x := f(1)\n", maxTail/10+1)
	s := r.NewStream()
	s.Append(text)
	got := plainLines(s.Lines(40))
	if got[0] != "Intro" || got[2] != "```go" {
		t.Errorf("starts with %q", got[:3])
	}
	s.Append("```\n\nAfter *it*\n")
	s.Lines(40)
	s.Finish()
	if diff := cmp.Diff(r.Render(text+"```\n\nAfter *it*\n", 40), s.Lines(40)); diff != "" {
		t.Error(diff[:min(len(diff), 500)])
	}
}

func TestALineMadeToBeSlowIsPlain(t *testing.T) {
	r := dark()
	text := "Intro\n\n*b*\n\n" + strings.Repeat("[a](", MaxLine/4+1) + "\n\n*end*\n"
	want := r.Render(text, 40)
	if got := plainLines(want); got[2] != "*b*" || got[len(got)-1] != "*end*" {
		t.Errorf("not plain: %q", got[:4])
	}
	for _, drawn := range []bool{false, true} {
		s := r.NewStream()
		for i := 0; i < len(text); i += 1000 {
			s.Append(text[i:min(i+1000, len(text))])
			if drawn {
				s.Lines(40)
			}
		}
		s.Finish()
		if diff := cmp.Diff(want, s.Lines(40)); diff != "" {
			t.Errorf("streamed, drawn on the way %v: %s", drawn, diff[:min(len(diff), 500)])
		}
	}
}
