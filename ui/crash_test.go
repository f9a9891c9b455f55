package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// crashing is the root model, but for one key.
type crashing struct{ *Model }

func (c crashing) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "X" {
		panic("as ordered")
	}
	_, cmd := c.Model.Update(msg)
	return c, cmd
}

// output collects what is written and says when a text has come.
type output struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	want string
	seen chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.buf.Write(p)
	if o.want != "" && strings.Contains(o.buf.String(), o.want) {
		o.want = ""
		close(o.seen)
	}
	return n, err
}

// A crash of the screen must leave a terminal that can be used: every mode that
// was turned on is off again, and the cursor is back.
func TestACrashRestoresTheTerminal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := New(ctx, Options{Theme: "dark", Mouse: true, Boot: func(ctx context.Context) (*Ready, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	keys, typed := io.Pipe()
	out := &output{want: "Message", seen: make(chan struct{})}
	p := newProgram(ctx, crashing{m}, tea.WithInput(keys), tea.WithOutput(out), tea.WithWindowSize(100, 30), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	done := make(chan error, 1)
	// The trace of the panic goes to standard error; it is expected here.
	stderr := os.Stderr
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = null
	t.Cleanup(func() { os.Stderr = stderr; null.Close() })
	go func() { _, err := p.Run(); done <- err }()
	<-out.seen
	if _, err := typed.Write([]byte("X")); err != nil {
		t.Fatal(err)
	}
	err = <-done
	typed.Close()
	if !errors.Is(err, tea.ErrProgramPanic) {
		t.Fatalf("ended with %v", err)
	}
	raw := out.buf.String()
	for _, mode := range []string{"?1049", "?2004", "?1004", "?1002", "?1006"} {
		on, off := strings.LastIndex(raw, "\x1b["+mode+"h"), strings.LastIndex(raw, "\x1b["+mode+"l")
		if on < 0 || on > off {
			t.Errorf("mode %s: turned on at %d, off at %d", mode, on, off)
		}
	}
	if strings.LastIndex(raw, "\x1b[?25h") < strings.LastIndex(raw, "\x1b[?25l") {
		t.Error("the cursor stays hidden")
	}
}
