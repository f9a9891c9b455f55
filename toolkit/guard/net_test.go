package guard

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fakeDNS answers from a table; each lookup takes the next answer of a name.
type fakeDNS struct {
	mu      sync.Mutex
	answers map[string][][]string
}

func (f *fakeDNS) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.answers[host]
	if len(list) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(list) > 1 {
		f.answers[host] = list[1:]
	}
	var out []netip.Addr
	for _, a := range list[0] {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

const publicAddr = "93.184.216.34"

// webNet is a door whose public names lead to a local test server, below the
// policy check.
func webNet(t *testing.T, h http.HandlerFunc, opts NetOptions) (*Net, *httptest.Server) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	if opts.Resolver == nil {
		opts.Resolver = &fakeDNS{answers: map[string][][]string{"site.example": {{publicAddr}}, "other.example": {{"8.8.8.8"}}, "private.example": {{"10.0.0.1"}}}}
	}
	opts.TestDial = func(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, srv.Listener.Addr().String())
	}
	n, err := NewNet(opts)
	if err != nil {
		t.Fatal(err)
	}
	return n, srv
}

func TestFetch(t *testing.T) {
	n, _ := webNet(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Host, r.Header.Get("X-A"), body)
	}, NetOptions{})
	page, err := n.Fetch(t.Context(), Request{Method: "post", URL: "http://site.example/x", Header: http.Header{"x-a": {"1"}}, Body: []byte("data")})
	if err != nil || page.Status != 200 || string(page.Body) != "POST site.example 1 data" || page.Truncated {
		t.Fatalf("Fetch = %+v, %v", page, err)
	}
	page, err = n.Fetch(t.Context(), Request{URL: "http://no-such-name.example/", Addrs: []netip.Addr{netip.MustParseAddr(publicAddr)}})
	if err != nil || page.Status != 200 {
		t.Errorf("Fetch of a planned address = %+v, %v", page, err)
	}
	page, err = n.Fetch(t.Context(), Request{URL: "http://site.example/", MaxBody: 3})
	if err != nil || string(page.Body) != "GET" || !page.Truncated {
		t.Errorf("bounded Fetch = %+v, %v", page, err)
	}
	for _, h := range []string{"Host", "accept-encoding", "Transfer-Encoding"} {
		_, err = n.Fetch(t.Context(), Request{URL: "http://site.example/", Header: http.Header{h: {"x"}}})
		wantDenied(t, err, RuleHeader)
	}
	if _, err := n.Fetch(t.Context(), Request{Method: "CONNECT", URL: "http://site.example/"}); err == nil {
		t.Error("CONNECT was sent")
	}
}

func TestPrivateAddressesAreRefusedUnlessAllowed(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer srv.Close()
	addr := srv.Listener.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	plain, err := NewNet(NetOptions{Resolver: &fakeDNS{answers: map[string][][]string{
		"mixed.example": {{publicAddr, "127.0.0.1"}}, "empty.example": {{}}, "rebind.example": {{publicAddr}, {"127.0.0.1"}}, "localhost": {{"127.0.0.1"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HTTP_PROXY", srv.URL)
	for _, u := range []string{
		"http://" + addr, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://[::]:" + port, "http://0.0.0.0:" + port, "http://mixed.example:" + port,
	} {
		_, err := plain.Fetch(t.Context(), Request{URL: u})
		wantDenied(t, err, RuleAddress)
		_, err = plain.Check(t.Context(), u)
		wantDenied(t, err, RuleAddress)
	}
	// Public when planned, private when dialled.
	if _, err := plain.Check(t.Context(), "http://rebind.example:"+port); err != nil {
		t.Fatal(err)
	}
	_, err = plain.Fetch(t.Context(), Request{URL: "http://rebind.example:" + port})
	wantDenied(t, err, RuleAddress)
	// What the plan showed is dialled without another look-up, and judged all the
	// same.
	_, err = plain.Fetch(t.Context(), Request{URL: "http://unknown.example:" + port, Addrs: []netip.Addr{netip.MustParseAddr("127.0.0.1")}})
	wantDenied(t, err, RuleAddress)
	for _, u := range []string{"http://empty.example", "http://unknown.example"} {
		if _, err := plain.Fetch(t.Context(), Request{URL: u}); err == nil {
			t.Errorf("Fetch(%s) succeeded", u)
		}
	}
	if hits.Load() != 0 {
		t.Fatalf("%d requests reached the server", hits.Load())
	}
	allowing, err := NewNet(NetOptions{AllowHosts: []string{addr, "169.254.169.254:80"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := allowing.Fetch(t.Context(), Request{URL: srv.URL}); err != nil || hits.Load() != 1 {
		t.Errorf("allowed Fetch = %v, %d hits", err, hits.Load())
	}
	_, err = allowing.Fetch(t.Context(), Request{URL: "http://169.254.169.254/"})
	wantDenied(t, err, RuleMetadata)
	_, err = allowing.Fetch(t.Context(), Request{URL: "http://127.0.0.1:1234/"})
	wantDenied(t, err, RuleAddress)
	own, err := NewNet(NetOptions{AllowHosts: []string{addr, "[::1]:" + port}, OwnServices: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []string{srv.URL, "http://[::1]:" + port} {
		_, err = own.Fetch(t.Context(), Request{URL: u})
		wantDenied(t, err, RuleOwnServer)
	}
	if _, err := allowing.DialContext(t.Context(), "udp", addr); err == nil {
		t.Error("dialled UDP")
	}
}

// TestControlJudgesTheSocket skips the resolver's check and relies on the
// dialer's alone.
func TestControlJudgesTheSocket(t *testing.T) {
	n, err := NewNet(NetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.dialJudged(t.Context(), Target{Host: "site.example", Port: 80, URL: "site.example:80"}, netip.MustParseAddrPort("127.0.0.1:80"))
	wantDenied(t, err, RuleAddress)
}

func TestRedirects(t *testing.T) {
	var headers http.Header
	n, _ := webNet(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			code := http.StatusFound
			if r.URL.Path == "/307" {
				code = http.StatusTemporaryRedirect
			}
			w.Header().Set("Location", to)
			w.WriteHeader(code)
			return
		}
		headers = r.Header
		_, _ = fmt.Fprint(w, r.Method+r.Host)
	}, NetOptions{SecretHeaders: []string{"X-My-Secret"}})
	for to, rule := range map[string]Rule{
		"http://127.0.0.1/": RuleAddress, "http://private.example/": RuleAddress, "file:///etc/passwd": RuleScheme, "http://169.254.169.254/": RuleMetadata,
		"http://u@other.example/": RuleURL, "http://other.example:25/": RuleURL,
	} {
		_, err := n.Fetch(t.Context(), Request{URL: "http://site.example/?to=" + strings.ReplaceAll(strings.ReplaceAll(to, "%", "%25"), "?", "%3F")})
		wantDenied(t, err, rule)
	}
	secret := http.Header{"Authorization": {"Bearer x"}, "Cookie": {"a=b"}, "X-My-Secret": {"s"}, "X-Plain": {"p"}}
	page, err := n.Fetch(t.Context(), Request{URL: "http://site.example/?to=http://other.example/x", Header: secret})
	if err != nil || string(page.Body) != "GETother.example" || len(page.Hops) != 2 || page.URL != "http://other.example/x" {
		t.Fatalf("Fetch = %+v, %v", page, err)
	}
	if headers.Get("Authorization") != "" || headers.Get("Cookie") != "" || headers.Get("X-My-Secret") != "" || headers.Get("X-Plain") != "p" {
		t.Errorf("headers sent to the other host: %v", headers)
	}
	if _, err := n.Fetch(t.Context(), Request{URL: "http://site.example/?to=/x", Header: secret}); err != nil || headers.Get("Authorization") == "" {
		t.Errorf("headers on the same host: %v, %v", headers, err)
	}
	_, err = n.Fetch(t.Context(), Request{Method: "POST", Body: []byte("b"), URL: "http://site.example/307?to=http://other.example/"})
	wantDenied(t, err, RuleRedirect)
	page, err = n.Fetch(t.Context(), Request{Method: "POST", Body: []byte("b"), URL: "http://site.example/?to=/x"})
	if err != nil || string(page.Body) != "GETsite.example" {
		t.Errorf("302 after POST = %+v, %v", page, err)
	}
	stop := errors.New("no")
	_, err = n.Fetch(t.Context(), Request{URL: "http://site.example/?to=/x", Redirect: func(_, _ Target) error { return stop }})
	if !errors.Is(err, stop) {
		t.Errorf("redirect hook's error = %v", err)
	}
}

func TestRedirectsHaveAnEnd(t *testing.T) {
	requests := 0
	n, _ := webNet(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.Redirect(w, r, "/again", http.StatusFound)
	}, NetOptions{})
	_, err := n.Fetch(t.Context(), Request{URL: "http://site.example/"})
	if _, refused := AsDenied(err); refused || !errors.Is(err, ErrRedirects) {
		t.Errorf("a loop = %v, want ErrRedirects and no refusal", err)
	}
	if requests != 1+maxRedirects {
		t.Errorf("%d requests, want %d and then nothing more", requests, 1+maxRedirects)
	}
}

func gzipped(data []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write(data)
	_ = z.Close()
	return buf.Bytes()
}

func TestBodies(t *testing.T) {
	bomb := gzipped(make([]byte, 64<<20))
	n, _ := webNet(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(gzipped([]byte("hello")))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		case "/lie":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("not gzip at all"))
		case "/br":
			w.Header().Set("Content-Encoding", "br")
		case "/exact":
			_, _ = w.Write(make([]byte, 100))
		case "/headers":
			for i := range 4000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
			}
		}
	}, NetOptions{MaxBody: 32 << 20})
	fetch := func(path string, limit int64) (*Page, error) {
		return n.Fetch(t.Context(), Request{URL: "http://site.example" + path, MaxBody: limit})
	}
	if page, err := fetch("/gzip", 0); err != nil || string(page.Body) != "hello" || page.Header.Get("Content-Encoding") != "" {
		t.Errorf("gzip = %+v, %v", page, err)
	}
	if page, err := fetch("/gzip", 2); err != nil || string(page.Body) != "he" || !page.Truncated {
		t.Errorf("bounded gzip = %+v, %v", page, err)
	}
	if _, err := fetch("/bomb", 0); !errors.Is(err, ErrBomb) {
		t.Errorf("bomb = %v, want ErrBomb", err)
	}
	if page, err := fetch("/exact", 100); err != nil || len(page.Body) != 100 || page.Truncated {
		t.Errorf("exact = %v", err)
	}
	for _, p := range []string{"/lie", "/br", "/headers"} {
		if _, err := fetch(p, 0); err == nil {
			t.Errorf("Fetch(%s) succeeded", p)
		}
	}
	if _, err := n.Fetch(t.Context(), Request{Method: "HEAD", URL: "http://site.example/gzip"}); err != nil {
		t.Errorf("HEAD = %v", err)
	}
}

func TestSlowServersEnd(t *testing.T) {
	release := make(chan struct{})
	n, _ := webNet(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}, NetOptions{HeaderTimeout: 50 * time.Millisecond, IdleRead: 50 * time.Millisecond})
	defer close(release)
	if _, err := n.Fetch(t.Context(), Request{URL: "http://site.example/headers"}); err == nil {
		t.Error("a server without headers did not fail")
	}
	if _, err := n.Fetch(t.Context(), Request{URL: "http://site.example/body"}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "nothing for") {
		t.Errorf("a silent body = %v", err)
	}
	n.opts.IdleRead = time.Hour
	if _, err := n.Fetch(t.Context(), Request{URL: "http://site.example/body", Timeout: 60 * time.Millisecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a total deadline = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := n.Open(ctx, Request{URL: "http://site.example/body"})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled read = %v", err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
}

func TestNewNetRefusesBadOptions(t *testing.T) {
	for _, o := range []NetOptions{{AllowHosts: []string{"localhost"}}, {AllowHosts: []string{"127.1:80"}}, {OwnServices: []string{"localhost:80"}}} {
		if _, err := NewNet(o); err == nil {
			t.Errorf("NewNet(%+v) succeeded", o)
		}
	}
}
