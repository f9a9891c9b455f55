package guard

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"slices"
	"strings"
	"time"
)

// Network limits when the options give none.
const (
	DefaultMaxBody       = 10 << 20
	DefaultNetTimeout    = 30 * time.Second
	defaultHeaderTimeout = 15 * time.Second
	defaultIdleRead      = 10 * time.Second
	maxHeaderBytes       = 256 << 10
	maxRedirects         = 5
	maxWait              = 10 * time.Minute
)

// NetOptions configures the network door.
type NetOptions struct {
	// AllowHosts are "host:port" pairs that a person allowed although their
	// address is not public. Hosts match whole, ports exactly.
	AllowHosts []string
	// OwnServices are "address:port" pairs of services chela itself uses, such as
	// its model server. They are refused even if allowed.
	OwnServices []string
	// SecretHeaders are further header names that are dropped when a redirect
	// leaves the origin, beside Authorization, Cookie and the like.
	SecretHeaders []string
	MaxBody       int64         // bytes after decompression; DefaultMaxBody if 0
	Timeout       time.Duration // a whole request with redirects and body; DefaultNetTimeout if 0
	HeaderTimeout time.Duration // until response headers arrive; 15 s if 0
	IdleRead      time.Duration // longest silence in a body; 10 s if 0
	UserAgent     string
	Resolver      Resolver // Go's own resolver if nil
	// TestDial replaces the connection itself, after every check has passed. It
	// exists for tests, which have no public addresses; leave it nil.
	TestDial DialFunc
	// TestTLS replaces the TLS settings, for tests with their own certificates.
	TestTLS *tls.Config
}

// Net is the network door: one HTTP client without proxies, shared connections
// or cookies, which judges every address that it connects to.
type Net struct {
	opts      NetOptions
	allowed   map[string]bool
	own       []netip.AddrPort
	secret    map[string]bool
	resolver  Resolver
	transport *http.Transport
}

// NewNet checks the options and builds the door.
func NewNet(opts NetOptions) (*Net, error) {
	n := &Net{opts: opts, allowed: map[string]bool{}, resolver: opts.Resolver, secret: map[string]bool{}}
	for _, hp := range opts.AllowHosts {
		host, port, err := net.SplitHostPort(hp)
		if err != nil {
			return nil, fmt.Errorf("allowed host %q: write it as host:port: %w", hp, err)
		}
		clean, reason := cleanHost(host)
		if reason != "" {
			return nil, fmt.Errorf("allowed host %q: %s", hp, reason)
		}
		n.allowed[net.JoinHostPort(clean, port)] = true
	}
	for _, hp := range opts.OwnServices {
		addr, err := netip.ParseAddrPort(hp)
		if err != nil {
			return nil, fmt.Errorf("own service %q: write it as address:port: %w", hp, err)
		}
		n.own = append(n.own, netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port()))
	}
	for _, h := range slices.Concat(opts.SecretHeaders, []string{
		"Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Www-Authenticate",
		"X-Api-Key", "Api-Key", "X-Auth-Token", "Private-Token", "X-Goog-Api-Key",
	}) {
		n.secret[textproto.CanonicalMIMEHeaderKey(h)] = true
	}
	n.opts.MaxBody = positive(opts.MaxBody, DefaultMaxBody)
	n.opts.Timeout = positive(opts.Timeout, DefaultNetTimeout)
	n.opts.HeaderTimeout = positive(opts.HeaderTimeout, defaultHeaderTimeout)
	n.opts.IdleRead = positive(opts.IdleRead, defaultIdleRead)
	if n.opts.UserAgent == "" {
		n.opts.UserAgent = "chela"
	}
	if n.resolver == nil {
		n.resolver = &net.Resolver{PreferGo: true}
	}
	tlsConfig := opts.TestTLS
	if tlsConfig == nil {
		tlsConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	n.transport = &http.Transport{
		Proxy:                  nil, // a proxy would hide the target's address from the check
		DialContext:            n.DialContext,
		TLSClientConfig:        tlsConfig,
		TLSHandshakeTimeout:    connectTimeout,
		DisableKeepAlives:      true, // so that no request rides on a connection judged for another
		DisableCompression:     true, // decompressed here, with a ratio cap
		ResponseHeaderTimeout:  n.opts.HeaderTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	return n, nil
}

func positive[T int64 | time.Duration](v, fallback T) T {
	if v > 0 {
		return v
	}
	return fallback
}

// Check parses a URL and resolves its host, for a plan: it reports the ASCII
// host and the addresses, or the refusal, and sends nothing to the target. The
// address is judged again when it is dialled.
func (n *Net) Check(ctx context.Context, rawURL string) (Target, error) {
	t, err := parseTarget("fetch", rawURL)
	if err != nil {
		return Target{}, err
	}
	t.Addrs, err = n.resolve(ctx, "fetch", t)
	return t, err
}

// Request is one HTTP request.
type Request struct {
	Method string // GET if empty
	URL    string
	Header http.Header
	Body   []byte
	// Addrs are those that a plan showed for the URL's host: they are dialled and
	// no others, so that a name which leads elsewhere by now changes nothing.
	// Empty: the name is looked up. They are judged again either way.
	Addrs   []netip.Addr
	MaxBody int64         // lower than the door's own limit, or 0
	Timeout time.Duration // lower than the door's own limit, or 0
	// Wait is for a service that thinks before it answers, such as one that draws:
	// how long its headers and the whole answer may take, in place of the door's
	// own limits. 0: those; at most 10 minutes. A body that falls silent still ends.
	Wait time.Duration
	// Redirect, if set, is asked before a redirect is followed; an error stops.
	Redirect func(from, to Target) error
}

// Response is the answer to a Request. Its Body must be closed.
type Response struct {
	Status int
	Header http.Header
	URL    string   // where the answer came from, after redirects
	Hops   []Target // every URL that was requested, the last one included
	Body   *Body
}

// Page is a response whose body is in memory.
type Page struct {
	Status    int
	Header    http.Header
	URL       string
	Hops      []Target
	Body      []byte
	Truncated bool // there was more than MaxBody
}

// Fetch does a request and reads its body, at most MaxBody bytes of it.
func (n *Net) Fetch(ctx context.Context, req Request) (*Page, error) {
	resp, err := n.Open(ctx, req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	truncated := resp.Body.Truncated()
	_ = resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", resp.URL, err)
	}
	return &Page{Status: resp.Status, Header: resp.Header, URL: resp.URL, Hops: resp.Hops, Body: body, Truncated: truncated}, nil
}

// ownHeaders are set by the transport alone.
var ownHeaders = []string{
	"Host", "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Content-Length", "Accept-Encoding",
}

// Open does a request and returns its body as a stream under the same limits.
func (n *Net) Open(ctx context.Context, req Request) (*Response, error) {
	method := strings.ToUpper(req.Method)
	if method == "" {
		method = http.MethodGet
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		return nil, fmt.Errorf("fetch %s: %q is not a method: use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS", req.URL, req.Method)
	}
	header := http.Header{}
	for name, values := range req.Header {
		key := textproto.CanonicalMIMEHeaderKey(name)
		if slices.Contains(ownHeaders, key) {
			return nil, &Denied{Op: "fetch", Path: req.URL, Rule: RuleHeader, Reason: "the header " + key + " is set by the transport"}
		}
		header[key] = slices.Clone(values)
	}
	t, err := parseTarget("fetch", req.URL)
	if err != nil {
		return nil, err
	}
	timeout := n.opts.Timeout
	if req.Timeout > 0 {
		timeout = min(timeout, req.Timeout)
	}
	if req.Wait > 0 {
		timeout = min(req.Wait, maxWait)
	}
	if len(req.Addrs) > 0 {
		ctx = context.WithValue(ctx, pinned{t.HostPort()}, req.Addrs)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no complete answer within %v", timeout))
	resp, err := n.follow(ctx, req, method, header, t)
	if err != nil {
		defer cancel()
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			return nil, fmt.Errorf("fetch %s: %w (%w)", t.URL, cause, context.DeadlineExceeded)
		}
		return nil, err
	}
	limit := n.opts.MaxBody
	if req.MaxBody > 0 {
		limit = min(limit, req.MaxBody)
	}
	resp.Body.start(ctx, cancel, limit, n.opts.IdleRead)
	return resp, nil
}

// follow sends the request and follows redirects, each judged like the first.
func (n *Net) follow(ctx context.Context, req Request, method string, header http.Header, t Target) (*Response, error) {
	body := req.Body
	hops := []Target{t}
	for {
		resp, err := n.send(ctx, method, header, body, t, req.Wait)
		if err != nil {
			return nil, err
		}
		location := resp.Header.Get("Location")
		if resp.StatusCode < 300 || resp.StatusCode > 399 || resp.StatusCode == http.StatusNotModified || location == "" {
			return newResponse(resp, t, hops)
		}
		_ = resp.Body.Close()
		next, err := t.url.Parse(location)
		if err != nil {
			return nil, &Denied{Op: "redirect", Path: location, Rule: RuleRedirect, Reason: "the server sent an address that is not a URL"}
		}
		to, err := parseTarget("redirect", next.String())
		if err != nil {
			return nil, err
		}
		if len(hops) > maxRedirects {
			return nil, fmt.Errorf("fetch %s: %w, the last to %s", hops[0].URL, ErrRedirects, to.URL)
		}
		if method != http.MethodGet && method != http.MethodHead {
			if resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect {
				return nil, &Denied{
					Op: "redirect", Path: to.URL, Rule: RuleRedirect,
					Reason: "a " + method + " is not sent again to another address; send it there yourself if that is meant",
				}
			}
			method, body = http.MethodGet, nil
			for _, h := range []string{"Content-Type", "Content-Encoding", "Content-Language", "Content-Location"} {
				header.Del(h)
			}
		}
		if to.HostPort() != t.HostPort() || to.TLS != t.TLS {
			for h := range header {
				if n.secret[h] {
					header.Del(h)
				}
			}
		}
		if req.Redirect != nil {
			if err := req.Redirect(t, to); err != nil {
				return nil, fmt.Errorf("redirect to %s not followed: %w", to.URL, err)
			}
		}
		t = to
		hops = append(hops, t)
	}
}

func (n *Net) send(ctx context.Context, method string, header http.Header, body []byte, t Target, wait time.Duration) (*http.Response, error) {
	var reader io.Reader
	if len(body) > 0 {
		reader = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, t.URL, reader)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", t.URL, err)
	}
	r.Header = header.Clone()
	r.Header.Set("Accept-Encoding", "gzip")
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", n.opts.UserAgent)
	}
	r.GetBody = nil // nothing is ever sent twice
	transport := n.transport
	if wait > 0 {
		transport = transport.Clone() // it keeps no connections, so nothing of it stays
		transport.ResponseHeaderTimeout = min(wait, maxWait)
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		if d, ok := AsDenied(err); ok {
			return nil, &Denied{Op: "fetch", Path: t.URL, Rule: d.Rule, Reason: d.Reason}
		}
		return nil, fmt.Errorf("fetch %s: %w", t.URL, err)
	}
	return resp, nil
}
