// Package system has the tools that look at the machine: environment, facts,
// processes, programs.
//
// It guarantees that they only look; that values which look secret are masked,
// whoever asks; and that lists are bounded and say how much is left out.
package system

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard/machine"
)

// CodeFilter is the code of a filter that is no pattern.
const CodeFilter toolkit.Code = "INVALID_FILTER"

type envArgs struct {
	Key    string `json:"key,omitempty" alias:"name,variable"`
	Filter string `json:"filter,omitempty" alias:"pattern"`
}

// Variables is the data of env.
type Variables struct {
	Variables map[string]string `json:"variables"`
	Count     int               `json:"count"`
	Masked    int               `json:"masked"`
}

// Env shows environment variables.
func Env() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "env", Summary: "Show environment variables. Secret values are masked.", Category: "system", Level: toolkit.Safe, Tier: tiers.Full,
		ReadOnly: true, Synonyms: "environment variable printenv path",
	}, nil, runEnv)
}

// maxPattern bounds a filter, in bytes: compiling a longer one can take long.
const maxPattern = 256

func runEnv(_ context.Context, _ *toolkit.Workspace, a envArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	vars, _ := machine.Env()
	keep := func(string) bool { return true }
	switch {
	case a.Key != "":
		keep = func(n string) bool { return strings.EqualFold(n, a.Key) }
	case len(a.Filter) > maxPattern:
		return toolkit.Result{}, toolkit.Errorf(CodeFilter, "the filter is longer than %d characters.", maxPattern)
	case a.Filter != "":
		re, err := regexp.Compile("(?i)" + a.Filter)
		if err != nil {
			return toolkit.Result{}, toolkit.Errorf(CodeFilter, "%q is no pattern: %w.", a.Filter, err).WithHint("Use a part of a name, such as GO.")
		}
		keep = re.MatchString
	}
	maps.DeleteFunc(vars, func(n, _ string) bool { return !keep(n) })
	masked := 0
	var b strings.Builder
	for _, n := range slices.Sorted(maps.Keys(vars)) {
		if vars[n] == machine.Masked {
			masked++
		}
		fmt.Fprintf(&b, "%s=%s\n", n, vars[n])
	}
	text := strings.TrimRight(b.String(), "\n")
	if text == "" {
		if text = "No variable matches."; a.Key != "" {
			text = a.Key + " is not set."
		}
	}
	return toolkit.Result{Text: text, Data: Variables{vars, len(vars), masked}}, nil
}

type infoArgs struct {
	Type string `json:"type,omitempty" default:"all" enum:"all,os,cpu,memory,disk,network,gpu"`
}

// Info is the data of system_info. Parts that were not asked for are null.
type Info struct {
	OS      *machine.System     `json:"os"`
	CPU     *machine.CPU        `json:"cpu"`
	Memory  *machine.Memory     `json:"memory"`
	Disk    []machine.Disk      `json:"disk"`
	GPU     []machine.GPU       `json:"gpu"`
	Network []machine.Interface `json:"network"`
	Ollama  []string            `json:"ollama"` // loaded models
}

// SystemInfo shows facts about the machine.
func SystemInfo() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "system_info", Summary: "Show facts about this machine.", Category: "system", Level: toolkit.Safe, Tier: tiers.Full,
		ReadOnly: true, Synonyms: "cpu memory ram disk space gpu vram network hardware os version machine",
	}, nil, runInfo)
}

func runInfo(ctx context.Context, w *toolkit.Workspace, a infoArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	var d Info
	var lines, faults []string
	part := func(name string, f func() (string, error)) {
		if a.Type != "all" && a.Type != name {
			return
		}
		line, err := f()
		if err != nil {
			faults = append(faults, err.Error())
			return
		}
		if line != "" {
			lines = append(lines, name+": "+line)
		}
	}
	part("os", func() (string, error) {
		s, err := machine.OS(ctx)
		d.OS = &s
		return fmt.Sprintf("%s %s %s, kernel %s, %s, up %s", s.Name, s.Platform, s.Version, s.Kernel, s.Arch, s.Uptime), err
	})
	part("cpu", func() (string, error) {
		c, err := machine.Processor(ctx)
		d.CPU = &c
		return fmt.Sprintf("%s, %d cores, load %.2f %.2f %.2f", c.Model, c.Cores, c.Load[0], c.Load[1], c.Load[2]), err
	})
	part("memory", func() (string, error) {
		m, err := machine.Mem(ctx)
		d.Memory = &m
		return fmt.Sprintf("%s of %s available, swap %s of %s used", bytes(m.Available), bytes(m.Total), bytes(m.SwapUsed), bytes(m.SwapTotal)), err
	})
	part("disk", func() (string, error) {
		list, err := machine.Disks(ctx, w.Root)
		d.Disk = list
		var parts []string
		for _, x := range list {
			parts = append(parts, fmt.Sprintf("%s %s free of %s", x.Mount, bytes(x.Free), bytes(x.Total)))
		}
		return strings.Join(parts, "; "), err
	})
	part("network", func() (string, error) {
		list, err := machine.Network(ctx)
		d.Network = list
		var parts []string
		for _, x := range list {
			if x.Up && len(x.Addrs) > 0 {
				parts = append(parts, x.Name+" "+strings.Join(x.Addrs, " "))
			}
		}
		return strings.Join(parts, "; "), err
	})
	part("gpu", func() (string, error) {
		d.GPU, d.Ollama = machine.GPUs(), []string{}
		var parts []string
		for _, g := range d.GPU {
			text := g.Name
			if g.Total > 0 {
				text += fmt.Sprintf(" %s of %s used", bytes(g.Used), bytes(g.Total))
			}
			parts = append(parts, text)
		}
		if len(parts) == 0 {
			parts = append(parts, "none that the system describes")
		}
		if w.Ask != nil {
			if loaded, err := w.Ask.Loaded(ctx); err == nil {
				d.Ollama = append(d.Ollama, loaded...)
			}
		}
		if len(d.Ollama) > 0 {
			parts = append(parts, "loaded models: "+strings.Join(d.Ollama, ", "))
		}
		return strings.Join(parts, "; "), nil
	})
	if len(lines) == 0 {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeExecution, "nothing could be found out: %s.", strings.Join(faults, "; "))
	}
	for _, f := range faults {
		lines = append(lines, "not known: "+f)
	}
	return toolkit.Result{Text: strings.Join(lines, "\n"), Data: d}, nil
}

// bytes writes a size as people read it.
func bytes(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

type processArgs struct {
	Filter string `json:"filter,omitempty" alias:"name,pattern"`
	Limit  int    `json:"limit,omitempty" default:"20" min:"1" max:"200" alias:"count"`
	SortBy string `json:"sortBy,omitempty" default:"cpu" enum:"cpu,memory,pid,name" alias:"sort_by,sort,order"`
}

// Running is the data of process_list.
type Running struct {
	Processes []machine.Process `json:"processes"`
	Count     int               `json:"count"` // that match, not only those listed
}

// ProcessList lists running programs.
func ProcessList() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "process_list", Summary: "List running processes.", Category: "system", Level: toolkit.Safe, Tier: tiers.Full,
		ReadOnly: true, Foreign: true, Synonyms: "ps top tasks programs running pid",
	}, nil, runProcesses)
}

func runProcesses(ctx context.Context, _ *toolkit.Workspace, a processArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	list, total, err := machine.Processes(ctx, a.Filter, a.SortBy, a.Limit)
	if err != nil {
		return toolkit.Result{}, err
	}
	if list == nil {
		list = []machine.Process{}
	}
	var b strings.Builder
	for _, p := range list {
		cmd := p.Command
		if r := []rune(cmd); len(r) > 120 {
			cmd = string(r[:119]) + "…"
		}
		fmt.Fprintf(&b, "%d %s %.1f%% %s %s\n", p.PID, p.User, p.CPU, bytes(p.Memory), cmd)
	}
	switch {
	case total == 0:
		b.WriteString("No process matches.")
	case total > len(list):
		fmt.Fprintf(&b, "(%d of %d; raise limit or use filter)", len(list), total)
	}
	return toolkit.Result{Text: "pid user cpu memory command\n" + strings.TrimRight(b.String(), "\n"), Data: Running{list, total}}, nil
}

type whichArgs struct {
	Command string `json:"command" min:"1" alias:"name,program"`
}

// Located is the data of which.
type Located struct {
	Command string   `json:"command"`
	Found   bool     `json:"found"`
	Paths   []string `json:"paths"`
	Version string   `json:"version"` // empty: the program was not asked
}

// Which finds a program. It is not started: what it would say of its version is
// not worth running it unasked.
func Which() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "which", Summary: "Find where a program is.", Category: "system", Level: toolkit.Safe, Tier: tiers.Full,
		ReadOnly: true, Synonyms: "where locate program installed command path",
	}, planWhich, runWhich)
}

func planWhich(_ context.Context, _ *toolkit.Workspace, a whichArgs) (toolkit.Plan, error) {
	name := strings.TrimSpace(a.Command)
	if strings.ContainsAny(name, "/\\") || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' }) || strings.HasPrefix(name, "-") {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "%q is no program's name.", a.Command).WithHint("Give the name alone, such as go.")
	}
	return toolkit.Plan{Summary: name}, nil
}

func runWhich(_ context.Context, w *toolkit.Workspace, a whichArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	name := strings.TrimSpace(a.Command)
	d := Located{Command: name, Paths: []string{}}
	if w.Proc != nil {
		if p, err := w.Proc.LookPath(name); err == nil {
			d.Found, d.Paths = true, append(d.Paths, p.Path)
		}
	}
	if !d.Found {
		return toolkit.Result{Text: name + " is not installed, or not where commands are looked for.", Data: d}, nil
	}
	return toolkit.Result{Text: strings.Join(d.Paths, "\n"), Data: d}, nil
}
