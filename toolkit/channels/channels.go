// Package channels has the tools that post in Slack, Discord and Telegram and
// manage what is there.
//
// It guarantees: what a person is shown is the request that is sent, body and
// all, less the token; the token goes to the service's own host only and is in
// no plan, error or result; a call that lacks a field, has a malformed id or
// one that its action does not take is refused before anything is sent, with a
// right example; nothing is sent twice.
package channels

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/service"
)

// CodeNotConfigured is the code of a call without a token.
const CodeNotConfigured = service.CodeKey

// Acted is the data of the three tools.
type Acted struct {
	Action  string         `json:"action"`
	OK      bool           `json:"ok"`
	Details map[string]any `json:"details"` // ids of what was made
}

// fields are the arguments that the three tools share, as the actions see them.
type fields struct {
	Action, Channel, Text, Message, User, Name string
	Options                                    options
}

// message is one request as an action makes it.
type message struct {
	method string // empty: POST
	path   string // below the service's address
	body   map[string]any
	header http.Header
	file   *attachment
}

// action is one thing that can be done in a service.
type action struct {
	needs     string // fields, separated by spaces
	takes     string // further fields
	options   string // keys that options may have; those that end in * are needed
	example   string // a right call
	dangerous bool   // it shuts somebody out or something down
	build     func(f fields) (message, error)
	says      string // what was done, for the model; %s is the channel
}

// platform is one service.
type platform struct {
	tool, name string
	variable   string // of the environment, which may hold the token
	setting    string
	api        string // its address, unless the settings say otherwise
	set        func(*toolkit.Config) toolkit.Service
	sign       func(key string, h http.Header) // nil: the token is in the path
	prefix     func(key string) string         // what comes between address and path
	token      *regexp.Regexp                  // the form of a token that is in the path
	actions    map[string]action
	details    func(answer json.RawMessage) (map[string]any, error)
}

// request is a message on its way: as it is sent, and as it is shown.
type request struct {
	send  service.Request
	shown string // the URL without the token
	body  string
}

func (p *platform) service(w *toolkit.Workspace) (toolkit.Service, error) {
	if w.Config != nil {
		switch s := p.set(w.Config); {
		case s.Key == "":
		case p.token != nil && !p.token.MatchString(s.Key):
			return toolkit.Service{}, fmt.Errorf("the token for %s (%s) does not have the form of one", p.name, p.setting)
		default:
			return s, nil
		}
	}
	return toolkit.Service{}, fmt.Errorf("no token for %s is set (%s in settings.yml, or %s)", p.name, p.setting, p.variable)
}

func (p *platform) available(_ context.Context, w *toolkit.Workspace) error {
	if w.Net == nil {
		return errors.New("the network is switched off")
	}
	_, err := p.service(w)
	return err
}

// request checks a call and makes its request.
func (p *platform) request(w *toolkit.Workspace, f fields) (request, action, error) {
	s, err := p.service(w)
	if err != nil {
		return request{}, action{}, toolkit.Errorf(CodeNotConfigured, "%w.", err).WithHint("Say so: the person has to set one.")
	}
	act := p.actions[f.Action]
	if err := act.check(f); err != nil {
		return request{}, act, err
	}
	m, err := act.build(f)
	if err != nil {
		return request{}, act, hinted(err, act)
	}
	base := strings.TrimRight(p.api, "/")
	if s.URL != "" {
		base = strings.TrimRight(s.URL, "/")
	}
	r := request{send: service.Request{Name: p.name, Method: m.method, Header: m.header, Secret: s.Key}}
	if r.send.Method == "" {
		r.send.Method = http.MethodPost
	}
	if r.send.Header == nil {
		r.send.Header = http.Header{}
	}
	// The token is written where it belongs, and a sign in its place where people
	// read; it is never taken out again from what holds it.
	r.send.URL, r.shown = base+m.path, base+m.path
	if p.prefix != nil {
		r.send.URL, r.shown = base+p.prefix(s.Key)+m.path, base+p.prefix("(token)")+m.path
	} else {
		p.sign(s.Key, r.send.Header)
	}
	switch {
	case m.file != nil:
		up, shown, err := m.file.upload(w, m.body)
		if err != nil {
			return request{}, act, err
		}
		r.send.Upload, r.body = up, shown
	case m.body != nil:
		text, err := json.MarshalIndent(m.body, "", "  ")
		if err != nil {
			return request{}, act, fmt.Errorf("%s: %w", f.Action, err)
		}
		r.send.Body, r.body = m.body, string(text)
	}
	return r, act, nil
}

func (p *platform) plan(ctx context.Context, w *toolkit.Workspace, f fields) (toolkit.Plan, error) {
	if w.Net == nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "the network is switched off.")
	}
	r, act, err := p.request(w, f)
	if err != nil {
		return toolkit.Plan{}, err
	}
	base, _, _ := strings.Cut(r.shown, "(token)")
	at, err := url.Parse(base)
	if err != nil {
		return toolkit.Plan{}, toolkit.Errorf(CodeNotConfigured, "the address of %s is no URL.", p.name)
	}
	t, err := w.Net.Check(ctx, at.Scheme+"://"+at.Host+"/")
	if err != nil {
		if _, denied := guard.AsDenied(err); denied || ctx.Err() != nil {
			return toolkit.Plan{}, err
		}
		e := toolkit.Errorf(service.CodeService, "%s cannot be reached: %w.", p.name, err)
		e.Retryable = true
		return toolkit.Plan{}, e
	}
	plan := toolkit.Plan{
		Summary: f.summary(),
		Effects: []toolkit.Effect{{Kind: toolkit.Dials, Target: t.HostPort()}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewURL, Method: r.send.Method, URL: r.shown, Body: r.body, Headers: r.headers(p)},
	}
	for _, a := range t.Addrs {
		plan.Preview.Address = append(plan.Preview.Address, a.String())
	}
	if file := f.Options.text("path"); file != "" {
		plan.Effects = append(plan.Effects, toolkit.Effect{Kind: toolkit.Reads, Target: file})
	}
	level := toolkit.Moderate
	if act.dangerous {
		level = toolkit.Dangerous
	}
	return plan.AtLevel(level), nil
}

// headers are those that an action adds, less the token's.
func (r request) headers(p *platform) []string {
	var out []string
	for name, values := range r.send.Header {
		if p.sign != nil && name == "Authorization" {
			continue
		}
		out = append(out, name+": "+strings.Join(values, ", "))
	}
	slices.Sort(out)
	return out
}

// summary is the effect in one line.
func (f fields) summary() string {
	parts := []string{f.Action}
	for _, v := range []string{f.Channel, f.Message, f.User, f.Name} {
		if v != "" {
			parts = append(parts, v)
		}
	}
	if f.Text != "" {
		parts = append(parts, fmt.Sprintf("%q", f.Text))
	}
	return strings.Join(parts, " ")
}

func (p *platform) run(ctx context.Context, w *toolkit.Workspace, f fields, plan toolkit.Plan) (toolkit.Result, error) {
	r, act, err := p.request(w, f)
	if err != nil {
		return toolkit.Result{}, err
	}
	if r.shown != plan.Preview.URL || r.body != plan.Preview.Body || r.send.Method != plan.Preview.Method {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "what %s would send is not what was shown: a file or the settings changed.", f.Action).
			WithHint("Make the call again.")
	}
	var answer json.RawMessage
	if err := service.Call(ctx, w.Net, r.send, &answer); err != nil {
		return toolkit.Result{}, err
	}
	details, err := p.details(answer)
	if err != nil {
		return toolkit.Result{}, err
	}
	text := act.says
	if strings.Contains(text, "%s") {
		text = fmt.Sprintf(text, f.Channel)
	}
	if len(details) > 0 {
		b, err := json.Marshal(details)
		if err != nil {
			return toolkit.Result{}, fmt.Errorf("%s: %w", f.Action, err)
		}
		text += " " + string(b)
	}
	return toolkit.Result{Text: text, Data: Acted{Action: f.Action, OK: true, Details: details}}, nil
}

// spec is what the three tools have in common.
func (p *platform) spec() toolkit.Spec {
	return toolkit.Spec{
		Name: p.tool, Summary: "Post and manage in " + p.name + ".", Category: "notifications",
		Level: toolkit.Moderate, Tier: tiers.Full, Synonyms: "chat message send post channel reaction " + strings.ToLower(p.name),
		Guide: "Each action needs its own fields; a call that lacks one is answered with an example.",
	}
}
