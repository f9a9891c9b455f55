package securitytest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/guard/sandbox"
)

// prepared is a case that is set up, up to its own call.
type prepared struct {
	rig     *rig
	asserts []op
	ui      []op
	between []op // run between the approval and the execution; nil: nothing is approved
	no      bool // no sandbox may be there
}

// origins are the words of the cases for who asks. A plugin's tool is called by
// the model; what a plugin itself starts is no origin that the judge knows.
var origins = map[string]toolkit.Origin{
	"user": toolkit.FromPerson, "model": toolkit.FromModel, "cron": toolkit.FromCron, "subsession": toolkit.FromSession, "plugin": "plugin",
}

// setUp runs the operations that come before the engine, starts it, and runs
// those that need it. It skips the case when something that it requires is not
// there.
func setUp(t *testing.T, c testCase, p places) *prepared {
	t.Helper()
	s := &prepared{rig: newRig(t, p, c.Mode)}
	var calls []op
	for _, o := range c.Setup {
		switch o.Op {
		case "require":
			if o.Root && os.Getuid() != 0 {
				t.Skip("it requires root")
			}
			if o.Sandbox && !sandbox.Probe(t.Context()).Works() {
				t.Skip("it requires a sandbox, and none works here")
			}
		case "env":
			for _, name := range slices.Sorted(maps.Keys(o.Set)) {
				t.Setenv(name, o.Set[name])
			}
		case "origin":
			origin, ok := origins[o.Value]
			if !ok {
				t.Fatalf("origin %q is unknown", o.Value)
			}
			s.rig.origin = origin
		case "headless":
			s.rig.attended = false
		case "sandbox_unavailable":
			s.no = true
		case "fake_net": // close: each connection serves one request, as serveOne always does
			s.rig.net.hosts, s.rig.net.serve = o.Hosts, o.Serve
		case "dns_sequence":
			s.rig.net.series[o.Host] = slices.Clone(o.Answers)
		case "approve_then":
			s.between = append([]op{}, o.Ops...)
		case "ui":
			s.ui = append(s.ui, o)
		case "assert_after":
			s.asserts = append(s.asserts, o)
		case "rule", "approved", "call_before", "advance":
			calls = append(calls, o)
		default:
			apply(t, p, o)
		}
	}
	s.rig.start(func(cfg *engine.Config) {
		if s.no {
			cfg.Settings.Security.Sandbox = "off"
		}
	})
	for i, o := range calls {
		s.history(o, i)
	}
	return s
}

// history runs what happened before the case's own call.
func (s *prepared) history(o op, i int) {
	r := s.rig
	r.t.Helper()
	switch o.Op {
	case "rule":
		err := r.store.PutRule(r.t.Context(), store.Rule{
			ID: fmt.Sprintf("rule%d", i), Decision: o.Effect, Tool: o.Tool, Scope: pipeline.ScopePrefix, Pattern: strings.Join(o.Match, " "), Created: time.Now(),
		})
		if err != nil {
			r.t.Fatal(err)
		}
	case "approved":
		var fault error
		res := r.call(r.origin, o.Tool, o.Arguments, func(a event.ApprovalAsked) pipeline.Answer {
			answer := pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce}
			if o.Scope == "once" {
				return answer
			}
			// The widest that is offered: a case is about what it must not cover.
			offers := pipeline.Offers(a.Plan)
			if len(offers) == 0 {
				fault = fmt.Errorf("%s offers no rule", o.Tool)
				return pipeline.Answer{}
			}
			answer.Rule, answer.Scope = &offers[len(offers)-1], pipeline.ScopeSession
			if o.Scope == "always" {
				answer.Scope = pipeline.ScopeRule
			}
			return answer
		})
		if fault != nil || !res.asked {
			r.t.Fatalf("approving %s: asked %v, %v", o.Tool, res.asked, fault)
		}
	case "call_before":
		if got := r.call(r.origin, o.Tool, o.Arguments, denies); got.verdict() != o.Expect {
			r.t.Fatalf("the call before: %s, want %s: %v", got.verdict(), o.Expect, got.out.Error)
		}
	case "advance":
		r.later.Add(int64(time.Duration(o.Minutes) * time.Minute))
	}
}

// apply changes the file system. An unknown operation fails the test.
func apply(t testing.TB, p places, o op) {
	t.Helper()
	name := p.at(o.Path)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s %s: %v", o.Op, o.Path, err)
		}
	}
	must(os.MkdirAll(filepath.Dir(name), 0o755))
	switch o.Op {
	case "file":
		must(os.WriteFile(name, []byte(o.Content), 0o644))
	case "script":
		must(os.WriteFile(name, []byte(o.Content), 0o755))
	case "dir":
		must(os.MkdirAll(name, 0o755))
	case "symlink":
		must(os.Symlink(o.Target, name))
	case "hardlink":
		must(os.Link(p.at(o.Target), name))
	case "fifo":
		must(makeFIFO(name))
	case "mknod":
		must(makeNode(name, o.Type, o.Major, o.Minor))
	case "sparse":
		f, err := os.Create(name)
		must(err)
		must(f.Truncate(o.Size))
		must(f.Close())
	case "git_init":
		must(os.MkdirAll(name, 0o755))
		gitInit(t, name, o)
	default:
		t.Fatalf("the operation %q is unknown", o.Op)
	}
}

// gitInit makes a repository with the real git, away from the configuration of
// whoever runs the test.
func gitInit(t testing.TB, dir string, o op) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("the cases need git: install it")
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main", "--template=")
	for _, name := range slices.Sorted(maps.Keys(o.Files)) {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(o.Files[name]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if o.Commit {
		git("add", "-A")
		git("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "first")
	}
	for _, key := range slices.Sorted(maps.Keys(o.Config)) {
		git("config", key, o.Config[key])
	}
}
