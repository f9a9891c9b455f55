package headless

import (
	"os"
	"path/filepath"
	"testing"

	"chela/engine/ollamatest"
)

type health struct {
	OK      bool      `json:"ok"`
	Version string    `json:"version"`
	Checks  []Finding `json:"checks"`
}

func (h health) find(t *testing.T, name string) Finding {
	t.Helper()
	for _, f := range h.Checks {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no check %q in %+v", name, h.Checks)
	return Finding{}
}

func examine(b *bench, exit int) health {
	b.t.Helper()
	b.exit(Doctor(b.t.Context(), b.json(), DoctorOptions{Setup: b.setup(), Version: "v1"}), exit)
	return decode[health](b.t, b.out.Bytes())
}

func TestDoctorOnAGoodMachine(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	h := examine(b, OK)
	if !h.OK || h.Version != "v1" {
		t.Errorf("%+v", h)
	}
	for _, name := range []string{"data folder", "settings", "project folder", "database", "tools", "Ollama", "models", "built-in model"} {
		if f := h.find(t, name); f.Status != Good || f.Detail == "" {
			t.Errorf("%+v", f)
		}
	}
	says(t, "Ollama", h.find(t, "Ollama").Detail, ollamatest.Version, b.srv.Host())
	says(t, "models", h.find(t, "models").Detail, "qwen3:8b (essential)")
	left, err := os.ReadDir(b.dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left in the project: %v, %v", left, err)
	}
}

func TestDoctorSaysWhatIsMissingAndThatChelaWorks(t *testing.T) {
	b := offline(t)
	b.settings("modles: {}\n")
	t.Setenv("PATH", t.TempDir())
	t.Setenv("TMUX", "/tmp/tmux,1,0")
	t.Setenv("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 22")
	h := examine(b, OK)
	for name, hint := range map[string]string{
		"Ollama": "ollama serve", "settings": "models", "git": "git tools", "ollama": "ollama.com", "tmux": "set-clipboard", "ssh": "ssh -R",
	} {
		f := h.find(t, name)
		says(t, name, f.Hint, hint)
		if f.Status == Broken {
			t.Errorf("%+v", f)
		}
	}
	b.exit(Doctor(t.Context(), b.term(), DoctorOptions{Setup: b.setup(), Version: "v1"}), OK)
	says(t, "stdout", b.out.String(), "! warn  Ollama", "✓ ok")
}

func TestDoctorWithModelsThatCannotAct(t *testing.T) {
	b := newBench(t)
	says(t, "models", examine(b, OK).find(t, "models").Hint, "chela pull")
	b = newBench(t, ollamatest.Model{Name: "chat:7b", Capabilities: []string{"completion"}})
	says(t, "models", examine(b, OK).find(t, "models").Hint, "tools")
	b.srv.Break("/api/tags", 500, "disk failure")
	says(t, "Ollama", examine(b, OK).find(t, "Ollama").Detail, "disk failure")
}

func TestDoctorFailsWhenChelaCannotWork(t *testing.T) {
	b := offline(t)
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CHELA_DATA_DIR", blocked)
	h := examine(b, Failed)
	if f := h.find(t, "data folder"); h.OK || f.Status != Broken {
		t.Errorf("%+v", h)
	}
	err := Doctor(t.Context(), b.term(), DoctorOptions{Setup: b.setup()})
	b.exit(err, Failed)
	says(t, "error", err.Error(), "cannot work here")
}
