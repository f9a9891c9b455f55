package securitytest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/toolkit/catalogue"
)

// tools are the names that the cases use: their own, and those of the calls
// that come before.
func (c testCase) tools() []string {
	names := []string{c.Tool}
	for _, o := range c.Setup {
		if o.Tool != "" {
			names = append(names, o.Tool)
		}
	}
	return names
}

// TestCases runs every line of security.jsonl. A case of a tool that the
// catalogue does not have yet is pending: it is named, and runs by itself when
// the tool is there.
func TestCases(t *testing.T) {
	reg, err := catalogue.New()
	if err != nil {
		t.Fatal(err)
	}
	ids, byID := lines(t)
	pending := map[string][]string{}
	for _, id := range ids {
		c, err := decodeCase(byID[id], places{})
		if err != nil {
			t.Fatal(err)
		}
		if missing := slices.IndexFunc(c.tools(), func(name string) bool { _, ok := reg.Get(name); return !ok }); missing >= 0 {
			name := c.tools()[missing]
			pending[name] = append(pending[name], id)
			continue
		}
		t.Run(id, func(t *testing.T) { runCase(t, byID[id]) })
	}
	for _, name := range slices.Sorted(maps.Keys(pending)) {
		t.Logf("pending: tool %s is not built yet: %s", name, strings.Join(pending[name], ", "))
	}
}

func runCase(t *testing.T, line []byte) {
	p := newPlaces(t)
	c, err := decodeCase(line, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(c.Why)
	s := setUp(t, c, p)
	expect := c.Expect
	if expect == "ask" && !s.rig.attended {
		expect = "deny"
	}
	before := look(t, p)
	kept := s.remember(t)
	if len(s.ui) > 0 {
		s.onScreen(t, c)
	} else {
		mem, began := measure(), time.Now()
		res := s.run(t, c, before)
		took, grown := time.Since(began), mem.grownMiB()
		if got := res.verdict(); got != expect {
			t.Errorf("%s %s in %s mode: %s, want %s: %v", c.Tool, c.Arguments, c.Mode, got, expect, res.out.Error)
		}
		s.checkResult(t, res, took, grown)
	}
	if (expect == "deny" || expect == "ask") && s.between == nil {
		before.same(t, "a call that did not run", look(t, p))
	}
	s.checkWorld(t, p, kept)
	if r, err := s.rig.store.VerifyAudit(t.Context(), ""); err != nil || !r.OK || r.Rows == 0 {
		t.Errorf("the audit: %+v, %v", r, err)
	}
}

// run makes the case's own call. While it waits for an answer, nothing has
// happened; then it is denied, unless the case approves it.
func (s *prepared) run(t *testing.T, c testCase, before world) result {
	t.Helper()
	return s.rig.call(s.rig.origin, c.Tool, c.Arguments, func(event.ApprovalAsked) pipeline.Answer {
		before.same(t, "a call that waits for an answer", look(t, s.rig.places))
		if s.between == nil {
			return pipeline.Answer{Reason: "no"}
		}
		// The plan was made and shown. What happens now is between it and the
		// execution, whether before or after the key is pressed.
		for _, o := range s.between {
			apply(t, s.rig.places, o)
		}
		return pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce}
	})
}

// remember reads what must not change.
func (s *prepared) remember(t *testing.T) map[string]string {
	t.Helper()
	kept := map[string]string{}
	for _, a := range s.asserts {
		for _, name := range a.Unchanged {
			data, err := os.ReadFile(s.rig.places.at(name))
			if err != nil {
				t.Fatal(err)
			}
			kept[name] = string(data)
		}
	}
	return kept
}

func (s *prepared) checkResult(t *testing.T, res result, took time.Duration, grown int64) {
	t.Helper()
	text := res.text()
	for _, a := range s.asserts {
		for _, lack := range a.OutputLacks {
			if strings.Contains(text, lack) {
				t.Errorf("the output has %q:\n%s", lack, text)
			}
		}
		for _, has := range a.OutputHas {
			if !strings.Contains(text, has) {
				t.Errorf("the output lacks %q:\n%s", has, text)
			}
		}
		if a.MaxMS > 0 && took > time.Duration(a.MaxMS)*time.Millisecond {
			t.Errorf("it took %s, more than %d ms", took, a.MaxMS)
		}
		if a.MaxRSSMiB > 0 && grown > a.MaxRSSMiB {
			t.Errorf("memory grew by %d MiB, more than %d", grown, a.MaxRSSMiB)
		}
		if n := res.bytes(); a.MaxOutputBytes > 0 && n > a.MaxOutputBytes {
			t.Errorf("the output has %d bytes, more than %d", n, a.MaxOutputBytes)
		}
	}
}

func (s *prepared) checkWorld(t *testing.T, p places, kept map[string]string) {
	t.Helper()
	for _, a := range s.asserts {
		for _, name := range a.Absent {
			if _, err := os.Lstat(p.at(name)); err == nil {
				t.Errorf("%s is there", name)
			}
		}
		for _, name := range a.Exists {
			if _, err := os.Lstat(p.at(name)); err != nil {
				t.Errorf("%s is not there: %v", name, err)
			}
		}
		for _, name := range a.Unchanged {
			if data, err := os.ReadFile(p.at(name)); err != nil || string(data) != kept[name] {
				t.Errorf("%s changed: %q, %v", name, data, err)
			}
		}
		for _, text := range a.StateDirLacks {
			for _, dir := range []string{p.state, p.cfg} {
				if found := holding(t, dir, text); len(found) > 0 {
					t.Errorf("%q is in %v", text, found)
				}
			}
		}
		for _, text := range a.NoProcess {
			if found := running(t, text); len(found) > 0 {
				t.Errorf("still running: %q", found)
			}
		}
		if len(a.DialsBlocked) > 0 {
			if reached := s.rig.net.within(a.DialsBlocked); len(reached) > 0 {
				t.Errorf("dialled %v", reached)
			}
		}
	}
}

// TestAnUnknownOperationFails: a case that says something this runner does not
// know must not pass.
func TestAnUnknownOperationFails(t *testing.T) {
	for _, line := range []string{
		`{"id":"x","tool":"exec","arguments":{},"setup":[{"op":"file","path":"a","colour":"red"}],"mode":"ask","expect":"deny","why":""}`,
		`{"id":"x","tool":"exec","arguments":{},"setup":[{"op":"assert_after","nothing":["a"]}],"mode":"ask","expect":"deny","why":""}`,
		`{"id":"x","tool":"exec","arguments":{},"setup":[],"mode":"yolo","expect":"deny","why":""}`,
	} {
		if _, err := decodeCase([]byte(line), places{}); err == nil {
			t.Errorf("read without complaint: %s", line)
		}
	}
	failed := failing{TB: t}
	func() {
		defer func() { _ = recover() }() // Fatalf of the stand-in ends apply so
		apply(&failed, newPlaces(t), op{Op: "levitate", Path: "a"})
	}()
	if !failed.told {
		t.Error("an unknown operation passed")
	}
}

// failing stands in for a test that fails.
type failing struct {
	testing.TB
	told bool
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.told = true
	panic(fmt.Sprintf(format, args...))
}
