package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

// session is a workspace with a table of jobs, as a session has it.
func session(t *testing.T) *toolkit.Workspace {
	t.Helper()
	w := workspace(t)
	w.Jobs = guard.NewJobs(nil, nil)
	t.Cleanup(w.Jobs.Close)
	return w
}

func use(ctx context.Context, t *testing.T, tool toolkit.Tool, w *toolkit.Workspace, a args) (toolkit.Result, error) {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	p, err := tool.Plan(ctx, w, raw)
	if err != nil {
		return toolkit.Result{}, err
	}
	return tool.Run(ctx, w, p, nil)
}

// needs skips a test where an interpreter is missing.
func needs(t *testing.T, w *toolkit.Workspace, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := languages[n].find(w.Proc); err != nil {
			t.Skip(err)
		}
	}
}

func repl(t *testing.T, w *toolkit.Workspace, a args) (string, *Evaluated, error) {
	t.Helper()
	r, err := use(t.Context(), t, REPLExecute(), w, a)
	d, _ := r.Data.(*Evaluated)
	return r.Text, d, err
}

func TestInterpretersRemember(t *testing.T) {
	for language, steps := range map[string][][2]string{
		"python": {
			{"x = 20\nx + 1", "21"},
			{"def f(n):\n\n    if n > 1:\n        return n * f(n - 1)\n    return 1\n\nf(5)", "120"},
			{"print('a'); x", "a\n20"},
			{"import sys\nprint('err', file=sys.stderr)\nprint('out')", "err\nout"},
			{"_", "20"},
			{"y = 1", "(no output)"},
			{"class A:\n    def __repr__(self): return 'an A'\nA()", "an A"},
			{"'é' * 2", "'éé'"},
			{"input()", "EOFError: EOF when reading a line"},
			{"import subprocess\nsubprocess.run(['echo', 'from a child'])\nNone", "from a child"},
			{"raise SystemExit(3)", "exit(3): the interpreter goes on"},
			{"x", "20"},
		},
		"node": {
			{"const x = 20\nx + 1", "21"},
			{"function f(n) {\n  if (n > 1) return n * f(n - 1)\n\n  return 1\n}\nf(5)", "120"},
			{"console.log('a'); x", "a\n20"},
			{"console.error('err')\nconsole.log('out')", "err\nout"},
			{"({a: [1, {b: 2}]})", "{ a: [ 1, { b: 2 } ] }"},
			{"const y = await Promise.resolve(7)\ny", "7"},
			{"(async () => 8)()", "8"},
			{"require('path').basename('/a/b')", "'b'"},
			{"y", "7"},
		},
	} {
		t.Run(language, func(t *testing.T) {
			w := session(t)
			needs(t, w, language)
			first := ""
			for _, s := range steps {
				text, d, err := repl(t, w, args{"code": s[0], "language": language})
				if d == nil || (err != nil) != strings.Contains(s[1], "Error") {
					t.Fatalf("%q: %v", s[0], err)
				}
				if text != s[1] && !strings.HasSuffix(text, "\n"+s[1]) {
					t.Errorf("%q gave %q, want %q", s[0], text, s[1])
				}
				if first == "" {
					first = d.SessionID
				}
				if d.SessionID != first || d.Language != language {
					t.Errorf("%q ran in %+v, want %s", s[0], d, first)
				}
			}
			if n := len(w.Jobs.List()); n != 1 {
				t.Errorf("%d interpreters were started", n)
			}
		})
	}
}

func TestAnInterpreterIsChosenByItsID(t *testing.T) {
	w := session(t)
	needs(t, w, "python")
	_, one, err := repl(t, w, args{"code": "x = 1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := repl(t, w, args{"code": "x", "sessionId": "other"}); err == nil {
		t.Error("another interpreter has the variable")
	}
	if text, d, err := repl(t, w, args{"code": "x", "sessionId": one.SessionID}); err != nil || text != "1" || d.SessionID != one.SessionID {
		t.Errorf("by its id: %q, %+v, %v", text, d, err)
	}
	_, _, err = repl(t, w, args{"code": "x", "language": "node", "sessionId": one.SessionID})
	tooltest.Fails(t, err, toolkit.CodeInvalid)
	other := session(t)
	if _, _, err := repl(t, other, args{"code": "x"}); err == nil {
		t.Error("another session has the variable")
	}
}

func TestErrorsComeWithTheTraceOfTheCode(t *testing.T) {
	w := session(t)
	needs(t, w, "python", "node")
	text, d, err := repl(t, w, args{"code": "def g():\n    return 1 / 0\n\ng()"})
	if e := tooltest.Fails(t, err, CodeREPL); !strings.Contains(e.Message, "ZeroDivisionError") || d.Error != "ZeroDivisionError" {
		t.Errorf("%v, %+v", e, d)
	}
	for _, want := range []string{`File "<call 1>", line 4, in <module>`, "return 1 / 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("the trace has no %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "<string>") {
		t.Errorf("the driver is in the trace:\n%s", text)
	}
	text, d, err = repl(t, w, args{"code": "if True print(1)"})
	tooltest.Fails(t, err, CodeREPL)
	if d.Error != "SyntaxError" || !strings.Contains(text, "if True print(1)") || strings.Contains(text, "ast.py") {
		t.Errorf("%q, %+v", text, d)
	}
	text, d, err = repl(t, w, args{"language": "node", "code": "function g() {\n  return nosuch + 1\n}\ng()"})
	tooltest.Fails(t, err, CodeREPL)
	if d.Error != "ReferenceError" || !strings.Contains(text, "nosuch is not defined") || !strings.Contains(text, "call-1:2") || strings.Contains(text, "node:") {
		t.Errorf("%q, %+v", text, d)
	}
	for _, code := range []string{"let (", "await let ("} {
		text, d, err = repl(t, w, args{"language": "node", "code": code})
		tooltest.Fails(t, err, CodeREPL)
		if d.Error != "SyntaxError" {
			t.Errorf("%q, %+v", text, d)
		}
	}
	text, d, err = repl(t, w, args{"language": "node", "code": "await 1\nthrow new TypeError('later')"})
	tooltest.Fails(t, err, CodeREPL)
	if d.Error != "TypeError" || !strings.Contains(text, "later") {
		t.Errorf("%q, %+v", text, d)
	}
}

func TestATimeoutInterruptsAndKeepsTheVariables(t *testing.T) {
	for language, code := range map[string][]string{
		"python": {"while True: pass", "import time\ntime.sleep(1000)"},
		"node":   {"while (true) {}", "await new Promise(() => setInterval(() => {}, 1000))"},
	} {
		t.Run(language, func(t *testing.T) {
			w := session(t)
			needs(t, w, language)
			warm := args{"code": "x = 5", "language": language}
			if _, _, err := repl(t, w, warm); err != nil {
				t.Fatal(err)
			}
			for _, c := range code {
				_, d, err := repl(t, w, args{"code": c, "language": language, "timeout": 1})
				if e := tooltest.Fails(t, err, toolkit.CodeTimeout); !strings.Contains(e.Hint, "kept") || d.Error != "timeout" {
					t.Errorf("%v, %+v", e, d)
				}
			}
			if text, _, err := repl(t, w, args{"code": "x", "language": language}); err != nil || text != "5" {
				t.Errorf("afterwards %q, %v", text, err)
			}
		})
	}
}

func TestAnInterpreterThatDoesNotHeedIsEndedAndStartedAnew(t *testing.T) {
	w := session(t)
	needs(t, w, "python")
	old := interruptGrace
	interruptGrace = 50 * time.Millisecond
	t.Cleanup(func() { interruptGrace = old })
	if _, _, err := repl(t, w, args{"code": "import time\nx = 1"}); err != nil {
		t.Fatal(err)
	}
	_, d, err := repl(t, w, args{"code": "while True:\n    try:\n        time.sleep(1000)\n    except KeyboardInterrupt: pass", "timeout": 1})
	if e := tooltest.Fails(t, err, toolkit.CodeTimeout); !strings.Contains(e.Hint, "new interpreter") {
		t.Error(e)
	}
	text, now, err := repl(t, w, args{"code": "'x' in globals()"})
	if err != nil || text != "[a new interpreter: what earlier calls left is gone]\nFalse" || now.SessionID == d.SessionID {
		t.Errorf("%q, %v", text, err)
	}
	_, d, err = repl(t, w, args{"code": "import os\nprint('bye', flush=True)\nos._exit(4)"})
	if e := tooltest.Fails(t, err, CodeREPL); !strings.Contains(e.Message, "exit code 4") || !strings.Contains(d.Output, "bye") {
		t.Errorf("%v, %+v", e, d)
	}
}

func TestACancelledCallInterrupts(t *testing.T) {
	w := session(t)
	needs(t, w, "python")
	ctx, cancel := context.WithCancel(t.Context())
	raw, err := json.Marshal(args{"code": "print('begun', flush=True)\nimport time\ntime.sleep(1000)"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := REPLExecute().Plan(ctx, w, raw)
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	_, err = REPLExecute().Run(ctx, w, p, func(pr toolkit.Progress) {
		if shown.WriteString(pr.Text); strings.Contains(shown.String(), "begun") {
			cancel()
		}
	})
	tooltest.Fails(t, err, toolkit.CodeCancelled)
	if strings.Contains(shown.String(), "chela-") {
		t.Errorf("the mark was shown: %q", shown.String())
	}
}

func TestTheOutputOfCodeIsBounded(t *testing.T) {
	w := session(t)
	needs(t, w, "python")
	r, err := use(t.Context(), t, REPLExecute(), w, args{"code": "for i in range(200000): print('line', i)\nprint('end')"})
	if err != nil || r.Cut == nil || len(r.Text) > guard.DefaultJobOutput+1000 || !strings.HasSuffix(r.Text, "\nend") {
		t.Fatalf("%d bytes, cut %+v, %v", len(r.Text), r.Cut, err)
	}
	if text, _, err := repl(t, w, args{"code": "print('ok')"}); err != nil || text != "ok" {
		t.Errorf("the next call: %q, %v", text, err)
	}
}

func TestWhatCodeNamesMeetsTheFloor(t *testing.T) {
	w, tmp := layout(t)
	w.Jobs = guard.NewJobs(nil, nil)
	t.Cleanup(w.Jobs.Close)
	needs(t, w, "python")
	for code, rule := range map[string]guard.Rule{
		"open('sub/.env').read()":                       guard.RuleSecret,
		"open(r\"" + tmp + "/cfg/settings.json\", 'w')": guard.RuleOwnState,
		"import os; os.system('cat .git/config')":       guard.RuleGit,
		"open('.git/hooks/pre-commit','w').write('x')":  guard.RuleGit,
	} {
		_, _, err := repl(t, w, args{"code": code})
		if d, ok := guard.AsDenied(err); !ok || d.Rule != rule {
			t.Errorf("%s: %v, want %s", code, err, rule)
		}
	}
	for code, names := range map[string]string{
		"open('../out/secret').read()": "../out/secret", "open('link')": "link", "open('outdir/secret')": "outdir/secret", "open('" + tmp + "/out/secret')": tmp, "import os; os.listdir('~/x')": "~/x",
		"get('/api/users') / 2": "", "open('a.txt'); x = 1 / 2; '/dev/null'": "", "'https://x.y/z'": "",
	} {
		p, err := REPLExecute().Plan(t.Context(), w, json.RawMessage(fmt.Sprintf(`{"code":%q}`, code)))
		if err != nil || (names == "") != (len(p.Outside) == 0) || !strings.Contains(strings.Join(p.Outside, "\n"), names) {
			t.Errorf("%s: outside %q, %v", code, p.Outside, err)
		}
	}
	if len(w.Jobs.List()) > 0 {
		t.Error("an interpreter was started")
	}
}

func TestThePlanOfCodeShowsAllOfIt(t *testing.T) {
	w := session(t)
	needs(t, w, "python")
	code := "x = 1\n# the end"
	p, err := REPLExecute().Plan(t.Context(), w, json.RawMessage(fmt.Sprintf(`{"code":%q}`, code)))
	if err != nil || p.Level != toolkit.Dangerous || p.Preview.Text != code || p.ReadOnly || len(p.Facts) != 1 || p.Effects[0].Kind != toolkit.Runs {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []args{{"code": " \n"}, {"code": "a\x00b"}, {"code": "x = 1 # \rimport os"}, {"code": "'\x1b[2J'"}, {"code": strings.Repeat("x", maxCode+1)}} {
		_, _, err := repl(t, w, bad)
		tooltest.Fails(t, err, toolkit.CodeInvalid)
	}
	if err := REPLExecute().Available(t.Context(), workspace(t)); err == nil {
		t.Error("it claims to work outside of a session")
	}
}
