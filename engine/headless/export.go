package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"chela/store"
	"chela/toolkit"
)

// The forms of an export.
const (
	AsMarkdown = "md"
	AsJSONL    = "jsonl"
)

// SessionExport writes a whole session to standard output: as Markdown to read,
// or as JSON lines, each with the kind of what it is (session, message, call,
// approval) in order of time.
func SessionExport(ctx context.Context, t Terminal, s Setup, id, form string) error {
	if t.JSON {
		form = AsJSONL
	}
	if form != AsMarkdown && form != AsJSONL {
		return Usagef("--format %q: give %s or %s", form, AsMarkdown, AsJSONL)
	}
	return with(ctx, s, t, func(a *App) error {
		v, err := FindSession(ctx, a.Store, a.Engine.Workspace(), id)
		if err != nil {
			return err
		}
		x := exported{session: v}
		if x.messages, err = a.Store.Messages(ctx, v.ID); err != nil {
			return err
		}
		if x.calls, err = a.Store.Calls(ctx, v.ID); err != nil {
			return err
		}
		if x.approvals, err = a.Store.Approvals(ctx, v.ID); err != nil {
			return err
		}
		if form == AsJSONL {
			b, err := x.lines()
			if err != nil {
				return err
			}
			return t.write(t.Out, escapeHidden(bytes.TrimSpace(b)))
		}
		return t.write(t.Out, []byte(strings.TrimSpace(t.safe(x.markdown()))))
	})
}

// exported is a session with all that belongs to it.
type exported struct {
	session   store.Session
	messages  []store.Message
	calls     []store.Call
	approvals []store.Approval
}

// line is one line of JSON: what it is, and the thing itself.
type line struct {
	Kind string `json:"kind"`
	Of   any    `json:"of"`
}

func (x exported) lines() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	put := func(kind string, of any) error { return enc.Encode(line{kind, of}) }
	if err := put("session", x.session); err != nil {
		return nil, err
	}
	calls, approvals := x.calls, x.approvals
	for _, m := range x.messages {
		for len(calls) > 0 && calls[0].EmittedAt.Before(m.Created) {
			if err := put("call", calls[0]); err != nil {
				return nil, err
			}
			calls = calls[1:]
		}
		if err := put("message", m); err != nil {
			return nil, err
		}
	}
	for _, c := range calls {
		if err := put("call", c); err != nil {
			return nil, err
		}
	}
	for _, a := range approvals {
		if err := put("approval", a); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// markdown tells the session to a reader: who said what, and each call with its
// arguments, its decision and its output.
func (x exported) markdown() string {
	var b strings.Builder
	title := x.session.Title
	if title == "" {
		title = "Session " + short(x.session.ID)
	}
	fmt.Fprintf(&b, "# %s\n\n%s, %s mode, in `%s`, %s\n", title, x.session.Model, x.session.Mode, x.session.Workspace, x.session.Created.UTC().Format(time.RFC3339))
	byID := map[string]store.Call{}
	for _, c := range x.calls {
		byID[c.ID] = c
	}
	for _, m := range x.messages {
		switch m.Role {
		case store.RoleTool:
			continue // told with the call
		case store.RoleUser:
			fmt.Fprintf(&b, "\n## You\n\n%s\n", m.Content)
		default:
			who := m.Model
			if who == "" {
				who = m.Role
			}
			fmt.Fprintf(&b, "\n## %s\n", who)
			if m.Content != "" {
				fmt.Fprintf(&b, "\n%s\n", m.Content)
			}
		}
		for _, id := range m.Calls {
			if c, ok := byID[id]; ok {
				delete(byID, id)
				b.WriteString(callMarkdown(c))
			}
		}
	}
	first := true
	for _, c := range x.calls {
		if _, left := byID[c.ID]; !left {
			continue
		}
		if first {
			b.WriteString("\n## Calls of yours\n")
			first = false
		}
		b.WriteString(callMarkdown(c))
	}
	return b.String()
}

func callMarkdown(c store.Call) string {
	args := c.Args
	if args == "" {
		args = c.Emitted
	}
	decided := c.Decision
	if c.DecidedBy != "" {
		decided += " by " + c.DecidedBy
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n### `%s` %s\n\n%s\n\n%s", c.Tool, c.State, strings.TrimSpace(strings.Join([]string{c.Summary, decided}, " · ")), fenced("json", args))
	out := c.Output
	var fault toolkit.Error
	if out == "" && json.Unmarshal(c.Error, &fault) == nil {
		out = fault.Message
	}
	if out != "" {
		b.WriteString("\n" + fenced("", out))
	}
	return b.String()
}

// fenced puts text into a code block that nothing in it can end.
func fenced(info, text string) string {
	ticks := "```"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	return ticks + info + "\n" + strings.TrimRight(text, "\n") + "\n" + ticks + "\n"
}
