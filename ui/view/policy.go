package view

import (
	"strings"

	"chela/engine/pipeline"
	"chela/store"
	"chela/toolkit"
	"chela/ui/intent"
	"chela/ui/safetext"
)

// shortHash is how many digits of a plan's hash are shown: enough to tell two
// plans apart by eye.
const shortHash = 12

// policy is the tab that says why the call asks, what it touches, and exactly
// what the keys that make a rule would make.
func (r *Review) policy(w int) sheet {
	out := newWriter(r.st, w)
	p := r.pending.Plan
	style := r.st.Warn
	if p.Level == toolkit.Dangerous {
		style = r.st.Bad
	}
	out.fact("level", levelSays(p.Level), style)

	out.heading("why it asks")
	for _, reason := range r.pending.Reasons {
		out.prose("· ", reason, r.st.Text)
	}
	for _, ask := range p.Asks {
		out.prose("! ", ask, r.st.Warn)
	}

	if r.warning != "" {
		out.heading("hidden characters")
		out.prose("! ", r.warning, r.st.Bad)
	}

	out.heading("what it touches")
	if len(p.Effects) == 0 {
		out.prose("", "nothing that the tool states", r.st.Text)
	}
	for _, e := range p.Effects {
		out.fact(effectWord(e.Kind), safetext.Command(e.Target), r.st.Text)
	}

	r.rules(out)

	out.heading("plan")
	hash := p.Hash
	if len(hash) > shortHash {
		hash = hash[:shortHash]
	}
	out.fact("hash", safetext.Line(hash), r.st.Subtle)
	out.prose("", "An approval is for this plan only. If a file changes meanwhile, the call asks again.", r.st.Subtle)
	return sheet{lines: out.lines}
}

// rules says what the keys would make, before they make it.
func (r *Review) rules(out *writer) {
	out.heading("what a rule would allow")
	if len(r.pending.Offers) == 0 {
		out.prose("", "No rule can be made from this call.", r.st.Text)
		return
	}
	session := r.pending.Offers[0]
	session.Session = "this"
	r.rule(out, intent.ApproveSession, session)
	for _, offer := range r.pending.Offers {
		offer.Workspace = "this"
		r.rule(out, intent.ApproveRule, offer)
	}
}

func (r *Review) rule(out *writer, i intent.Intent, rule store.Rule) {
	out.prose(intent.KeyOf(i, reviewScopes)+"  ", safetext.Command(pipeline.Describe(rule)), r.st.Text)
}

func levelSays(l toolkit.Level) string {
	switch l {
	case toolkit.Safe:
		return "safe: reads inside the workspace"
	case toolkit.Moderate:
		return "moderate: changes files, or reaches the network"
	}
	return "dangerous: runs code, or cannot be undone"
}

func effectWord(k toolkit.EffectKind) string {
	switch k {
	case toolkit.Reads:
		return "reads"
	case toolkit.Writes:
		return "writes"
	case toolkit.Runs:
		return "runs"
	case toolkit.Dials:
		return "network"
	}
	return strings.TrimSpace(safetext.Line(string(k)))
}
