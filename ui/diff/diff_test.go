package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela/themes"
)

const before = `package engine

import "time"

// Do calls f until it succeeds.
func (r *Retry) Do(ctx context.Context, f func() error) error {
	for attempt := 0; ; attempt++ {
		if err := f(); err == nil || attempt >= r.Max {
			return err
		}
		time.Sleep(r.delay(attempt))
	}
}

func (r *Retry) delay(n int) time.Duration {
	return r.Base << n
}

// 日本語のコメント
var limit = 10
`

var after = strings.NewReplacer(
	"\t\ttime.Sleep(r.delay(attempt))\n",
	"\t\tselect {\n\t\tcase <-r.Clock.After(r.delay(attempt)):\n\t\tcase <-ctx.Done():\n\t\t\treturn ctx.Err()\n\t\t}\n",
	"limit = 10", "limit = 12",
).Replace(before)

func example(t testing.TB) *Diff {
	t.Helper()
	d, err := New("engine/retry.go", before, after)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func styles(theme themes.Theme) *Renderer { return NewRenderer(themes.NewStyles(theme)) }

// everyWidth draws a diff at each width from 1 to 120, without styles, and
// checks the width on the way.
func everyWidth(t *testing.T, layout Layout) string {
	var b strings.Builder
	for width := 1; width <= 120; width++ {
		fmt.Fprintf(&b, "== %d\n", width)
		var plain [2]string
		for i, theme := range []themes.Theme{themes.Dark(), themes.Light()} {
			v := styles(theme).Render(example(t), width, Options{Layout: layout, Current: 1})
			for _, line := range v.Lines {
				if w := ansi.StringWidth(line); w > width || strings.Contains(line, "\n") {
					t.Fatalf("width %d: a line has %d cells: %q", width, w, line)
				}
				plain[i] += strings.TrimRight(ansi.Strip(line), " ") + "\n"
			}
		}
		if plain[0] != plain[1] {
			t.Fatalf("width %d: the text depends on the theme", width)
		}
		b.WriteString(plain[0])
	}
	return b.String()
}

func TestUnifiedAtEveryWidth(t *testing.T) { golden.RequireEqual(t, everyWidth(t, Unified)) }
func TestSplitAtEveryWidth(t *testing.T)   { golden.RequireEqual(t, everyWidth(t, Split)) }

func TestStyledSample(t *testing.T) {
	d := example(t)
	d.Toggle(1)
	for name, theme := range map[string]themes.Theme{"dark": themes.Dark(), "light": themes.Light(), "none": themes.NoColor()} {
		t.Run(name, func(t *testing.T) {
			golden.RequireEqual(t, strings.Join(styles(theme).Render(d, 60, Options{Current: 0}).Lines, "\n"))
		})
	}
}

func TestOnlyChangedWordsAreTinted(t *testing.T) {
	tests := []struct {
		name, old, new string
		del, add       []string // the tinted pieces
	}{
		{"a word", "limit = 10", "limit = 12", []string{"10"}, []string{"12"}},
		{"an insertion", "f(a)", "f(a, b)", nil, []string{", b"}},
		{"nothing in common", "abc def", "xyz", nil, nil},
		{"tab against blanks", "\tx", "    x", []string{"␉"}, []string{"    "}},
		{"a carriage return", "x = 1", "x = 1\r", nil, []string{"<CR>"}},
		{"an invisible letter", "admin = 1", "adm\u200bin = 1", []string{"admin"}, []string{"adm<U+200B>in"}},
	}
	tinted := func(s shown) (out []string) {
		last := false
		for _, p := range s.pieces {
			if p.changed && last {
				out[len(out)-1] += p.text
			} else if p.changed {
				out = append(out, p.text)
			}
			last = p.changed
		}
		return out
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := New("x", "same\n"+tt.old+"\n", "same\n"+tt.new+"\n")
			if err != nil {
				t.Fatal(err)
			}
			lines := d.prepare(d.Hunks[0])
			if diff := cmp.Diff([][]string{nil, tt.del, tt.add}, [][]string{tinted(lines[0]), tinted(lines[1]), tinted(lines[2])}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHunksCanBeSteppedToggledAndApplied(t *testing.T) {
	d := example(t)
	v := styles(themes.Dark()).Render(d, 80, Options{Current: -1})
	if len(v.Hunks) != 2 || !strings.Contains(v.Lines[v.Hunks[1]], "hunk 2 of 2") {
		t.Fatalf("hunks at %v", v.Hunks)
	}
	if d.Summary() != "+6 -2" {
		t.Errorf("summary %q", d.Summary())
	}
	if d.Toggle(1) || d.Toggle(7) || d.Summary() != "+5 -1" {
		t.Errorf("after a hunk is dropped: %q", d.Summary())
	}
	after := styles(themes.Dark()).Render(d, 80, Options{Current: -1})
	if len(after.Lines) != len(v.Lines) || !strings.Contains(ansi.Strip(after.Lines[v.Hunks[1]]), "dropped") {
		t.Errorf("dropping a hunk moves or hides it: %q", after.Lines[v.Hunks[1]])
	}
	got, err := d.Result()
	if err != nil || !strings.Contains(got, "limit = 10") || !strings.Contains(got, "ctx.Done") {
		t.Errorf("result %q, %v", got, err)
	}
	parsed, err := Parse(udiff.Unified("a/x", "b/x", "a\n", "b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parsed[0].Result(); err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("a parsed diff cannot be applied, but: %v", err)
	}
}

func TestSpecialFiles(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"no change", "a\n", "a\n", "no changes"},
		{"created", "", "a\nb\n", "⋮ hunk 1 of 1\n1 + a\n2 + b"},
		{"deleted", "a\n", "", "⋮ hunk 1 of 1\n1 - a"},
		{"newline added", "a", "a\n", "⋮ hunk 1 of 1\n1 - a\n    (no newline at the end of the file)\n  + a"},
		{"CRLF throughout is no news", "a\r\nb\r\n", "a\r\nc\r\n", "⋮ hunk 1 of 1\n1   a\n2 - b\n  + c"},
		{"hostile", "a\n", "\x1b[2J\u202e\n", "⋮ hunk 1 of 1\n1 - a\n  + <ESC>[2J<U+202E>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := New("x", tt.old, tt.new)
			if err != nil {
				t.Fatal(err)
			}
			got := ansi.Strip(strings.Join(styles(themes.Dark()).Render(d, 60, Options{Current: -1}).Lines, "\n"))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// texts draws a text of few different lines, so that there is much to align.
func texts() *rapid.Generator[string] {
	line := rapid.SampledFrom([]string{"a", "b", "c", "", "x y", "x z", "\t", "日", "d\r"})
	return rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "newline") {
			s += "\n"
		}
		return s
	})
}

func TestResultAndLinesAgreeWithBothVersions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, updated := texts().Draw(t, "old"), texts().Draw(t, "new")
		d, err := New("x", old, updated)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.Result(); err != nil || got != updated {
			t.Fatalf("result %q, want %q, %v", got, updated, err)
		}
		// Numbers point at the lines that they are on.
		oldLines, newLines := strings.Split(old, "\n"), strings.Split(updated, "\n")
		for _, h := range d.Hunks {
			for _, l := range h.Lines {
				if l.Old > 0 && oldLines[l.Old-1] != l.Text || l.New > 0 && newLines[l.New-1] != l.Text {
					t.Fatalf("line %+v is not there", l)
				}
			}
		}
		// Its text, parsed, is the same diff.
		parsed, err := Parse(udiff.Unified("a/x", "b/x", old, updated))
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Hunks) > 0 {
			if diff := cmp.Diff(d.Hunks, parsed[0].Hunks); diff != "" || parsed[0].Path != "x" {
				t.Fatalf("parsed: %s", diff)
			}
		}
		// With every hunk dropped nothing changes.
		for i := range d.Hunks {
			d.Toggle(i)
		}
		if got, err := d.Result(); err != nil || got != old {
			t.Fatalf("with all dropped %q, want %q, %v", got, old, err)
		}
		width := rapid.IntRange(1, 90).Draw(t, "width")
		for _, layout := range []Layout{Unified, Split} {
			for _, line := range styles(themes.NoColor()).Render(d, width, Options{Layout: layout}).Lines {
				if ansi.StringWidth(line) > width {
					t.Fatalf("width %d: %q", width, line)
				}
			}
		}
	})
}
