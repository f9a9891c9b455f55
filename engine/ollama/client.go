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
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/ollama/ollama/api"
)

// Time limits towards a server. Loading a large model from a slow disk takes
// minutes, so the wait for the first byte is long and nothing limits the whole.
const (
	dialTimeout   = 5 * time.Second
	headerTimeout = 10 * time.Minute
	// infoTimeout bounds questions that need no model: a server that is up
	// answers them at once, even while it loads one.
	infoTimeout = 30 * time.Second
	// IdleTimeout is how long a stream may be silent after its first token.
	IdleTimeout = 2 * time.Minute
)

// Client is the connection to one server.
type Client struct {
	host string // for messages: host:port, or the name of a built-in server
	api  *api.Client
	http *http.Client
	idle time.Duration
}

// New returns a client for a server address as OLLAMA_HOST takes it
// ("127.0.0.1:11434", "gpu", "https://gpu"); empty means OLLAMA_HOST itself,
// or Ollama's default. Its error names the setting and the remedy.
func New(host string) (*Client, error) {
	base, err := address(host)
	if err != nil {
		return nil, err
	}
	return newClient(base.Host, base, &http.Transport{
		Proxy:                 http.ProxyFromEnvironment, // skips loopback
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		ResponseHeaderTimeout: headerTimeout,
		IdleConnTimeout:       time.Minute,
		MaxIdleConns:          4,
	}), nil
}

// NewInProcess returns a client for a server that is reached by a transport,
// such as the pocket model.
func NewInProcess(name string, t http.RoundTripper) *Client {
	return newClient(name, &url.URL{Scheme: "http", Host: "in-process"}, t)
}

func newClient(name string, base *url.URL, t http.RoundTripper) *Client {
	h := &http.Client{Transport: t}
	return &Client{host: name, api: api.NewClient(base, h), http: h, idle: IdleTimeout}
}

// Host names the server for people.
func (c *Client) Host() string { return c.host }

// CloseIdle closes connections that wait for a next request, and so ends
// their goroutines. The client can be used again.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Version asks the server for its version; an error means that it cannot be
// used.
func (c *Client) Version(ctx context.Context) (string, error) {
	limited, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	v, err := c.api.Version(limited)
	return v, c.explain(ctx, "asking for the version", "", err)
}

// Load brings a model into memory with this window and returns when it is
// there.
func (c *Client) Load(ctx context.Context, model string, window int) error {
	stream := false
	err := c.api.Chat(ctx, &api.ChatRequest{
		Model: model, Stream: &stream, Options: map[string]any{"num_ctx": window}, KeepAlive: &api.Duration{Duration: KeepAlive},
	}, func(api.ChatResponse) error { return nil })
	return c.explain(ctx, "loading the model", model, err)
}

// KeepAlive is how long a server keeps a model in memory after each request.
// Ollama's own default of five minutes unloads it while a person reads.
const KeepAlive = 30 * time.Minute

// Pull downloads a model. progress is called for each piece of news, with the
// bytes summed over all layers seen so far. The error is an *Error, or the
// context's.
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
	err = c.explain(ctx, "pulling the model", model, err)
	var e *Error
	if errors.As(err, &e) {
		e.hint = pullHint(e)
	}
	return err
}

var errLost = errors.New("the connection closed before the answer was complete")
