package ui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"chela/engine/pipeline"
	"chela/store"
	"chela/toolkit"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/view"
)

// pastMsg is what a rule for a waiting call can be tried on.
type pastMsg struct {
	pending pipeline.Pending
	intent  intent.Intent
	past    []toolkit.Plan
	err     error
}

// offerRules opens the choice of rules, if the call still waits.
func (m *Model) offerRules(msg pastMsg) tea.Cmd {
	if msg.err != nil {
		return m.say(firstSentence(msg.err.Error()))
	}
	p, ok := m.approvals.At(msg.pending.ID)
	if !ok || p.Plan.Hash != msg.pending.Plan.Hash {
		return m.say("that call does not wait any more")
	}
	m.push(m.ruleMenu(p, msg.intent, msg.past))
	return nil
}

// week is how long a rule lasts that is made for a while: a piece of work.
const week = 7 * 24 * time.Hour

// ruleMenu shows exactly what each rule would allow before it is made, with what
// it would have matched so far.
func (m *Model) ruleMenu(p pipeline.Pending, i intent.Intent, past []toolkit.Plan) view.View {
	scope, title := pipeline.ScopeRule, "Make a rule for this workspace"
	if i == intent.ApproveSession {
		scope, title = pipeline.ScopeSession, "Allow for this session"
	}
	var choices []view.Choice
	add := func(r store.Rule, note string) {
		shown := r
		if shown.Workspace = m.eng.Workspace(); scope == pipeline.ScopeSession {
			shown.Session = p.Session
		}
		shown.Expires = time.Time{}
		choices = append(choices, view.Choice{
			Text: ruleText(shown) + note, About: wouldHaveMatched(r, past),
			Action: perform{func() tea.Cmd { return m.answer(p, pipeline.Answer{Approve: true, Scope: scope, Rule: &r}) }},
		})
	}
	for _, r := range p.Offers {
		add(r, "")
	}
	if scope == pipeline.ScopeRule {
		for _, r := range p.Offers {
			r.Expires = m.opts.Now().Add(week).Truncate(time.Second)
			add(r, ", for a week")
		}
	}
	return view.NewMenu(m.st, title, "which one", choices).Wide(110).Hint(intent.Show("enter") + " lets this call run and keeps the rule; esc goes back and decides nothing")
}

// ruleText says what a rule covers. The arguments of a single call can be as
// long as a file; they are on the screen behind, so they are not repeated.
func ruleText(r store.Rule) string {
	text := pipeline.Describe(r)
	if r.Scope == pipeline.ScopeExact && len(text) > 90 {
		return "allow this very call of " + r.Tool + " again, with the arguments shown, and nothing else"
	}
	return text
}

// wouldHaveMatched says how many earlier calls a rule would have let run, so
// that a rule that is too wide shows itself.
func wouldHaveMatched(r store.Rule, past []toolkit.Plan) string {
	n := 0
	for _, p := range past {
		if pipeline.Matches(r, p) {
			n++
		}
	}
	return fmt.Sprintf("matches %d of %s", n, pane.Count(len(past), "call so far", "calls so far"))
}

// rulesMsg are the rules in force here.
type rulesMsg struct {
	rules []store.Rule
	err   error
}

func (m *Model) rulesMenu() tea.Cmd {
	eng, session, ctx := m.eng, m.session.ID(), m.ctx
	return func() tea.Msg {
		rules, err := eng.Rules(ctx, session)
		return rulesMsg{rules, err}
	}
}

func (m *Model) showRules(msg rulesMsg) tea.Cmd {
	if msg.err != nil {
		return m.say(msg.err.Error())
	}
	if len(msg.rules) == 0 {
		return m.say("no rules yet: r in the approval queue makes one")
	}
	var choices []view.Choice
	for _, r := range msg.rules {
		choices = append(choices, view.Choice{
			Text: pipeline.Describe(r), About: pane.Ago(m.opts.Now().Sub(r.Created)) + " ago",
			Action: perform{func() tea.Cmd {
				return m.command(func(ctx context.Context) error { return m.eng.RevokeRule(ctx, r.ID) }, "revoked: "+pipeline.Describe(r))
			}},
		})
	}
	m.push(view.NewMenu(m.st, "Rules in force", "which one", choices).Hint(intent.Show("enter") + " revokes the rule"))
	return nil
}
