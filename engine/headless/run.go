package headless

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/store"
	"chela/tiers"
	"chela/toolkit"
)

// RunOptions are those of `chela run`.
type RunOptions struct {
	Setup
	Prompt   string
	Model    string // empty: the session's own, or the one chela would start with
	Mode     string // empty: security.mode of the settings
	Tier     string // empty: detected
	Session  string // resume this one; "last": the newest of the folder
	Continue bool   // the same as Session "last"
}

// Run has the model answer one prompt. The answer goes to Out as it comes, a
// line for each call to Err; with JSON every event goes to Out, one a line.
func Run(ctx context.Context, t Terminal, o RunOptions) error {
	if strings.TrimSpace(o.Prompt) == "" {
		return Usagef("the prompt is empty: chela run \"what you want done\", or pipe it in")
	}
	mode, err := ParseMode(o.Mode)
	if err != nil {
		return err
	}
	var tier *tiers.Tier
	if o.Tier != "" {
		v, err := tiers.Parse(o.Tier)
		if err != nil {
			return Usagef("--tier: %w", err)
		}
		tier = &v
	}
	if o.Continue {
		if o.Session != "" {
			return Usagef("--session and --continue exclude each other: --continue means --session last")
		}
		o.Session = "last"
	}
	return with(ctx, o.Setup, t, func(a *App) error {
		sub := a.Engine.Subscribe()
		defer sub.Close()
		s, restore, err := a.open(ctx, t, o, mode)
		if err != nil {
			return err
		}
		defer s.Close()
		if tier != nil {
			if err := s.SetTier(ctx, tier); err != nil {
				return err
			}
		}
		end, denied, err := follow(ctx, t, sub, s, o.Prompt)
		return errors.Join(conclude(t, s, end, denied, err), restore())
	})
}

// open starts or resumes the session of a run. restore gives it the mode back
// that it had: a mode on the command line is for this run only, and must not
// be in force when the session is resumed.
func (a *App) open(ctx context.Context, t Terminal, o RunOptions, mode *pipeline.Mode) (s *engine.Session, restore func() error, err error) {
	open := engine.OpenOptions{Model: o.Model}
	own := a.Settings.Security.Mode
	if mode == nil {
		mode = &own
	}
	open.Mode = mode
	if o.Session != "" {
		old, err := FindSession(ctx, a.Store, a.Engine.Workspace(), o.Session)
		if err != nil {
			return nil, nil, err
		}
		open.ID = old.ID
		if m, err := pipeline.ParseMode(old.Mode); err == nil {
			own = m
		}
		if open.Model == "" {
			open.Model = old.Model
		}
	}
	if o.Model != "" || open.Model == "" {
		choice, err := a.Choose(ctx, o.Model)
		if err != nil {
			return nil, nil, err
		}
		if choice.Server != nil {
			t.note("%s. Start Ollama with `ollama serve`, or set OLLAMA_HOST, for a real model.", choice.Reason)
		}
		open.Model = choice.Model
	}
	if s, err = a.Engine.Open(ctx, open); err != nil {
		if errors.Is(err, store.ErrInUse) {
			err = fmt.Errorf("%w: close it there, or leave --session and --continue out", err)
		}
		return nil, nil, err
	}
	return s, func() error {
		if *mode == own {
			return nil
		}
		return s.SetMode(context.WithoutCancel(ctx), own)
	}, nil
}

// FindSession returns the session that an argument names: an id, the unique
// beginning of one, or "last" for the newest conversation in the folder.
func FindSession(ctx context.Context, st *store.Store, workspace, id string) (store.Session, error) {
	if id != "last" {
		s, err := st.Session(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			return s, &Error{Usage, err}
		}
		return s, err
	}
	all, err := st.Sessions(ctx, workspace, 0)
	if err != nil {
		return store.Session{}, err
	}
	for _, s := range all {
		// The number of turns is stored at their end; a first turn that was
		// cut short by a kill has left its prompt.
		if s.Turns > 0 {
			return s, nil
		}
		messages, err := st.Messages(ctx, s.ID)
		if err != nil || len(messages) > 0 {
			return s, err
		}
	}
	return store.Session{}, Usagef("there is no session in %s yet: leave --continue and --session out to begin one", workspace)
}

// follow submits the prompt and prints what happens until the turn has ended.
// When the context ends the turn is cancelled, and its end still waited for.
func follow(ctx context.Context, t Terminal, sub *event.Subscription, s *engine.Session, prompt string) (end event.TurnEnded, denied int, err error) {
	if err := s.Submit(prompt); err != nil {
		return end, 0, err
	}
	defer context.AfterFunc(ctx, func() { s.Cancel() })()
	p := &progress{t: t, calls: map[string]shownCall{}}
	for {
		batch, err := sub.Next(context.WithoutCancel(ctx))
		if err != nil {
			return end, denied, fmt.Errorf("following the turn: %w", err)
		}
		for _, e := range batch {
			if e.Session != "" && e.Session != s.ID() {
				continue
			}
			if err := p.show(e); err != nil {
				s.Cancel() // nobody reads the answer any more
				return end, denied, err
			}
			switch b := e.Body.(type) {
			case event.CallReturned:
				if b.Error != nil && b.Error.Code == toolkit.CodeApproval {
					denied++
				}
			case event.TurnEnded:
				return b, denied, nil
			}
		}
	}
}

// conclude turns the end of a turn into an exit.
func conclude(t Terminal, s *engine.Session, end event.TurnEnded, denied int, err error) error {
	switch {
	case err != nil:
		return err
	case end.Reason == event.EndedCancelled:
		return &Error{Cancelled, fmt.Errorf("cancelled: what arrived is kept (chela run --session %s to go on)", short(s.ID()))}
	case end.Reason != event.EndedDone && end.Reason != event.EndedCompleted:
		text := strings.TrimSuffix(strings.TrimSpace(end.Error), ".")
		if end.Hint != "" {
			text += ". " + strings.TrimSpace(end.Hint)
		}
		return errors.New(t.clean(text, t.ErrIsTerm))
	case denied > 0:
		return &Error{Denied, fmt.Errorf("%s denied because nobody is here to answer: allow more with --mode standard or --mode full, or decide it in the workstation (chela --session %s)",
			was(denied, "call"), short(s.ID()))}
	}
	return nil
}

func was(n int, word string) string {
	if n == 1 {
		return "1 " + word + " was"
	}
	return fmt.Sprintf("%d %ss were", n, word)
}
