package headless

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"chela/engine/event"
	"chela/engine/ollama"
	"chela/tiers"
)

// Models lists the models of the server and the built-in one. When the server
// does not answer, the list is printed still and the error says what to do.
func Models(ctx context.Context, t Terminal, s Setup) error {
	return with(ctx, s.looksOnly(), t, func(a *App) error {
		listed, serverErr := a.Engine.Models(ctx)
		models := make([]graded, len(listed))
		for i, m := range listed {
			models[i] = graded{m, a.gradeOf(ctx, m)}
		}
		if t.JSON {
			v := struct {
				Host   string   `json:"host"`
				Models []graded `json:"models"`
				Error  string   `json:"error,omitempty"`
			}{Host: a.Engine.Server().Host(), Models: models}
			if serverErr != nil {
				v.Error = serverErr.Error()
			}
			return errors.Join(t.print(v), serverErr)
		}
		tb := &table{}
		tb.add("MODEL", "PARAMETERS", "SIZE", "CONTEXT", "TIER", "GRADE", "CAN", "")
		for _, m := range models {
			tier := tiers.Classify(m.Tier(), tiers.Overrides{Models: a.Settings.Tiers.Models}).Tier
			tb.add(t.line(m.Name), tiers.FormatSize(m.Parameters), sizeOf(m.Model), contextOf(m.Model), tier.String(), cmp.Or(m.Grade, "-"),
				t.line(strings.Join(m.Capabilities, " ")), stateOf(m.Model))
		}
		return errors.Join(tb.write(t, true), serverErr)
	})
}

// graded is a model with the grade of its last check.
type graded struct {
	ollama.Model
	Grade string `json:"grade,omitempty"`
}

func sizeOf(m ollama.Model) string {
	if m.Size == 0 {
		return "-"
	}
	return ollama.FormatBytes(m.Size)
}

func contextOf(m ollama.Model) string {
	if m.ContextLength == 0 {
		return "unknown"
	}
	return fmt.Sprint(m.ContextLength)
}

func stateOf(m ollama.Model) string {
	switch {
	case m.BuiltIn:
		return "built in, for demonstration"
	case m.Loaded && m.OnGPU > 0:
		return fmt.Sprintf("loaded, %.0f%% on the GPU", m.OnGPU*100)
	case m.Loaded:
		return "loaded"
	case m.Remote:
		return "runs elsewhere"
	}
	return ""
}

// Pull downloads a model. How it goes is drawn on Err: a bar on a terminal, a
// line for each stage elsewhere. When the context ends the download stops, and
// what was loaded stays on the server's disk.
func Pull(ctx context.Context, t Terminal, s Setup, model string) error {
	s.NoStore = true
	return with(ctx, s, t, func(a *App) error {
		sub := a.Engine.Subscribe()
		defer sub.Close()
		if err := a.Engine.Pull(model); err != nil {
			return &Error{Usage, err}
		}
		model = strings.TrimSpace(model)
		defer context.AfterFunc(ctx, func() { a.Engine.CancelPull(model) })()
		bar := &pullBar{t: t, w: t.Err}
		for {
			batch, err := sub.Next(context.WithoutCancel(ctx))
			if err != nil {
				return fmt.Errorf("following the download: %w", err)
			}
			for _, e := range batch {
				p, ok := e.Body.(event.PullProgress)
				if !ok || p.Model != model {
					continue
				}
				bar.show(p)
				if p.Done {
					return pulled(ctx, t, p)
				}
			}
		}
	})
}

func pulled(ctx context.Context, t Terminal, p event.PullProgress) error {
	var out error
	if t.JSON {
		out = t.print(struct {
			OK    bool   `json:"ok"`
			Model string `json:"model"`
			Bytes int64  `json:"bytes"`
			Error string `json:"error,omitempty"`
		}{p.Error == "", p.Model, p.Completed, p.Error})
	}
	switch {
	case out != nil:
		return out
	case p.Error == "" && t.JSON:
		return nil
	case p.Error == "":
		return t.write(t.Out, []byte(t.line(p.Model)+" is installed"))
	case ctx.Err() != nil:
		return &Error{Cancelled, errors.New("cancelled: what was loaded is kept, so the same command goes on from there")}
	}
	return errors.New(t.clean(p.Error, t.ErrIsTerm))
}

// pullBar draws a download.
type pullBar struct {
	t     Terminal
	w     io.Writer
	last  string // what is drawn, or the last stage written
	tenth int64
}

func (b *pullBar) show(p event.PullProgress) {
	status := strings.Join(strings.Fields(b.t.clean(p.Status, true)), " ")
	if !b.t.ErrIsTerm {
		b.lines(p, status)
		return
	}
	line := status
	if p.Total > 0 {
		const cells = 24
		full := int(min(cells, p.Completed*cells/p.Total))
		line = fmt.Sprintf("%s%s %3d%%  %s of %s  %s", strings.Repeat("█", full), strings.Repeat("░", cells-full),
			min(100, p.Completed*100/p.Total), ollama.FormatBytes(p.Completed), ollama.FormatBytes(p.Total), status)
	}
	if b.t.Width > 1 {
		line = ansi.Truncate(line, b.t.Width-1, "…")
	}
	if line != b.last {
		fmt.Fprint(b.w, "\r"+line+"\x1b[K")
		b.last = line
	}
	if p.Done {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

// lines writes a line for each stage and for each tenth of the download.
func (b *pullBar) lines(p event.PullProgress, status string) {
	if p.Done || status == "" {
		return
	}
	var tenth int64
	line := status
	if p.Total > 0 {
		tenth = p.Completed * 10 / p.Total
		line = fmt.Sprintf("%s %d%% of %s", status, tenth*10, ollama.FormatBytes(p.Total))
	}
	if status == b.last && tenth == b.tenth {
		return
	}
	b.last, b.tenth = status, tenth
	fmt.Fprintln(b.w, line)
}
