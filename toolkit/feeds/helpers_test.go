package feeds

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a library that forgets at the end of a test.
type memory struct {
	mu       sync.Mutex
	feeds    []toolkit.Feed
	articles []toolkit.Article
}

func (m *memory) Feeds(context.Context) ([]toolkit.Feed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Clone(m.feeds)
	for i := range out {
		for _, a := range m.articles {
			if a.Feed == out[i].ID {
				out[i].Articles++
			}
		}
	}
	return out, nil
}

func (m *memory) AddFeeds(_ context.Context, list []toolkit.Feed) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.feeds = append(m.feeds, list...)
	return nil
}

func (m *memory) DropFeed(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.feeds = slices.DeleteFunc(m.feeds, func(f toolkit.Feed) bool { return f.ID == id })
	return nil
}

func (m *memory) Polled(_ context.Context, f toolkit.Feed, list []toolkit.Article) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.IndexFunc(m.feeds, func(x toolkit.Feed) bool { return x.ID == f.ID })
	if at < 0 {
		return 0, errors.New("no such feed")
	}
	m.feeds[at] = f
	n := 0
	for _, a := range list {
		if !slices.ContainsFunc(m.articles, func(x toolkit.Article) bool { return x.Feed == f.ID && x.ID == a.ID }) {
			a.Feed, a.FeedName = f.ID, f.Name
			m.articles = append(m.articles, a)
			n++
		}
	}
	return n, nil
}

func (m *memory) Articles(_ context.Context, q toolkit.ArticleFilter) ([]toolkit.Article, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(m.articles), func(a toolkit.Article) bool { return a.Published.Before(q.Since) || q.Unread && a.Read })
	slices.SortFunc(out, func(a, b toolkit.Article) int {
		return cmp.Or(b.Published.Compare(a.Published), cmp.Compare(a.Title, b.Title))
	})
	return out[:min(len(out), q.Limit)], len(out), nil
}

func (m *memory) MarkRead(_ context.Context, list []toolkit.Article) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.articles {
		for _, a := range list {
			if m.articles[i].ID == a.ID {
				m.articles[i].Read = true
			}
		}
	}
	return nil
}

type names struct{}

func (names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "private.example.com" {
		return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

// follows is a workspace whose whole network is one handler.
func follows(t *testing.T, h http.HandlerFunc) (*toolkit.Workspace, *memory) {
	t.Helper()
	srv := httptest.NewServer(h)
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
	m := &memory{}
	return &toolkit.Workspace{Root: dir, Session: "s", Net: n, Files: fs, Library: m}, m
}

func put(t *testing.T, w *toolkit.Workspace, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.Root, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must[T any](t *testing.T, tool toolkit.Tool, w *toolkit.Workspace, args string) (toolkit.Plan, toolkit.Result, T) {
	t.Helper()
	p, r, err := tooltest.Do(t, tool, w, args)
	if err != nil {
		t.Fatalf("%s %s: %v", tool.Spec().Name, args, err)
	}
	data, ok := r.Data.(T)
	if !ok {
		t.Fatalf("data: %+v", r.Data)
	}
	return p, r, data
}
