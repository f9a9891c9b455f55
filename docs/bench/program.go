package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela/store"
	"chela/ui/screentest"
)

func binarySize(_ context.Context, binary string) ([]row, error) {
	info, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	mb := float64(info.Size()) / 1e6
	return []row{{"Size of the binary", "under 129 MB (Crush)", fmt.Sprintf("%.0f MB", mb), "`make build`", mb < 129}}, nil
}

// place is a scratch project with chela's own folders.
type place struct{ root, dir, data string }

func newPlace() (place, error) {
	root, err := os.MkdirTemp("", "chela-bench-")
	if err != nil {
		return place{}, err
	}
	p := place{root, filepath.Join(root, "project"), filepath.Join(root, "data")}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return p, err
	}
	return p, os.WriteFile(filepath.Join(p.dir, "go.mod"), []byte("module demo\n"), 0o644)
}

func (p place) start(ctx context.Context, binary string, w, h int, args ...string) (*screentest.Terminal, error) {
	cmd := exec.CommandContext(ctx, binary, append([]string{"-C", p.dir}, args...)...)
	cmd.Env = append(os.Environ(), "OLLAMA_HOST=127.0.0.1:1", "CHELA_DATA_DIR="+p.data, "CHELA_CONFIG_DIR="+filepath.Join(p.root, "config"))
	return screentest.Start(ctx, cmd, w, h)
}

func stop(ctx context.Context, t *screentest.Terminal) error {
	if err := t.Send(screentest.KeyCtrlC); err != nil {
		return err
	}
	if err := t.WaitText(ctx, "again to quit"); err != nil {
		return err
	}
	if err := t.Send(screentest.KeyCtrlC); err != nil {
		return err
	}
	return t.Wait(ctx)
}

// startAndIdle measures the first frame and what an idle program costs.
func startAndIdle(ctx context.Context, binary string) ([]row, error) {
	p, err := newPlace()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(p.root)
	const runs = 15
	var first, ready []time.Duration
	for range runs {
		begin := time.Now()
		t, err := p.start(ctx, binary, 120, 40)
		if err != nil {
			return nil, err
		}
		if err := t.WaitText(ctx, "Message", "Approvals", "Timeline"); err != nil {
			return nil, err
		}
		first = append(first, time.Since(begin))
		if err := t.WaitText(ctx, "pocket", "go.mod"); err != nil {
			return nil, err
		}
		ready = append(ready, time.Since(begin))
		if err := stop(ctx, t); err != nil {
			return nil, err
		}
	}
	firstMS, readyMS := ms(median(first)), ms(median(ready))

	t, err := p.start(ctx, binary, 120, 40)
	if err != nil {
		return nil, err
	}
	if err := t.WaitText(ctx, "pocket", "go.mod"); err != nil {
		return nil, err
	}
	wait(ctx, 3*time.Second) // the toast of the start is gone, garbage is collected
	cpu, written := cpuTicks(t.PID()), len(t.Raw())
	wait(ctx, 5*time.Second)
	cpu, written = cpuTicks(t.PID())-cpu, len(t.Raw())-written
	rss := rssMiB(t.PID())
	if err := stop(ctx, t); err != nil {
		return nil, err
	}
	toolkit, err := idleOfEmpty(ctx, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return []row{
		{"First full frame, from starting the process to the terminal", "under 60 ms", fmt.Sprintf("%.0f ms (median of %d)", firstMS, runs), "real binary in a pseudo-terminal, 120x40", firstMS < 60},
		{"Engine, session and files up", "", fmt.Sprintf("%.0f ms", readyMS), "the same", true},
		{"Idle: processor time in 5 s", "that of an empty Bubble Tea program", fmt.Sprintf("%d ticks of 10 ms, the empty program %d", cpu, toolkit), "/proc/PID/stat; the toolkit looks for a new frame 60 times a second", cpu <= toolkit+2},
		{"Idle: bytes written in 5 s", "0", strconv.Itoa(written), "what reached the terminal", written == 0},
		{"Idle: memory", "under 60 MiB", fmt.Sprintf("%.0f MiB", rss), "VmRSS", rss < 60},
	}, nil
}

// longSession measures a session of ten thousand messages.
func longSession(ctx context.Context, binary string) ([]row, error) {
	p, err := newPlace()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(p.root)
	if err := fill(ctx, p, 10_000); err != nil {
		return nil, err
	}
	begin := time.Now()
	t, err := p.start(ctx, binary, 200, 50, "--session", "last", "--model", "pocket")
	if err != nil {
		return nil, err
	}
	if err := t.WaitText(ctx, "message 9999"); err != nil {
		return nil, err
	}
	opened := ms(time.Since(begin))
	for range 40 { // scroll through a part, so that it was rendered
		if err := t.Send(screentest.KeyPgUp); err != nil {
			return nil, err
		}
	}
	if err := t.WaitFor(ctx, "an earlier message", func(s string) bool { return !strings.Contains(s, "message 9999") }); err != nil {
		return nil, err
	}
	wait(ctx, time.Second)
	rss := rssMiB(t.PID())
	if err := stop(ctx, t); err != nil {
		return nil, err
	}
	return []row{
		{"Memory with a session of 10,000 messages open", "under 120 MiB", fmt.Sprintf("%.0f MiB", rss), "VmRSS after scrolling", rss < 120},
		{"Opening it", "", fmt.Sprintf("%.0f ms", opened), "from starting the process to its last message on the screen", true},
	}, nil
}

func fill(ctx context.Context, p place, messages int) error {
	st, err := store.Open(ctx, filepath.Join(p.data, "chela.db"))
	if err != nil {
		return err
	}
	defer st.Close()
	real, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		return err
	}
	now := time.Now()
	s := store.Session{ID: "bench", Title: "long", Workspace: real, Model: "pocket", Mode: "ask", Turns: messages / 2, Created: now, Updated: now}
	if err := st.PutSession(ctx, s); err != nil {
		return err
	}
	for i := range messages {
		m := store.Message{ID: fmt.Sprint("m", i), Session: s.ID, Turn: i/2 + 1, Role: store.RoleUser, Content: fmt.Sprintf("message %d asks something", i), Created: now}
		if i%2 == 1 {
			m.Role, m.Model = store.RoleAssistant, "pocket"
			m.Content = fmt.Sprintf("This is message %d. It has **some** `markdown`, a list and code:\n\n- one\n- two %d\n\n```go\nfunc f%d() int { return %d }\n```\n", i, i, i, i)
		}
		if _, err := st.AppendMessage(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cpuTicks is user and system time in ticks of 10 ms; -1 where /proc is absent.
func cpuTicks(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return -1
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, _ := strconv.Atoi(f[11]) // the kernel writes numbers here
	system, _ := strconv.Atoi(f[12])
	return user + system
}

func rssMiB(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kb) / 1024
		}
	}
	return -1
}
