// Package desktop has the tools that reach the desktop: notifications, the
// clipboard, pictures of the screen.
//
// It guarantees: programs are started by their arguments, without a shell, and
// what a call says reaches them as data only; where no program does it, the
// terminal that chela runs in is asked, which works over SSH too; what reads
// the desktop is never safe, since it holds what the person has open; files are
// made inside the workspace, through its guard.
package desktop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// The codes of failures.
const (
	CodeNotify  toolkit.Code = "NOTIFY_ERROR"
	CodeRead    toolkit.Code = "CLIPBOARD_READ_ERROR"
	CodeWrite   toolkit.Code = "CLIPBOARD_WRITE_ERROR"
	CodeCapture toolkit.Code = "CAPTURE_ERROR"
)

// backend is one program that does it, with its arguments.
type backend struct {
	argv  []string
	stdin []byte
	needs []string // variables of which one says that its desktop is there; none: it needs none
}

// sessionVariables say where the desktop of the person is. Programs that only
// talk to it are given them; commands of a model are not.
var sessionVariables = []string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "HYPRLAND_INSTANCE_SIGNATURE", "SWAYSOCK"}

// What the tests replace: the system, and where its desktop is known from.
var (
	system   = runtime.GOOS
	variable = os.Getenv
)

// The desktops of Linux.
var (
	anyDesktop = []string{"WAYLAND_DISPLAY", "DISPLAY"}
	wayland    = []string{"WAYLAND_DISPLAY"}
	x11        = []string{"DISPLAY"}
)

// The bounds of a program.
const (
	maxOutput = 64 << 20 // bytes: a picture of a large screen
	patience  = 20 * time.Second
)

// first returns the first backend that is installed and whose desktop is there.
func first(w *toolkit.Workspace, list []backend) (backend, guard.Program, bool) {
	if w.Proc == nil {
		return backend{}, guard.Program{}, false
	}
	for _, b := range list {
		if b.needs != nil && !slices.ContainsFunc(b.needs, func(v string) bool { return variable(v) != "" }) {
			continue
		}
		if p, err := w.Proc.LookPath(b.argv[0]); err == nil {
			return b, p, true
		}
	}
	return backend{}, guard.Program{}, false
}

// run runs a backend and returns what it prints.
func run(ctx context.Context, w *toolkit.Workspace, b backend, p guard.Program, code toolkit.Code) ([]byte, error) {
	exit, err := w.Proc.Run(ctx, b.command(p))
	switch {
	case err != nil:
		return nil, toolkit.Errorf(code, "%s could not be started: %w.", b.argv[0], err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case exit.Reason != guard.Exited || exit.Code != 0:
		return nil, toolkit.Errorf(code, "%s failed (%s, code %d): %s.", b.argv[0], exit.Reason, exit.Code, short(exit.Stderr.String()))
	}
	return append(append([]byte(nil), exit.Stdout.Head...), exit.Stdout.Tail...), nil
}

// command is the backend's program with the person's desktop.
func (b backend) command(p guard.Program) guard.Command {
	var env []string
	for _, name := range sessionVariables {
		if v := variable(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return guard.Command{Argv: b.argv, Stdin: b.stdin, OwnEnv: env, Program: &p, MaxOutput: 2 * maxOutput, OutputLimit: maxOutput, Timeout: patience}
}

// plan states a backend as the person is shown it.
func (b backend) plan(p guard.Program, summary string) toolkit.Plan {
	plan := toolkit.Plan{
		Summary: summary, Effects: []toolkit.Effect{{Kind: toolkit.Runs, Target: p.Path}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewCommand, Command: strings.Join(b.argv, " "), Program: p.Path},
	}
	if len(b.stdin) > 0 {
		plan.Preview.Notes = append(plan.Preview.Notes, "its input: "+string(b.stdin))
	}
	return plan
}

// missing is why nothing here can do it.
func missing(what string, list []backend) error {
	var names []string
	for _, b := range list {
		names = append(names, b.argv[0])
	}
	if len(names) == 0 {
		return fmt.Errorf("%s is not supported on %s", what, system)
	}
	return errors.New(what + " needs one of these, with a desktop: " + strings.Join(names, ", "))
}

// short is the beginning of what a program said, on one line.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:199]) + "…"
	}
	if s == "" {
		return "it says nothing"
	}
	return strings.TrimRight(s, ".")
}
