// Package ollama talks to one Ollama server (or to the built-in pocket model,
// which speaks the same API) through its native endpoints, never /v1.
//
// It adds to github.com/ollama/ollama/api what an agent needs and that package
// leaves open: errors that say what to do, the difference between an answer
// that ended and a stream that broke off, no limit on how long a model may
// take to load, and a limit on silence after the first token.
//
// A Client is safe for concurrent use.
package ollama

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/envconfig"
)

// Time limits towards a server. Loading a large model from a slow disk takes
// minutes, so the wait for the first byte is long and nothing limits the whole.
const (
	dialTimeout   = 5 * time.Second
	headerTimeout = 10 * time.Minute
	// IdleTimeout is how long a stream may be silent after its first token.
	IdleTimeout = 2 * time.Minute
)

// Client is the connection to one server.
type Client struct {
	host string // for messages: host:port, or the name of a built-in server
	api  *api.Client
	idle time.Duration
}

// New returns a client for a server address as OLLAMA_HOST takes it
// ("127.0.0.1:11434", "http://gpu:11434"); empty means OLLAMA_HOST itself, or
// Ollama's default.
func New(host string) (*Client, error) {
	base := envconfig.Host()
	if host != "" {
		u, err := parseHost(host)
		if err != nil {
			return nil, err
		}
		base = u
	}
	if h := base.Hostname(); h == "0.0.0.0" || h == "::" {
		// A server listens there; a client must dial a real address.
		base.Host = net.JoinHostPort("127.0.0.1", base.Port())
	}
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment, // skips loopback
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ResponseHeaderTimeout: headerTimeout,
		IdleConnTimeout:       time.Minute,
		MaxIdleConns:          4,
	}
	return &Client{host: base.Host, api: api.NewClient(base, &http.Client{Transport: t}), idle: IdleTimeout}, nil
}

// NewInProcess returns a client for a server that is reached by a transport,
// such as the pocket model.
func NewInProcess(name string, t http.RoundTripper) *Client {
	base := &url.URL{Scheme: "http", Host: "in-process"}
	return &Client{host: name, api: api.NewClient(base, &http.Client{Transport: t}), idle: IdleTimeout}
}

func parseHost(host string) (*url.URL, error) {
	raw := host
	if !hasScheme(raw) {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, fmt.Errorf("ollama host %q is not an address: write host:port or http://host:port", host)
	}
	if u.Port() == "" && u.Scheme == "http" {
		u.Host = net.JoinHostPort(u.Hostname(), "11434")
	}
	return u, nil
}

func hasScheme(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// Host names the server for people.
func (c *Client) Host() string { return c.host }

// Version asks the server for its version; an error means that it cannot be
// used.
func (c *Client) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	v, err := c.api.Version(ctx)
	return v, c.explain("asking for the version", "", err)
}

// Load brings a model into memory with this window and returns when it is
// there.
func (c *Client) Load(ctx context.Context, model string, window int) error {
	stream := false
	err := c.api.Chat(ctx, &api.ChatRequest{
		Model: model, Stream: &stream, Options: map[string]any{"num_ctx": window}, KeepAlive: &api.Duration{Duration: KeepAlive},
	}, func(api.ChatResponse) error { return nil })
	return c.explain("loading the model", model, err)
}

// KeepAlive is how long a server keeps a model in memory after each request.
// Ollama's own default of five minutes unloads it while a person reads.
const KeepAlive = 30 * time.Minute

// Pull downloads a model. progress is called for each piece of news, with the
// bytes summed over all layers.
func (c *Client) Pull(ctx context.Context, model string, progress func(status string, completed, total int64)) error {
	type layer struct{ completed, total int64 }
	layers := map[string]layer{}
	finished := false
	err := c.api.Pull(ctx, &api.PullRequest{Model: model}, func(p api.ProgressResponse) error {
		if p.Digest != "" {
			layers[p.Digest] = layer{p.Completed, p.Total}
		}
		var sum layer
		for _, l := range layers {
			sum.completed += l.completed
			sum.total += l.total
		}
		finished = finished || p.Status == "success"
		progress(p.Status, sum.completed, sum.total)
		return nil
	})
	if err == nil && !finished {
		err = errLost
	}
	return c.explain("pulling the model", model, err)
}

var errLost = errors.New("the connection closed before the answer was complete")
