package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/toolkit/tasks"
)

// notes is a notebook in memory, the newest first.
type notes struct{ list []kept }

type kept struct {
	kind string
	toolkit.Note
}

func (n *notes) Put(_ context.Context, kind, id string, body json.RawMessage) error {
	n.list = slices.DeleteFunc(n.list, func(k kept) bool { return k.kind == kind && k.ID == id })
	n.list = slices.Insert(n.list, 0, kept{kind, toolkit.Note{ID: id, Body: body}})
	return nil
}

func (n *notes) List(_ context.Context, kind string) ([]toolkit.Note, error) {
	var out []toolkit.Note
	for _, k := range n.list {
		if k.kind == kind {
			out = append(out, k.Note)
		}
	}
	return out, nil
}

// call plans and runs a tool. The arguments are as after validation.
func call(t *testing.T, tool toolkit.Tool, n toolkit.Notebook, args string) (toolkit.Plan, toolkit.Result, error) {
	t.Helper()
	w := &toolkit.Workspace{Notes: n}
	p, err := tool.Plan(t.Context(), w, json.RawMessage(args))
	if err != nil {
		return p, toolkit.Result{}, err
	}
	r, err := tool.Run(t.Context(), w, p, nil)
	return p, r, err
}

func fails(t *testing.T, err error, code toolkit.Code, says string) {
	t.Helper()
	var te *toolkit.Error
	if !errors.As(err, &te) || te.Code != code || !strings.Contains(te.Error(), says) {
		t.Errorf("got %v, want %s with %q", err, code, says)
	}
}

func TestTheWorkListIsKeptAndShown(t *testing.T) {
	n := &notes{}
	_, r, err := call(t, tasks.TodoWrite(), n, `{"items":[{"description":"look","status":"completed"},{"description":"fix","status":"in_progress","priority":"high"},{"id":"1","description":"test"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := "1 of 3 done, now: fix\n[x] 2. look\n[>] 3. fix (high)\n[ ] 1. test"
	if diff := cmp.Diff(want, r.Text); diff != "" {
		t.Error(diff)
	}
	_, again, err := call(t, tasks.TodoWrite(), n, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Data, again.Data); diff != "" {
		t.Errorf("shown without items: %s", diff)
	}
	if _, r, err := call(t, tasks.TodoWrite(), &notes{}, `{}`); err != nil || r.Text != "The list is empty." {
		t.Errorf("an empty one gives %q, %v", r.Text, err)
	}
}

func TestAWorkListThatMakesNoSenseIsRefused(t *testing.T) {
	_, _, err := call(t, tasks.TodoWrite(), &notes{}, `{"items":[{"description":" "}]}`)
	fails(t, err, toolkit.CodeInvalid, "item 1 has no description")
	_, _, err = call(t, tasks.TodoWrite(), &notes{}, `{"items":[{"id":"a","description":"x"},{"id":"a","description":"y"}]}`)
	fails(t, err, toolkit.CodeInvalid, `two items have the id "a"`)
	long := `{"items":[` + strings.Repeat(`{"description":"x"},`, 50) + `{"description":"x"}]}`
	_, _, err = call(t, tasks.TodoWrite(), &notes{}, long)
	fails(t, err, toolkit.CodeInvalid, "51 items")
}

func TestAPlanIsAcceptedAndTickedOff(t *testing.T) {
	n := &notes{}
	p, r, err := call(t, tasks.CreatePlan(), n, `{"title":"Cache","steps":[{"description":"measure"},{"description":"write","depends_on":[1],"files":["cache.go"]}],"progress":"read the code"}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Asks) == 0 || !strings.Contains(p.Preview.Text, "[ ] 2. write (after 1) — cache.go") {
		t.Errorf("the plan asks %v and shows %q", p.Asks, p.Preview.Text)
	}
	made, ok := r.Data.(tasks.Planned)
	if !ok || made.StepCount != 2 {
		t.Fatalf("data: %+v", r.Data)
	}
	_, r, err = call(t, tasks.CompletePlanStep(), n, `{"stepIndex":1,"summary":"12 ms"}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tasks.Stepped{Status: "completed", CompletedStep: 1, NextStep: &tasks.Next{Index: 2, Description: "write"}, PlanID: made.PlanID}, r.Data); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(r.Text, "[x] 1. measure: 12 ms") || !strings.Contains(r.Text, "Next: step 2.") {
		t.Errorf("text: %s", r.Text)
	}
	if _, r, err = call(t, tasks.CompletePlanStep(), n, `{"stepIndex":2,"status":"skipped"}`); err != nil || !strings.Contains(r.Text, "All steps are done.") {
		t.Errorf("%q, %v", r.Text, err)
	}
	_, _, err = call(t, tasks.CompletePlanStep(), n, `{"stepIndex":1}`)
	fails(t, err, "NO_ACTIVE_PLAN", "no plan with open steps")
	_, _, err = call(t, tasks.CompletePlanStep(), n, `{"stepIndex":9,"planId":"`+made.PlanID+`"}`)
	fails(t, err, toolkit.CodeInvalid, "has 2 steps")
}

func TestAPlanThatCannotBeWorkedIsRefused(t *testing.T) {
	for args, says := range map[string]string{
		`{"title":"x","steps":[{"description":""}]}`:                                                        "step 1 has no description",
		`{"title":"x","steps":[{"description":"a","depends_on":[1]}]}`:                                      "depends on step 1",
		`{"title":"x","steps":[{"description":"a","depends_on":[5]}]}`:                                      "depends on step 5",
		`{"title":"x","steps":[{"description":"a","depends_on":[2]},{"description":"b","depends_on":[1]}]}`: "depends on itself",
	} {
		_, _, err := call(t, tasks.CreatePlan(), &notes{}, args)
		fails(t, err, toolkit.CodeInvalid, says)
	}
}
