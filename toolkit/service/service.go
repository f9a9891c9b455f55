// Package service calls HTTP services that speak JSON, for the tools that need
// one: search, channels, images.
//
// It guarantees: every request goes through guard.Net; a key is sent to the
// service's own host only, and never appears in an error; answers are bounded;
// a failure says which service it was, what it said, and whether trying again
// may help.
package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// Codes of a service's failures.
const (
	CodeService toolkit.Code = "SERVICE_ERROR"
	CodeKey     toolkit.Code = "NOT_CONFIGURED" // the key is missing or refused
)

// The bounds of one request.
const (
	maxAnswer = 8 << 20
	timeout   = 30 * time.Second
)

// Request is one call of a service.
type Request struct {
	Name    string // of the service, for people
	Method  string // empty: GET, or POST with a body
	URL     string
	Query   url.Values
	Header  http.Header
	Body    any           // sent as JSON; nil: none
	Upload  *Upload       // sent in place of Body
	Timeout time.Duration // 0: 30 s
	Wait    time.Duration // for a service that thinks before it answers, see guard.Request; in place of Timeout
	Max     int64         // bytes of the answer; 0: 8 MiB
	Secret  string        // what must not appear in an error, such as a token in the URL
}

// Upload is a body that is not JSON.
type Upload struct {
	Type string // its media type
	Data []byte
}

// Call does a request and decodes the answer into out, which may be nil. An
// answer that says it has no content leaves out as it is.
func Call(ctx context.Context, n *guard.Net, r Request, out any) error {
	if n == nil {
		return toolkit.Errorf(toolkit.CodeUnavailable, "the network is switched off.")
	}
	hide := func(text string) string {
		if r.Secret == "" {
			return text
		}
		return strings.ReplaceAll(text, r.Secret, "…")
	}
	req := guard.Request{Method: r.Method, URL: r.URL, Header: r.Header.Clone(), MaxBody: maxAnswer, Timeout: r.Timeout, Wait: r.Wait, Redirect: stay}
	if r.Max > 0 {
		req.MaxBody = r.Max
	}
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Accept", "application/json")
	if req.Timeout == 0 {
		req.Timeout = timeout
	}
	if len(r.Query) > 0 {
		req.URL += "?" + r.Query.Encode()
	}
	if r.Body != nil {
		body, err := json.Marshal(r.Body)
		if err != nil {
			return fmt.Errorf("asking %s: %w", r.Name, err)
		}
		req.Body = body
		req.Header.Set("Content-Type", "application/json")
		if req.Method == "" {
			req.Method = http.MethodPost
		}
	}
	if r.Upload != nil {
		req.Body = r.Upload.Data
		req.Header.Set("Content-Type", r.Upload.Type)
		if req.Method == "" {
			req.Method = http.MethodPost
		}
	}
	page, err := n.Fetch(ctx, req)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		if d, denied := guard.AsDenied(err); denied {
			return &guard.Denied{Op: d.Op, Path: hide(d.Path), Rule: d.Rule, Reason: hide(d.Reason)}
		}
		e := toolkit.Errorf(CodeService, "%s cannot be reached: %s.", r.Name, hide(err.Error()))
		e.Retryable = true
		return e
	}
	if page.Status < 200 || page.Status > 299 {
		return refused(r, page, hide)
	}
	if out == nil || page.Status == http.StatusNoContent {
		return nil
	}
	if page.Truncated {
		return toolkit.Errorf(CodeService, "%s answered with more than %d MiB.", r.Name, req.MaxBody>>20)
	}
	if err := json.Unmarshal(page.Body, out); err != nil {
		return toolkit.Errorf(CodeService, "%s answered with what is no JSON: %s.", r.Name, hide(short(string(page.Body))))
	}
	return nil
}

// stay keeps a key from being carried to another host.
func stay(from, to guard.Target) error {
	if from.HostPort() != to.HostPort() {
		return errors.New("it redirects to another host, where the key does not belong")
	}
	return nil
}

func refused(r Request, page *guard.Page, hide func(string) string) error {
	said := hide(message(page.Body))
	switch page.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return toolkit.Errorf(CodeKey, "%s refuses the key (%d): %s.", r.Name, page.Status, said).WithHint("Say so: the person has to set another one.")
	case http.StatusTooManyRequests:
		e := toolkit.Errorf(CodeService, "%s is asked too often: %s.", r.Name, said).WithHint("Wait, or do without.")
		if wait := pause(page); wait > 0 {
			e = e.WithHint("Wait %v before the next call.", wait)
		}
		e.Retryable = true
		return e
	}
	e := toolkit.Errorf(CodeService, "%s answered %d: %s.", r.Name, page.Status, said)
	e.Retryable = page.Status >= 500
	return e
}

// pause is how long a service wants to be left alone, to the second above; 0: it
// does not say. It stands in a header, or in the answer as Discord and Telegram
// write it.
func pause(page *guard.Page) time.Duration {
	seconds, err := strconv.ParseFloat(page.Header.Get("Retry-After"), 64)
	if err != nil {
		var said struct {
			After      float64 `json:"retry_after"`
			Parameters struct {
				After float64 `json:"retry_after"`
			} `json:"parameters"`
		}
		if json.Unmarshal(page.Body, &said) == nil {
			seconds = max(said.After, said.Parameters.After)
		}
	}
	if seconds <= 0 || seconds > 24*3600 {
		return 0
	}
	return time.Duration(math.Ceil(seconds)) * time.Second
}

// message takes the words out of an error's JSON, as far as it has the usual
// form.
func message(body []byte) string {
	var m map[string]any
	if json.Unmarshal(body, &m) == nil {
		for _, key := range []string{"message", "error", "detail", "description"} {
			switch v := m[key].(type) {
			case string:
				return short(v)
			case map[string]any:
				if s, ok := v["message"].(string); ok {
					return short(s)
				}
			}
		}
	}
	if text := short(string(body)); text != "" {
		return text
	}
	return "it gives no reason"
}

func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:199]) + "…"
	}
	return strings.TrimRight(s, ".")
}
