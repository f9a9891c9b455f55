package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ollama/ollama/api"

	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/window"
	"chela/store"
)

// summary is what of the conversation is no longer sent, and what stands for
// it. It is kept with the session, so that a resumed one sends the same.
type summary struct {
	Upto   int           `json:"upto"` // place in the store of the last message that is left out
	Turn   int           `json:"turn"` // whose prompt is sent all the same, since it was running
	Digest window.Digest `json:"digest"`
	Notes  string        `json:"notes,omitempty"` // the model's own words; empty: it gave none that can be used
}

// covers reports whether a stored message is left out.
func (c summary) covers(m store.Message) bool {
	return m.Seq <= c.Upto && (m.Role != store.RoleUser || m.Turn != c.Turn)
}

// entry is the block that stands first in the conversation.
func (c summary) entry(window_ int) entry {
	return newEntry(window.Summary, 0, 0, api.Message{Role: store.RoleUser, Content: c.Digest.Text(window.SummaryTokens(window_), c.Notes)})
}

// restoreSummary reads what was left out before. One that cannot be read is an
// error: without it the conversation would no longer fit, or begin in the middle.
func (s *Session) restoreSummary() error {
	if len(s.rec.Summary) == 0 {
		return nil
	}
	if err := json.Unmarshal(s.rec.Summary, &s.summary); err != nil {
		return fmt.Errorf("reading the summary of session %s: %w", s.rec.ID, err)
	}
	return nil
}

// reserve is what of the window is kept free for the answer, in tokens.
func reserve(window int) int { return min(window/5, 4096) }

// fit makes room for the next request, if the window is nearly full: old
// output is folded first, then the oldest turns are summarised. It returns how
// the turn ends when nothing more can give way. force acts even while there
// seems to be room, because the server says that there is none.
func (s *Session) fit(ctx context.Context, turn int, force bool) *event.TurnEnded {
	s.mu.Lock()
	plan := window.Fit(s.fitState(force))
	if plan.Tight {
		s.tight++
	}
	w := s.pick.window
	s.mu.Unlock()
	if plan.Acts() {
		notes := ""
		if len(plan.Summarise) > 0 {
			notes = s.askSummary(ctx, turn)
		}
		s.mu.Lock()
		c := s.giveWay(plan, turn, notes)
		s.mu.Unlock()
		s.publish(turn, c)
		if err := s.save(ctx); err != nil {
			return failed(err)
		}
	}
	if force && plan.Acts() || !force && !plan.Full {
		return nil // when it was forced, whether that is enough is for the server to say
	}
	return &event.TurnEnded{
		Reason: event.EndedError,
		Error:  fmt.Sprintf("the window is full: %d of %d tokens are needed and nothing more can be left out", plan.After, w),
		Hint:   "Ask for a smaller piece, start a new session with /new, or raise models.window in settings.yml.",
	}
}

// fitState is the conversation as the governor sees it. The caller holds mu.
func (s *Session) fitState(force bool) window.State {
	m := s.learnt.Meter
	st := window.State{Prefix: m.Estimate(s.prefixSize()), Window: s.pick.window, Reserve: reserve(s.pick.window), Tight: s.tight}
	for _, e := range s.sent() {
		it := window.Item{Kind: e.kind, Turn: e.turn, Tokens: m.Estimate(e.size), Folded: e.folded}
		switch e.kind {
		case window.ToolResult:
			it.Tool, it.Call, it.Path, it.Error = e.did.Tool, e.did.sign, e.did.Path, !e.did.OK
		case window.Summary:
			it.Kept = s.summary.Digest.Kept(m)
		}
		st.Items = append(st.Items, it)
	}
	if force { // what was counted is more than was estimated
		used := st.Prefix
		for _, it := range st.Items {
			used += it.Tokens
		}
		st.Window = min(st.Window, used)
	}
	return st
}

// sent is the conversation with the summary in front. The caller holds mu.
func (s *Session) sent() []entry {
	if s.summary.Upto == 0 {
		return s.history
	}
	return append([]entry{s.summary.entry(s.pick.window)}, s.history...)
}

// giveWay applies a plan, whose indexes are those of sent. The caller holds mu.
func (s *Session) giveWay(p window.Plan, turn int, notes string) event.ContextCompacted {
	shift := len(s.sent()) - len(s.history) // the summary is no part of history
	for _, i := range p.Fold {
		e := &s.history[i-shift]
		folded := e.msg
		folded.Content = window.Fold(e.msg.ToolName, e.msg.Content, window.FoldFacts{Call: e.msg.ToolCallID, Path: e.did.Path, Error: !e.did.OK})
		d := e.did
		*e = newEntry(e.kind, e.turn, e.seq, folded)
		e.did, e.folded = d, true
	}
	gone := map[int]bool{}
	for _, i := range p.Summarise {
		if i >= shift {
			gone[i-shift] = true
		}
	}
	if len(gone) > 0 {
		var rest []entry
		for i, e := range s.history {
			if !gone[i] {
				rest = append(rest, e)
				continue
			}
			s.summary.Upto, s.summary.Turn = max(s.summary.Upto, e.seq), turn
			switch e.kind {
			case window.UserText:
				s.summary.Digest.User(e.msg.Content)
			case window.ToolResult:
				s.summary.Digest.Call(e.did.Done)
			case window.AssistantText:
				if e.nudge {
					continue
				}
				s.summary.Digest.Assistant(e.msg.Content)
			}
		}
		s.history, s.summary.Notes = rest, notes
		b, err := json.Marshal(s.summary)
		if err != nil {
			panic(err) // only strings and numbers
		}
		s.rec.Summary = b
	}
	return event.ContextCompacted{
		Folded: len(p.Fold), Summarised: len(gone), Before: p.Before, After: p.After, Window: s.pick.window, ByModel: notes != "", Reason: p.Reason,
	}
}

// askSummary asks the model for notes about what is about to be left out. What
// it gives may be unusable, or nothing: the record that stands for the turns
// is complete without.
func (s *Session) askSummary(ctx context.Context, turn int) string {
	s.mu.Lock()
	o, host := s.request(), s.pick.host
	s.mu.Unlock()
	if host == nil {
		return ""
	}
	limit := window.SummaryTokens(o.req.Window)
	o.req.Messages = append(slices.Clip(o.req.Messages), api.Message{Role: store.RoleUser, Content: window.SummaryPrompt(limit)})
	o.req.Tools, o.req.Format, o.req.Think = nil, nil, &api.ThinkValue{Value: false}
	o.req.Options = map[string]any{"num_predict": limit, "temperature": 0.2}
	s.publish(turn, event.ModelState{Model: o.req.Model, State: event.ModelSummarising, Host: host.Client().Host()})
	reply, err := host.Chat(ctx, o.req, ollama.Sink{}, nil)
	if err != nil || reply.Stats.DoneReason == "length" {
		return ""
	}
	notes, err := window.AcceptSummary(reply.Text)
	if err != nil {
		s.publish(turn, event.Notice{Level: "info", Text: fmt.Sprintf("%v: the program's own record stands for the earlier turns.", err)})
		return ""
	}
	return notes
}
