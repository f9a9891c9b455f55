package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// The codes of an interpreter's failures.
const (
	CodeREPLStart toolkit.Code = "SESSION_CREATE_FAILED"
	CodeREPL      toolkit.Code = "REPL_EXECUTION_FAILED"
)

// maxCode bounds the code of one call, in bytes.
const maxCode = 256 << 10

type replArgs struct {
	Code      string `json:"code" min:"1" alias:"source,script,input,command"`
	Language  string `json:"language,omitempty" default:"python" enum:"python,node" alias:"lang,interpreter,runtime"`
	SessionID string `json:"sessionId,omitempty" doc:"keep using this interpreter" alias:"session_id,id,session"`
	Timeout   int    `json:"timeout,omitempty" doc:"seconds" default:"30" min:"1" max:"300"`
}

// Evaluated is the data of repl_execute. Error is the kind of error that the
// code ended with, such as NameError; empty: none.
type Evaluated struct {
	Output    string `json:"output"`
	SessionID string `json:"sessionId"`
	Language  string `json:"language"`
	Error     string `json:"error"`
}

// REPLExecute runs code in an interpreter that remembers earlier calls.
func REPLExecute() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "repl_execute",
		Summary:  "Run code in a Python or Node interpreter that remembers earlier calls.",
		Guide:    "The value of the last expression is shown. Variables and imports stay.",
		Category: "execution",
		Synonyms: "python python3 node javascript js code eval evaluate interpreter notebook calculate",
		Level:    toolkit.Dangerous,
		Tier:     tiers.Full,
		Foreign:  true,
	}, planREPL, runREPL, toolkit.AvailableIf(replAvailable))
}

func replAvailable(ctx context.Context, w *toolkit.Workspace) error {
	if err := needsJobs(ctx, w); err != nil {
		return err
	}
	var first error
	for _, name := range []string{"python", "node"} {
		_, err := languages[name].find(w.Proc)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return fmt.Errorf("neither python3 nor node was found: %w", first)
}

func planREPL(ctx context.Context, w *toolkit.Workspace, a replArgs) (toolkit.Plan, error) {
	if err := needsJobs(ctx, w); err != nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", err)
	}
	switch {
	case strings.TrimSpace(a.Code) == "":
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "code is empty.").WithHint("Give the code to run.")
	case len(a.Code) > maxCode:
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "code has %d bytes; the limit is %d.", len(a.Code), maxCode).
			WithHint("Write it to a file and import that.")
	case hidden(a.Code):
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "code contains control characters.").WithHint("Write them as escapes like \\x1b.")
	}
	prog, err := languages[a.Language].find(w.Proc)
	if err != nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "there is no interpreter for %s: %w.", a.Language, err).
			WithHint("Use another language, or exec.")
	}
	outside, err := literals(w, a.Code)
	if err != nil {
		return toolkit.Plan{}, err
	}
	name, err := interpreterName(w, a)
	if err != nil {
		return toolkit.Plan{}, err
	}
	p := toolkit.Plan{
		Summary: a.Language + ": " + oneLine(a.Code),
		Effects: []toolkit.Effect{{Kind: toolkit.Runs, Target: prog.Path}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: a.Code, Program: prog.Path},
		Facts:   []toolkit.Fact{programFact(prog)},
		Outside: outside,
	}
	state := "it starts a new interpreter"
	if j, ok := w.Jobs.Interpreter(name); ok && j.Running() {
		state = "it goes on in interpreter " + j.ID + ", with what earlier calls left there"
	}
	p.Preview.Notes = append(p.Preview.Notes, a.Language+" code: "+state)
	if level := w.Proc.Level(); level != "" {
		p.Preview.Notes = append(p.Preview.Notes, "runs in the sandbox: "+level)
	}
	return p, nil
}

// interpreterName is how the table knows the interpreter that a call means. One
// outside of the sandbox is never used by calls that belong into it.
func interpreterName(w *toolkit.Workspace, a replArgs) (string, error) {
	const longest = 64
	kind := fmt.Sprintf("%s sandboxed=%v ", a.Language, w.Proc.Sandboxed())
	if len(a.SessionID) > longest {
		return "", toolkit.Errorf(toolkit.CodeInvalid, "sessionId has %d bytes; the limit is %d.", len(a.SessionID), longest).WithHint("Leave it out.")
	}
	j, ok := w.Jobs.Get(a.SessionID)
	switch {
	case !ok:
		return kind + a.SessionID, nil
	case j.Kind != guard.JobInterpreter:
		return "", toolkit.Errorf(toolkit.CodeInvalid, "sessionId %q is a background command, not an interpreter.", a.SessionID).WithHint("Leave sessionId out.")
	case !strings.HasPrefix(j.Name, kind):
		return "", toolkit.Errorf(toolkit.CodeInvalid, "sessionId %q is not an interpreter for %s that can be used now.", a.SessionID, a.Language).WithHint("Leave sessionId out.")
	}
	return j.Name, nil
}

// systemRoots are where absolute paths outside of a workspace begin. Another
// word with a slash in front may be the path of a URL, a pattern, a comment.
var systemRoots = strings.Fields("bin boot dev etc home lib lib64 media mnt opt private proc root run sbin srv sys tmp usr var " +
	"Applications Library System Users Volumes")

// firstPart is the first name of an absolute path.
func firstPart(path string) string {
	first, _, _ := strings.Cut(path[1:], "/")
	return first
}

// literals holds what code names literally against the floor, as exec does with
// the words of a command: what is protected is refused however it is named, and
// what is outside the workspace is returned, to be asked about. What code does
// beyond its words only the sandbox can bind.
func literals(w *toolkit.Workspace, code string) (outside []string, err error) {
	words := strings.FieldsFunc(code, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`()[]{},;=<>|&+", r) })
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		if word == "/dev/null" {
			continue
		}
		denied, refused := guard.AsDenied(w.Files.CheckNamed(word, false))
		switch {
		case !refused:
		case denied.Rule != guard.RuleOutside:
			return nil, denied
		case !strings.HasPrefix(word, "/") || slices.Contains(systemRoots, firstPart(word)):
			outside = append(outside, fmt.Sprintf("it names %s, outside the workspace", word))
		}
	}
	return outside, nil
}

// hidden finds characters that show other code than what runs.
func hidden(code string) bool {
	code = strings.ReplaceAll(code, "\r\n", "\n")
	return strings.ContainsFunc(code, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}

func runREPL(ctx context.Context, w *toolkit.Workspace, a replArgs, p toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
	l := languages[a.Language]
	prog, err := l.find(w.Proc)
	if err != nil {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeUnavailable, "there is no interpreter for %s: %w.", a.Language, err)
	}
	if !slices.Equal(p.Facts, []toolkit.Fact{programFact(prog)}) {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "%s is not the program that the plan showed.", prog.Path).WithHint("Call repl_execute again.")
	}
	name, err := interpreterName(w, a)
	if err != nil {
		return toolkit.Result{}, err
	}
	j, fresh, again, err := interpreter(ctx, w, l, prog, name, a.Language+" (interpreter)")
	if err != nil {
		return toolkit.Result{}, toolkit.Errorf(CodeREPLStart, "the interpreter could not be started: %w.", err)
	}
	j.Turn.Lock()
	defer j.Turn.Unlock()
	lines := &lineProgress{report: progress}
	t, err := ask(ctx, j, a.Code, time.Duration(a.Timeout)*time.Second, lines.write)
	lines.close()
	if err != nil {
		return toolkit.Result{}, toolkit.Errorf(CodeREPL, "the interpreter did not take the code: %w.", err).WithHint("Call again: a new one is started.")
	}
	if fresh && again {
		t.output = "[a new interpreter: what earlier calls left is gone]\n" + t.output
	}
	return evaluated(a, j, t)
}

// evaluated turns an answer into a result.
func evaluated(a replArgs, j *guard.Job, t talk) (toolkit.Result, error) {
	d := Evaluated{SessionID: j.ID, Language: a.Language}
	res := toolkit.Result{Text: strings.TrimRight(plain(t.output), "\n"), Data: &d}
	if t.lost > 0 {
		res.Cut = &toolkit.Truncated{Shown: len(t.output), Total: len(t.output) + int(t.lost), Unit: "bytes", Hint: "print less, or write it to a file"}
		res.Text = fmt.Sprintf("[%d bytes of output were not kept]\n", t.lost) + res.Text
	}
	d.Output = stream(guard.Captured{Head: []byte(res.Text)})
	kept := "Variables are kept."
	if t.status == "" {
		kept = "It did not heed the interrupt and was ended: the next call starts a new interpreter, without variables."
	}
	kind, failed := strings.CutPrefix(t.status, "error ")
	switch {
	case t.late:
		d.Error = "timeout"
		return res, toolkit.Errorf(toolkit.CodeTimeout, "the code did not end within %d seconds and was interrupted.", a.Timeout).WithHint("%s", kept)
	case t.status == "" && j.Running():
		return res, toolkit.Errorf(CodeREPL, "the interpreter gave no answer.")
	case t.status == "":
		d.Error = "ended"
		exit, _ := j.Exit()
		if err := exit.Refused(); err != nil {
			return res, toolkit.Errorf(CodeREPLStart, "the interpreter could not be started: %w.", err)
		}
		return res, toolkit.Errorf(CodeREPL, "the interpreter ended (%s).", endOf(exit)).WithHint("The next call starts a new one, without variables.")
	case t.status == "interrupted":
		d.Error = "interrupted"
		return res, toolkit.Errorf(toolkit.CodeCancelled, "the code was interrupted.").WithHint("%s", kept)
	case failed:
		d.Error = kind
		return res, toolkit.Errorf(CodeREPL, "the code ended with %s.", kind)
	}
	if res.Text == "" {
		res.Text = "(no output)"
	}
	return res, nil
}

func endOf(e guard.Exit) string {
	if e.Signal != "" {
		return e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}
