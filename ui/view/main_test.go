package view

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"chela/engine/pipeline"
	"chela/toolkit"
	"chela/ui/screentest"
)

// TestMain fixes the time zone, since views show local times.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
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
		Tool: screentest.Hostile, Level: toolkit.Dangerous, Summary: screentest.Hostile, Hash: screentest.Hostile, Args: []byte(`{"a":"` + screentest.Hostile + `"}`), Asks: []string{screentest.Hostile},
		Effects: []toolkit.Effect{{Kind: toolkit.Runs, Target: screentest.Hostile}, {Kind: toolkit.Dials, Target: screentest.Hostile}, {Kind: screentest.Hostile, Target: screentest.Hostile}},
		Preview: toolkit.Preview{
			Kind: kind, Path: screentest.Hostile, Old: screentest.Hostile + "\nx", New: "y" + screentest.Hostile + strings.Repeat("w", 400), Command: screentest.Hostile, Program: screentest.Hostile, Dir: screentest.Hostile,
			Env: []string{screentest.Hostile}, Method: screentest.Hostile, URL: "https://" + screentest.Hostile, Address: []string{screentest.Hostile}, Body: screentest.Hostile, Headers: []string{screentest.Hostile},
			Text: screentest.Hostile, Notes: []string{screentest.Hostile},
		},
	}
}

var kinds = []toolkit.PreviewKind{toolkit.PreviewNone, toolkit.PreviewDiff, toolkit.PreviewCommand, toolkit.PreviewURL, toolkit.PreviewText}

func pending(p toolkit.Plan) pipeline.Pending {
	return pipeline.Pending{
		ID: "approval", Session: "s", Call: "call", Plan: p, Asked: screentest.Morning, Offers: pipeline.Offers(p),
		Reasons: []string{p.Level.String() + " calls ask in ask mode"},
	}
}

// everySize draws at sizes from 20 by 1 to 140 by 40: every width in three
// heights, and every height in four widths.
func everySize(t *testing.T, draw func(w, h int) []string) {
	t.Helper()
	for w := 20; w <= 140; w++ {
		for _, h := range []int{2, 6, 16} {
			screentest.PlainFrame(t, draw(w, h), w, h)
		}
	}
	for _, w := range []int{20, 37, 60, 140} {
		for h := 1; h <= 40; h++ {
			screentest.PlainFrame(t, draw(w, h), w, h)
		}
	}
}
