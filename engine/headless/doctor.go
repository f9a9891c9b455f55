package headless

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"chela/engine"
	"chela/engine/settings"
	"chela/tiers"
	"chela/toolkit/guard/sandbox"
)

// Status of one thing that doctor looked at.
type Status string

// The three outcomes. Only a failure keeps chela from working.
const (
	Good    Status = "ok"
	Warning Status = "warn"
	Broken  Status = "fail"
)

// Finding is one line of doctor's report.
type Finding struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // what to do about it
}

// DoctorOptions are those of `chela doctor`.
type DoctorOptions struct {
	Setup
	Version string
}

// Doctor looks at everything chela needs and says what works, what does not
// and what to do. It fails only if chela itself cannot work.
func Doctor(ctx context.Context, t Terminal, o DoctorOptions) error {
	report := []Finding{
		{Name: "chela", Status: Good, Detail: fmt.Sprintf("%s, %s, %s/%s", o.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		t.terminal(),
	}
	report = append(report, folders()...)
	report = append(report, core(ctx, o.Setup)...)
	report = append(report, programs()...)
	report = append(report, surroundings()...)
	broken := 0
	for _, f := range report {
		if f.Status == Broken {
			broken++
		}
	}
	if err := printReport(t, o.Version, report, broken); err != nil {
		return err
	}
	switch {
	case broken == 0:
		return nil
	case t.JSON:
		return &Error{Code: Failed}
	}
	return fmt.Errorf("chela cannot work here: %s failed", plural(broken, "check"))
}

func printReport(t Terminal, version string, report []Finding, broken int) error {
	if t.JSON {
		return t.print(struct {
			OK      bool      `json:"ok"`
			Version string    `json:"version"`
			Checks  []Finding `json:"checks"`
		}{broken == 0, version, report})
	}
	tb := &table{}
	for _, f := range report {
		detail := t.line(f.Detail)
		if f.Hint != "" {
			detail += ". " + t.line(f.Hint)
		}
		mark := map[Status]string{Good: "✓ ok", Warning: "! warn", Broken: "✗ fail"}[f.Status]
		tb.add(mark, f.Name, detail)
	}
	t.Width = 0 // what to do must not be cut off
	return tb.write(t, false)
}

// folders looks at the data folder and the settings.
func folders() []Finding {
	d, err := settings.FindDirs()
	if err != nil {
		return []Finding{{"folders", Broken, err.Error(), "Set HOME, or CHELA_CONFIG_DIR and CHELA_DATA_DIR."}}
	}
	data := Finding{Name: "data folder", Status: Good, Detail: d.Data + " can be written"}
	if err := writable(d.Data); err != nil {
		data = Finding{"data folder", Broken, fmt.Sprintf("%s cannot be written: %v", d.Data, err), "Set CHELA_DATA_DIR to a folder you can write."}
	}
	file := Finding{Name: "settings", Status: Good, Detail: d.File() + " is in order"}
	if _, err := os.Stat(d.File()); errors.Is(err, fs.ErrNotExist) {
		file.Detail = "no " + d.File() + ", so the defaults are in force"
	}
	out := []Finding{data, file}
	_, problems := settings.Load(d.File())
	if _, p := settings.PoolTimeout(); p != nil {
		problems = append(problems, *p)
	}
	if len(problems) > 0 {
		out = out[:1]
		for _, p := range problems {
			hint := p.Hint
			p.Hint = ""
			out = append(out, Finding{"settings", Warning, p.Error(), hint})
		}
	}
	return out
}

// writable reports whether files can be made in a folder, making it first.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// core opens what every command opens, and asks the servers.
func core(ctx context.Context, s Setup) []Finding {
	a, err := Boot(ctx, s)
	if err != nil {
		return []Finding{{"start", Broken, err.Error(), ""}}
	}
	out := []Finding{{"project folder", Good, a.Engine.Workspace(), ""}}
	if err := writableFolder(a.Engine.Workspace()); err != nil {
		out[0] = Finding{"project folder", Warning, a.Engine.Workspace() + " cannot be written", "Models can read here and change nothing."}
	}
	if err := a.Store.Check(ctx); err != nil {
		out = append(out, Finding{"database", Broken, err.Error(), ""})
	} else {
		out = append(out, Finding{"database", Good, a.Store.Path() + " is sound", ""})
	}
	for _, n := range a.Notices {
		out = append(out, Finding{"start", Warning, n.Text, n.Hint})
	}
	out = append(out, confinement(a.Engine.Sandbox(ctx)))
	out = append(out, Finding{"tools", Good, plural(len(a.Tools.All()), "tool"), ""})
	out = append(out, a.servers(ctx)...)
	if err := a.Close(); err != nil {
		out = append(out, Finding{"close", Broken, err.Error(), ""})
	}
	return out
}

// confinement says what commands can be run in.
func confinement(s sandbox.Support) Finding {
	f := Finding{Name: "sandbox", Status: Good, Detail: s.String()}
	switch {
	case !s.Works():
		f.Status, f.Detail = Warning, "none: "+s.Reason
		f.Hint = "In sandbox mode no command runs. On Linux, install bubblewrap or allow user namespaces; see docs/security.md."
	case s.Limits && !s.Processes:
		f.Hint = "The number of processes is not limited: root is exempt."
	}
	return f
}

// writableFolder asks the file system without leaving a trace in the project.
func writableFolder(dir string) error {
	f, err := os.CreateTemp(dir, ".chela-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// servers asks Ollama and the built-in model.
func (a *App) servers(ctx context.Context) []Finding {
	var out []Finding
	server := a.Engine.Server()
	version, err := server.Version(ctx)
	models, listErr := a.Engine.Models(ctx)
	switch {
	case err != nil:
		out = append(out, Finding{"Ollama", Warning, "no server answers at " + server.Host(), "Start it with `ollama serve`, or set OLLAMA_HOST. Until then the built-in model is used."})
	case listErr != nil:
		out = append(out, Finding{"Ollama", Warning, fmt.Sprintf("%s at %s cannot list its models: %v", version, server.Host(), listErr), ""})
	default:
		out = append(out, Finding{"Ollama", Good, fmt.Sprintf("%s at %s", version, server.Host()), ""})
	}
	for _, st := range a.Engine.Survey(ctx)[1:] {
		if st.Error != nil {
			out = append(out, Finding{"Ollama", Warning, fmt.Sprintf("%s: %v", st.Host, st.Error), "It is one of ollama.hosts; the others are used meanwhile."})
			continue
		}
		out = append(out, Finding{"Ollama", Good, fmt.Sprintf("%s has %s", st.Host, plural(len(st.Models), "model")), ""})
	}
	pocketWorks := false
	var names []string
	tools := 0
	for _, m := range models {
		if m.BuiltIn {
			pocketWorks = true
			continue
		}
		tier := tiers.Classify(m.Tier(), tiers.Overrides{Models: a.Settings.Tiers.Models}).Tier
		names = append(names, fmt.Sprintf("%s (%s)", m.Name, tier))
		if m.Has("tools") {
			tools++
		}
	}
	switch {
	case err != nil || listErr != nil:
	case len(names) == 0:
		out = append(out, Finding{"models", Warning, "none is installed", "Pull one with `chela pull qwen3:8b`."})
	case tools == 0:
		out = append(out, Finding{"models", Warning, strings.Join(names, ", "), "None of them can call tools, so they can only answer."})
	default:
		out = append(out, Finding{"models", Good, strings.Join(names, ", "), ""})
	}
	if pocketWorks {
		return append(out, Finding{"built-in model", Good, engine.PocketModel + " loads", ""})
	}
	return append(out, Finding{"built-in model", Broken, engine.PocketModel + " does not load", "The program file may be damaged: install it again."})
}
