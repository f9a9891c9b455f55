package tasks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"chela/tiers"
	"chela/toolkit"
)

// TodoKind is the kind of note that holds a session's work list.
const TodoKind = "todo"

// Todo is one piece of work.
type Todo struct {
	ID          string `json:"id,omitempty"`
	Description string `json:"description"`
	Status      string `json:"status,omitempty" default:"pending" enum:"pending,in_progress,completed,blocked"`
	Priority    string `json:"priority,omitempty" default:"medium" enum:"high,medium,low"`
}

type todoArgs struct {
	Items []Todo `json:"items,omitempty" doc:"the whole list; without it the present list is returned" alias:"todos,tasks,list"`
}

// Todos is the data of todo_write.
type Todos struct {
	Items   []Todo `json:"items"`
	Count   int    `json:"count"`
	Summary string `json:"summary"`
}

// maxTodos bounds a list: a longer one is no plan any more, and fills a small
// window each time.
const maxTodos = 50

// TodoWrite keeps the session's work list.
func TodoWrite() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "todo_write", Summary: "Keep the work list of this task. Send the whole list each time.", Category: "task",
		Guide: "Use it for work of three steps or more: one item in_progress at a time, completed as soon as it is done.",
		Level: toolkit.Safe, Tier: tiers.Standard, Synonyms: "checklist steps plan tasks progress",
	}, planTodos, runTodos, toolkit.AvailableIf(needsNotebook))
}

func planTodos(_ context.Context, _ *toolkit.Workspace, a todoArgs) (toolkit.Plan, error) {
	if len(a.Items) > maxTodos {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "the list has %d items, and at most %d fit.", len(a.Items), maxTodos).WithHint("Join small items, or drop finished ones.")
	}
	seen := map[string]bool{}
	for i, it := range a.Items {
		if strings.TrimSpace(it.Description) == "" {
			return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "item %d has no description.", i+1).WithHint("Say in a few words what is to be done.")
		}
		if it.ID != "" && seen[it.ID] {
			return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "two items have the id %q.", it.ID).WithHint("Leave the ids out: they are given in order.")
		}
		seen[it.ID] = true
	}
	if len(a.Items) == 0 {
		return toolkit.Plan{Summary: "shows the list"}, nil
	}
	return toolkit.Plan{Summary: summarise(a.Items)}, nil
}

func runTodos(ctx context.Context, w *toolkit.Workspace, a todoArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	items := slices.Clone(a.Items)
	if len(items) == 0 {
		var err error
		if items, err = ReadTodos(ctx, w.Notes); err != nil {
			return toolkit.Result{}, err
		}
	} else {
		taken := map[string]bool{}
		for _, it := range items {
			taken[it.ID] = true
		}
		next := 1
		for i := range items {
			items[i].Status, items[i].Priority = cmp.Or(items[i].Status, "pending"), cmp.Or(items[i].Priority, "medium")
			for items[i].ID == "" {
				if id := fmt.Sprint(next); !taken[id] {
					items[i].ID, taken[id] = id, true
				}
				next++
			}
		}
		body, err := json.Marshal(items)
		if err != nil {
			return toolkit.Result{}, err
		}
		if err := w.Notes.Put(ctx, TodoKind, TodoKind, body); err != nil {
			return toolkit.Result{}, err
		}
	}
	data := Todos{Items: items, Count: len(items), Summary: summarise(items)}
	if data.Items == nil {
		data.Items = []Todo{}
	}
	return toolkit.Result{Text: TodoText(items), Data: data}, nil
}

// ReadTodos returns a session's work list; empty if it has none.
func ReadTodos(ctx context.Context, n toolkit.Notebook) ([]Todo, error) {
	notes, err := n.List(ctx, TodoKind)
	if err != nil || len(notes) == 0 {
		return nil, err
	}
	var items []Todo
	if err := json.Unmarshal(notes[0].Body, &items); err != nil {
		return nil, fmt.Errorf("reading the work list: %w", err)
	}
	return items, nil
}

// TodoText is the list as a model reads it.
func TodoText(items []Todo) string {
	if len(items) == 0 {
		return "The list is empty."
	}
	var b strings.Builder
	b.WriteString(summarise(items))
	mark := map[string]string{"completed": "[x]", "in_progress": "[>]", "blocked": "[!]"}
	for _, it := range items {
		fmt.Fprintf(&b, "\n%s %s. %s", cmp.Or(mark[it.Status], "[ ]"), it.ID, it.Description)
		if it.Priority == "high" {
			b.WriteString(" (high)")
		}
	}
	return b.String()
}

func summarise(items []Todo) string {
	done := 0
	now := ""
	for _, it := range items {
		switch it.Status {
		case "completed":
			done++
		case "in_progress":
			now = cmp.Or(now, it.Description)
		}
	}
	text := fmt.Sprintf("%d of %d done", done, len(items))
	if now != "" {
		text += ", now: " + now
	}
	return text
}
