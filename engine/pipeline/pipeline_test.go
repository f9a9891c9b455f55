package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/store"
	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a pipeline over a real store and a real folder, with tools that only
// note what they did.
type rig struct {
	t     testing.TB
	dir   string
	store *store.Store
	pipe  *pipeline.Pipeline
	env   pipeline.Env

	mu     sync.Mutex
	events []event.Body
	ran    []string
	gate   chan struct{} // if set, "slow" waits for it
	asked  chan string   // ids of approvals as they are asked
}

type row struct {
	What string `json:"what"`
	ID   string `json:"id,omitempty"`
}

type noteArgs struct {
	Text string   `json:"text" doc:"what to note" alias:"message,body"`
	Num  int      `json:"num,omitempty" min:"1" max:"9" default:"3"`
	Flag bool     `json:"flag,omitempty"`
	Kind string   `json:"kind,omitempty" enum:"short,long"`
	List []string `json:"list,omitempty"`
	Rows []row    `json:"rows,omitempty"`
}

type pathArgs struct {
	Path string `json:"path" doc:"file" alias:"file_path"`
	Text string `json:"text,omitempty"`
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), asked: make(chan string, 16)}
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "chela.db"))
	if err != nil {
		t.Fatal(err)
	}
	r.store = st
	t.Cleanup(func() { st.Close() })
	files, err := guard.OpenFS(r.dir, guard.FSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	reg, err := toolkit.NewRegistry(r.tools()...)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.PutSession(t.Context(), store.Session{ID: "s1", Workspace: files.Dir(), Created: time.Now(), Updated: time.Now()}); err != nil {
		t.Fatal(err)
	}
	r.pipe = &pipeline.Pipeline{Tools: reg, Store: st, Queue: &pipeline.Queue{}}
	mode := pipeline.Ask
	r.env = pipeline.Env{
		Workspace: &toolkit.Workspace{Root: files.Dir(), Session: "s1", Files: files, Secret: guard.NewRedactor(nil, []guard.Secret{{Kind: "test", Value: "hunter2-hunter2"}})},
		Session:   "s1", Turn: 1, Mode: func() pipeline.Mode { return mode }, Attended: true,
		Publish: func(b event.Body) {
			r.mu.Lock()
			r.events = append(r.events, b)
			r.mu.Unlock()
			if a, ok := b.(event.ApprovalAsked); ok {
				r.asked <- a.Approval
			}
		},
	}
	return r
}

func (r *rig) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran = append(r.ran, fmt.Sprintf(format, args...))
}

func (r *rig) tools() []toolkit.Tool {
	spec := func(name string, l toolkit.Level, readOnly bool) toolkit.Spec {
		return toolkit.Spec{Name: name, Summary: "test", Category: "test", Level: l, Tier: tiers.Essential, ReadOnly: readOnly}
	}
	return []toolkit.Tool{
		toolkit.Define(spec("look", toolkit.Safe, true), nil, func(_ context.Context, _ *toolkit.Workspace, a noteArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
			r.note("look %s %d %v %s %v", a.Text, a.Num, a.Flag, a.Kind, a.List)
			return toolkit.Result{Text: "saw " + a.Text}, nil
		}),
		toolkit.Define(spec("put", toolkit.Moderate, false), func(_ context.Context, w *toolkit.Workspace, a pathArgs) (toolkit.Plan, error) {
			old, _, err := w.Files.ReadAll(a.Path, 1<<20)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return toolkit.Plan{}, err
			}
			return toolkit.Plan{
				Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: a.Path}},
				Preview: toolkit.Preview{Kind: toolkit.PreviewDiff, Path: a.Path, Old: string(old), New: a.Text},
				Facts:   []toolkit.Fact{{Kind: "sha256", Target: a.Path, Value: guard.Hash(old)}},
			}, nil
		}, func(_ context.Context, w *toolkit.Workspace, a pathArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
			r.note("put %s", a.Path)
			_, err := w.Files.Write(a.Path, []byte(a.Text))
			return toolkit.Result{Text: "written", Changed: []toolkit.Change{{Path: a.Path, Kind: "changed"}}}, err
		}),
		toolkit.Define(spec("slow", toolkit.Safe, true), nil, func(ctx context.Context, _ *toolkit.Workspace, a noteArgs, _ toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
			progress(toolkit.Progress{Text: "started hunter2-hunter2\n"})
			select {
			case <-r.gate:
				return toolkit.Result{Text: a.Text}, nil
			case <-ctx.Done():
				return toolkit.Result{Text: "half"}, ctx.Err()
			}
		}),
		toolkit.Define(spec("boom", toolkit.Safe, true), nil, func(context.Context, *toolkit.Workspace, noteArgs, toolkit.Plan, func(toolkit.Progress)) (toolkit.Result, error) {
			panic("inside")
		}),
	}
}

func (r *rig) do(ctx context.Context, calls ...pipeline.Call) []pipeline.Outcome {
	r.t.Helper()
	out, err := r.pipe.Do(ctx, r.env, calls)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func call(name, args string) pipeline.Call {
	return pipeline.Call{Name: name, Args: json.RawMessage(args), Origin: toolkit.FromModel}
}

func (r *rig) types() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		out = append(out, e.Type())
	}
	return out
}

func (r *rig) stored(id string) store.Call {
	r.t.Helper()
	c, err := r.store.Call(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func TestASafeCallPassesTheFiveSteps(t *testing.T) {
	r := newRig(t)
	out := r.do(t.Context(), call("look", `{"text":"a"}`))
	if !out[0].OK || out[0].Text != "saw a" {
		t.Errorf("outcome %+v", out[0])
	}
	want := []string{"call.emitted", "call.validated", "call.judged", "call.running", "call.returned"}
	if got := r.types(); !slices.Equal(got, want) {
		t.Errorf("events %v", got)
	}
	c := r.stored(out[0].Call)
	if c.State != store.CallDone || c.Output != "saw a" || c.PlanHash == "" || c.DecidedBy != pipeline.ByMode {
		t.Errorf("stored %+v", c)
	}
	steps := []time.Time{c.EmittedAt, c.ValidatedAt, c.JudgedAt, c.RunAt, c.ReturnedAt}
	if !slices.IsSortedFunc(steps, func(a, b time.Time) int { return a.Compare(b) }) || steps[0].IsZero() {
		t.Errorf("step times %v", steps)
	}
}

func TestRepairs(t *testing.T) {
	for name, c := range map[string]struct{ args, ran string }{
		"as it should be":           {`{"text":"a","num":5}`, "look a 5 false  []"},
		"defaults":                  {`{"text":"a"}`, "look a 3 false  []"},
		"string for a number":       {`{"text":"a","num":"5"}`, "look a 5 false  []"},
		"number for a string":       {`{"text":42}`, "look 42 3 false  []"},
		"string for a boolean":      {`{"text":"a","flag":"True"}`, "look a 3 true  []"},
		"alias":                     {`{"message":"a"}`, "look a 3 false  []"},
		"other case of the name":    {`{"Text":"a"}`, "look a 3 false  []"},
		"null is absent":            {`{"text":"a","num":null,"list":null}`, "look a 3 false  []"},
		"one item for a list":       {`{"text":"a","list":"x"}`, "look a 3 false  [x]"},
		"list in a string":          {`{"text":"a","list":"[\"x\",\"y\"]"}`, "look a 3 false  [x y]"},
		"all of it in a string":     {`"{\"text\":\"a\"}"`, "look a 3 false  []"},
		"twice in a string":         {`"\"{\\\"text\\\":\\\"a\\\"}\""`, "look a 3 false  []"},
		"wrapped":                   {`{"arguments":{"text":"a"}}`, "look a 3 false  []"},
		"enum in another case":      {`{"text":"a","kind":"LONG"}`, "look a 3 false long []"},
		"whole number with a point": {`{"text":"a","num":5.0}`, "look a 5 false  []"},
		"words for a command":       {`{"text":["go","test","a b"]}`, "look go test 'a b' 3 false  []"},
		"shell around a command":    {`{"text":["bash","-lc","ls | wc"]}`, "look ls | wc 3 false  []"},
		"the real name wins":        {`{"text":"a","message":"b"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			out := r.do(t.Context(), call("look", c.args))
			if c.ran == "" {
				if out[0].OK || len(r.ran) != 0 {
					t.Errorf("ran %v", r.ran)
				}
				return
			}
			if !out[0].OK || !slices.Equal(r.ran, []string{c.ran}) {
				t.Errorf("ran %q, want %q; %v", r.ran, c.ran, out[0].Error)
			}
		})
	}
}

func TestFaultsAreExplainedInThreeLinesAndNothingRuns(t *testing.T) {
	for name, c := range map[string]struct {
		tool, args string
		code       toolkit.Code
		says       string
	}{
		"unknown tool":       {"lok", `{"text":"a"}`, toolkit.CodeNotFound, "look"},
		"missing":            {"look", `{}`, toolkit.CodeMissing, `the required argument "text" is missing`},
		"missing, near name": {"look", `{"txt":"a"}`, toolkit.CodeMissing, `"txt" is not known`},
		"unknown argument":   {"look", `{"text":"a","colour":"red"}`, toolkit.CodeInvalid, `"colour" is no argument of look, which takes text, num`},
		"wrong type":         {"look", `{"text":"a","num":"many"}`, toolkit.CodeInvalid, `"num" must be an integer; you sent "many"`},
		"out of range":       {"look", `{"text":"a","num":10}`, toolkit.CodeInvalid, `"num" must be 9 or less; you sent 10`},
		"fraction":           {"look", `{"text":"a","num":2.5}`, toolkit.CodeInvalid, `"num" must be an integer`},
		"not in the enum":    {"look", `{"text":"a","kind":"tiny"}`, toolkit.CodeInvalid, `"kind" must be one of [short long]`},
		"item of a list":     {"look", `{"text":"a","list":[1]}`, toolkit.CodeInvalid, `"list[0]" must be a string; you sent 1`},
		"item lacks a field": {"look", `{"text":"a","rows":[{"id":"1"}]}`, toolkit.CodeInvalid, "\"rows[0]\" lacks its field \"what\"; you sent {\"id\":\"1\"}.\nRight: look {\"text\":\"a\",\"rows\":[{\"what\":\"…\"}]}"},
		"item has no field":  {"look", `{"text":"a","rows":[{"what":"x","content":"y"}]}`, toolkit.CodeInvalid, `"rows[0]" has no field "content"; its fields are what, id`},
		"twice":              {"look", `{"text":"a","text":"b"}`, toolkit.CodeInvalid, `"text" is given twice`},
		"cut off":            {"look", `{"text":"a`, toolkit.CodeInvalid, "cut off"},
		"more after it":      {"look", `{"text":"a"} and`, toolkit.CodeInvalid, "go on after"},
		"a list":             {"look", `[1,2]`, toolkit.CodeInvalid, "must be a JSON object"},
		"too deep":           {"look", `{"text":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, toolkit.CodeInvalid, "deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			out := r.do(t.Context(), call(c.tool, c.args))[0]
			if out.OK || out.Error == nil || out.Error.Code != c.code || !strings.Contains(out.Text, c.says) {
				t.Errorf("got %+v", out)
			}
			if c.code != toolkit.CodeNotFound && (!strings.Contains(out.Text, "\nRight: look {") || !strings.Contains(out.Text, "\nNext: ")) {
				t.Errorf("not three lines: %q", out.Text)
			}
			if len(r.ran) != 0 {
				t.Errorf("ran %v", r.ran)
			}
			if got := r.stored(out.Call); got.State != store.CallFailed {
				t.Errorf("stored as %s", got.State)
			}
		})
	}
}

func TestNamesAreRepairedButNeverGuessed(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"look", "LOOK", "functions.look", "look<|channel|>commentary", "default_api.look"} {
		if out := r.do(t.Context(), call(name, `{"text":"a"}`))[0]; !out.OK || out.Tool != "look" {
			t.Errorf("%q: %+v", name, out)
		}
	}
	if out := r.do(t.Context(), call("lookk", `{"text":"a"}`))[0]; out.OK {
		t.Error("a name that is merely similar ran")
	}
}

func TestAQuestionWithNobodyThereIsADenial(t *testing.T) {
	r := newRig(t)
	r.env.Attended = false
	out := r.do(t.Context(), call("put", `{"path":"a","text":"x"}`))[0]
	if out.OK || out.Error.Code != toolkit.CodeApproval {
		t.Errorf("outcome %+v", out)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "a")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it was written")
	}
}

func TestTheFloorHoldsInEveryMode(t *testing.T) {
	for _, mode := range pipeline.Modes() {
		r := newRig(t)
		r.env.Mode = func() pipeline.Mode { return mode }
		out := r.do(t.Context(), call("put", `{"path":"../outside","text":"x"}`))[0]
		if out.OK || out.Error.Code != toolkit.CodeDenied || r.stored(out.Call).DecidedBy != pipeline.ByFloor {
			t.Errorf("%v: %+v", mode, out)
		}
	}
}

func TestDenyModeStopsCallsThatWereAllowedBefore(t *testing.T) {
	r := newRig(t)
	r.env.Mode = func() pipeline.Mode {
		if len(r.ran) > 0 {
			return pipeline.Deny
		}
		return pipeline.Unlimited
	}
	out := r.do(t.Context(), call("put", `{"path":"a","text":"x"}`), call("put", `{"path":"b","text":"x"}`), call("look", `{"text":"a"}`))
	if !out[0].OK || len(r.ran) != 1 {
		t.Fatalf("ran %v", r.ran)
	}
	for _, o := range out[1:] {
		if got := r.stored(o.Call); o.OK || o.Error.Code != toolkit.CodeDenied || got.State != store.CallDenied || got.Decision != "deny" {
			t.Errorf("%s: %+v, stored %s, %s", o.Tool, o.Error, got.State, got.Decision)
		}
	}
}

func TestDeadline(t *testing.T) {
	r := newRig(t)
	r.pipe.Timeout = time.Millisecond
	out := r.do(t.Context(), call("slow", `{"text":"a"}`))[0]
	if out.OK || out.Error.Code != toolkit.CodeTimeout || !out.Error.Retryable || !strings.Contains(out.Text, "half") {
		t.Errorf("outcome %+v", out)
	}
	if !strings.Contains(out.Error.Hint, "POOL_TIMEOUT_MS") {
		t.Errorf("no remedy: %q", out.Error.Hint)
	}
}

func TestAPanicFailsOnlyItsCall(t *testing.T) {
	r := newRig(t)
	out := r.do(t.Context(), call("boom", `{"text":"a"}`), call("look", `{"text":"b"}`))
	if out[0].OK || !strings.Contains(out[0].Text, "failed inside") || !out[1].OK {
		t.Errorf("outcomes %+v", out)
	}
}

func TestSecretsAreRedactedEverywhere(t *testing.T) {
	r := newRig(t)
	r.gate = make(chan struct{})
	close(r.gate)
	out := r.do(t.Context(), call("slow", `{"text":"the word is hunter2-hunter2"}`))[0]
	if strings.Contains(out.Text, "hunter2") {
		t.Errorf("the model reads %q", out.Text)
	}
	for _, e := range r.events {
		switch b := e.(type) {
		case event.CallProgress:
			if strings.Contains(b.Text, "hunter2") {
				t.Errorf("progress shows %q", b.Text)
			}
		case event.CallReturned:
			if strings.Contains(b.Output, "hunter2") {
				t.Errorf("the screen shows %q", b.Output)
			}
		}
	}
}

func TestReadsRunSideBySideAndNothingOvertakesAWriter(t *testing.T) {
	r := newRig(t)
	r.env.Mode = func() pipeline.Mode { return pipeline.Standard }
	r.gate = make(chan struct{})
	close(r.gate)
	out := r.do(t.Context(), call("look", `{"text":"1"}`), call("look", `{"text":"2"}`), call("put", `{"path":"f","text":"new"}`), call("look", `{"text":"3"}`))
	for _, o := range out {
		if !o.OK {
			t.Fatalf("%+v", o)
		}
	}
	at := func(what string) int {
		return slices.IndexFunc(r.ran, func(s string) bool { return strings.HasPrefix(s, what) })
	}
	if put := at("put"); put < at("look 1") || put < at("look 2") || put > at("look 3") {
		t.Errorf("order %v", r.ran)
	}
}
