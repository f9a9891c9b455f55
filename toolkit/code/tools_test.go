package code

import (
	"context"
	"slices"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

func TestACommandOfTheCallIsJudgedAsAShellLine(t *testing.T) {
	needs(t, "bash")
	f := newFolder(t)
	p, err := f.plan(TestRun(), args{"command": "touch x; echo '3 passed, 0 failed, 0 skipped'"})
	if err != nil {
		t.Fatal(err)
	}
	if p.Level != toolkit.Dangerous || p.ReadOnly || !strings.HasPrefix(p.Preview.Command, "touch x") {
		t.Errorf("level %s, read only %v, preview %q", p.Level, p.ReadOnly, p.Preview.Command)
	}
	r, err := TestRun().Run(t.Context(), f.w, p, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Text)
	}
	if d := tested(t, r, 3, 0, 0); d.Framework != "manual" {
		t.Errorf("framework = %s", d.Framework)
	}
	_, err = f.plan(TestRun(), args{"command": "cat < /etc/passwd"})
	if _, refused := guard.AsDenied(err); !refused {
		t.Errorf("a command that reads outside the workspace is planned: %v", err)
	}
}

func TestACommandThatPrintsAJestSummaryFails(t *testing.T) {
	needs(t, "bash")
	f := newFolder(t)
	r, err := f.call(TestRun(), args{"command": "printf 'FAIL src/a.test.ts\\n  ● adds\\n\\nTests: 1 failed, 2 skipped, 3 passed, 6 total\\nDuration 1.5s\\nAll files | 87.5\\n'"})
	tooltest.Fails(t, err, CodeTests)
	d := tested(t, r, 3, 1, 2)
	if d.DurationMS != 1500 || d.Coverage == nil || *d.Coverage != 87.5 || len(d.Failures) != 1 || d.Failures[0].File != "src/a.test.ts" {
		t.Errorf("data = %+v", d)
	}
}

func TestArgumentsNeverBecomeOptionsOrShell(t *testing.T) {
	f := newFolder(t, goModule...)
	p, err := f.plan(TestRun(), args{"grep": "x; touch pwned #"})
	if err != nil {
		t.Fatal(err)
	}
	ready := p.Private().(*prepared)
	if !slices.Contains(ready.Argv, "-run=x; touch pwned #") {
		t.Errorf("argv = %q", ready.Argv)
	}
	if _, err := f.plan(BuildTool(), args{"script": "-o=/tmp/x"}); err == nil {
		t.Error("a script that is an option is planned")
	}
	_, err = f.plan(TestRun(), args{"file": "../outside"})
	if _, refused := guard.AsDenied(err); !refused {
		t.Errorf("a file outside the workspace is planned: %v", err)
	}
	_, err = f.plan(LintTool(), args{"path": "none.go"})
	tooltest.Fails(t, err, toolkit.CodeInvalid)
}

func TestAManifestThatChangesAfterThePlanIsRefused(t *testing.T) {
	f := newFolder(t, goModule...)
	p, err := f.plan(TestRun(), nil)
	if err != nil {
		t.Fatal(err)
	}
	f.put("go.mod", "module example.org/other\n\ngo 1.21\n")
	_, err = TestRun().Run(t.Context(), f.w, p, nil)
	tooltest.Fails(t, err, toolkit.CodeChanged)
}

func TestTheSettingsGiveTheCommand(t *testing.T) {
	needs(t, "bash")
	f := newFolder(t, goModule...)
	f.w.Config.Code.Test = "echo 5 passed, 0 failed"
	p, err := f.plan(TestRun(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Level != toolkit.Moderate || p.Preview.Command != "echo 5 passed, 0 failed" {
		t.Errorf("level %s, preview %q", p.Level, p.Preview.Command)
	}
	r, err := TestRun().Run(t.Context(), f.w, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	tested(t, r, 5, 0, 0)
}

func TestAvailabilityHasAReason(t *testing.T) {
	f := newFolder(t)
	for _, tool := range []toolkit.Tool{TestRun(), TypecheckTool(), LintTool(), BuildTool(), FormatTool()} {
		if err := tool.Available(t.Context(), f.w); err == nil || !strings.HasPrefix(err.Error(), "no ") {
			t.Errorf("%s: %v", tool.Spec().Name, err)
		}
	}
	f.put("go.mod", "module m\n")
	for _, tool := range []toolkit.Tool{TestRun(), TypecheckTool(), LintTool(), BuildTool(), FormatTool(), InfoTool()} {
		if err := tool.Available(t.Context(), f.w); err != nil {
			t.Errorf("%s: %v", tool.Spec().Name, err)
		}
	}
}

func TestLevelsFollowTheArguments(t *testing.T) {
	f := newFolder(t, "package.json", `{"devDependencies":{"eslint":"*"}}`, "node_modules/eslint/package.json", `{"bin":{"eslint":"./bin/eslint.js"}}`,
		"node_modules/eslint/bin/eslint.js", "", "eslint.config.js", "export default []", "a.js", "")
	needs(t, "node")
	p, err := f.plan(LintTool(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Level != toolkit.Safe || len(p.Asks) != 1 || !strings.Contains(p.Asks[0], "eslint.config.js") {
		t.Errorf("level %s, asks %q", p.Level, p.Asks)
	}
	p, err = f.plan(LintTool(), args{"fix": true})
	if err != nil {
		t.Fatal(err)
	}
	if p.Level != toolkit.Moderate || !slices.Contains(p.Effects, toolkit.Effect{Kind: toolkit.Writes, Target: "a.js"}) {
		t.Errorf("level %s, effects %v", p.Level, p.Effects)
	}
}

func TestProjectInfoNamesTheCommands(t *testing.T) {
	f := newFolder(t, append(slices.Clone(goModule), "Makefile", "run:\n\tgo run .\n", "web/package.json", `{"name":"web","scripts":{"test":"vitest run"}}`)...)
	r, err := f.call(InfoTool(), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := data[Info](t, r)
	if d.Commands.Test != "go test -json ./..." || d.Commands.Run != "make run" || !slices.Equal(d.Languages, []string{"Go"}) || d.PackageManager != "go modules" {
		t.Errorf("data = %+v", d)
	}
	for _, want := range []string{"example.org/calc", "projects inside: web", "installed: go version"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("no %q in\n%s", want, r.Text)
		}
	}
}

func TestACallThatIsStoppedEndsItsProgram(t *testing.T) {
	needs(t, "make")
	f := newFolder(t, "Makefile", "test:\n\t@echo begun; sleep 600\n")
	p, err := f.plan(TestRun(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = TestRun().Run(ctx, f.w, p, func(pr toolkit.Progress) {
		if strings.Contains(pr.Text, "begun") {
			cancel()
		}
	})
	tooltest.Fails(t, err, toolkit.CodeCancelled)
}
