package headless

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"chela/engine/ollamatest"
	"chela/store"
	"chela/toolkit/catalogue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const modelName = "qwen3:8b"

// bench is one person's machine: folders, a project and perhaps a server.
type bench struct {
	t   *testing.T
	dir string // the project
	srv *ollamatest.Server
	out bytes.Buffer
	err bytes.Buffer
}

// newBench makes a project with a go.mod and a server with the models.
func newBench(t *testing.T, models ...ollamatest.Model) *bench {
	t.Helper()
	b := offline(t)
	b.srv = ollamatest.New(t, models...)
	t.Setenv("OLLAMA_HOST", b.srv.Host())
	return b
}

// offline is a bench where no server answers.
func offline(t *testing.T) *bench {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("OLLAMA_HOST", l.Addr().String())
	l.Close() // nobody listens there any more
	home := t.TempDir()
	t.Setenv("CHELA_CONFIG_DIR", filepath.Join(home, "config"))
	t.Setenv("CHELA_DATA_DIR", filepath.Join(home, "data"))
	t.Setenv("POOL_TIMEOUT_MS", "")
	b := &bench{t: t, dir: t.TempDir()}
	b.file("go.mod", "module example.com/thing\n\ngo 1.26\n")
	return b
}

func (b *bench) file(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) exists(name string) bool {
	_, err := os.Stat(filepath.Join(b.dir, name))
	return err == nil
}

func (b *bench) settings(text string) {
	b.t.Helper()
	dir := os.Getenv("CHELA_CONFIG_DIR")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.yml"), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) setup() Setup { return Setup{Dir: b.dir, Tools: catalogue.New} }

// term is a pipe: no terminal anywhere.
func (b *bench) term() Terminal {
	b.out.Reset()
	b.err.Reset()
	return Terminal{Out: &b.out, Err: &b.err}
}

// json is a terminal for machine output.
func (b *bench) json() Terminal {
	t := b.term()
	t.JSON = true
	return t
}

// screen is a terminal with a person before it.
func (b *bench) screen() Terminal {
	t := b.term()
	t.OutIsTerm, t.ErrIsTerm, t.Width, t.Safe = true, true, 80, visible
	return t
}

// visible stands in for the screen's own cleaning: like that, it works line by
// line, and a carriage return is harmless only before a newline.
func visible(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.NewReplacer("\r", "<CR>", "\x1b", "<ESC>").Replace(s)
}

// store opens the database that the commands used.
func (b *bench) store() *store.Store {
	b.t.Helper()
	st, err := store.Open(b.t.Context(), filepath.Join(os.Getenv("CHELA_DATA_DIR"), "chela.db"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { st.Close() })
	return st
}

func (b *bench) sessions() []store.Session {
	b.t.Helper()
	st := b.store()
	list, err := st.Sessions(b.t.Context(), "", 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// exit checks the code of a command's error.
func (b *bench) exit(err error, want int) {
	b.t.Helper()
	if got := Code(err); got != want {
		b.t.Fatalf("exit %d (%v), want %d\nout: %s\nerr: %s", got, err, want, b.out.String(), b.err.String())
	}
}

// says checks that a text has all the parts.
func says(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}

// decode reads one JSON value; anything after it is an error.
func decode[T any](t *testing.T, b []byte) T {
	t.Helper()
	var v T
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("no JSON: %v\n%s", err, b)
	}
	if dec.More() {
		t.Fatalf("more than one JSON value:\n%s", b)
	}
	return v
}
