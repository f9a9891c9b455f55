package engine_test

import (
	"bytes"
	"fmt"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
)

// extends checks that a request begins with all of the one before, byte for
// byte, so that the server's prompt cache holds.
func extends(t *testing.T, before, after chat, sameTools bool) {
	t.Helper()
	if len(after.Messages) < len(before.Messages) {
		t.Fatalf("%d messages after %d", len(after.Messages), len(before.Messages))
	}
	for i := range before.Messages {
		if !bytes.Equal(before.Messages[i], after.Messages[i]) {
			t.Fatalf("message %d changed\nfrom %s\nto   %s", i, before.Messages[i], after.Messages[i])
		}
	}
	if bytes.Equal(before.Tools, after.Tools) != sameTools {
		t.Fatalf("tools changed: %v", sameTools)
	}
	if before.Options["num_ctx"] != after.Options["num_ctx"] || !bytes.Equal(before.Think, after.Think) {
		t.Fatal("window or thinking changed")
	}
}

func TestEveryRequestExtendsTheOneBefore(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Ask))
	r.file("a.txt", "text\n")
	s := r.open(engine.OpenOptions{})
	promoted := 0 // requests before the promotion
	for turn := 1; turn <= 50; turn++ {
		switch turn % 5 {
		case 0:
			r.srv.Reply().Calls(ollamatest.ToolCall{Name: "read_file", Args: `{"path":"a.txt"}`}, ollamatest.ToolCall{Name: "Grep", Args: `{"regex":"te.t","zeta":1,"alpha":2}`})
			r.srv.Reply().Text("Read.")
		case 1:
			r.srv.Reply().Call("exec", fmt.Sprintf(`{"command":"echo %d"}`, turn))
			r.srv.Reply().Text("Ran.")
		case 2:
			r.srv.Reply().Text("Half").Cut() // asked for again
			r.srv.Reply().Text("Half").Cut() // partial, with an error
		default:
			r.srv.Reply().Thinking("hm").Text("Just words.")
		}
		if err := s.Submit(fmt.Sprintf("prompt %d", turn)); err != nil {
			t.Fatal(err)
		}
		if turn%5 == 1 {
			asked, _ := await[event.ApprovalAsked](r)
			a := pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce}
			if p := s.Pending(); turn == 11 && len(p) == 1 && len(p[0].Offers) > 0 { // makes a rule
				a.Scope, a.Rule = pipeline.ScopeRule, &p[0].Offers[0]
			}
			if err := s.Answer(asked.Approval, asked.Plan.Hash, a); err != nil {
				t.Fatal(err)
			}
		}
		await[event.TurnEnded](r)
		switch turn {
		case 7:
			if err := s.SetMode(t.Context(), pipeline.Allowlist); err != nil {
				t.Fatal(err)
			}
			if err := s.SetMode(t.Context(), pipeline.Ask); err != nil {
				t.Fatal(err)
			}
		case 12:
			if err := s.Rename(t.Context(), "another title"); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Call(t.Context(), "read_file", []byte(`{"path":"a.txt"}`)); err != nil { // the person's own
				t.Fatal(err)
			}
			if _, err := r.eng.Models(t.Context()); err != nil { // learns the models anew
				t.Fatal(err)
			}
		case 20:
			promoted = len(r.chats())
			if err := s.Promote(t.Context(), "shout", true); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := r.chats()
	if len(all) < 40 || promoted == 0 {
		t.Fatalf("%d requests, %d before the promotion", len(all), promoted)
	}
	for i := 1; i < len(all); i++ {
		extends(t, all[i-1], all[i], i != promoted)
	}
	wellFormed(t, r.last())
}
