// Package tasks has the tool with which a model says that it is done.
//
// It guarantees that a completed task ends the turn only when the model stated
// what was done: a blank summary is an error, not an end.
package tasks

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"chela/tiers"
	"chela/toolkit"
)

// Artifact is one thing that the work produced.
type Artifact struct {
	Type        string `json:"type,omitempty" default:"other" enum:"commit,pr,file,ticket,comment,project,other"`
	ID          string `json:"id,omitempty"`
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
}

type completeArgs struct {
	Summary    string     `json:"summary" doc:"what was done" alias:"result,message,text,answer,output"`
	Artifacts  []Artifact `json:"artifacts,omitempty" doc:"things produced" default:"[]"`
	NextSteps  []string   `json:"nextSteps,omitempty" default:"[]" alias:"next_steps"`
	Confidence string     `json:"confidence,omitempty" enum:"high,medium,low" default:"high"`
}

// Completed is the data of complete_task.
type Completed struct {
	Complete    bool       `json:"complete"`
	Summary     string     `json:"summary"`
	Artifacts   []Artifact `json:"artifacts"`
	NextSteps   []string   `json:"nextSteps"`
	Confidence  string     `json:"confidence"`
	CompletedAt time.Time  `json:"completedAt"`
}

// CompleteTask says that the request is finished. Its success ends the agent
// loop.
func CompleteTask() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "complete_task",
		Summary:  "Say that the whole request is done. Ends your work.",
		Category: "task",
		Level:    toolkit.Safe,
		Tier:     tiers.Essential,
		ReadOnly: true,
		EndsTurn: true,
	}, planComplete, runComplete)
}

func planComplete(_ context.Context, _ *toolkit.Workspace, a completeArgs) (toolkit.Plan, error) {
	summary := strings.Join(strings.Fields(a.Summary), " ")
	if summary == "" {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "complete_task: summary is empty.").
			WithHint("Say in one sentence what was done.")
	}
	return toolkit.Plan{Summary: summary}, nil
}

func runComplete(_ context.Context, _ *toolkit.Workspace, a completeArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	done := Completed{
		Complete: true, Summary: strings.TrimSpace(a.Summary), Artifacts: a.Artifacts, NextSteps: a.NextSteps,
		Confidence: a.Confidence, CompletedAt: time.Now().UTC(),
	}
	if done.Artifacts == nil {
		done.Artifacts = []Artifact{}
	}
	for i, a := range done.Artifacts {
		done.Artifacts[i].Type = cmp.Or(a.Type, "other")
	}
	if done.NextSteps == nil {
		done.NextSteps = []string{}
	}
	return toolkit.Result{Text: completeText(done), Data: done}, nil
}

func completeText(d Completed) string {
	var b strings.Builder
	b.WriteString(d.Summary)
	if d.Confidence != "high" {
		fmt.Fprintf(&b, "\nConfidence: %s", d.Confidence)
	}
	for _, a := range d.Artifacts {
		fmt.Fprintf(&b, "\n- %s", strings.Join(strings.Fields(strings.Join([]string{a.Type, a.ID, a.Description, a.URL}, " ")), " "))
	}
	if len(d.NextSteps) > 0 {
		b.WriteString("\nNext steps:")
		for _, s := range d.NextSteps {
			b.WriteString("\n- " + s)
		}
	}
	return b.String()
}
