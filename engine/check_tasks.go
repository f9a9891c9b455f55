package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/engine/stall"
	"chela/toolkit"
)

// checkTask is one of the four. right says what is wrong, or "".
type checkTask struct {
	name   string
	prompt string
	files  map[string]string
	right  func(o observed) string
}

// observed is what came of a task.
type observed struct {
	dir    string
	answer string
	calls  int
	fault  string // why the turn ended, if it did not by itself
	speeds []float64
}

func (o observed) says(want string) string {
	if !strings.Contains(o.answer, want) {
		return "its answer does not say " + want
	}
	return ""
}

// checkSet are the tasks, the easiest first. Their facts are in no training
// data, and the prompts are those that people write.
var checkSet = []checkTask{
	{
		"a call", "Read number.txt and tell me the number in it.",
		map[string]string{"number.txt": "The number is 4817.\n"},
		func(o observed) string {
			if o.calls == 0 {
				return "it made no call"
			}
			return o.says("4817")
		},
	},
	{
		"no call", "What is 6 times 7? Answer with the number only.", nil,
		func(o observed) string {
			if o.calls > 0 {
				return "it called a tool for what needs none"
			}
			return o.says("42")
		},
	},
	{
		"a recovery", "Read settings.conf and tell me the limit in it. If it is not there, look for it.",
		map[string]string{"src/etc/settings.conf": "limit = 365\n"},
		func(o observed) string { return o.says("365") },
	},
	{
		"an edit", "Change the colour from blue to green in colour.txt.",
		map[string]string{"colour.txt": "size = 3\ncolour = blue\n"},
		func(o observed) string {
			b, err := os.ReadFile(filepath.Join(o.dir, "colour.txt"))
			if err != nil || strings.TrimSpace(string(b)) != "size = 3\ncolour = green" {
				return "the file is not what it should be"
			}
			return ""
		},
	},
}

// run does the tasks, each in a session of its own. The error is one of the
// machine or the server, or the context's.
func (c *Check) run(ctx context.Context, e *Engine, model string, progress func(string)) error {
	limited, cancel := context.WithTimeoutCause(ctx, checkTasks, errCheckTime)
	defer cancel()
	sub := e.Subscribe()
	defer sub.Close()
	var speeds []float64
	for i, t := range checkSet {
		progress(fmt.Sprintf("%d/%d %s", i+1, len(checkSet), t.name))
		begun := e.cfg.Now()
		o, err := c.do(limited, e, sub, model, t)
		done := CheckedTask{Name: t.name, Took: e.cfg.Now().Sub(begun)}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(context.Cause(limited), errCheckTime):
			done.Why = errCheckTime.Error()
		case err != nil:
			return err
		case o.fault != "":
			done.Why = o.fault
		default:
			done.Why = t.right(o)
		}
		done.OK = done.Why == ""
		speeds = append(speeds, o.speeds...)
		c.Tasks = append(c.Tasks, done)
		state := "right"
		if !done.OK {
			state = done.Why
		}
		progress(fmt.Sprintf("%d/%d %s: %s", i+1, len(checkSet), t.name, state))
	}
	if slices.Sort(speeds); len(speeds) > 0 {
		c.Speed = speeds[len(speeds)/2]
	}
	return nil
}

// do has the model do one task.
func (c *Check) do(ctx context.Context, e *Engine, sub *event.Subscription, model string, t checkTask) (observed, error) {
	o := observed{dir: e.Workspace()}
	s, err := e.Open(ctx, OpenOptions{Model: model})
	if err != nil {
		return o, err
	}
	defer s.Close()
	native, thinks := s.State().CallMode == callmode.Native, s.asksToThink()
	if err := s.Submit(t.prompt); err != nil {
		return o, err
	}
	for {
		batch, err := sub.Next(ctx)
		if err != nil {
			return o, err
		}
		for _, ev := range batch {
			if ev.Session != s.ID() {
				continue
			}
			switch b := ev.Body.(type) {
			case event.CallEmitted:
				o.calls++
				if b.Origin == toolkit.FromRescue && native {
					c.counts["found in text"]++
					c.lost++
				}
			case event.CallModeChanged:
				native = b.To == callmode.Native.String()
			case event.ApprovalAsked:
				// Files of the scratch folder may be changed, and nothing else: no
				// command and no request of an unknown model runs.
				a := pipeline.Answer{Reason: "only files of this folder are to be used here"}
				if b.Tool == "write_file" || b.Tool == "edit_file" {
					a = pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce}
				}
				if err := s.Answer(b.Approval, b.Plan.Hash, a); err != nil && !errors.Is(err, pipeline.ErrNotPending) {
					return o, err
				}
			case event.MessageDone:
				o.answer = b.Text
				if v := b.Stats.TokensPerSecond(); v > 0 && b.Stats.Tokens > 4 {
					o.speeds = append(o.speeds, v)
				}
				switch {
				case b.Thinking != "" && thinks:
					c.Thinking = "it thinks before it answers"
				case b.Thinking != "":
					c.Thinking = "it thinks also when told not to"
				}
			case event.TurnEnded:
				if b.Summary != "" {
					o.answer = b.Summary
				}
				if b.Reason == event.EndedError {
					o.fault = b.Error
				}
				if b.Action == "start" || b.Action == "pull "+model {
					return o, fmt.Errorf("%s. %s", b.Error, b.Hint)
				}
				return o, nil
			}
			c.note(ev.Body)
		}
	}
}

// note counts the help that a model needed with the form of its calls.
func (c *Check) note(b event.Body) {
	switch b := b.(type) {
	case event.CallValidated:
		mended := slices.ContainsFunc(b.Repairs, func(r string) bool {
			return !strings.HasPrefix(r, "found in the model's text") && !strings.HasPrefix(r, "asked for in forced mode")
		})
		if b.Error != nil || mended {
			c.counts["repaired"]++
		}
	case event.Stalled:
		c.counts["asked again"]++
		if b.State == string(stall.Empty) && strings.Contains(b.Text, "did not arrive") {
			c.lost++
		}
	}
}

// asksToThink reports whether the next request asks the model to think.
func (s *Session) asksToThink() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.think(s.pick.mode()).Value != false
}
