package markdown

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"chela/themes"
)

func dark() *Renderer { return New(themes.NewStyles(themes.Dark())) }

func plainLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = ansi.Strip(line)
	}
	return out
}

// sample has every kind of block that models write.
const sample = `# Retry

The test waits with a *fixed* sleep while the **back-off** is ~~slow~~ random, so a
slow run misses the last attempt. See ` + "`retry.go`" + ` and [the docs](https://pkg.go.dev/time "t").

## What to do

1. Take the clock
   as a parameter
2. Wait for it:

   ` + "```go" + `
   select {
   case <-r.Clock.After(d):
   }
   ` + "```" + `
10. Run it

- tight
- list
  - nested
  - [x] done
  - [ ] open

> Quoted text
> > and deeper
>
> - with a list

| name | what it does | n |
|:-----|:------------:|--:|
| Do   | runs *f*     | 1 |
| Max  | the limit of attempts that it makes | 12 |

` + "```python" + `
def f(x):
    return x + 1  # sum
` + "```" + `

    indented code

***

<details><summary>HTML</summary>
hidden
</details>

Inline <b>html</b>, an image ![alt text](https://evil.example/x.png), a bare https://example.org/a?b=c link
and <me@example.org>; &lt;tag&gt; &copy; \*escaped\* 日本語.

Setext
------

The [reference] and the end.

[reference]: https://example.com/ref
`

func TestSampleLooksRight(t *testing.T) {
	for _, width := range []int{72, 30} {
		var b strings.Builder
		for _, line := range plainLines(dark().Render(sample, width)) {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		t.Run(map[int]string{72: "wide", 30: "narrow"}[width], func(t *testing.T) {
			golden.RequireEqual(t, b.String())
		})
	}
}

func TestStylesOfTheSample(t *testing.T) {
	golden.RequireEqual(t, strings.Join(dark().Render(sample, 60)[:12], "\n"))
}

func TestNoLineIsWiderThanAskedFor(t *testing.T) {
	for width := 1; width <= 100; width++ {
		for _, line := range dark().Render(sample, width) {
			if w := ansi.StringWidth(line); w > width {
				t.Fatalf("at width %d a line has %d: %q", width, w, line)
			}
			if strings.Contains(line, "\n") {
				t.Fatalf("a line holds a newline: %q", line)
			}
		}
	}
}

var (
	sgr    = regexp.MustCompile("\x1b\\[[0-9;]*m")
	colour = regexp.MustCompile("[34]8;2;[0-9]+;[0-9]+;[0-9]+")
)

// unsafe returns what a line holds beside text and styles, and whether its
// styles are left open.
func unsafe(line string) string {
	if all := sgr.FindAllString(line, -1); len(all) > 0 && all[len(all)-1] != "\x1b[m" {
		return "open style " + all[len(all)-1]
	}
	for _, r := range sgr.ReplaceAllString(line, "") {
		if !unicode.IsGraphic(r) {
			return string(r)
		}
	}
	for _, seq := range sgr.FindAllString(line, -1) {
		params := colour.ReplaceAllString(strings.TrimSuffix(strings.TrimPrefix(seq, "\x1b["), "m"), "")
		for p := range strings.SplitSeq(params, ";") {
			if p == "5" || p == "6" || p == "8" { // blinking, concealed
				return seq
			}
		}
	}
	return ""
}

var hostile = []string{
	"&#27;[8mhidden&#x1b;[m", "`&#27;[31m`", "&#x9b;31m", "a &#x202e; b &zwnj; &rlm;",
	"[x](https://e.example/&#27;]8;;y)", "![&#x1b;](a&#7;)", "<b \x1b[8m>", "```\x1b[2J\n\x1b]52;c;?\x07\n```",
	"\x1b]8;;https://evil.example\x1b\\[good](https://good.example)", "| \x1b[8m | &#27; |\n|-|-|\n| \x9b | \u202e |",
	"[a]: http://x/&#27;\n\n[a]", "<http://x/\u202e>", "    \x1b[H", "> &#8238;", "- &#0;", "# \x00",
}

func TestNothingInTheSourceActsOnTheTerminal(t *testing.T) {
	for _, source := range hostile {
		for _, line := range dark().Render(source, 40) {
			if bad := unsafe(line); bad != "" {
				t.Errorf("%q gives %q: %q", source, line, bad)
			}
		}
	}
}

func TestLinksShowWhereTheyLead(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"another host in the text", "[https://good.example](https://evil.example/x)", "https://good.example (https://evil.example/x)"},
		{"same text", "[https://a.example](https://a.example)", "https://a.example"},
		{"no text", "[](https://a.example)", "https://a.example"},
		{"look-alike host", "[pay](https://p\u0430ypal.com/\u0430)", "pay (https://p<U+0430>ypal.com/\u0430)"},
		{"bare look-alike", "<https://p\u0430ypal.com>", "https://p<U+0430>ypal.com"},
		{"mail", "<a@example.org>", "a@example.org"},
		{"image", "![a *b*](http://x.example/y.png)", "[image: a b] http://x.example/y.png"},
		{"reference", "[a]\n\n[a]: /relative", "a (/relative)"},
		{"decoded", "[a](https://e.example/&amp;&#65;\\))", "a (https://e.example/&A))"},
		{"HTML link", "<a href=\"https://x\">y</a>", "<a href=\"https://x\">y</a>"},
		{"escapes in text", `\&amp; &amp;amp; \\`, `&amp; &amp; \`},
		{"code is not decoded", "`&amp; \\*`", `&amp; \*`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{tt.want}, plainLines(dark().Render(tt.in, 100))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWideTablesWrapThenBecomeRecords(t *testing.T) {
	table := "| name | text |\n|---|---|\n| a | some words that take room |\n| b | c |\n"
	if diff := cmp.Diff([]string{
		"name │ text",
		"─────┼──────────────",
		"a    │ some words",
		"     │ that take",
		"     │ room",
		"b    │ c",
	}, trimmed(dark().Render(table, 20))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"name a", "text some", "words", "that take", "room", "", "name b", "text c"}, trimmed(dark().Render(table, 9))); diff != "" {
		t.Error(diff)
	}
}

func trimmed(lines []string) []string {
	out := plainLines(lines)
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return out
}

func TestDeepNestingAndHugeTextStayBounded(t *testing.T) {
	deep := strings.Repeat("> ", 500) + "text"
	got := dark().Render(deep, 40)
	if len(got) != 1 || !strings.Contains(ansi.Strip(got[0]), "text") {
		t.Errorf("%q", got)
	}
	huge := strings.Repeat("*plain* text\n", MaxDocument/12)
	if got := dark().Render(huge, 40); !strings.Contains(ansi.Strip(got[0]), "*plain*") {
		t.Errorf("%q", got[0])
	}
}

func FuzzRender(f *testing.F) {
	f.Add(sample, 40)
	for _, s := range hostile {
		f.Add(s, 17)
	}
	f.Fuzz(func(t *testing.T, source string, width int) {
		if len(source) > 2000 {
			t.Skip("length is bounded by MaxDocument")
		}
		width = 1 + (width&0x7fffffff)%120
		r := dark()
		whole := r.Render(source, width)
		for _, line := range whole {
			if ansi.StringWidth(line) > width || unsafe(line) != "" {
				t.Fatalf("width %d: %q: %q", width, line, unsafe(line))
			}
		}
		s := r.NewStream()
		for i := 0; i < len(source); i += 7 {
			s.Append(source[i:min(i+7, len(source))])
			if i%3 == 0 {
				s.Lines(width)
			}
		}
		s.Finish()
		if diff := cmp.Diff(whole, s.Lines(width)); diff != "" {
			t.Fatalf("streamed differs: %s", diff)
		}
	})
}
