package view

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"chela/engine/pipeline"
	"chela/themes"
	"chela/toolkit"
)

// TestMain fixes the time zone, since views show local times.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

var morning = time.Date(2026, 3, 2, 9, 41, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return morning.Add(time.Duration(seconds * float64(time.Second)))
}

func testStyles() *themes.Styles {
	st := themes.NewStyles(themes.Pick("dark", true))
	return &st
}

// hostile is text as no well-meaning model writes it.
const hostile = "a\x1b]52;c;aGk=\x07b\u202e\u200bc\r\nd\te\x9b31m\xff日本語 \u0301\u0301\u0301"

// plainFrame checks that lines fit and hold nothing but text and styles, and
// returns them without the styles.
func plainFrame(t *testing.T, lines []string, w, h int) string {
	t.Helper()
	if len(lines) > h {
		t.Fatalf("%d lines in %d", len(lines), h)
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			t.Fatalf("line %d has %d cells, more than %d: %q", i, n, w, l)
		}
		out[i] = strings.TrimRight(withoutStyles(l), " ")
		for _, r := range out[i] {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
				t.Fatalf("line %d holds %U: %q", i, r, l)
			}
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// withoutStyles takes away what sets colours and attributes, and nothing else,
// so that any other sequence is found.
func withoutStyles(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		rest := strings.TrimLeft(s[i+2:], "0123456789;:")
		if !strings.HasPrefix(rest, "m") {
			return b.String() + s[i:]
		}
		s = rest[1:]
	}
}

const before = `package engine

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

// limit is how often.
var limit = 10
`

var after = strings.NewReplacer(
	"\t\ttime.Sleep(r.delay(attempt))\n",
	"\t\tselect {\n\t\tcase <-r.Clock.After(r.delay(attempt)):\n\t\tcase <-ctx.Done():\n\t\t\treturn ctx.Err()\n\t\t}\n",
	"limit = 10", "limit = 12",
).Replace(before)

func editPlan() toolkit.Plan {
	return toolkit.Plan{
		Tool: "edit_file", Level: toolkit.Moderate, Summary: "engine/retry.go", Hash: strings.Repeat("0123456789abcdef", 4),
		Args:    []byte(`{"path":"engine/retry.go","old":"time.Sleep(r.delay(attempt))","new":"select {\n}"}`),
		Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: "engine/retry.go"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewDiff, Path: "engine/retry.go", Old: before, New: after, Notes: []string{"match: exact"}},
	}
}

func execPlan(command string) toolkit.Plan {
	return toolkit.Plan{
		Tool: "exec", Level: toolkit.Dangerous, Summary: command, Hash: "feed", Args: []byte(fmt.Sprintf(`{"command":%q}`, command)),
		Effects:  []toolkit.Effect{{Kind: toolkit.Runs, Target: "/usr/bin/go"}},
		Deadline: 10 * time.Minute,
		Preview:  toolkit.Preview{Kind: toolkit.PreviewCommand, Command: command, Program: "/usr/bin/go", Dir: "engine", Env: []string{"CGO_ENABLED=0"}},
	}
}

func fetchPlan(address string) toolkit.Plan {
	return toolkit.Plan{
		Tool: "web_fetch", Level: toolkit.Moderate, Summary: "POST " + address, Hash: "beef", Args: []byte(`{}`),
		Effects: []toolkit.Effect{{Kind: toolkit.Dials, Target: "pkg.go.dev:443"}},
		Preview: toolkit.Preview{
			Kind: toolkit.PreviewURL, Method: "POST", URL: address, Address: []string{"34.149.140.181"},
			Headers: []string{"Accept: text/html"}, Body: "q=time",
		},
	}
}

func hostilePlan(kind toolkit.PreviewKind) toolkit.Plan {
	return toolkit.Plan{
		Tool: hostile, Level: toolkit.Dangerous, Summary: hostile, Hash: hostile, Args: []byte(`{"a":"` + hostile + `"}`), Asks: []string{hostile},
		Effects: []toolkit.Effect{{Kind: toolkit.Runs, Target: hostile}, {Kind: toolkit.Dials, Target: hostile}, {Kind: hostile, Target: hostile}},
		Preview: toolkit.Preview{
			Kind: kind, Path: hostile, Old: hostile + "\nx", New: "y" + hostile + strings.Repeat("w", 400), Command: hostile, Program: hostile, Dir: hostile,
			Env: []string{hostile}, Method: hostile, URL: "https://" + hostile, Address: []string{hostile}, Body: hostile, Headers: []string{hostile},
			Text: hostile, Notes: []string{hostile},
		},
	}
}

var kinds = []toolkit.PreviewKind{toolkit.PreviewNone, toolkit.PreviewDiff, toolkit.PreviewCommand, toolkit.PreviewURL, toolkit.PreviewText}

func pending(p toolkit.Plan) pipeline.Pending {
	return pipeline.Pending{
		ID: "approval", Session: "s", Call: "call", Plan: p, Asked: morning, Offers: pipeline.Offers(p),
		Reasons: []string{p.Level.String() + " calls ask in ask mode"},
	}
}

// everySize draws at sizes from 20 by 1 to 140 by 40: every width in three
// heights, and every height in four widths.
func everySize(t *testing.T, draw func(w, h int) []string) {
	t.Helper()
	for w := 20; w <= 140; w++ {
		for _, h := range []int{2, 6, 16} {
			plainFrame(t, draw(w, h), w, h)
		}
	}
	for _, w := range []int{20, 37, 60, 140} {
		for h := 1; h <= 40; h++ {
			plainFrame(t, draw(w, h), w, h)
		}
	}
}
