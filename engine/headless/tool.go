package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela/engine"
	"chela/engine/pipeline"
	"chela/store"
	"chela/tiers"
	"chela/toolkit"
)

// ToolListOptions are those of `chela tool list`.
type ToolListOptions struct {
	Setup
	Tier  string // what this tier gets
	Model string // what this model gets; without either, the model chela would start with
	All   bool   // the tools that are not given too
}

// listedTool is one line of `chela tool list --json`.
type listedTool struct {
	Name     string        `json:"name"`
	Category string        `json:"category"`
	Level    toolkit.Level `json:"level"`
	Tier     tiers.Tier    `json:"tier"`
	Tokens   int           `json:"tokens"`
	Given    bool          `json:"given"`
	Reason   string        `json:"reason"`
}

// ToolList lists the tools that a tier or model gets, or all with the reason
// why each is given or not.
func ToolList(ctx context.Context, t Terminal, o ToolListOptions) error {
	if o.Tier != "" && o.Model != "" {
		return Usagef("--tier and --model exclude each other: a model has one tier")
	}
	o.NoStore = o.Tier != "" || o.Model != "" || o.All
	return with(ctx, o.Setup, t, func(a *App) error {
		sel, title, err := a.selection(ctx, o)
		if err != nil {
			return err
		}
		list := []listedTool{}
		for _, e := range sel.Entries {
			tool, ok := a.Tools.Get(e.Name)
			// Of a tier all its tools are listed, also those that cannot work here:
			// the reason says why.
			if !ok || !e.Given && !o.All && !a.inTier(e.Tier, e.Name, o.Tier) {
				continue
			}
			spec := tool.Spec()
			list = append(list, listedTool{spec.Name, spec.Category, spec.Level, spec.Tier, e.Tokens, e.Given, e.Reason})
		}
		if t.JSON {
			return t.print(list)
		}
		tb := &table{}
		tb.add("TOOL", "CATEGORY", "LEVEL", "TIER", "TOKENS", "GIVEN", "WHY")
		for _, l := range list {
			given := "yes"
			if !l.Given {
				given = "no"
			}
			tb.add(l.Name, l.Category, l.Level.String(), l.Tier.String(), strconv.Itoa(l.Tokens), given, t.line(l.Reason))
		}
		if err := tb.write(t, true); err != nil {
			return err
		}
		return t.write(t.Out, []byte(t.dim(fmt.Sprintf("%s: %s given, %d tokens", title, plural(len(sel.Given()), "tool"), sel.Tokens), t.OutIsTerm)))
	})
}

// inTier reports whether a tier has a tool, also where it cannot work, unless
// the person took it out.
func (a *App) inTier(of tiers.Tier, tool, tier string) bool {
	t, err := tiers.Parse(tier)
	return err == nil && of <= t && !slices.Contains(a.Settings.Tools.Demote, tool)
}

// selection answers for a tier, a model, or the model chela would start with.
func (a *App) selection(ctx context.Context, o ToolListOptions) (tiers.Selection, string, error) {
	model := o.Model
	switch {
	case o.Tier != "":
		tier, err := tiers.Parse(o.Tier)
		if err != nil {
			return tiers.Selection{}, "", Usagef("--tier: %w", err)
		}
		return a.Engine.Selection(ctx, tier, 0, nil), "tier " + tier.String(), nil
	case model == "" && o.All:
		// Every tool, as the smallest tier sees them: no model is asked about.
		return a.Engine.Selection(ctx, tiers.Essential, 0, nil), "tier essential", nil
	case model == "":
		c, err := a.Choose(ctx, "")
		if err != nil {
			return tiers.Selection{}, "", fmt.Errorf("%w (or say which with --tier, --model or --all)", err)
		}
		model = c.Model
	}
	d, sel := a.Engine.Route(ctx, model)
	return sel, fmt.Sprintf("%s (%s)", model, d.Tier), nil
}

// tool finds a tool by its name or another spelling of it, as the first of the
// five steps does. A wrong one is an error of the command line that names the
// nearest.
func (a *App) tool(name string) (toolkit.Tool, error) {
	if tool, _, ok := a.Tools.Resolve(name); ok {
		return tool, nil
	}
	return nil, Usagef("there is no tool %q: %s (chela tool list --all shows them)", name, nearest(a.Tools, name))
}

// ToolSchema prints what is fixed about a tool: for people and for scripts the
// same JSON, indented or on one line.
func ToolSchema(ctx context.Context, t Terminal, s Setup, name string) error {
	s.NoStore = true
	return with(ctx, s, t, func(a *App) error {
		tool, err := a.tool(name)
		if err != nil {
			return err
		}
		spec := tool.Spec()
		v := struct {
			Name       string          `json:"name"`
			Summary    string          `json:"summary"`
			Category   string          `json:"category"`
			Level      toolkit.Level   `json:"level"`
			Tier       tiers.Tier      `json:"tier"`
			ReadOnly   bool            `json:"read_only"`
			Idempotent bool            `json:"idempotent"`
			Tokens     int             `json:"tokens"`
			Parameters any             `json:"parameters"`
			Wire       json.RawMessage `json:"wire"` // as sent to the model
		}{
			spec.Name, spec.Summary, spec.Category, spec.Level, spec.Tier, spec.ReadOnly, spec.Idempotent,
			spec.Tokens(), spec.Schema.Schema, spec.Wire(),
		}
		if t.JSON {
			return t.print(v)
		}
		b, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return fmt.Errorf("writing the schema of %s: %w", name, err)
		}
		return t.write(t.Out, b)
	})
}

// CallOptions name one call and the mode it is judged in: for `chela check`
// and `chela tool run`.
type CallOptions struct {
	Setup
	Name string
	Args string // a JSON object
	Mode string // empty: security.mode of the settings
}

// with checks the options and opens what the call needs.
func (o CallOptions) with(ctx context.Context, t Terminal, f func(a *App, args json.RawMessage, mode pipeline.Mode) error) error {
	mode, err := ParseMode(o.Mode)
	if err != nil {
		return err
	}
	args, err := object(o.Args)
	if err != nil {
		return err
	}
	return with(ctx, o.Setup, t, func(a *App) error {
		if _, err := a.tool(o.Name); err != nil {
			return err
		}
		if mode == nil {
			mode = &a.Settings.Security.Mode
		}
		return f(a, args, *mode)
	})
}

// ToolRun takes one call through the five steps. It is recorded in the day's
// session "command line" of the folder.
func ToolRun(ctx context.Context, t Terminal, o CallOptions) error {
	return o.with(ctx, t, func(a *App, args json.RawMessage, mode pipeline.Mode) error {
		s, err := a.commandLine(ctx, &mode)
		if err != nil {
			return err
		}
		defer s.Close()
		out, err := s.Call(ctx, o.Name, args)
		if err != nil {
			return err
		}
		return report(t, out)
	})
}

// object checks that the arguments are one JSON object; what is in it is the
// validator's business.
func object(text string) (json.RawMessage, error) {
	raw := bytes.TrimSpace([]byte(text))
	var v map[string]json.RawMessage
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		if err == nil {
			err = errors.New("it is null")
		}
		return nil, Usagef("the arguments are no JSON object: %w: write them like '{\"path\": \"go.mod\"}', or - to read them from standard input", err)
	}
	return raw, nil
}

// CommandLineTitle is the title of the sessions that hold a person's calls.
const CommandLineTitle = "command line"

// commandLine opens today's session for calls from the command line. If
// another program is using it, a second one is begun.
func (a *App) commandLine(ctx context.Context, mode *pipeline.Mode) (*engine.Session, error) {
	all, err := a.Store.Sessions(ctx, a.Engine.Workspace(), 0)
	if err != nil {
		return nil, err
	}
	y, m, d := time.Now().Date()
	for _, old := range all {
		oy, om, od := old.Created.Date()
		if old.Title != CommandLineTitle || old.Turns > 0 || oy != y || om != m || od != d {
			continue
		}
		s, err := a.Engine.Open(ctx, engine.OpenOptions{ID: old.ID, Mode: mode})
		if errors.Is(err, store.ErrInUse) {
			continue
		}
		return s, err
	}
	return a.Engine.Open(ctx, engine.OpenOptions{Title: CommandLineTitle, Mode: mode})
}

// report prints the outcome of a call and turns it into an exit code.
func report(t Terminal, out pipeline.Outcome) error {
	code := OK
	if e := out.Error; e != nil {
		switch e.Code {
		case toolkit.CodeMissing, toolkit.CodeInvalid, toolkit.CodeNotFound:
			code = Usage
		case toolkit.CodeApproval:
			code = Denied
		case toolkit.CodeCancelled:
			code = Cancelled
		default:
			code = Failed
		}
	}
	if t.JSON {
		err := t.print(struct {
			OK     bool           `json:"ok"`
			Output string         `json:"output"`
			Data   any            `json:"data"`
			Error  *toolkit.Error `json:"error"`
		}{out.OK, out.Result.Text, out.Result.Data, out.Error})
		if err != nil || code == OK {
			return err
		}
		return &Error{Code: code}
	}
	if text := strings.TrimSuffix(out.Result.Text, "\n"); text != "" {
		if err := t.write(t.Out, []byte(t.safe(text))); err != nil {
			return err
		}
	}
	for _, c := range out.Result.Changed {
		t.note("%s %s: +%d -%d", c.Kind, c.Path, c.Added, c.Removed)
	}
	if code == OK {
		return nil
	}
	text := out.Error.Error()
	switch out.Error.Code { // their hints tell a model not to try again
	case toolkit.CodeApproval:
		text = out.Error.Message + " Allow it with --mode standard or --mode full."
	case toolkit.CodeDenied:
		text = out.Error.Message
	}
	return &Error{code, errors.New(t.clean(text, t.ErrIsTerm))}
}
