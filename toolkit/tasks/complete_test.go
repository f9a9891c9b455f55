package tasks

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela/toolkit"
)

func call(t *testing.T, raw string) (toolkit.Result, error) {
	t.Helper()
	p, err := CompleteTask().Plan(t.Context(), nil, json.RawMessage(raw))
	if err != nil {
		return toolkit.Result{}, err
	}
	return CompleteTask().Run(t.Context(), nil, p, nil)
}

func TestCompleteTask(t *testing.T) {
	if !CompleteTask().Spec().EndsTurn {
		t.Error("it does not end the turn")
	}
	for _, c := range []struct {
		name, raw string
		want      Completed
		text      string
	}{
		{
			"with defaults", `{"summary":" Fixed it. "}`,
			Completed{Complete: true, Summary: "Fixed it.", Artifacts: []Artifact{}, NextSteps: []string{}, Confidence: "high"},
			"Fixed it.",
		},
		{
			"with everything", `{"summary":"Done.","artifacts":[{"type":"file","id":"main.go"},{"type":"pr","url":"https://x.example/1"}],"nextSteps":["run it"],"confidence":"low"}`,
			Completed{
				Complete: true, Summary: "Done.", Artifacts: []Artifact{{Type: "file", ID: "main.go"}, {Type: "pr", URL: "https://x.example/1"}},
				NextSteps: []string{"run it"}, Confidence: "low",
			},
			"Done.\nConfidence: low\n- file main.go\n- pr https://x.example/1\nNext steps:\n- run it",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := time.Now()
			r, err := call(t, c.raw)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := r.Data.(Completed)
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(Completed{}, "CompletedAt")); !ok || diff != "" {
				t.Error(diff)
			}
			if got.CompletedAt.Before(before.Truncate(0)) || r.Text != c.text {
				t.Errorf("at %v, text %q", got.CompletedAt, r.Text)
			}
		})
	}
	_, err := call(t, `{"summary":"  "}`)
	var e *toolkit.Error
	if !errors.As(err, &e) || e.Code != toolkit.CodeInvalid {
		t.Errorf("a blank summary: %v", err)
	}
}

func TestArtifactTypesAreKnown(t *testing.T) {
	s := CompleteTask().Spec().Schema
	ok := map[string]any{"summary": "x", "artifacts": []any{map[string]any{"type": "file"}}}
	if err := s.Validate(ok); err != nil {
		t.Error(err)
	}
	bad := map[string]any{"summary": "x", "artifacts": []any{map[string]any{"type": "castle"}}}
	if err := s.Validate(bad); err == nil {
		t.Error("an unknown type passed")
	}
}
