package desktop

import (
	"context"
	"encoding/json"
	"fmt"

	"chela/tiers"
	"chela/toolkit"
)

type notifyArgs struct {
	Title   string `json:"title" min:"1" alias:"summary,subject"`
	Body    string `json:"body" alias:"message,text,content"`
	Sound   bool   `json:"sound,omitempty" default:"false"`
	Urgency string `json:"urgency,omitempty" default:"normal" enum:"low,normal,critical" alias:"priority"`
}

// Notified is the data of notify.
type Notified struct {
	Sent    bool   `json:"sent"`
	Backend string `json:"backend"`
}

// terminal is what the data calls a terminal's own sequences.
const terminal = "terminal"

// Notify shows a notification.
func Notify() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "notify", Summary: "Show a desktop notification.", Category: "notifications", Level: toolkit.Moderate, Tier: tiers.Full,
		Synonyms: "alert toast popup remind tell",
	}, planNotify, runNotify, toolkit.AvailableIf(func(_ context.Context, w *toolkit.Workspace) error {
		list := notifiers(notifyArgs{})
		if _, _, ok := first(w, list); !ok && w.Terminal == nil {
			return missing("a notification", list)
		}
		return nil
	}))
}

// notifiers are the programs that notify. On a Mac and on Windows the text is
// the argument or the input of a fixed script, never a part of it.
func notifiers(a notifyArgs) []backend {
	switch system {
	case "darwin":
		script := "display notification (item 2 of argv) with title (item 1 of argv)"
		if a.Sound {
			script += ` sound name "default"`
		}
		return []backend{{argv: []string{"osascript", "-e", "on run argv", "-e", script, "-e", "end run", "--", a.Title, a.Body}}}
	case "windows":
		in, err := json.Marshal(map[string]string{"t": a.Title, "b": a.Body + " "}) // an empty balloon is refused
		if err != nil {
			return nil
		}
		return []backend{{argv: powershell(`Add-Type -AssemblyName System.Windows.Forms,System.Drawing; $i=[Console]::In.ReadToEnd()|ConvertFrom-Json; ` +
			`$n=New-Object Windows.Forms.NotifyIcon; $n.Icon=[Drawing.SystemIcons]::Information; $n.Visible=$true; $n.ShowBalloonTip(5000,$i.t,$i.b,'Info'); Start-Sleep 5; $n.Dispose()`), stdin: in}}
	}
	argv := []string{"notify-send", "-a", "chela", "-u", a.Urgency}
	if a.Sound {
		argv = append(argv, "-h", "string:sound-name:message-new-instant")
	}
	return []backend{{argv: append(argv, "--", a.Title, a.Body), needs: anyDesktop}}
}

// powershell is a fixed script without a profile or questions.
func powershell(script string) []string {
	return []string{"powershell", "-NoProfile", "-NonInteractive", "-Command", script}
}

func planNotify(_ context.Context, w *toolkit.Workspace, a notifyArgs) (toolkit.Plan, error) {
	list := notifiers(a)
	if b, p, ok := first(w, list); ok {
		return b.plan(p, fmt.Sprintf("%q", a.Title)), nil
	}
	if w.Terminal == nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", missing("a notification", list))
	}
	return toolkit.Plan{Summary: fmt.Sprintf("%q", a.Title), Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: a.Title + "\n" + a.Body}}, nil
}

func runNotify(ctx context.Context, w *toolkit.Workspace, a notifyArgs, plan toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	d := Notified{Sent: true, Backend: terminal}
	if len(plan.Effects) > 0 {
		b, p, ok := first(w, notifiers(a))
		if !ok || p.Path != plan.Effects[0].Target {
			return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the program that was shown is there no more.")
		}
		if _, err := run(ctx, w, b, p, CodeNotify); err != nil {
			return toolkit.Result{}, err
		}
		d.Backend = b.argv[0]
	} else {
		if w.Terminal == nil {
			return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the terminal is there no more.")
		}
		if err := w.Terminal.Notify(a.Title, a.Body); err != nil {
			return toolkit.Result{}, toolkit.Errorf(CodeNotify, "the terminal could not be written to: %w.", err)
		}
	}
	return toolkit.Result{Text: "notified through " + d.Backend, Data: d}, nil
}
