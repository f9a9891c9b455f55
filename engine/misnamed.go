package engine

import (
	"encoding/json"
	"regexp"
	"strings"

	"chela/engine/callmode"
	"chela/engine/pipeline"
	"chela/toolkit"
)

// The marks by which a server takes text for a call, and the name in it.
var (
	callMark   = regexp.MustCompile(`<tool_call|<function|<invoke|\[TOOL_CALLS\]|<\|tool|<｜tool`)
	calledName = regexp.MustCompile(`(?:"(?:name|tool)"\s*:\s*"|<(?:function=|invoke name="))([\w.:-]{1,64})`)
)

// unfound deals with a dropped answer in which there is no call of an offered
// tool. A name that no tool has is answered with the nearest ones, as that of
// any other call is. Of what else looks like a call nothing is shown as the
// answer: the model is told that it did not arrive. nothing says that not even
// white space did.
func (s *Session) unfound(turn int, a *answer, f *found, nothing bool) {
	if m := calledName.FindStringSubmatch(a.Text); m != nil && callMark.MatchString(a.Text) {
		if _, _, known := s.engine.cfg.Tools.Resolve(m[1]); !known {
			const why = "the server dropped it, since there is no such tool"
			f.calls, f.tool = []pipeline.Call{{ID: pipeline.NewID(), Name: m[1], Args: []byte("{}"), Origin: toolkit.FromRescue, Doubt: why, Note: why + ": " + excerpt(a.Text)}}, m[1]
			a.Text = ""
			return
		}
	}
	if callMark.MatchString(a.Text) {
		a.Text = ""
	}
	if nothing && a.Text == "" && a.Stats.Tokens > 1 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changeMode(turn, callmode.Lost, "")
	}
}

// wholeCall is an answer that is one JSON object, fenced or not.
var wholeCall = regexp.MustCompile("(?s)^\\s*(?:```(?:json|tool_call)?\\s*)?(\\{.*\\})\\s*(?:```\\s*)?$")

// misnamed takes an answer that is nothing but a call of a tool that does not
// exist for one: taken for the answer it would end the turn with nothing done.
// Nothing runs, and the model is told the nearest names.
func (s *Session) misnamed(a *answer) found {
	m := wholeCall.FindStringSubmatch(a.Text)
	if m == nil || a.Stats.DoneReason != "stop" || len(a.specs) == 0 {
		return found{}
	}
	var call struct {
		Name       string         `json:"name"`
		Arguments  map[string]any `json:"arguments"`
		Parameters map[string]any `json:"parameters"`
	}
	dec := json.NewDecoder(strings.NewReader(m[1]))
	dec.DisallowUnknownFields()
	if dec.Decode(&call) != nil || dec.More() || call.Name == "" || (call.Arguments == nil) == (call.Parameters == nil) || call.Parameters["properties"] != nil {
		return found{}
	}
	if _, _, known := s.engine.cfg.Tools.Resolve(call.Name); known {
		return found{} // package rescue had its reasons
	}
	const why = "written in the model's text, and there is no such tool"
	f := found{tool: call.Name, calls: []pipeline.Call{{
		ID: pipeline.NewID(), Name: call.Name, Args: []byte("{}"), Origin: toolkit.FromRescue, Doubt: why, Note: why + ": " + excerpt(a.Text),
	}}}
	a.Text = ""
	return f
}
