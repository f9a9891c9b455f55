// Package feeds has the tools that follow RSS, Atom and JSON feeds.
//
// It guarantees: every fetch goes through guard.Net and stays within the site
// that the plan named; a feed that did not change is not sent again; what is
// read and kept of a feed is bounded; one feed that fails does not keep others
// from being polled, and says why; summaries are text without markup. What a
// feed says is foreign text.
package feeds

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/web"
)

// The codes of the feeds' failures.
const (
	CodeAdd     toolkit.Code = "FEED_ADD_FAILED"
	CodeUnknown toolkit.Code = "FEED_NOT_FOUND"
)

// The bounds of feeds.
const (
	interval   = time.Hour        // between polls of a feed
	timeout    = 15 * time.Second // of one fetch
	maxFeed    = 5 << 20          // bytes of a feed or page
	maxEntries = 100              // of a feed that are read, in its order
	maxFollow  = 300              // feeds in all
	maxSummary = 500              // characters
	maxTitle   = 200
)

// Followed is a feed as the tools show it.
type Followed struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	URL       string     `json:"url"`
	Category  string     `json:"category"`
	Enabled   bool       `json:"enabled"`
	Articles  int        `json:"articles"`
	Polled    *time.Time `json:"lastPolledAt"` // null: never
	LastError string     `json:"lastError"`
}

func followed(list []toolkit.Feed) []Followed {
	out := make([]Followed, len(list))
	for i, f := range list {
		out[i] = Followed{ID: f.ID, Name: f.Name, URL: f.URL, Category: f.Category, Enabled: f.Enabled, Articles: f.Articles, LastError: f.Error}
		if !f.Polled.IsZero() {
			out[i].Polled = &f.Polled
		}
	}
	return out
}

// available says whether feeds can be kept here.
func available(_ context.Context, w *toolkit.Workspace) error {
	if w.Library == nil {
		return errors.New("works only inside a session")
	}
	return nil
}

// reachable says whether feeds can be fetched, too.
func reachable(ctx context.Context, w *toolkit.Workspace) error {
	if w.Net == nil {
		return errors.New("the network is switched off")
	}
	return available(ctx, w)
}

// usable is reachable as an error of a call.
func usable(ctx context.Context, w *toolkit.Workspace) error {
	if err := reachable(ctx, w); err != nil {
		return toolkit.Errorf(toolkit.CodeUnavailable, "%w.", err)
	}
	return nil
}

type listArgs struct {
	Category string `json:"category,omitempty"`
	Enabled  *bool  `json:"enabled,omitempty"`
}

// Listed is the data of feed_list.
type Listed struct {
	Feeds []Followed `json:"feeds"`
}

// List shows the feeds that are followed.
func List() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "feed_list", Summary: "List feeds.", Category: "feeds", Level: toolkit.Safe, Tier: tiers.Full,
		ReadOnly: true, Idempotent: true, Foreign: true, Synonyms: "rss atom news subscriptions blog",
	}, nil, func(ctx context.Context, w *toolkit.Workspace, a listArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
		if err := available(ctx, w); err != nil {
			return toolkit.Result{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", err)
		}
		list, err := w.Library.Feeds(ctx)
		if err != nil {
			return toolkit.Result{}, err
		}
		list = slices.DeleteFunc(list, func(f toolkit.Feed) bool {
			return a.Category != "" && !strings.EqualFold(f.Category, a.Category) || a.Enabled != nil && f.Enabled != *a.Enabled
		})
		return toolkit.Result{Text: listText(list), Data: Listed{followed(list)}}, nil
	}, toolkit.AvailableIf(available))
}

func listText(list []toolkit.Feed) string {
	if len(list) == 0 {
		return "No feed is followed. Follow one with feed_add."
	}
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s  %s (%s, %d articles) %s", f.ID, f.Name, f.Category, f.Articles, f.URL)
		switch {
		case !f.Enabled:
			b.WriteString(" [off]")
		case f.Polled.IsZero():
			b.WriteString(" [never polled]")
		}
		if f.Error != "" {
			b.WriteString(" [" + f.Error + "]")
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// fetch gets an address, within the site that it belongs to.
func fetch(ctx context.Context, w *toolkit.Workspace, address string, header map[string][]string) (*guard.Page, error) {
	h := map[string][]string{"Accept": {"application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, text/html;q=0.5, */*;q=0.1"}}
	for k, v := range header {
		h[k] = v
	}
	return w.Net.Fetch(ctx, guard.Request{
		URL: address, Header: h, MaxBody: maxFeed, Timeout: timeout,
		Redirect: func(from, to guard.Target) error { return web.WithinSite(ctx, w.Net, from, to) },
	})
}

// dials is the effect of fetching an address; false: it is none.
func dials(address string) (toolkit.Effect, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return toolkit.Effect{}, false
	}
	host := u.Host
	if u.Port() == "" {
		port := ":443"
		if u.Scheme == "http" {
			port = ":80"
		}
		host += port
	}
	return toolkit.Effect{Kind: toolkit.Dials, Target: host}, true
}

// find returns the feed that a call means: by its id, its address or its name.
func find(list []toolkit.Feed, what string) (toolkit.Feed, error) {
	for _, same := range []func(f toolkit.Feed) bool{
		func(f toolkit.Feed) bool { return f.ID == what },
		func(f toolkit.Feed) bool { return f.URL == what },
		func(f toolkit.Feed) bool { return strings.EqualFold(f.Name, what) },
	} {
		if i := slices.IndexFunc(list, same); i >= 0 {
			return list[i], nil
		}
	}
	var ids []string
	for _, f := range list {
		ids = append(ids, f.ID)
	}
	e := toolkit.Errorf(CodeUnknown, "no feed %q is followed.", what)
	if len(ids) > 0 {
		return toolkit.Feed{}, e.WithHint("There are: %s.", strings.Join(ids[:min(len(ids), 20)], ", "))
	}
	return toolkit.Feed{}, e.WithHint("None is followed yet: use feed_add.")
}
