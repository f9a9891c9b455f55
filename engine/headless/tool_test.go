package headless

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/engine/ollamatest"
	"chela/store"
	"chela/toolkit"
)

type toolResult struct {
	OK     bool           `json:"ok"`
	Output string         `json:"output"`
	Data   map[string]any `json:"data"`
	Error  *toolkit.Error `json:"error"`
}

func TestToolRunTakesACallThroughTheFiveSteps(t *testing.T) {
	for what, tc := range map[string]struct {
		name, args, mode string
		exit             int
		code             toolkit.Code
		output           string
	}{
		"a safe call runs":           {"read_file", `{"path":"go.mod"}`, "", OK, "", "example.com/thing"},
		"aliases are repaired":       {"read_file", `{"file_path":"go.mod"}`, "", OK, "", "example.com/thing"},
		"names are repaired":         {"ReadFile", `{"path":"go.mod"}`, "", OK, "", "example.com/thing"},
		"names are known by habit":   {"cat", `{"path":"go.mod"}`, "", OK, "", "example.com/thing"},
		"a moderate call is denied":  {"write_file", `{"path":"a","content":"b"}`, "", Denied, toolkit.CodeApproval, ""},
		"a mode allows it":           {"write_file", `{"path":"a","content":"b"}`, "standard", OK, "", "a"},
		"the floor holds":            {"write_file", `{"path":"../a","content":"b"}`, "full", Failed, toolkit.CodeDenied, ""},
		"deny mode denies":           {"read_file", `{"path":"go.mod"}`, "deny", Failed, toolkit.CodeDenied, ""},
		"a missing argument":         {"read_file", `{}`, "", Usage, toolkit.CodeMissing, ""},
		"an unknown argument":        {"read_file", `{"path":"go.mod","colour":1}`, "", Usage, toolkit.CodeInvalid, ""},
		"a file that does not exist": {"read_file", `{"path":"nope"}`, "", Failed, "FILE_NOT_FOUND", ""},
	} {
		t.Run(what, func(t *testing.T) {
			b := offline(t)
			o := CallOptions{Setup: b.setup(), Name: tc.name, Args: tc.args, Mode: tc.mode}
			b.exit(ToolRun(t.Context(), b.json(), o), tc.exit)
			got := decode[toolResult](t, b.out.Bytes())
			if got.OK != (tc.exit == OK) || !strings.Contains(got.Output, tc.output) {
				t.Errorf("%+v", got)
			}
			if got.OK != (got.Error == nil) || got.Error != nil && got.Error.Code != tc.code {
				t.Errorf("error %+v, want code %s", got.Error, tc.code)
			}
			// For people: output on stdout, the error returned for stderr.
			err := ToolRun(t.Context(), b.term(), o)
			if tc.exit != OK {
				b.exit(err, tc.exit)
				if err.Error() == "" || b.out.Len() > 0 {
					t.Errorf("error %q, stdout %q", err, b.out.String())
				}
			}
		})
	}
}

func TestBadCallsAreUsageErrorsBeforeAnythingIsRecorded(t *testing.T) {
	b := offline(t)
	for what, tc := range map[string]struct{ name, args, mode, says string }{
		"unknown tool":   {"read_fiel", `{}`, "", "read_file"},
		"no JSON":        {"read_file", `path=go.mod`, "", "JSON object"},
		"empty":          {"read_file", ``, "", "JSON object"},
		"list":           {"read_file", `["go.mod"]`, "", "JSON object"},
		"null":           {"read_file", `null`, "", "JSON object"},
		"two objects":    {"read_file", `{} {}`, "", "JSON object"},
		"mode":           {"read_file", `{}`, "yolo", "standard"},
		"mode and check": {"read_file", `{}`, "root", "standard"},
	} {
		t.Run(what, func(t *testing.T) {
			err := ToolRun(t.Context(), b.term(), CallOptions{Setup: b.setup(), Name: tc.name, Args: tc.args, Mode: tc.mode})
			b.exit(err, Usage)
			says(t, "error", err.Error(), tc.says)
			err = Check(t.Context(), b.term(), CallOptions{Setup: b.setup(), Name: tc.name, Args: tc.args, Mode: tc.mode})
			b.exit(err, Usage)
		})
	}
	if s := b.sessions(); len(s) != 0 {
		t.Errorf("recorded: %+v", s)
	}
}

// The hints that a model reads help a person too, but for those that tell it
// not to try again.
func TestAFailedCallSaysWhatToDo(t *testing.T) {
	b := offline(t)
	for args, want := range map[string]string{
		`{"path":"go.mdo"}`: `there is no file or folder "go.mdo". The nearest are: go.mod.`,
		`{"path":"../a"}`:   "workspace",
		`{}`:                "missing.\nRight: read_file",
	} {
		err := ToolRun(t.Context(), b.term(), CallOptions{Setup: b.setup(), Name: "read_file", Args: args})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "get around") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// POOL_TIMEOUT_MS bounds every call, whatever its own timeout says.
func TestNoCallOutlastsThePoolsTimeout(t *testing.T) {
	b := offline(t)
	t.Setenv("POOL_TIMEOUT_MS", "100")
	for _, args := range []string{`{"command":"sleep 600"}`, `{"command":"sleep 600","timeout":600}`} {
		b.exit(ToolRun(t.Context(), b.json(), CallOptions{Setup: b.setup(), Name: "exec", Args: args, Mode: "full"}), Failed)
		if got := decode[toolResult](t, b.out.Bytes()); got.Error == nil || got.Error.Code != toolkit.CodeTimeout {
			t.Errorf("%s: %+v", args, got.Error)
		}
		b.out.Reset()
	}
}

func TestCallsOfADayShareASession(t *testing.T) {
	b := offline(t)
	read := func() {
		t.Helper()
		b.exit(ToolRun(t.Context(), b.term(), CallOptions{Setup: b.setup(), Name: "read_file", Args: `{"path":"go.mod"}`}), OK)
	}
	read()
	read()
	list := b.sessions()
	if len(list) != 1 || list[0].Title != CommandLineTitle {
		t.Fatalf("sessions: %+v", list)
	}
	st := b.store()
	calls, err := st.Calls(t.Context(), list[0].ID)
	if err != nil || len(calls) != 2 || calls[0].Origin != "person" || calls[0].State != store.CallDone {
		t.Fatalf("calls: %+v, %v", calls, err)
	}
	release, err := st.Lock(list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	read() // another program has it open
	release()
	if n := len(b.sessions()); n != 2 {
		t.Errorf("%d sessions, want 2", n)
	}
	for _, s := range b.sessions() { // yesterday's are left alone
		s.Created = s.Created.Add(-24 * time.Hour)
		if err := st.DeleteSession(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
		if err := st.PutSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if n := len(b.sessions()); n != 3 {
		t.Errorf("%d sessions, want 3", n)
	}
}

type checkResult struct {
	Tool     string         `json:"tool"`
	Decision string         `json:"decision"`
	Level    string         `json:"level"`
	Reasons  []string       `json:"reasons"`
	By       string         `json:"by"`
	Plan     toolkit.Plan   `json:"plan"`
	Error    *toolkit.Error `json:"error"`
}

func TestCheckJudgesAndLeavesNoTrace(t *testing.T) {
	b := offline(t)
	for _, tc := range []struct{ name, args, mode, decision, level string }{
		{"read_file", `{"path":"go.mod"}`, "ask", "allow", "safe"},
		{"read_file", `{"path":"go.mod"}`, "deny", "deny", "safe"},
		{"read_file", `{"path":"go.mod"}`, "allowlist", "deny", "safe"},
		{"write_file", `{"path":"a","content":"b"}`, "", "ask", "moderate"},
		{"write_file", `{"path":"a","content":"b"}`, "standard", "allow", "moderate"},
		{"write_file", `{"path":"../a","content":"b"}`, "full", "deny", "moderate"},
		{"read_file", `{"path":"nope"}`, "full", "deny", "safe"},
	} {
		err := Check(t.Context(), b.json(), CallOptions{Setup: b.setup(), Name: tc.name, Args: tc.args, Mode: tc.mode})
		got := decode[checkResult](t, b.out.Bytes())
		if got.Decision != tc.decision || got.Level != tc.level || len(got.Reasons) == 0 || got.Tool != tc.name || got.Plan.Tool != tc.name {
			t.Errorf("%s %s in %q: %+v", tc.name, tc.args, tc.mode, got)
		}
		if (err != nil) != (got.Error != nil) {
			t.Errorf("%s %s in %q: error %v, in JSON %v", tc.name, tc.args, tc.mode, err, got.Error)
		}
	}
	if b.exists("a") {
		t.Error("a check wrote the file")
	}
	if s := b.sessions(); len(s) != 0 {
		t.Errorf("recorded: %+v", s)
	}
	b.exit(Check(t.Context(), b.term(), CallOptions{Setup: b.setup(), Name: "write_file", Args: `{"path":"a","content":"b"}`}), OK)
	says(t, "stdout", b.out.String(), "decision  ask in ask mode", "level     moderate", "because   in ask mode, moderate calls")
}

func TestCheckKnowsTheRules(t *testing.T) {
	b := offline(t)
	st := b.store()
	if err := st.PutRule(t.Context(), store.Rule{ID: "rule1", Decision: "allow", Tool: "write_file", Scope: "tool", Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	b.exit(Check(t.Context(), b.json(), CallOptions{Setup: b.setup(), Name: "write_file", Args: `{"path":"a","content":"b"}`}), OK)
	if got := decode[checkResult](t, b.out.Bytes()); got.Decision != "allow" || got.By != "rule" {
		t.Errorf("%+v", got)
	}
}

func TestToolListSaysWhoGetsWhatAndWhy(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	b.settings("tools:\n  demote: [exec]\n")
	list := func(o ToolListOptions) []listedTool {
		t.Helper()
		o.Setup = b.setup()
		b.exit(ToolList(t.Context(), b.json(), o), OK)
		return decode[[]listedTool](t, b.out.Bytes())
	}
	names := func(l []listedTool) []string {
		var out []string
		for _, e := range l {
			if e.Tokens <= 0 || e.Category == "" || e.Reason == "" {
				t.Errorf("incomplete: %+v", e)
			}
			out = append(out, e.Name)
		}
		return out
	}
	all, tier := names(list(ToolListOptions{All: true})), names(list(ToolListOptions{Tier: "essential"}))
	if !slices.Contains(all, "exec") || slices.Contains(tier, "exec") {
		t.Errorf("all: %v\ntier: %v", all, tier)
	}
	if diff := cmp.Diff(tier, names(list(ToolListOptions{Model: modelName}))); diff != "" {
		t.Errorf("an 8B model and the essential tier differ:\n%s", diff)
	}
	if diff := cmp.Diff(tier, names(list(ToolListOptions{}))); diff != "" {
		t.Errorf("the model chela would start with:\n%s", diff)
	}
	b.exit(ToolList(t.Context(), b.term(), ToolListOptions{Setup: b.setup(), All: true}), OK)
	says(t, "stdout", b.out.String(), "read_file", "demoted in settings.yml")
	b.exit(ToolList(t.Context(), b.term(), ToolListOptions{Setup: b.setup(), Tier: "big"}), Usage)
	b.exit(ToolList(t.Context(), b.term(), ToolListOptions{Setup: b.setup(), Tier: "full", Model: "x"}), Usage)
}

func TestToolSchemaIsWhatTheModelAndTheValidatorUse(t *testing.T) {
	b := offline(t)
	b.exit(ToolSchema(t.Context(), b.json(), b.setup(), "read_file"), OK)
	type schema struct {
		Name       string `json:"name"`
		Tokens     int    `json:"tokens"`
		Parameters struct {
			Required   []string       `json:"required"`
			Properties map[string]any `json:"properties"`
		} `json:"parameters"`
		Wire struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"wire"`
	}
	got := decode[schema](t, b.out.Bytes())
	if got.Name != "read_file" || got.Wire.Function.Name != "read_file" || got.Tokens <= 0 || !slices.Equal(got.Parameters.Required, []string{"path"}) {
		t.Errorf("%+v", got)
	}
	b.exit(ToolSchema(t.Context(), b.term(), b.setup(), "read_file"), OK)
	if decode[schema](t, b.out.Bytes()).Name != "read_file" {
		t.Error("the indented form differs")
	}
	b.exit(ToolSchema(t.Context(), b.term(), b.setup(), "nope"), Usage)
}

func TestRouteNeedsNoServerAndCreatesNothing(t *testing.T) {
	b := offline(t)
	type route struct {
		Model, Tier, Reason string
		Tools               []string
		Tokens              int
	}
	for model, tier := range map[string]string{
		"qwen2.5-coder:7b-instruct-q4_K_M": "essential", "qwen3:14b": "standard", "llama3.3:70b": "full", "mystery": "essential",
	} {
		b.exit(Route(t.Context(), b.json(), b.setup(), model), OK)
		got := decode[route](t, b.out.Bytes())
		if got.Model != model || got.Tier != tier || got.Reason == "" || len(got.Tools) == 0 || got.Tokens <= 0 {
			t.Errorf("%s: %+v", model, got)
		}
	}
	if _, err := os.Stat(os.Getenv("CHELA_DATA_DIR")); !os.IsNotExist(err) {
		t.Errorf("the data folder was made: %v", err)
	}
	b.exit(Route(t.Context(), b.term(), b.setup(), "qwen3:8b"), OK)
	says(t, "stdout", b.out.String(), "essential", "under 12B", "read_file")
	b.exit(Route(t.Context(), b.term(), b.setup(), " "), Usage)
}
