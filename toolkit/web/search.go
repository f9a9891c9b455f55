package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/service"
)

// The codes of a search's failures.
const (
	CodeNotConfigured toolkit.Code = "NOT_CONFIGURED"
	CodeSearch        toolkit.Code = "SEARCH_FAILED"
)

type searchArgs struct {
	Query string `json:"query" min:"1" alias:"q,text,search"`
	Count int    `json:"count,omitempty" default:"10" min:"1" max:"20" alias:"limit,num,maxResults"`
}

// Searched is the data of web_search.
type Searched struct {
	Query        string `json:"query"`
	Provider     string `json:"provider"`
	Results      []Hit  `json:"results"`
	TotalResults int    `json:"totalResults"`
}

// Hit is one page that was found.
type Hit struct {
	Title    string `json:"title"`
	URL      string `json:"url"`
	Snippet  string `json:"snippet"`
	Position int    `json:"position"`
}

// Search looks for pages with the first search service that answers.
func Search() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "web_search", Summary: "Search the web.", Category: "web", Level: toolkit.Safe, Tier: tiers.Standard,
		ReadOnly: true, Idempotent: true, Foreign: true, Synonyms: "google internet find online news look up",
	}, planSearch, runSearch, toolkit.AvailableIf(func(ctx context.Context, w *toolkit.Workspace) error {
		if err := available(ctx, w); err != nil {
			return err
		}
		if len(providers(w)) == 0 {
			return errors.New("no search service is set (search.brave.key, search.serper.key, search.searxng.url or search.tavily.key in settings.yml)")
		}
		return nil
	}))
}

// provider is one search service.
type provider struct {
	name   string
	api    string // where it is, unless the settings say otherwise
	set    toolkit.Service
	search func(ctx context.Context, w *toolkit.Workspace, p provider, a searchArgs) ([]Hit, error)
}

func (p provider) url() string {
	if p.set.URL != "" {
		return strings.TrimRight(p.set.URL, "/")
	}
	return p.api
}

// providers are the services that can be asked, in the order in which they are.
func providers(w *toolkit.Workspace) []provider {
	if w.Config == nil {
		return nil
	}
	c := w.Config.Search
	all := []provider{
		{"brave", "https://api.search.brave.com", c.Brave, brave},
		{"serper", "https://google.serper.dev", c.Serper, serper},
		{"searxng", "", c.Searxng, searxng},
		{"tavily", "https://api.tavily.com", c.Tavily, tavily},
	}
	all = slices.DeleteFunc(all, func(p provider) bool {
		return p.set.Key == "" && p.name != "searxng" || p.name == "searxng" && p.set.URL == ""
	})
	rank := func(p provider) int {
		if i := slices.Index(c.Order, p.name); i >= 0 {
			return i
		}
		return len(c.Order)
	}
	slices.SortStableFunc(all, func(a, b provider) int { return rank(a) - rank(b) })
	return all
}

func planSearch(_ context.Context, w *toolkit.Workspace, a searchArgs) (toolkit.Plan, error) {
	p := toolkit.Plan{Summary: fmt.Sprintf("%q", a.Query)}
	for _, s := range providers(w) {
		if u, err := url.Parse(s.url()); err == nil {
			host := u.Host
			if u.Port() == "" {
				port := ":443"
				if u.Scheme == "http" {
					port = ":80"
				}
				host += port
			}
			p.Effects = append(p.Effects, toolkit.Effect{Kind: toolkit.Dials, Target: host})
		}
	}
	return p, nil
}

func runSearch(ctx context.Context, w *toolkit.Workspace, a searchArgs, _ toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
	var faults []error
	for _, p := range providers(w) {
		hits, err := p.search(ctx, w, p, a)
		if ctx.Err() != nil {
			return toolkit.Result{}, ctx.Err()
		}
		if err != nil {
			faults = append(faults, err)
			progress(toolkit.Progress{Text: p.name + ": " + err.Error() + "\n"})
			continue
		}
		hits = hits[:min(len(hits), a.Count)]
		for i := range hits {
			hits[i].Position = i + 1
		}
		data := Searched{Query: a.Query, Provider: p.name, Results: hits, TotalResults: len(hits)}
		if data.Results == nil {
			data.Results = []Hit{}
		}
		return toolkit.Result{Text: hitsText(hits), Data: data}, nil
	}
	if len(faults) == 0 {
		return toolkit.Result{}, toolkit.Errorf(CodeNotConfigured, "no search service is set.").WithHint("Use web_fetch with an address that you know.")
	}
	e := toolkit.Errorf(CodeSearch, "no search service answered: %w.", errors.Join(faults...)).WithHint("Use web_fetch with an address that you know.")
	e.Retryable = true
	return toolkit.Result{}, e
}

func hitsText(hits []Hit) string {
	if len(hits) == 0 {
		return "Nothing was found. Use other words."
	}
	var b strings.Builder
	for i, h := range hits {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, oneLine(h.Title), h.URL)
		if s := oneLine(h.Snippet); s != "" {
			b.WriteString("   " + s + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// oneLine makes a foreign text one bounded line without markup.
func oneLine(s string) string {
	s = strings.NewReplacer("<strong>", "", "</strong>", "", "<b>", "", "</b>", "").Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:299]) + "…"
	}
	return s
}

func brave(ctx context.Context, w *toolkit.Workspace, p provider, a searchArgs) ([]Hit, error) {
	var out struct {
		Web struct {
			Results []struct{ Title, URL, Description string } `json:"results"`
		} `json:"web"`
	}
	err := service.Call(ctx, w.Net, service.Request{
		Name: "Brave search", URL: p.url() + "/res/v1/web/search", Query: url.Values{"q": {a.Query}, "count": {fmt.Sprint(a.Count)}},
		Header: http.Header{"X-Subscription-Token": {p.set.Key}}, Secret: p.set.Key,
	}, &out)
	var hits []Hit
	for _, r := range out.Web.Results {
		hits = append(hits, Hit{Title: r.Title, URL: r.URL, Snippet: r.Description})
	}
	return hits, err
}

func serper(ctx context.Context, w *toolkit.Workspace, p provider, a searchArgs) ([]Hit, error) {
	var out struct {
		Organic []struct{ Title, Link, Snippet string } `json:"organic"`
	}
	err := service.Call(ctx, w.Net, service.Request{
		Name: "Serper", URL: p.url() + "/search", Body: map[string]any{"q": a.Query, "num": a.Count},
		Header: http.Header{"X-Api-Key": {p.set.Key}}, Secret: p.set.Key,
	}, &out)
	var hits []Hit
	for _, r := range out.Organic {
		hits = append(hits, Hit{Title: r.Title, URL: r.Link, Snippet: r.Snippet})
	}
	return hits, err
}

func searxng(ctx context.Context, w *toolkit.Workspace, p provider, a searchArgs) ([]Hit, error) {
	var out struct {
		Results []struct{ Title, URL, Content string } `json:"results"`
	}
	err := service.Call(ctx, w.Net, service.Request{
		Name: "SearXNG", URL: p.url() + "/search", Query: url.Values{"q": {a.Query}, "format": {"json"}},
	}, &out)
	var hits []Hit
	for _, r := range out.Results {
		hits = append(hits, Hit{Title: r.Title, URL: r.URL, Snippet: r.Content})
	}
	return hits, err
}

func tavily(ctx context.Context, w *toolkit.Workspace, p provider, a searchArgs) ([]Hit, error) {
	var out struct {
		Results []struct{ Title, URL, Content string } `json:"results"`
	}
	err := service.Call(ctx, w.Net, service.Request{
		Name: "Tavily", URL: p.url() + "/search", Body: map[string]any{"query": a.Query, "max_results": a.Count},
		Header: http.Header{"Authorization": {"Bearer " + p.set.Key}}, Secret: p.set.Key,
	}, &out)
	var hits []Hit
	for _, r := range out.Results {
		hits = append(hits, Hit{Title: r.Title, URL: r.URL, Snippet: r.Content})
	}
	return hits, err
}
