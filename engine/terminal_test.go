package engine_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/tiers"
)

// bare leaves a machine without a desktop and its programs.
func bare(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the programs of a desktop are always there")
	}
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", t.TempDir())
}

func TestWithoutADesktopTheScreenIsAskedToNotifyAndCopy(t *testing.T) {
	bare(t)
	r := newRig(t, nil, mode(pipeline.Unlimited))
	m := pipeline.Unlimited
	s := r.open(engine.OpenOptions{Mode: &m})
	for _, e := range r.eng.Selection(t.Context(), tiers.Full, 0, nil).Entries {
		if (e.Name == "notify" || e.Name == "clipboard_write") && !e.Given {
			t.Errorf("%s is not given: %s", e.Name, e.Reason)
		}
	}
	out, err := s.Call(t.Context(), "notify", json.RawMessage(`{"title":"Done","body":"all tests pass"}`))
	if err != nil || !out.OK {
		t.Fatal(out.Text, err)
	}
	r.until("the notice", func(e event.Event) bool {
		b, ok := e.Body.(event.TerminalNotice)
		return ok && e.Session == s.ID() && b.Title == "Done" && b.Body == "all tests pass"
	})
	if out, err = s.Call(t.Context(), "clipboard_write", json.RawMessage(`{"text":"to paste"}`)); err != nil || !out.OK {
		t.Fatal(out.Text, err)
	}
	r.until("the copy", func(e event.Event) bool {
		b, ok := e.Body.(event.TerminalCopy)
		return ok && b.Text == "to paste"
	})
}

func TestWithoutAScreenNobodyIsAskedToNotify(t *testing.T) {
	bare(t)
	r := newRig(t, nil, mode(pipeline.Unlimited), func(c *engine.Config) { c.Attended = false })
	s := r.open(engine.OpenOptions{})
	if out, err := s.Call(t.Context(), "notify", json.RawMessage(`{"title":"Done","body":"x"}`)); err != nil || out.OK {
		t.Errorf("%q, %v", out.Text, err)
	}
}

func TestAModelThatSeesIsFoundBesideTheSessions(t *testing.T) {
	r := newRig(t, []ollamatest.Model{{Name: qwen}, {Name: "qwen2.5vl:7b", Capabilities: []string{"completion", "vision"}}})
	var pic bytes.Buffer
	if err := png.Encode(&pic, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "a.png"), pic.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.eng.Models(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := r.open(engine.OpenOptions{Model: qwen})
	for _, e := range r.eng.Selection(t.Context(), tiers.Full, 0, nil).Entries {
		if e.Name == "image_analyze" && !e.Given {
			t.Errorf("it is not given: %s", e.Reason)
		}
	}
	r.srv.Reply().Text("It is black.")
	out, err := s.Call(t.Context(), "image_analyze", json.RawMessage(`{"path":"a.png"}`))
	if err != nil || !out.OK || !strings.Contains(out.Text, "It is black.") {
		t.Fatalf("%q, %v", out.Text, err)
	}
	if chats := r.srv.Chats(); len(chats) != 1 || chats[0].Model != "qwen2.5vl:7b" {
		t.Errorf("asked %d models", len(chats))
	}
}
