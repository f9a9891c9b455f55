package securitytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/headless"
	"chela/engine/pipeline"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/catalogue"
)

// canary is a secret that chela knows of: it is in a variable of its own
// environment whose name says so.
const canary = "cAnArY-7f3d91b2-Zq8"

// sinks collects everything that leaves an engine.
type sinks struct{ out []string }

func (s *sinks) add(what string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = fmt.Append(nil, v)
	}
	s.out = append(s.out, what+": "+string(b))
}

// leaks are the sinks that hold the canary.
func (s *sinks) leaks() []string {
	var out []string
	for _, o := range s.out {
		if at := strings.Index(o, canary); at >= 0 {
			out = append(out, o[:min(at+80, len(o))])
		}
	}
	return out
}

// canaryCalls drive what a tool gives: output, progress, errors, file names,
// changes, previews.
var canaryCalls = []struct{ tool, args string }{
	{"read_file", `{"path":"notes.txt"}`},
	{"read_file", `{"path":".env"}`}, // approved
	{"grep", `{"pattern":"canary","path":"."}`},
	{"grep", `{"pattern":"[","path":"."}`},
	{"search_files", `{"pattern":"**/*"}`},
	{"directory_tree", `{"path":"."}`},
	{"git_status", `{}`},
	{"exec", `{"command":"cat notes.txt; cat notes.txt >&2; exit 3"}`},
	{"exec", `{"command":"env; set; export -p"}`},
	{"exec", `{"command":"cat /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n'"}`},
	{"exec", `{"command":"base64 -w0 notes.txt; printf %s \"$(tail -c 20 notes.txt)\" | base64"}`},
	{"edit_file", `{"path":"notes.txt","old_string":"no such text","new_string":"x"}`},
	{"write_file", `{"path":"other.txt","content":"harmless"}`},
	{"web_fetch", `{"url":"http://pub.test/echo"}`},
	{"complete_task", `{"summary":"done"}`},
}

// TestASecretIsInNoSink plants a canary in the environment, a file and a page,
// and looks for it in all that comes out: results, errors, progress, events, the
// audit, every file of the state, and what the command line prints.
func TestASecretIsInNoSink(t *testing.T) {
	t.Setenv("FAKE_API_TOKEN", canary)
	p := newPlaces(t)
	for _, o := range []op{
		{Op: "git_init", Path: ".", Files: map[string]string{"a.txt": "one\n"}, Commit: true},
		{Op: "file", Path: "notes.txt", Content: "canary here: " + canary + "\n"},
		{Op: "file", Path: ".env", Content: "FAKE_API_TOKEN=" + canary + "\n"},
		{Op: "file", Path: "sub/" + canary + ".txt", Content: "a name\n"},
	} {
		apply(t, p, o)
	}
	r := newRig(t, p, pipeline.Ask)
	r.net.hosts = map[string][]string{"pub.test": {"93.184.216.34"}}
	r.net.serve = map[string]map[string]answer{"93.184.216.34:80": {"/echo": {Status: 200, Body: "you sent " + canary}}}
	r.start()
	var s sinks
	all := r.engine.Subscribe()
	for _, c := range canaryCalls {
		res := r.call(toolkit.FromModel, c.tool, json.RawMessage(c.args), func(event.ApprovalAsked) pipeline.Answer {
			return pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce}
		})
		s.add(c.tool+" "+c.args+" result", res.out.Result)
		s.add(c.tool+" "+c.args+" for the model", res.out.Text)
		s.add(c.tool+" "+c.args+" error", res.out.Error)
		if c.tool == "read_file" && !res.out.OK {
			t.Errorf("%s: %s", c.args, res.out.Text) // or nothing is tested
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for seen := 0; seen < len(canaryCalls); {
		batch, err := all.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			s.add("event "+e.Body.Type(), e)
			if _, ok := e.Body.(event.CallReturned); ok {
				seen++
			}
		}
	}
	err := r.store.Audit(t.Context(), store.AuditFilter{}, func(row store.AuditRow) error {
		s.add("audit", row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.leaks() {
		t.Error(l)
	}
	for _, name := range holding(t, p.state, canary) {
		t.Errorf("%s holds it", name)
	}
}

// TestASecretInArgumentsIsNotKept: what a person or model passes along is used,
// and neither the audit nor the history has it in clear.
func TestASecretInArgumentsIsNotKept(t *testing.T) {
	t.Setenv("FAKE_API_TOKEN", canary)
	p := newPlaces(t)
	r := newRig(t, p, pipeline.Unlimited)
	r.start()
	var s sinks
	for _, c := range []struct{ tool, args string }{
		{"exec", `{"command":"echo ` + canary + `"}`},
		{"exec", `{"command":"true","env":{"X":"` + canary + `"}}`},
		{"write_file", `{"path":"a.txt","content":"` + canary + `"}`},
		{"write_file", `{"path":"../` + canary + `","content":"x"}`},
		{"edit_file", `{"path":"a.txt","old_string":"` + canary + `","new_string":"x"}`},
		{"read_file", `{"path":"` + canary + `"}`},
		{"read_file", `{"` + canary + `":1}`},
		{canary, `{}`},
		{"web_fetch", `{"url":"http://pub.test/` + canary + `"}`},
	} {
		res := r.call(toolkit.FromModel, c.tool, json.RawMessage(c.args), denies)
		s.add("for the model", res.out.Text)
	}
	if data, err := os.ReadFile(filepath.Join(p.ws, "a.txt")); err != nil || string(data) != "x" {
		t.Errorf("the calls did not do what they were told: %q, %v", data, err)
	}
	for _, l := range s.leaks() {
		t.Error(l)
	}
	for _, name := range holding(t, p.state, canary) {
		t.Errorf("%s holds it", name)
	}
}

// TestTheCommandLinePrintsNoSecret runs the commands as a script does.
func TestTheCommandLinePrintsNoSecret(t *testing.T) {
	t.Setenv("FAKE_API_TOKEN", canary)
	p := newPlaces(t)
	t.Setenv("CHELA_CONFIG_DIR", p.cfg)
	t.Setenv("CHELA_DATA_DIR", p.state)
	t.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	apply(t, p, op{Op: "file", Path: "notes.txt", Content: "canary here: " + canary + "\n"})
	var out bytes.Buffer
	setup := headless.Setup{Dir: p.ws, Tools: catalogue.New}
	for _, asJSON := range []bool{false, true} {
		term := headless.Terminal{Out: &out, Err: &out, JSON: asJSON}
		for _, c := range []struct{ tool, args string }{
			{"read_file", `{"path":"notes.txt"}`}, {"exec", `{"command":"cat notes.txt; env"}`}, {"read_file", `{"path":"` + canary + `"}`},
		} {
			// How they end is printed.
			term.PrintError(headless.ToolRun(t.Context(), term, headless.CallOptions{Setup: setup, Name: c.tool, Args: c.args, Mode: "full"}))
		}
		term.PrintError(headless.Run(t.Context(), term, headless.RunOptions{Setup: setup, Model: engine.PocketModel, Mode: "full", Prompt: "read notes.txt"}))
		term.PrintError(headless.AuditList(t.Context(), term, headless.AuditOptions{Setup: setup}))
		term.PrintError(headless.AuditExport(t.Context(), term, headless.AuditOptions{Setup: setup}))
	}
	if !strings.Contains(out.String(), "REDACTED") {
		t.Errorf("nothing was printed that had to be redacted:\n%s", out.String())
	}
	if at := strings.Index(out.String(), canary); at >= 0 {
		t.Errorf("printed: %s", out.String()[max(0, at-200):at+40])
	}
	for _, name := range holding(t, p.state, canary) {
		t.Errorf("%s holds it", name)
	}
}
