package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"chela/engine/ollama"
)

func kind(err error) ollama.Kind {
	var e *ollama.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func TestAnErrorStatusIsToldApartAndSaysWhatToDo(t *testing.T) {
	for what, tc := range map[string]struct {
		code   int
		text   string
		kind   ollama.Kind
		action string
		says   []string
	}{
		"missing":         {404, `model "qwen3:8b" not found, try pulling it first`, ollama.ModelMissing, "pull", []string{"no model", "chela pull qwen3:8b"}},
		"missing, older":  {404, "model 'qwen3:8b' not found", ollama.ModelMissing, "pull", nil},
		"no such page":    {404, "404 page", ollama.Refused, "", []string{"404 page"}},
		"no tools":        {400, `"registry.ollama.ai/library/gemma3:4b" does not support tools`, ollama.NoTools, "pick", nil},
		"no thinking":     {400, `"qwen2.5:7b" does not support thinking`, ollama.NoThinking, "", nil},
		"too long":        {400, "the input length exceeds the context length", ollama.TooLong, "", []string{"/new"}},
		"too long, newer": {400, "the prompt is longer than the context length currently available (4096)", ollama.TooLong, "", []string{"/new"}},
		"no memory":       {500, "model requires more system memory (9.1 GiB) than is available (4 GiB)", ollama.NoMemory, "pick", []string{"9.1 GiB", "smaller"}},
		"signed out":      {401, "unauthorized", ollama.SignIn, "", []string{"ollama signin"}},
		"anything":        {500, "llama runner process has terminated: exit status 2", ollama.Refused, "", []string{"exit status 2", "log"}},
		"a proxy":         {502, "", ollama.Refused, "", []string{"502"}},
	} {
		t.Run(what, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				_ = json.NewEncoder(w).Encode(map[string]string{"error": tc.text})
			})
			_, err := ask(t.Context(), c, ollama.Sink{})
			var e *ollama.Error
			if !errors.As(err, &e) || e.Kind != tc.kind || e.Action() != tc.action || e.Hint() == "" {
				t.Fatalf("%v: %+v", err, e)
			}
			says(t, what, err, append(tc.says, e.Hint())...)
			if strings.Contains(e.Cause(), e.Hint()) {
				t.Errorf("the cause holds the hint: %s", e.Cause())
			}
		})
	}
}

func TestNoServerIsUnreachable(t *testing.T) {
	c := closed(t)
	_, err := ask(t.Context(), c, ollama.Sink{})
	says(t, "chat", err, "no Ollama server answers at "+c.Host(), "ollama serve")
	for what, err := range map[string]error{
		"chat": err,
		"version": func() error {
			_, err := c.Version(t.Context())
			return err
		}(),
		"models": func() error {
			_, err := c.Models(t.Context())
			return err
		}(),
		"model": func() error {
			_, err := c.Model(t.Context(), qwen)
			return err
		}(),
		"load": c.Load(t.Context(), qwen, 4096),
		"pull": c.Pull(t.Context(), qwen, func(string, int64, int64) {}),
	} {
		if kind(err) != ollama.Unreachable {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestTheCallersEndIsNoFaultOfTheServer(t *testing.T) {
	reached := make(chan struct{}, 8)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the server sees the client leave
		reached <- struct{}{}
		<-r.Context().Done()
	})
	for what, f := range map[string]func(context.Context) error{
		"chat":    func(ctx context.Context) error { _, err := ask(ctx, c, ollama.Sink{}); return err },
		"version": func(ctx context.Context) error { _, err := c.Version(ctx); return err },
		"pull":    func(ctx context.Context) error { return c.Pull(ctx, qwen, func(string, int64, int64) {}) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- f(ctx) }()
		<-reached
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) || kind(err) != "" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAServerThatHangsUpIsLost(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.Close()
		}
	})
	if _, err := ask(t.Context(), c, ollama.Sink{}); kind(err) != ollama.Lost {
		t.Errorf("chat: %v", err)
	}
	err := c.Pull(t.Context(), qwen, func(string, int64, int64) {})
	says(t, "pull", err, "Pull again")
	if kind(err) != ollama.Lost {
		t.Errorf("pull: %v", err)
	}
}

func TestAServersLongWordsAreCut(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<html>%s\n", strings.Repeat("no json ", 10_000))
	})
	_, err := ask(t.Context(), c, ollama.Sink{})
	if err == nil || len(err.Error()) > 1000 {
		t.Errorf("%d bytes of error", len(fmt.Sprint(err)))
	}
}
