package tasks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"chela/tiers"
	"chela/toolkit"
)

// PlanKind is the kind of note that holds a session's plans.
const PlanKind = "plan"

// PlanStep is one step of a plan.
type PlanStep struct {
	Description    string   `json:"description"`
	Files          []string `json:"files,omitempty"`
	Effort         string   `json:"effort,omitempty" default:"medium" enum:"small,medium,large" alias:"estimatedEffort"`
	DependsOn      []int    `json:"depends_on,omitempty" doc:"numbers of the steps that come first" alias:"dependsOn"`
	EstimatedSteps int      `json:"estimated_steps,omitempty"`

	Status  string `json:"status,omitempty" enum:"pending,completed,skipped,failed" default:"pending"`
	Summary string `json:"summary,omitempty"`
}

// WorkPlan is a plan as it is kept.
type WorkPlan struct {
	ID       string     `json:"id"`
	Title    string     `json:"title"`
	Steps    []PlanStep `json:"steps"`
	Progress string     `json:"progress,omitempty"`
	Created  time.Time  `json:"created"`
}

// active reports whether steps are open.
func (p WorkPlan) active() bool {
	return slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return s.Status == "pending" })
}

type planArgs struct {
	Title    string     `json:"title" doc:"what the plan is for" min:"1"`
	Steps    []PlanStep `json:"steps" doc:"in the order of work" min:"1"`
	Progress string     `json:"progress,omitempty" doc:"what is done already"`
}

// Planned is the data of create_plan.
type Planned struct {
	PlanID    string `json:"planId"`
	Status    string `json:"status"`
	StepCount int    `json:"stepCount"`
	Path      string `json:"path"`
}

// CreatePlan writes a plan that the person accepts; it survives the end of the
// program.
func CreatePlan() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "create_plan", Summary: "Write a plan and ask the user to accept it.", Category: "task",
		Level: toolkit.Safe, Tier: tiers.Full, Synonyms: "steps decompose break down outline strategy",
	}, planPlan, runPlan, toolkit.AvailableIf(needsNotebook))
}

func needsNotebook(_ context.Context, w *toolkit.Workspace) error {
	if w.Notes == nil {
		return errors.New("works only inside a session")
	}
	return nil
}

func planPlan(_ context.Context, _ *toolkit.Workspace, a planArgs) (toolkit.Plan, error) {
	for i, s := range a.Steps {
		if strings.TrimSpace(s.Description) == "" {
			return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "step %d has no description.", i+1).WithHint("Say what is done in it.")
		}
		for _, d := range s.DependsOn {
			if d < 1 || d > len(a.Steps) || d == i+1 {
				return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "step %d depends on step %d, which is not another step of this plan.", i+1, d).WithHint("Steps are numbered from 1.")
			}
		}
	}
	if at := cycle(a.Steps); at > 0 {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "step %d depends on itself through others.", at).WithHint("Take one of the dependencies out.")
	}
	return toolkit.Plan{
		Summary: fmt.Sprintf("%s: %d steps", a.Title, len(a.Steps)),
		Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: PlanText(WorkPlan{Title: a.Title, Steps: a.Steps, Progress: a.Progress})},
		Asks:    []string{"a plan is for you to accept"},
	}, nil
}

// cycle returns the number of a step that waits for itself; 0: none does.
func cycle(steps []PlanStep) int {
	state := make([]int, len(steps)) // 1: being looked at, 2: fine
	var visit func(i int) bool
	visit = func(i int) bool {
		if state[i] != 0 {
			return state[i] == 1
		}
		state[i] = 1
		for _, d := range steps[i].DependsOn {
			if visit(d - 1) {
				return true
			}
		}
		state[i] = 2
		return false
	}
	for i := range steps {
		if visit(i) {
			return i + 1
		}
	}
	return 0
}

func runPlan(ctx context.Context, w *toolkit.Workspace, a planArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	p := WorkPlan{ID: strings.ToLower(rand.Text()[:8]), Title: a.Title, Steps: slices.Clone(a.Steps), Progress: a.Progress, Created: time.Now().UTC()}
	for i := range p.Steps {
		s := &p.Steps[i]
		s.Status, s.Effort, s.Summary = "pending", cmp.Or(s.Effort, "medium"), ""
	}
	if err := putPlan(ctx, w.Notes, p); err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Result{
		Text: "The user accepted the plan.\n" + PlanText(p) + "\nBegin with step 1. After each step call complete_plan_step.",
		Data: Planned{PlanID: p.ID, Status: "accepted", StepCount: len(p.Steps), Path: "session notes, plan " + p.ID},
	}, nil
}

func putPlan(ctx context.Context, n toolkit.Notebook, p WorkPlan) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return n.Put(ctx, PlanKind, p.ID, body)
}

// ReadPlans returns a session's plans, the newest first.
func ReadPlans(ctx context.Context, n toolkit.Notebook) ([]WorkPlan, error) {
	notes, err := n.List(ctx, PlanKind)
	if err != nil {
		return nil, err
	}
	var out []WorkPlan
	for _, note := range notes {
		var p WorkPlan
		if err := json.Unmarshal(note.Body, &p); err != nil {
			return nil, fmt.Errorf("reading plan %s: %w", note.ID, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// PlanText is a plan as a model and a person read it.
func PlanText(p WorkPlan) string {
	var b strings.Builder
	b.WriteString(p.Title)
	if p.ID != "" {
		b.WriteString(" (plan " + p.ID + ")")
	}
	if p.Progress != "" {
		b.WriteString("\nDone already: " + p.Progress)
	}
	mark := map[string]string{"completed": "[x]", "skipped": "[-]", "failed": "[!]"}
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "\n%s %d. %s", cmp.Or(mark[s.Status], "[ ]"), i+1, s.Description)
		if len(s.DependsOn) > 0 {
			fmt.Fprintf(&b, " (after %s)", strings.Trim(fmt.Sprint(s.DependsOn), "[]"))
		}
		if len(s.Files) > 0 {
			b.WriteString(" — " + strings.Join(s.Files, ", "))
		}
		if s.Summary != "" {
			b.WriteString(": " + s.Summary)
		}
	}
	return b.String()
}

type stepArgs struct {
	StepIndex int    `json:"stepIndex" doc:"number of the step, from 1" min:"1" alias:"step,step_index,index"`
	PlanID    string `json:"planId,omitempty" doc:"the active plan when absent" alias:"plan_id,plan"`
	Status    string `json:"status,omitempty" default:"completed" enum:"completed,skipped,failed"`
	Summary   string `json:"summary,omitempty" doc:"what was done"`
}

// Stepped is the data of complete_plan_step.
type Stepped struct {
	Status        string `json:"status"`
	CompletedStep int    `json:"completedStep"`
	NextStep      *Next  `json:"nextStep"` // null: none is left
	PlanID        string `json:"planId"`
}

// Next is the step that comes next.
type Next struct {
	Index       int    `json:"index"`
	Description string `json:"description"`
}

// CompletePlanStep ticks off a step of a plan.
func CompletePlanStep() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "complete_plan_step", Summary: "Tick off a step of the accepted plan.", Category: "task",
		Level: toolkit.Safe, Tier: tiers.Full,
	}, nil, runStep, toolkit.AvailableIf(needsNotebook))
}

func runStep(ctx context.Context, w *toolkit.Workspace, a stepArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	plans, err := ReadPlans(ctx, w.Notes)
	if err != nil {
		return toolkit.Result{}, err
	}
	i := slices.IndexFunc(plans, func(p WorkPlan) bool { return a.PlanID == p.ID || a.PlanID == "" && p.active() })
	if i < 0 {
		if a.PlanID != "" {
			return toolkit.Result{}, toolkit.Errorf("NO_ACTIVE_PLAN", "this session has no plan %q.", a.PlanID).WithHint("Leave planId out to mean the active one.")
		}
		return toolkit.Result{}, toolkit.Errorf("NO_ACTIVE_PLAN", "this session has no plan with open steps.").WithHint("Make one with create_plan.")
	}
	p := plans[i]
	if a.StepIndex > len(p.Steps) {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeInvalid, "plan %s has %d steps; there is no step %d.", p.ID, len(p.Steps), a.StepIndex)
	}
	s := &p.Steps[a.StepIndex-1]
	s.Status, s.Summary = cmp.Or(a.Status, "completed"), strings.TrimSpace(a.Summary)
	if err := putPlan(ctx, w.Notes, p); err != nil {
		return toolkit.Result{}, err
	}
	data := Stepped{Status: s.Status, CompletedStep: a.StepIndex, PlanID: p.ID}
	text := PlanText(p)
	if n := slices.IndexFunc(p.Steps, func(s PlanStep) bool { return s.Status == "pending" }); n >= 0 {
		data.NextStep = &Next{n + 1, p.Steps[n].Description}
		text += fmt.Sprintf("\nNext: step %d.", n+1)
	} else {
		text += "\nAll steps are done."
	}
	return toolkit.Result{Text: text, Data: data}, nil
}
