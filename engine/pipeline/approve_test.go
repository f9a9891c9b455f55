package pipeline_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/store"
	"chela/toolkit"
)

// answer waits for the next question and answers it as f says.
func (r *rig) answer(f func(p pipeline.Pending) pipeline.Answer) {
	id := <-r.asked
	for _, p := range r.pipe.Queue.Pending() {
		if p.ID == id {
			if err := r.pipe.Queue.Answer("s1", id, p.Plan.Hash, f(p)); err != nil {
				r.t.Errorf("answering: %v", err)
			}
			return
		}
	}
	r.t.Errorf("approval %s does not wait", id)
}

func (r *rig) start(ctx context.Context, calls ...pipeline.Call) <-chan []pipeline.Outcome {
	done := make(chan []pipeline.Outcome, 1)
	go func() {
		out, err := r.pipe.Do(ctx, r.env, calls)
		if err != nil {
			r.t.Error(err)
		}
		done <- out
	}()
	return done
}

func (r *rig) content(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return ""
	}
	return string(b)
}

var once = func(pipeline.Pending) pipeline.Answer {
	return pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce}
}

func (r *rig) approvals() []store.Approval {
	r.t.Helper()
	a, err := r.store.Approvals(r.t.Context(), "s1")
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

func TestApprovedOnceRunsOnce(t *testing.T) {
	r := newRig(t)
	done := r.start(t.Context(), call("put", `{"path":"a","text":"x"}`))
	r.answer(once)
	out := (<-done)[0]
	if !out.OK || r.content("a") != "x" || r.stored(out.Call).DecidedBy != pipeline.ByPerson {
		t.Errorf("outcome %+v, file %q", out, r.content("a"))
	}
	if a := r.approvals(); len(a) != 1 || a[0].State != store.ApprovalApproved || a[0].Scope != pipeline.ScopeOnce {
		t.Errorf("approvals %+v", a)
	}
	// The next one asks again.
	done = r.start(t.Context(), call("put", `{"path":"a","text":"y"}`))
	r.answer(func(pipeline.Pending) pipeline.Answer { return pipeline.Answer{Reason: "not now"} })
	if out := (<-done)[0]; out.OK || out.Error.Code != toolkit.CodeUserDenied || !strings.Contains(out.Text, "not now") || r.content("a") != "x" {
		t.Errorf("outcome %+v", out)
	}
}

func TestASessionRuleCoversTheFolderAndNoMore(t *testing.T) {
	r := newRig(t)
	if err := os.Mkdir(filepath.Join(r.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	done := r.start(t.Context(), call("put", `{"path":"sub/a","text":"x"}`))
	r.answer(func(p pipeline.Pending) pipeline.Answer {
		return pipeline.Answer{Approve: true, Scope: pipeline.ScopeSession, Rule: &p.Offers[0]}
	})
	<-done
	if out := r.do(t.Context(), call("put", `{"path":"sub/b","text":"y"}`))[0]; !out.OK || r.stored(out.Call).DecidedBy != pipeline.ByRule {
		t.Errorf("inside the folder: %+v", out)
	}
	done = r.start(t.Context(), call("put", `{"path":"c","text":"z"}`))
	r.answer(func(pipeline.Pending) pipeline.Answer { return pipeline.Answer{} })
	if out := (<-done)[0]; out.OK {
		t.Error("outside the folder it ran without a question")
	}
	rules, err := r.store.Rules(t.Context(), r.env.Workspace.Root, "another session")
	if err != nil || len(rules) != 0 {
		t.Errorf("the rule holds in another session: %v, %v", rules, err)
	}
}

func TestAnswersThatDoNotCount(t *testing.T) {
	r := newRig(t)
	done := r.start(t.Context(), call("put", `{"path":"a","text":"x"}`))
	id := <-r.asked
	p := r.pipe.Queue.Pending()[0]
	other := store.Rule{Decision: "allow", Tool: "put", Scope: pipeline.ScopeTool}
	yes := pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce}
	for name, err := range map[string]error{
		"another session":             r.pipe.Queue.Answer("s2", id, p.Plan.Hash, yes),
		"another plan":                r.pipe.Queue.Answer("s1", id, "0000", yes),
		"another approval":            r.pipe.Queue.Answer("s1", "nope", p.Plan.Hash, yes),
		"a rule that was not offered": r.pipe.Queue.Answer("s1", id, p.Plan.Hash, pipeline.Answer{Approve: true, Scope: pipeline.ScopeRule, Rule: &other}),
		"a rule without one":          r.pipe.Queue.Answer("s1", id, p.Plan.Hash, pipeline.Answer{Approve: true, Scope: pipeline.ScopeRule}),
		"no scope":                    r.pipe.Queue.Answer("s1", id, p.Plan.Hash, pipeline.Answer{Approve: true}),
		"a denial with a rule":        r.pipe.Queue.Answer("s1", id, p.Plan.Hash, pipeline.Answer{Rule: &other}),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if len(r.pipe.Queue.Pending()) != 1 {
		t.Fatal("the call does not wait any more")
	}
	if err := r.pipe.Queue.Answer("s1", id, p.Plan.Hash, yes); err != nil {
		t.Fatal(err)
	}
	if err := r.pipe.Queue.Answer("s1", id, p.Plan.Hash, yes); !errors.Is(err, pipeline.ErrNotPending) {
		t.Errorf("a second answer: %v", err)
	}
	<-done
}

// Two writes to one file in one turn: the second was planned against the old
// content, so its question is withdrawn and put again with what is true now.
func TestAQuestionIsSupersededWhenAnEarlierCallChangedTheFile(t *testing.T) {
	r := newRig(t)
	done := r.start(t.Context(), call("put", `{"path":"a","text":"one"}`), call("put", `{"path":"a","text":"two"}`))
	first, second := <-r.asked, <-r.asked
	for _, p := range r.pipe.Queue.Pending() {
		if p.ID == first {
			if err := r.pipe.Queue.Answer("s1", first, p.Plan.Hash, once(p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	third := <-r.asked
	if third == second {
		t.Fatal("the same question again")
	}
	p := r.pipe.Queue.Pending()[0]
	if p.Plan.Preview.Old != "one" {
		t.Errorf("the new question shows %q as the old content", p.Plan.Preview.Old)
	}
	if err := r.pipe.Queue.Answer("s1", third, p.Plan.Hash, once(p)); err != nil {
		t.Fatal(err)
	}
	out := <-done
	if !out[1].OK || r.content("a") != "two" {
		t.Errorf("outcome %+v, file %q", out[1], r.content("a"))
	}
	states := map[string]int{}
	for _, a := range r.approvals() {
		states[a.State]++
	}
	if states[store.ApprovalApproved] != 2 || states[store.ApprovalSuperseded] != 1 {
		t.Errorf("approvals %v", states)
	}
}

func TestAnAnswerForASupersededPlanIsVoid(t *testing.T) {
	r := newRig(t)
	done := r.start(t.Context(), call("put", `{"path":"a","text":"one"}`), call("put", `{"path":"a","text":"two"}`))
	<-r.asked
	<-r.asked
	pending := r.pipe.Queue.Pending()
	// The person approves the second first, then the first.
	for _, i := range []int{1, 0} {
		if err := r.pipe.Queue.Answer("s1", pending[i].ID, pending[i].Plan.Hash, once(pending[i])); err != nil {
			t.Fatal(err)
		}
	}
	r.answer(func(pipeline.Pending) pipeline.Answer { return pipeline.Answer{Reason: "seen it now"} })
	out := <-done
	if out[1].OK || r.content("a") != "one" {
		t.Errorf("an approval covered what was not shown: %+v, %q", out[1], r.content("a"))
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := r.start(ctx, call("put", `{"path":"a","text":"x"}`), call("put", `{"path":"b","text":"x"}`))
	<-r.asked
	<-r.asked
	cancel()
	for _, out := range <-done {
		if out.OK || out.Error.Code != toolkit.CodeCancelled || r.stored(out.Call).State != store.CallCancelled {
			t.Errorf("outcome %+v", out)
		}
	}
	for _, a := range r.approvals() {
		if a.State != store.ApprovalCancelled {
			t.Errorf("approval %+v", a)
		}
	}
	if n := len(r.pipe.Queue.Pending()); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

func TestTheQueueRefusesTheNewestWhenFull(t *testing.T) {
	r := newRig(t)
	r.asked = make(chan string, pipeline.MaxPending+1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	publish := r.env.Publish
	r.env.Publish = func(b event.Body) {
		publish(b)
		if _, ok := b.(event.CallReturned); ok {
			cancel() // the one too many came back; the others still wait
		}
	}
	calls := make([]pipeline.Call, pipeline.MaxPending+1)
	for i := range calls {
		calls[i] = call("put", `{"path":"a","text":"x"}`)
	}
	done := r.start(ctx, calls...)
	out := <-done
	last := out[len(out)-1]
	if last.OK || last.Error.Code != toolkit.CodeDenied || !strings.Contains(last.Text, "queue is full") {
		t.Errorf("the one too many: %+v", last)
	}
}

func TestTheModeIsAskedForEachDecision(t *testing.T) {
	r := newRig(t)
	mode := pipeline.Ask
	r.env.Mode = func() pipeline.Mode { return mode }
	publish := r.env.Publish
	r.env.Publish = func(b event.Body) {
		if _, ok := b.(event.CallRunning); ok {
			mode = pipeline.Deny
		}
		publish(b)
	}
	out := r.do(t.Context(), call("look", `{"text":"1"}`))
	out = append(out, r.do(t.Context(), call("look", `{"text":"2"}`))...)
	if !out[0].OK || out[1].OK {
		t.Errorf("outcomes %+v", out)
	}
}

func TestANoteWithTheApprovalReachesTheModel(t *testing.T) {
	r := newRig(t)
	done := r.start(t.Context(), call("put", `{"path":"a","text":"x"}`))
	r.answer(func(pipeline.Pending) pipeline.Answer {
		return pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce, Reason: "and then run the tests"}
	})
	out := (<-done)[0]
	if !out.OK || !strings.HasSuffix(out.Text, "[the user adds: and then run the tests]") {
		t.Errorf("the model reads %q", out.Text)
	}
	if a := r.approvals(); a[0].Reason != "and then run the tests" {
		t.Errorf("stored %+v", a[0])
	}
}

// A rule made in the middle of a turn counts for the calls that follow in it.
func TestADenyRuleStopsACallThatWasAlreadyAllowed(t *testing.T) {
	r := newRig(t)
	r.env.Mode = func() pipeline.Mode { return pipeline.Standard }
	publish := r.env.Publish
	r.env.Publish = func(b event.Body) {
		publish(b)
		if b, ok := b.(event.CallReturned); ok && b.OK {
			err := r.store.PutRule(t.Context(), store.Rule{ID: "no", Decision: "deny", Tool: "put", Scope: pipeline.ScopeTool, Created: time.Now()})
			if err != nil {
				t.Error(err)
			}
		}
	}
	out := r.do(t.Context(), call("put", `{"path":"a","text":"x"}`), call("put", `{"path":"b","text":"x"}`))
	if !out[0].OK || out[1].OK || out[1].Error.Code != toolkit.CodeDenied || r.content("b") != "" {
		t.Errorf("outcomes %+v", out)
	}
}
