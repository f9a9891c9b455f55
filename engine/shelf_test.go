package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/toolkit"
)

// A 14B model has the search in its tier: it finds a tool above it, switches it
// on, and calls it, in one turn; the choice lasts as long as the session.
func TestAModelFindsAndLoadsATool(t *testing.T) {
	r := newRig(t, []ollamatest.Model{{Name: "qwen3:14b", Parameters: 14e9}})
	s := r.open(engine.OpenOptions{Model: "qwen3:14b"})
	r.srv.Reply().Call("search_available_tools", `{"query":"say it in capitals"}`)
	r.srv.Reply().Call("search_available_tools", `{"query":"capitals","load":["shout"]}`)
	r.srv.Reply().Call("shout", `{"text":"crab"}`)
	r.srv.Reply().Text("done")
	_, all := r.turn(s, "shout crab")
	var outputs []string
	for _, c := range bodies[event.CallReturned](all) {
		outputs = append(outputs, c.Output)
	}
	if len(outputs) != 3 || !strings.Contains(outputs[0], "shout (off)") || outputs[1] != "Switched on: shout. Call them now." || outputs[2] != "CRAB" {
		t.Errorf("the calls gave %q", outputs)
	}
	chats := r.srv.Chats()
	offers := func(i int) bool {
		return slices.ContainsFunc(chats[i].Tools, func(tool api.Tool) bool { return tool.Function.Name == "shout" })
	}
	if offers(1) || !offers(2) || !offers(3) {
		t.Error("the tool is not offered from the answer after the load on, and only then")
	}
	id := s.ID()
	s.Close()
	if got := r.open(engine.OpenOptions{ID: id}).State().Selection.Given(); !slices.Contains(got, "shout") {
		t.Errorf("after resuming the session has %v", got)
	}
}

func TestTheLeastRecentlyUsedToolMakesRoom(t *testing.T) {
	r := newRig(t, nil, func(c *engine.Config) {
		tools := append([]toolkit.Tool{}, c.Tools.All()...)
		for _, n := range []string{"one", "two", "three"} {
			tools = append(tools, wordy(n))
		}
		reg, err := toolkit.NewRegistry(tools...)
		if err != nil {
			t.Fatal(err)
		}
		c.Tools = reg
		c.Settings.Tools.Promote = []string{"search_available_tools"}
		c.Settings.Models.Window = 8192 // 2,048 tokens for schemas: two of these beside the ten
	})
	s := r.open(engine.OpenOptions{})
	for _, step := range []struct{ load, want string }{
		{"one", "Switched on: one. Call them now."},
		{"two", "Switched on: two. Call them now."},
		{"three", "Switched on: three. Call them now.\nSwitched off to make room: two."},
	} {
		out, err := s.Call(t.Context(), "search_available_tools", []byte(`{"query":"x","load":["`+step.load+`"]}`))
		if err != nil {
			t.Fatal(err)
		}
		if out.Result.Text != step.want {
			t.Errorf("loading %s says %q, want %q", step.load, out.Result.Text, step.want)
		}
		if step.load == "two" { // the first is used, so the second is the older one
			r.srv.Reply().Call("one", `{"text":"x"}`)
			r.srv.Reply().Text("done")
			r.turn(s, "use one")
		}
	}
}

// wordy is a tool whose schema costs about 460 tokens.
func wordy(name string) toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: name, Summary: strings.Repeat("many words ", 140), Category: "test", Level: toolkit.Safe, Tier: 2, ReadOnly: true,
	}, nil, func(_ context.Context, _ *toolkit.Workspace, a shoutArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
		return toolkit.Result{Text: a.Text}, nil
	})
}
