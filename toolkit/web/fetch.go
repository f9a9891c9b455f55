// Package web has the tool that fetches an address.
//
// It guarantees: every request goes through guard.Net, which judges the address
// at each connection; a redirect is followed only within the site that the plan
// named; what comes back is marked as data from outside, bounded, and decoded
// from its own character set; binary content is refused, not dumped.
package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/publicsuffix"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// The codes of a fetch's failures.
const (
	CodeHTTP     toolkit.Code = "HTTP_ERROR"
	CodeFetch    toolkit.Code = "FETCH_ERROR"
	CodeBinary   toolkit.Code = "BINARY_CONTENT"
	CodeRedirect toolkit.Code = "REDIRECTED"
)

// maxPage is how many bytes of a body are read: far more than a model can take,
// enough for a page whose text comes late.
const maxPage = 5 << 20

type fetchArgs struct {
	URL         string            `json:"url" min:"1" alias:"uri,link,address,href"`
	Method      string            `json:"method,omitempty" default:"GET" enum:"GET,POST,PUT,DELETE" alias:"http_method,verb"`
	Headers     map[string]string `json:"headers,omitempty" alias:"header"`
	Body        string            `json:"body,omitempty" alias:"data,payload,content"`
	Timeout     int               `json:"timeout,omitempty" default:"30" min:"1" max:"120"`
	ExtractText bool              `json:"extractText,omitempty" doc:"false: raw HTML" default:"true" alias:"extract_text"`
}

// Fetched is the data of web_fetch.
type Fetched struct {
	URL         string            `json:"url"` // where the answer came from
	Status      int               `json:"status"`
	ContentType string            `json:"content_type"`
	Headers     map[string]string `json:"headers"`
	Body        string            `json:"body"`
	BodyLength  int               `json:"body_length"` // characters before bounding
	Truncated   bool              `json:"truncated"`
}

// Fetch gets an address and returns its content as text.
func Fetch() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "web_fetch",
		Foreign:  true,
		Summary:  "Fetch a web page as text.",
		Category: "web",
		Level:    toolkit.Moderate,
		Tier:     tiers.Essential,
		ReadOnly: false, // it can POST
	}, planFetch, runFetch, toolkit.AvailableIf(available))
}

func available(_ context.Context, w *toolkit.Workspace) error {
	if w.Net == nil {
		return errors.New("the network is switched off")
	}
	return nil
}

// address completes what people and models leave out of an address.
func (a fetchArgs) address() string {
	u := strings.TrimSpace(a.URL)
	if !strings.Contains(u, "://") && !strings.HasPrefix(u, "/") && !strings.ContainsAny(strings.SplitN(u, "/", 2)[0], "@ ") {
		if scheme, rest, ok := strings.Cut(u, ":"); !ok || strings.Trim(strings.SplitN(rest, "/", 2)[0], "0123456789") == "" && scheme != "" {
			return "https://" + u
		}
	}
	return u
}

func planFetch(ctx context.Context, w *toolkit.Workspace, a fetchArgs) (toolkit.Plan, error) {
	if w.Net == nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "the network is switched off.")
	}
	if a.Body != "" && (a.Method == http.MethodGet || a.Method == http.MethodDelete) {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "body does not go with %s.", a.Method).WithHint("Use POST or PUT, or leave body out.")
	}
	headers := make([]string, 0, len(a.Headers))
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(a.Headers[name]) {
			return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "header %q is not a valid HTTP header.", name).
				WithHint("Names are letters, digits and hyphens; values are one line.")
		}
		headers = append(headers, name+": "+a.Headers[name])
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(a.Timeout)*time.Second)
	defer cancel()
	t, err := w.Net.Check(ctx, a.address())
	if err != nil {
		return toolkit.Plan{}, explain(ctx, err)
	}
	addrs := make([]string, len(t.Addrs))
	for i, ad := range t.Addrs {
		addrs[i] = ad.String()
	}
	level := toolkit.Moderate
	summary := t.URL
	if a.Method != http.MethodGet {
		level, summary = toolkit.Dangerous, a.Method+" "+t.URL
	}
	p := toolkit.Plan{
		Summary: summary,
		Effects: []toolkit.Effect{{Kind: toolkit.Dials, Target: t.HostPort()}},
		Preview: toolkit.Preview{
			Kind: toolkit.PreviewURL, Method: a.Method, URL: t.URL, Address: addrs, Body: a.Body, Headers: headers,
		},
	}
	if strings.Contains("."+t.Host, ".xn--") {
		// Letters of other alphabets can look like the name that is meant.
		p.Asks = append(p.Asks, "the name has letters beyond ASCII, and is really "+t.Host)
	}
	return p.AtLevel(level), nil
}

func runFetch(ctx context.Context, w *toolkit.Workspace, a fetchArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	if w.Net == nil {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeUnavailable, "the network is switched off.")
	}
	header := http.Header{}
	for name, value := range a.Headers {
		header.Set(name, value)
	}
	if header.Get("Accept") == "" {
		header.Set("Accept", "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.5")
	}
	addrs := make([]netip.Addr, 0, len(p.Preview.Address))
	for _, text := range p.Preview.Address {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return toolkit.Result{}, toolkit.Errorf(CodeFetch, "the plan's address %q is none: %w.", text, err)
		}
		addrs = append(addrs, addr)
	}
	page, err := w.Net.Fetch(ctx, guard.Request{
		Addrs: addrs, Method: p.Preview.Method, URL: p.Preview.URL, Header: header, Body: []byte(p.Preview.Body),
		MaxBody: maxPage, Timeout: time.Duration(a.Timeout) * time.Second,
		Redirect: func(from, to guard.Target) error { return WithinSite(ctx, w.Net, from, to) },
	})
	if err != nil {
		return toolkit.Result{}, explain(ctx, err)
	}
	return report(page, a, min(w.OutputBudget(), toolkit.MaxBudget))
}

// leftSite reports a redirect to another site: the plan did not name it, so it
// is a call of its own.
type leftSite struct{ to string }

func (e *leftSite) Error() string { return "it leads to another site, " + e.to }

// WithinSite allows redirects to the same host or another host of the same
// registered domain.
func WithinSite(ctx context.Context, n *guard.Net, from, to guard.Target) error {
	if from.Host == to.Host {
		return nil
	}
	a, errA := publicsuffix.EffectiveTLDPlusOne(from.Host)
	b, errB := publicsuffix.EffectiveTLDPlusOne(to.Host)
	if errA == nil && errB == nil && a == b {
		return nil
	}
	// A target that the floor forbids is a refusal, not an invitation.
	if _, err := n.Check(ctx, to.URL); err != nil {
		if _, denied := guard.AsDenied(err); denied {
			return err
		}
	}
	return &leftSite{to.URL}
}

// explain turns a failure of the network door into an error for the model. A
// refusal by the floor stays in the chain.
func explain(ctx context.Context, err error) error {
	var left *leftSite
	switch {
	case errors.As(err, &left):
		return toolkit.Errorf(CodeRedirect, "the address redirects to another site: %s.", left.to).
			WithHint("Call web_fetch with that address if you need it.")
	case errors.Is(err, context.DeadlineExceeded):
		e := toolkit.Errorf(toolkit.CodeTimeout, "%w.", err).WithHint("Try again with a larger timeout, or another address.")
		e.Retryable = true
		return e
	case ctx.Err() != nil:
		return err
	case errors.Is(err, guard.ErrBomb):
		return toolkit.Errorf(CodeFetch, "%w.", err).WithHint("Do not fetch this address again.")
	case errors.Is(err, guard.ErrRedirects):
		return toolkit.Errorf(CodeFetch, "%w.", err).WithHint("The server redirects in a circle. Use another address.")
	}
	if _, denied := guard.AsDenied(err); denied {
		return err
	}
	return toolkit.Errorf(CodeFetch, "%w.", err).WithHint("Check the address.")
}

// hops names the redirects, or "".
func hops(page *guard.Page) string {
	if len(page.Hops) < 2 {
		return ""
	}
	var urls []string
	for _, h := range page.Hops[:len(page.Hops)-1] {
		urls = append(urls, h.URL)
	}
	return fmt.Sprintf(", redirected from %s", strings.Join(urls, " and "))
}
