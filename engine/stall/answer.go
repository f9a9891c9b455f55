package stall

import (
	"fmt"
	"strings"
)

// Reply is an answer without calls, with what its server said about it.
type Reply struct {
	Text       string
	Thinking   string
	Tokens     int    // that were generated; 0: not known
	DoneReason string // stop, load, …; an answer that was cut by length is no matter of this package
	Tools      bool   // the model was offered tools
	Prompt     string // what the person asked in this turn
}

// Answer judges an answer without calls: Pass ends the turn with it. In doubt
// it passes: a normal answer that is asked for again costs more trust than a
// stalled one that is shown.
func (g *Guard) Answer(r Reply) Verdict {
	text := strings.TrimSpace(r.Text)
	if text == "" {
		return g.empty(r)
	}
	if !r.Tools {
		return Verdict{}
	}
	p := prose(text)
	asked := asksFor(r.Prompt)
	switch {
	case (g.turn.ran > 0 || asked.action) && announces(p):
		return g.announced(p)
	case asked.change && g.turn.changed == 0 && g.turn.denied == 0 && (claims(p) || g.turn.ran == 0 && showsCommand(text)):
		return g.claimed()
	case g.turn.failed && givesUp(p), g.turn.ran == 0 && asked.action && deniesTools(p):
		return g.gaveUp()
	}
	return Verdict{}
}

func (g *Guard) empty(r Reply) Verdict {
	text := "Your answer was empty. Answer the user in text, or call one of the tools."
	what := "the model gave an empty answer"
	switch {
	case r.DoneReason == "load":
		what = "the server loaded the model and sent no answer"
	case r.Thinking != "":
		what = "the model only thought and gave no answer"
		text = "You thought about it, but gave no answer. Answer now in text, or make the call that you planned."
	case r.Tokens > 1:
		what = fmt.Sprintf("the model wrote %d tokens of which the server understood none", r.Tokens)
		text = "Your answer did not arrive: a call in a wrong form is dropped. Call a tool by its exact name with JSON arguments, or answer in text."
	}
	v := Verdict{State: Empty, Action: Nudge, Text: text}
	if r.DoneReason == "load" || r.Tokens <= 1 && r.Thinking == "" {
		v.Action, v.Text = Retry, ""
	}
	if v, ok := g.push(v); ok {
		return v
	}
	return stop(Empty, "Send the prompt again, in other words or smaller steps, or pick another model.", "%s, also when asked again", what)
}

func (g *Guard) announced(p string) Verdict {
	if v, ok := g.push(Verdict{
		State: Announced, Action: Nudge,
		Text: "You said what you are going to do, but made no call. Make the call now. If everything is done, answer: done.",
	}); ok {
		return v
	}
	return stop(Announced, "Send \"go on\", or ask for one small step. A larger model, or one with better tool calls, announces less.",
		"the model only announces what it will do (%q) and makes no call", short(lastSentence(p)))
}

func (g *Guard) claimed() Verdict {
	if v, ok := g.push(Verdict{
		State: Claimed, Action: Nudge,
		Text: "Nothing was changed: you called no tool that writes or runs anything. Text and code blocks have no effect. Call the tool now, or say that nothing was changed.",
	}); ok {
		return v
	}
	return Verdict{State: Claimed, Action: Pass, Note: "no file was changed: the model says so, but called nothing that changes anything"}
}

func (g *Guard) gaveUp() Verdict {
	text := "You can do this: the tools you were offered work in the user's project. Call the one that fits."
	if g.turn.failed {
		text = "The last call failed (" + g.turn.error + "). The error says what to change: correct the call and try once more. If that is impossible, say what is missing."
	}
	if v, ok := g.push(Verdict{State: GaveUp, Action: Nudge, Text: text}); ok {
		return v
	}
	note := "the model gave up without having called a tool"
	if g.turn.failed {
		note = "the model gave up after an error: " + g.turn.error
	}
	return Verdict{State: GaveUp, Action: Pass, Note: note}
}

// Lost judges a stream that ended without the server saying that the answer is
// complete: once it is asked for again. kept says whether some text arrived,
// which the caller keeps as partial.
func (g *Guard) Lost(kept bool) Verdict {
	if v, ok := g.push(Verdict{State: Closed, Action: Retry}); ok {
		return v
	}
	what := "nothing of the answer arrived"
	if kept {
		what = "what arrived of the answer is kept"
	}
	return stop(Closed, "Look at the log of the model server: it may have run out of memory. Send the prompt again, or use a smaller window or model.",
		"the model server closed the stream before the answer was complete, twice; %s", what)
}

// Repeated judges an answer that was aborted because of a loop: once it is asked
// for again, with another seed, since penalties do not help.
func (g *Guard) Repeated(l Loop) Verdict {
	if v, ok := g.push(Verdict{State: Repeating, Action: Retry}); ok {
		return v
	}
	return stop(Repeating, "Ask in other words or for a smaller piece, start a new session with /new, or pick another model.",
		"the answer repeated itself (%s) and was stopped, also when asked for again", l)
}
