package channels

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// The tokens of the tests.
const (
	slackToken    = "xoxb-sesame-key"
	discordToken  = "sesame.discord.key"
	telegramToken = "123456:SESAME_telegram-key"
)

// heard is one request as a service got it.
type heard struct {
	method, path, auth, kind, reason, body string
}

// world is a workspace whose network leads to one server, which speaks for all
// three services.
type world struct {
	*toolkit.Workspace
	got    []heard
	status int
	answer string
	header http.Header
}

type names struct{}

func (names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	switch {
	case host == "private.example":
		return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
	case host == "gone.example":
		return nil, errors.New("no such host")
	}
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

func newWorld(t *testing.T, answer string) *world {
	t.Helper()
	w := &world{status: http.StatusOK, answer: answer}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.got = append(w.got, heard{r.Method, r.URL.EscapedPath(), r.Header.Get("Authorization"), r.Header.Get("Content-Type"), r.Header.Get("X-Audit-Log-Reason"), string(body)})
		for k, v := range w.header {
			rw.Header()[k] = v
		}
		rw.WriteHeader(w.status)
		_, _ = io.WriteString(rw, w.answer)
	}))
	t.Cleanup(srv.Close)
	n, err := guard.NewNet(guard.NetOptions{Resolver: names{}, TestDial: func(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, srv.Listener.Addr().String())
	}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	fs, err := guard.OpenFS(dir, guard.FSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fs.Close() })
	w.Workspace = &toolkit.Workspace{Root: dir, Session: "s", Net: n, Files: fs, Config: &toolkit.Config{Channels: toolkit.ChannelsConfig{
		Slack:    toolkit.Service{Key: slackToken, URL: "http://slack.example/api/"},
		Discord:  toolkit.Service{Key: discordToken, URL: "http://discord.example/api/v10"},
		Telegram: toolkit.Service{Key: telegramToken, URL: "http://telegram.example"},
	}}}
	return w
}

func (w *world) file(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.Root, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// do plans and runs a call. No token may be in anything that comes of it.
func (w *world) do(t *testing.T, tool toolkit.Tool, args string) (toolkit.Plan, toolkit.Result, error) {
	t.Helper()
	p, err := tool.Plan(t.Context(), w.Workspace, json.RawMessage(args))
	var r toolkit.Result
	if err == nil {
		r, err = tool.Run(t.Context(), w.Workspace, p, nil)
	}
	all := []any{p, r}
	if err != nil {
		all = append(all, err.Error())
	}
	for _, v := range all {
		b, fault := json.Marshal(v)
		if fault != nil {
			t.Fatal(fault)
		}
		for _, token := range []string{slackToken, discordToken, telegramToken} {
			if strings.Contains(string(b), token) {
				t.Errorf("a token is in %s", b)
			}
		}
	}
	return p, r, err
}
