package system_test

import (
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/guard/machine"
	"chela/toolkit/system"
)

func call(t *testing.T, tool toolkit.Tool, args string) (toolkit.Result, error) {
	t.Helper()
	dir := t.TempDir()
	files, err := guard.OpenFS(dir, guard.FSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := guard.NewRunner(files, guard.RunnerOptions{})
	t.Cleanup(func() {
		if err := errors.Join(run.Close(), files.Close()); err != nil {
			t.Error(err)
		}
	})
	w := &toolkit.Workspace{Root: dir, Files: files, Proc: run}
	p, err := tool.Plan(t.Context(), w, json.RawMessage(args))
	if err != nil {
		return toolkit.Result{}, err
	}
	return tool.Run(t.Context(), w, p, nil)
}

func TestEnvMasksWhatLooksSecret(t *testing.T) {
	t.Setenv("CHELA_ENVTEST_API_KEY", "sesame-open")
	t.Setenv("CHELA_ENVTEST_COLOR", "green")
	r, err := call(t, system.Env(), `{"filter":"^chela_envtest"}`)
	if err != nil {
		t.Fatal(err)
	}
	if r.Text != "CHELA_ENVTEST_API_KEY="+machine.Masked+"\nCHELA_ENVTEST_COLOR=green" {
		t.Errorf("text: %s", r.Text)
	}
	if d, ok := r.Data.(system.Variables); !ok || d.Count != 2 || d.Masked != 1 {
		t.Errorf("data: %+v", r.Data)
	}
	if r, err = call(t, system.Env(), `{"key":"chela_envtest_color"}`); err != nil || r.Text != "CHELA_ENVTEST_COLOR=green" {
		t.Errorf("%s, %v", r.Text, err)
	}
	if r, err = call(t, system.Env(), `{"key":"CHELA_NOT_THERE"}`); err != nil || r.Text != "CHELA_NOT_THERE is not set." {
		t.Errorf("%s, %v", r.Text, err)
	}
	for _, bad := range []string{`{"filter":"("}`, `{"filter":"` + strings.Repeat("a", 300) + `"}`} {
		var te *toolkit.Error
		if _, err := call(t, system.Env(), bad); !errors.As(err, &te) || te.Code != system.CodeFilter {
			t.Errorf("%.20s: %v", bad, err)
		}
	}
}

func TestSystemInfoTellsEachPart(t *testing.T) {
	r, err := call(t, system.SystemInfo(), `{}`)
	if err != nil {
		t.Fatal(err)
	}
	d, ok := r.Data.(system.Info)
	if !ok || d.OS == nil || d.CPU == nil || d.Memory == nil || len(d.Disk) == 0 {
		t.Fatalf("data: %+v", r.Data)
	}
	if d.CPU.Cores != runtime.NumCPU() || d.Memory.Total == 0 || d.Disk[0].Total == 0 || d.OS.Arch != runtime.GOARCH {
		t.Errorf("data: %+v %+v", d.CPU, d.Memory)
	}
	r, err = call(t, system.SystemInfo(), `{"type":"memory"}`)
	if d, ok := r.Data.(system.Info); err != nil || !ok || d.Memory == nil || d.OS != nil || strings.Contains(r.Text, "cpu:") {
		t.Errorf("one part gives %s, %v", r.Text, err)
	}
}

func TestProcessesAreFilteredSortedAndScrubbed(t *testing.T) {
	r, err := call(t, system.ProcessList(), `{"limit":5,"sortBy":"memory"}`)
	if err != nil {
		t.Fatal(err)
	}
	d, ok := r.Data.(system.Running)
	if !ok || len(d.Processes) == 0 || len(d.Processes) > 5 || d.Count < len(d.Processes) {
		t.Fatalf("data: %+v", r.Data)
	}
	for i := 1; i < len(d.Processes); i++ {
		if d.Processes[i].Memory > d.Processes[i-1].Memory {
			t.Error("they are not sorted by memory")
		}
	}
	self := false
	r, err = call(t, system.ProcessList(), `{"filter":"system.test","limit":200,"sortBy":"pid"}`)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := r.Data.(system.Running); ok {
		for _, p := range d.Processes {
			self = self || int(p.PID) == os.Getpid()
		}
	}
	if !self {
		t.Errorf("this test is not among them: %s", r.Text)
	}
	if r, err = call(t, system.ProcessList(), `{"filter":"no-such-program-anywhere"}`); err != nil || !strings.Contains(r.Text, "No process matches") {
		t.Errorf("%s, %v", r.Text, err)
	}
}

func TestWhichFindsAndStartsNothing(t *testing.T) {
	r, err := call(t, system.Which(), `{"command":"sh"}`)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := r.Data.(system.Located); !ok || !d.Found || len(d.Paths) != 1 || r.Text != d.Paths[0] {
		t.Errorf("data: %+v", r.Data)
	}
	r, err = call(t, system.Which(), `{"command":"no-such-program"}`)
	if d, ok := r.Data.(system.Located); err != nil || !ok || d.Found || !strings.Contains(r.Text, "not installed") {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range []string{`{"command":"../evil"}`, `{"command":"--help"}`, `{"command":"a b"}`} {
		var te *toolkit.Error
		if _, err := call(t, system.Which(), bad); !errors.As(err, &te) || te.Code != toolkit.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
