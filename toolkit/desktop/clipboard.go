package desktop

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// maxClip is how much text is read from the clipboard or put there, in bytes:
// what terminals take of an OSC 52 sequence is about that.
const maxClip = 100_000

type readArgs struct {
	Format string `json:"format,omitempty" default:"text" enum:"text,html,image"`
}

// Pasted is the data of clipboard_read.
type Pasted struct {
	Format  string `json:"format"`
	Content string `json:"content"`
	Length  int    `json:"length"` // characters, or bytes of an image
	Path    string `json:"path"`   // of an image
}

// ReadClipboard reads the clipboard.
func ReadClipboard() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "clipboard_read", Summary: "Read the clipboard. An image is saved to a file.", Category: "notifications",
		Level: toolkit.Moderate, Tier: tiers.Full, Foreign: true, Synonyms: "paste copied pasteboard",
	}, planRead, runRead, toolkit.AvailableIf(func(_ context.Context, w *toolkit.Workspace) error {
		if _, _, ok := first(w, readers("text")); !ok {
			return missing("the clipboard", readers("text"))
		}
		return nil
	}))
}

// readers are the programs that print the clipboard.
func readers(format string) []backend {
	mime := map[string]string{"html": "text/html", "image": "image/png"}[format]
	switch system {
	case "darwin":
		if format != "text" {
			return nil
		}
		return []backend{{argv: []string{"pbpaste"}}}
	case "windows":
		if format != "text" {
			return nil
		}
		return []backend{{argv: powershell("[Console]::OutputEncoding=[Text.Encoding]::UTF8; Get-Clipboard -Raw")}}
	}
	wl, x := []string{"wl-paste", "--no-newline"}, []string{"xclip", "-selection", "clipboard", "-o"}
	if mime != "" {
		return []backend{{argv: append(wl, "--type", mime), needs: wayland}, {argv: append(x, "-t", mime), needs: x11}}
	}
	return []backend{{argv: wl, needs: wayland}, {argv: x, needs: x11}, {argv: []string{"xsel", "--clipboard", "--output"}, needs: x11}}
}

func planRead(_ context.Context, w *toolkit.Workspace, a readArgs) (toolkit.Plan, error) {
	b, p, ok := first(w, readers(a.Format))
	if !ok {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", missing("the clipboard as "+a.Format, readers(a.Format)))
	}
	plan := b.plan(p, a.Format)
	if a.Format == "image" {
		effect, fact, err := freeFile(w, "clipboard", "png")
		if err != nil {
			return toolkit.Plan{}, err
		}
		plan.Effects, plan.Facts = append(plan.Effects, effect), append(plan.Facts, fact)
		plan.Preview.Notes = append(plan.Preview.Notes, "saves the image as "+effect.Target)
	}
	return plan, nil
}

func runRead(ctx context.Context, w *toolkit.Workspace, a readArgs, plan toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	b, p, ok := first(w, readers(a.Format))
	if !ok || p.Path != plan.Effects[0].Target {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the program that was shown is there no more.")
	}
	out, err := run(ctx, w, b, p, CodeRead)
	if err != nil {
		return toolkit.Result{}, err
	}
	if a.Format == "image" {
		written, change, err := save(w, plan, out, CodeRead)
		if err != nil {
			return toolkit.Result{}, err
		}
		return toolkit.Result{
			Text: fmt.Sprintf("saved the clipboard's image as %s (%d bytes)", written.Path, written.Bytes),
			Data: Pasted{Format: a.Format, Length: len(out), Path: written.Path}, Changed: []toolkit.Change{change},
		}, nil
	}
	text := guard.ToText(out[:min(len(out), maxClip)])
	r := toolkit.Result{Text: text, Data: Pasted{Format: a.Format, Content: text, Length: utf8.RuneCountInString(text)}}
	if len(out) > maxClip {
		r.Cut = &toolkit.Truncated{Shown: maxClip, Total: len(out), Unit: "bytes"}
	}
	if text == "" {
		r.Text = "The clipboard is empty."
	}
	return r, nil
}

type writeArgs struct {
	Text string `json:"text" alias:"content,value"`
}

// Copied is the data of clipboard_write.
type Copied struct {
	Written bool   `json:"written"`
	Length  int    `json:"length"` // characters
	Backend string `json:"backend"`
}

// WriteClipboard puts text on the clipboard.
func WriteClipboard() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "clipboard_write", Summary: "Put text on the clipboard.", Category: "notifications", Level: toolkit.Moderate, Tier: tiers.Full,
		Synonyms: "copy pasteboard",
	}, planWrite, runWrite, toolkit.AvailableIf(func(_ context.Context, w *toolkit.Workspace) error {
		if _, _, ok := first(w, writers("")); !ok && w.Terminal == nil {
			return missing("the clipboard", writers(""))
		}
		return nil
	}))
}

// writers are the programs that fill the clipboard. Those of Linux hold what
// they were given for as long as they run.
func writers(text string) []backend {
	in := []byte(text)
	switch system {
	case "darwin":
		return []backend{{argv: []string{"pbcopy"}, stdin: in}}
	case "windows":
		return []backend{{argv: powershell("[Console]::InputEncoding=[Text.Encoding]::UTF8; Set-Clipboard -Value ([Console]::In.ReadToEnd())"), stdin: in}}
	}
	return []backend{
		{argv: []string{"wl-copy", "--foreground"}, stdin: in, needs: wayland},
		{argv: []string{"xclip", "-selection", "clipboard", "-quiet"}, stdin: in, needs: x11},
		{argv: []string{"xsel", "--clipboard", "--input", "--nodetach"}, stdin: in, needs: x11},
	}
}

// writer is what fills the clipboard. Over SSH that is the person's terminal:
// the clipboard of this machine is not theirs.
func writer(w *toolkit.Workspace, text string) (b backend, p guard.Program, ok bool) {
	if w.Terminal != nil && variable("SSH_CONNECTION") != "" {
		return backend{}, guard.Program{}, false
	}
	return first(w, writers(text))
}

func planWrite(_ context.Context, w *toolkit.Workspace, a writeArgs) (toolkit.Plan, error) {
	if len(a.Text) > maxClip {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "text has %d bytes; at most %d are copied.", len(a.Text), maxClip).WithHint("Write it to a file.")
	}
	summary := fmt.Sprintf("%d characters", utf8.RuneCountInString(a.Text))
	if b, p, ok := writer(w, a.Text); ok {
		return b.plan(p, summary), nil
	}
	if w.Terminal == nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", missing("the clipboard", writers("")))
	}
	return toolkit.Plan{Summary: summary, Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: a.Text}}, nil
}

// settled is how long a program that holds the clipboard is watched for an error.
const settled = 300 * time.Millisecond

func runWrite(ctx context.Context, w *toolkit.Workspace, a writeArgs, plan toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	d := Copied{Written: true, Length: utf8.RuneCountInString(a.Text), Backend: terminal}
	if len(plan.Effects) == 0 {
		if w.Terminal == nil {
			return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the terminal is there no more.")
		}
		if err := w.Terminal.Copy(a.Text); err != nil {
			return toolkit.Result{}, toolkit.Errorf(CodeWrite, "the terminal could not be written to: %w.", err)
		}
		return toolkit.Result{Text: "sent to the terminal's clipboard", Data: d}, nil
	}
	b, p, ok := writer(w, a.Text)
	if !ok || p.Path != plan.Effects[0].Target {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the program that was shown is there no more.")
	}
	d.Backend = b.argv[0]
	if err := hold(ctx, w, b, p); err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Result{Text: fmt.Sprintf("copied %d characters through %s", d.Length, d.Backend), Data: d}, nil
}

// hold starts a program that may hold the clipboard from then on.
func hold(ctx context.Context, w *toolkit.Workspace, b backend, p guard.Program) error {
	c := b.command(p)
	c.Timeout = 0 // until something else is copied, or chela ends
	proc, err := w.Proc.Start(ctx, c)
	if err != nil {
		return toolkit.Errorf(CodeWrite, "%s could not be started: %w.", b.argv[0], err)
	}
	watch, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	select {
	case <-proc.Done():
	case <-watch.Done():
		if err := ctx.Err(); err != nil {
			return errors.Join(err, proc.Kill(context.WithoutCancel(ctx)))
		}
		return nil
	}
	exit, ended := proc.Exit()
	if !ended || exit.Reason != guard.Exited || exit.Code != 0 {
		return toolkit.Errorf(CodeWrite, "%s failed (%s, code %d): %s.", b.argv[0], exit.Reason, exit.Code, short(exit.Stderr.String()))
	}
	return nil
}

// freeFile names a new file of the workspace: name, name-2 and so on.
func freeFile(w *toolkit.Workspace, name, ending string) (toolkit.Effect, toolkit.Fact, error) {
	for n := 1; n <= 1000; n++ {
		path := name + "." + ending
		if n > 1 {
			path = fmt.Sprintf("%s-%d.%s", name, n, ending)
		}
		t, err := w.Files.Locate(path)
		if err != nil {
			return toolkit.Effect{}, toolkit.Fact{}, err
		}
		if !t.Exists {
			return toolkit.Effect{Kind: toolkit.Writes, Target: t.Path}, toolkit.Fact{Kind: "absent", Target: t.Path}, nil
		}
	}
	return toolkit.Effect{}, toolkit.Fact{}, toolkit.Errorf(toolkit.CodeInvalid, "there are a thousand files called %s already.", name).WithHint("Remove some.")
}

// save writes the new file of a plan.
func save(w *toolkit.Workspace, plan toolkit.Plan, data []byte, code toolkit.Code) (guard.Written, toolkit.Change, error) {
	if len(data) == 0 {
		return guard.Written{}, toolkit.Change{}, toolkit.Errorf(code, "there is no image.")
	}
	for _, e := range plan.Effects {
		if e.Kind != toolkit.Writes {
			continue
		}
		written, err := w.Files.WriteIf(e.Target, data, guard.Expect{Absent: true})
		if err != nil {
			var changed *guard.Changed
			if errors.As(err, &changed) {
				err = toolkit.Errorf(toolkit.CodeChanged, "%w.", err)
			}
			return written, toolkit.Change{}, err
		}
		return written, toolkit.Change{Path: written.Path, Kind: "created"}, nil
	}
	return guard.Written{}, toolkit.Change{}, toolkit.Errorf(toolkit.CodeChanged, "the plan names no file to write.")
}
