package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/engine"
	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/safetext"
)

func (m *Model) busyNote() string {
	switch {
	case m.pull != nil:
		return pullNote(*m.pull)
	case m.approvals.Len() > 0:
		return "waits for you"
	case m.waiting.State != "":
		return m.modelNote(m.waiting)
	case m.state.Running:
		return "working"
	}
	return ""
}

// modelNote says what the model is doing before its first token.
func (m *Model) modelNote(b event.ModelState) string {
	switch b.State {
	case event.ModelQueued:
		return fmt.Sprintf("waits for the server: %d ahead", b.Ahead)
	case event.ModelLoading:
		return "loading " + pane.Ago(m.opts.Now().Sub(m.since))
	case event.ModelFailed:
		return m.st.Bad.Render("not loaded")
	case event.ModelSummarising:
		return "summarising earlier turns"
	}
	if b.Expected >= 2*time.Second {
		left := max(b.Expected-m.opts.Now().Sub(m.since), 0)
		return fmt.Sprintf("reading %s tokens, about %s left", kilo(b.Reading), pane.Took(left.Round(time.Second)))
	}
	return "waiting for the model"
}

// hints are the keys of the message, as the footer of its box.
func (m *Model) hints(w int) string {
	var parts []string
	for _, b := range intent.ForScopes([]intent.Scope{intent.Composer}) {
		if b.Footer {
			parts = append(parts, m.st.Key.Render(intent.Show(b.Keys[0]))+" "+m.st.KeyHint.Render(b.Verb))
		}
	}
	parts = append(parts, m.st.Key.Render("@")+" "+m.st.KeyHint.Render("file"), m.st.Key.Render("/")+" "+m.st.KeyHint.Render("command"))
	return ansi.Truncate(strings.Join(parts, "  "), w, "")
}

// tabs is the row of pane names on a screen that shows one at a time.
func (m *Model) tabs(w int) string {
	shown := shownPane(m.focus)
	short := m.layout.Shape == Tiny
	var parts []string
	for i, t := range m.tabNames(short) {
		style := m.st.Subtle
		if t.focus == shown {
			style = m.st.TitleFocused
		}
		parts = append(parts, style.Render(fmt.Sprintf("%d %s", i+1, t.name)))
	}
	gap := "   "
	if short {
		gap = "  "
	}
	left := " " + strings.Join(parts, gap)
	title := ""
	if !short {
		title = m.st.Faint.Render(safetext.Title(m.state.Title))
	}
	n := w - ansi.StringWidth(left) - 2
	return fit(left+"  "+strings.Repeat(" ", max(n-ansi.StringWidth(title), 0))+ansi.Truncate(title, max(n, 0), "…"), w)
}

type tab struct {
	focus Focus
	name  string
}

func (m *Model) tabNames(short bool) []tab {
	count := func(name string, n int) string {
		if n == 0 {
			return name
		}
		return fmt.Sprintf("%s %d", name, n)
	}
	if short {
		return []tab{{FocusConversation, "Chat"}, {FocusTimeline, count("Tl", m.calls.Len())}, {FocusApprovals, count("Appr", m.approvals.Len())}, {FocusFiles, "Files"}}
	}
	return []tab{{FocusConversation, "Chat"}, {FocusTimeline, count("Timeline", m.calls.Len())}, {FocusApprovals, count("Approvals", m.approvals.Len())}, {FocusFiles, "Files"}}
}

// clickTab goes to the pane whose name is under the mouse.
func (m *Model) clickTab(x int) tea.Cmd {
	at := 1
	short := m.layout.Shape == Tiny
	for i, t := range m.tabNames(short) {
		n := ansi.StringWidth(fmt.Sprintf("%d %s", i+1, t.name))
		if x >= at && x < at+n {
			m.setFocus(t.focus)
			return nil
		}
		if at += n + 3; short {
			at--
		}
	}
	return nil
}

// waitingLine is the newest call that waits, on a screen that does not show
// the queue.
func (m *Model) waitingLine(w int, now time.Time) string {
	key := intent.Show("alt+3")
	if m.focus != FocusComposer {
		key = "3"
	}
	n := m.approvals.Len()
	if n == 0 {
		if note := m.busyNote(); note != "" && m.layout.Shape == Tiny {
			return fit(m.st.Faint.Render(" "+note), w)
		}
		return fit(" "+m.footer(w-2), w)
	}
	pending := m.session.Pending()
	if m.layout.Shape == Tiny || len(pending) == 0 {
		return fit(m.st.Warn.Render(fmt.Sprintf("‖ %d wait", n))+m.st.Faint.Render(" · "+key+" opens the queue"), w)
	}
	last := pending[len(pending)-1]
	left := m.st.Warn.Render(" ‖ " + safetext.Line(last.Plan.Tool) + " " + safetext.Line(last.Plan.Summary) + " · " + pane.Ago(now.Sub(last.Asked)))
	right := m.st.Faint.Render(key + " opens the queue ")
	room := w - ansi.StringWidth(right) - 1
	return fit(fit(ansi.Truncate(left, room, "…"), room)+" "+right, w)
}

// statusLine says what is in force: model, tier, mode, window, speed.
func (m *Model) statusLine(w int) string {
	s := m.state
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	name := s.Model.Name
	if name == engine.PocketModel {
		if name = "pocket (demonstration)"; m.layout.Shape == Tiny {
			name = "pocket"
		}
	}
	if m.eng == nil {
		name = "starting"
		if m.problem != nil {
			name = "not running"
		}
	}
	short := m.layout.Shape != Wide
	if m.eng != nil {
		if promoted := s.Selection.Promoted(s.Tier); short {
			add(fmt.Sprintf("%s%d%s", s.Tier.Title()[:1], len(s.Selection.Given())-promoted, plus(promoted)))
		} else {
			add(fmt.Sprintf("%s %d%s", s.Tier.Title(), len(s.Selection.Given())-promoted, plus(promoted)))
		}
		add(m.modeWord())
		if s.Window > 0 {
			add(fmt.Sprintf("%s/%s", kilo(s.Used), kilo(s.Window)))
		}
		if v := m.stats.TokensPerSecond(); v > 0 {
			add(fmt.Sprintf("%.0f tok/s", v))
		}
		switch m.stats.Prefix {
		case event.PrefixKept:
			add("prefix kept")
		case event.PrefixBroken:
			add(m.st.Warn.Render("prefix broken"))
		}
		add(m.eng.SandboxStatus(s.Mode))
		if s.CallMode != callmode.Native {
			add(s.CallMode.String())
		}
		if m.memory.State != "" {
			add(m.modelNote(m.memory))
		} else if s.Model.Loaded && s.Model.OnGPU > 0 {
			add(fmt.Sprintf("%.0f%% GPU", 100*s.Model.OnGPU))
		}
		if n := m.jobs.running(); n > 0 {
			add(m.st.Warn.Render(pane.Count(n, "process", "processes")))
		}
		if n := len(s.Queued); n > 0 {
			add(fmt.Sprintf("%d queued", n))
		}
		if m.pull != nil {
			add(pullNote(*m.pull))
		}
	}
	right := m.st.Key.Render(m.helpKey()) + " " + m.st.KeyHint.Render("help") + " "
	if m.layout.Shape == Wide {
		right = m.footer(w / 2)
	}
	room := w - ansi.StringWidth(right) - 1
	return fit(fit(m.inForce(safetext.Line(name), parts, room), room)+" "+right, w)
}

// inForce joins the model's name and the rest of the status line. Where there
// is no room for all, the name is shortened first, to what says most of it;
// then the last of the rest is left out, never cut in two.
func (m *Model) inForce(name string, parts []string, w int) string {
	const least = 8 // cells of the name
	used := func() int {
		n := 1
		for _, p := range parts {
			n += ansi.StringWidth(p) + ansi.StringWidth(" · ")
		}
		return n
	}
	for len(parts) > 1 && used()+min(ansi.StringWidth(name), least) > w {
		parts = parts[:len(parts)-1]
	}
	room := w - used()
	if i := strings.LastIndexByte(name, '/'); ansi.StringWidth(name) > room && i >= 0 {
		name = name[i+1:] // where it was pulled from says least
	}
	sep := m.st.Faint.Render(" · ")
	line := " " + m.st.Subtle.Render(ansi.Truncate(name, max(room, least), "…"))
	for _, p := range parts {
		line += sep + m.st.Subtle.Render(p)
	}
	return line
}

func (m *Model) helpKey() string {
	if m.focus == FocusComposer && !m.composer.Empty() {
		return intent.Show("f1")
	}
	return "?"
}

func (m *Model) modeWord() string {
	word := m.state.Mode.String()
	switch m.state.Mode {
	case pipeline.Unlimited:
		return m.st.Bad.Render(word)
	case pipeline.Standard:
		return m.st.Warn.Render(word)
	}
	return word
}

func plus(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("+%d", n)
}

// kilo writes tokens as 900, 5.1k, 16k.
func kilo(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 10240 && n%1024 != 0:
		return fmt.Sprintf("%.1fk", float64(n)/1024)
	}
	return fmt.Sprintf("%dk", (n+512)/1024)
}

// footer shows at most five keys of the focused place, from the table.
func (m *Model) footer(w int) string {
	scopes := m.scopes()
	var parts []string
	for _, b := range intent.ForScopes(scopes) {
		if !b.Footer || m.focus == FocusComposer && m.top() == nil && b.Scope == intent.Composer && m.layout.Shape == Wide {
			continue // the message shows its own keys in its box
		}
		if b.Intent == intent.NextPane && m.top() != nil {
			continue // what is open has to be closed first
		}
		style := m.st.Key
		if m.disabled(b.Intent) != "" {
			style = m.st.Disabled
		}
		parts = append(parts, style.Render(intent.Show(b.Keys[0]))+" "+m.st.KeyHint.Render(b.Verb))
		if len(parts) == 5 {
			break
		}
	}
	if m.focus == FocusComposer && m.top() == nil && m.layout.Shape == Wide { // elsewhere the status line has it
		parts = append(parts, m.st.Key.Render(m.helpKey())+" "+m.st.KeyHint.Render("help"))
	}
	for len(parts) > 0 {
		s := strings.Join(parts, "   ") + " "
		if ansi.StringWidth(s) <= w {
			return s
		}
		parts = parts[:len(parts)-1]
	}
	return ""
}

func pullNote(p event.PullProgress) string {
	if p.Total <= 0 {
		return "pulling " + safetext.Line(p.Model) + ": " + safetext.Line(p.Status)
	}
	const cells = 10
	done := int(p.Completed * cells / p.Total)
	return fmt.Sprintf("pulling %s %s%s %d%%", safetext.Line(p.Model), strings.Repeat("█", done), strings.Repeat("░", cells-done), p.Completed*100/p.Total)
}
