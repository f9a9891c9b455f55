package feeds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/web"
)

type addArgs struct {
	URL      string   `json:"url,omitempty" doc:"feed, site, or .opml file here" alias:"feed,address,link,site"`
	Name     string   `json:"name,omitempty" alias:"title"`
	Category string   `json:"category,omitempty" default:"general"`
	Tags     []string `json:"tags,omitempty" default:"[]"`
	Bundle   string   `json:"bundle,omitempty" doc:"add a starter set" enum:"ai-news,dev-news,security"`
	Remove   string   `json:"remove,omitempty" doc:"id of a feed to drop" alias:"delete,unsubscribe"`
}

// Added is the data of feed_add.
type Added struct {
	Feeds      []Followed `json:"feeds"`      // those that were added, or dropped
	Discovered []string   `json:"discovered"` // those that a site offers
}

// bundles are the starter sets.
var bundles = map[string][]listed{
	"ai-news": {
		{"Hugging Face", "https://huggingface.co/blog/feed.xml", "ai"},
		{"OpenAI", "https://openai.com/news/rss.xml", "ai"},
		{"Google DeepMind", "https://deepmind.google/blog/rss.xml", "ai"},
		{"Simon Willison", "https://simonwillison.net/atom/everything/", "ai"},
		{"arXiv cs.CL", "https://rss.arxiv.org/rss/cs.CL", "ai"},
		{"Ollama", "https://ollama.com/blog/rss.xml", "ai"},
	},
	"dev-news": {
		{"Go", "https://go.dev/blog/feed.atom", "dev"},
		{"Lobsters", "https://lobste.rs/rss", "dev"},
		{"GitHub", "https://github.blog/feed/", "dev"},
	},
	"security": {
		{"Krebs on Security", "https://krebsonsecurity.com/feed/", "security"},
		{"Schneier on Security", "https://www.schneier.com/feed/atom/", "security"},
		{"Project Zero", "https://googleprojectzero.blogspot.com/feeds/posts/default", "security"},
	},
}

// Add follows a feed, a site's feed, those of a list or of a starter set, or
// drops one.
func Add() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "feed_add", Summary: "Follow a feed, a site or a starter set; or drop one.", Category: "feeds",
		Level: toolkit.Moderate, Tier: tiers.Full, Foreign: true, Synonyms: "rss atom subscribe opml import unsubscribe remove",
	}, planAdd, runAdd, toolkit.AvailableIf(reachable))
}

// isList reports whether a call names a list in the workspace.
func (a addArgs) isList() bool {
	return !strings.Contains(a.URL, "://") && strings.HasSuffix(strings.ToLower(a.URL), ".opml")
}

// check demands that a call wants one thing.
func (a addArgs) check() error {
	n := 0
	for _, v := range []string{a.URL, a.Bundle, a.Remove} {
		if strings.TrimSpace(v) != "" {
			n++
		}
	}
	if n == 1 {
		return nil
	}
	code := toolkit.CodeInvalid
	if n == 0 {
		code = toolkit.CodeMissing
	}
	return toolkit.Errorf(code, "feed_add takes one of url, bundle and remove.").WithHint(`Example: {"url":"https://go.dev/blog/feed.atom"}`)
}

func planAdd(ctx context.Context, w *toolkit.Workspace, a addArgs) (toolkit.Plan, error) {
	if err := usable(ctx, w); err != nil {
		return toolkit.Plan{}, err
	}
	if err := a.check(); err != nil {
		return toolkit.Plan{}, err
	}
	// What is followed is read in later turns.
	p := toolkit.Plan{Keeps: true}
	switch {
	case a.Remove != "":
		list, err := w.Library.Feeds(ctx)
		if err != nil {
			return toolkit.Plan{}, err
		}
		f, err := find(list, a.Remove)
		if err != nil {
			return toolkit.Plan{}, err
		}
		p.Keeps = false
		p.Summary = "drop " + f.ID
		p.Preview = toolkit.Preview{Kind: toolkit.PreviewText, Text: fmt.Sprintf("drops the feed %s (%s) and its %d articles", f.Name, f.URL, f.Articles)}
	case a.Bundle != "":
		p.Summary = "follow the set " + a.Bundle
		p.Preview = toolkit.Preview{Kind: toolkit.PreviewText, Text: setText(bundles[a.Bundle])}
	case a.isList():
		list, hash, err := readList(w, a.URL)
		if err != nil {
			return toolkit.Plan{}, err
		}
		p.Summary = fmt.Sprintf("follow %d feeds of %s", len(list), a.URL)
		p.Effects = []toolkit.Effect{{Kind: toolkit.Reads, Target: a.URL}}
		p.Facts = []toolkit.Fact{{Kind: "sha256", Target: a.URL, Value: hash}}
		p.Preview = toolkit.Preview{Kind: toolkit.PreviewText, Text: setText(list)}
	default:
		t, err := w.Net.Check(ctx, a.address())
		if err != nil {
			return toolkit.Plan{}, failed(ctx, err)
		}
		p.Summary = "follow " + t.URL
		p.Effects = []toolkit.Effect{{Kind: toolkit.Dials, Target: t.HostPort()}}
		p.Preview = toolkit.Preview{Kind: toolkit.PreviewURL, Method: http.MethodGet, URL: t.URL}
		for _, ad := range t.Addrs {
			p.Preview.Address = append(p.Preview.Address, ad.String())
		}
	}
	return p, nil
}

// address completes an address that lacks its scheme, as people write sites.
func (a addArgs) address() string {
	u := strings.TrimSpace(a.URL)
	if bare.MatchString(u) {
		return "https://" + u
	}
	return u
}

var bare = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*\.[A-Za-z]{2,}(?:/.*)?$`)

func setText(list []listed) string {
	var b strings.Builder
	for _, l := range list {
		fmt.Fprintf(&b, "%s  %s\n", l.name, l.url)
	}
	return b.String()
}

// readList reads a list of feeds in the workspace.
func readList(w *toolkit.Workspace, path string) ([]listed, string, error) {
	data, _, err := w.Files.ReadAll(path, maxOPML)
	if err != nil {
		return nil, "", fmt.Errorf("the list of feeds: %w", err)
	}
	list, err := parseOPML(data)
	switch {
	case err != nil:
		return nil, "", toolkit.Errorf(CodeAdd, "%s cannot be read: %w.", path, err)
	case len(list) == 0:
		return nil, "", toolkit.Errorf(CodeAdd, "%s lists no feed.", path)
	}
	return list, guard.Hash(data), nil
}

func runAdd(ctx context.Context, w *toolkit.Workspace, a addArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	if err := usable(ctx, w); err != nil {
		return toolkit.Result{}, err
	}
	switch {
	case a.Remove != "":
		return drop(ctx, w, a.Remove)
	case a.Bundle != "":
		return follow(ctx, w, a, bundles[a.Bundle], nil, nil)
	case a.isList():
		list, hash, err := readList(w, a.URL)
		if err != nil {
			return toolkit.Result{}, err
		}
		if len(p.Facts) != 1 || p.Facts[0].Value != hash {
			return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "%s changed since it was shown.", a.URL).WithHint("Make the call again.")
		}
		return follow(ctx, w, a, list, nil, nil)
	}
	return addAddress(ctx, w, a, p.Preview.URL)
}

func drop(ctx context.Context, w *toolkit.Workspace, what string) (toolkit.Result, error) {
	list, err := w.Library.Feeds(ctx)
	if err != nil {
		return toolkit.Result{}, err
	}
	f, err := find(list, what)
	if err != nil {
		return toolkit.Result{}, err
	}
	if err := w.Library.DropFeed(ctx, f.ID); err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Result{
		Text: fmt.Sprintf("dropped %s (%s)", f.ID, f.Name), Data: Added{Feeds: followed([]toolkit.Feed{f}), Discovered: []string{}},
	}, nil
}

// addAddress follows what is at an address, or the first feed that a site there
// offers.
func addAddress(ctx context.Context, w *toolkit.Workspace, a addArgs, address string) (toolkit.Result, error) {
	page, err := fetch(ctx, w, address, nil)
	if err != nil {
		return toolkit.Result{}, failed(ctx, err)
	}
	if page.Status != http.StatusOK {
		return toolkit.Result{}, toolkit.Errorf(CodeAdd, "%s answered %d.", address, page.Status).WithHint("Check the address.")
	}
	now := time.Now()
	if r, err := parse(page.Body, page.URL, now); err == nil {
		return follow(ctx, w, a, []listed{{r.title, page.URL, ""}}, r.articles, nil)
	}
	offered := discover(page.Body, page.URL)
	if len(offered) == 0 {
		return toolkit.Result{}, toolkit.Errorf(CodeAdd, "there is no feed at %s, and the page names none.", address).
			WithHint("Look for a link called RSS or Atom on the site, and use its address.")
	}
	if !sameSite(ctx, w, page.URL, offered[0]) {
		return toolkit.Result{
			Text: fmt.Sprintf("The site's feed is at another site: %s. Call feed_add with that url to follow it.", offered[0]),
			Data: Added{Feeds: []Followed{}, Discovered: offered},
		}, nil
	}
	feed, err := fetch(ctx, w, offered[0], nil)
	if err != nil {
		return toolkit.Result{}, failed(ctx, err)
	}
	r, err := parse(feed.Body, feed.URL, now)
	if err != nil {
		return toolkit.Result{}, toolkit.Errorf(CodeAdd, "the site names %s as its feed, but %w.", offered[0], err)
	}
	return follow(ctx, w, a, []listed{{r.title, feed.URL, ""}}, r.articles, offered)
}

// sameSite reports whether an address that a page names belongs to its site.
func sameSite(ctx context.Context, w *toolkit.Workspace, page, named string) bool {
	from, errFrom := url.Parse(page)
	to, errTo := url.Parse(named)
	return errFrom == nil && errTo == nil &&
		web.WithinSite(ctx, w.Net, guard.Target{Host: from.Hostname(), URL: page}, guard.Target{Host: to.Hostname(), URL: named}) == nil
}

// follow adds feeds to the library, without those that are followed already.
// articles are those of the only one, when it was read just now.
func follow(ctx context.Context, w *toolkit.Workspace, a addArgs, want []listed, articles []toolkit.Article, offered []string) (toolkit.Result, error) {
	have, err := w.Library.Feeds(ctx)
	if err != nil {
		return toolkit.Result{}, err
	}
	var list []toolkit.Feed
	known := 0
	all := slices.Clone(have)
	for _, l := range want {
		if slices.ContainsFunc(all, func(f toolkit.Feed) bool { return f.URL == l.url }) {
			known++
			continue
		}
		f := toolkit.Feed{
			Name: l.name, URL: l.url, Category: a.Category, Tags: a.Tags, Enabled: true, Interval: interval, Added: time.Now(),
		}
		if a.Name != "" && len(want) == 1 {
			f.Name = clip(strings.Join(strings.Fields(a.Name), " "), maxTitle)
		}
		if u, err := url.Parse(l.url); err == nil && f.Name == "" {
			f.Name = u.Host
		}
		if f.Category == "general" && l.category != "" {
			f.Category = l.category
		}
		f.ID = freeID(all, f.Name)
		list, all = append(list, f), append(all, f)
	}
	offered = append([]string{}, offered...)
	if len(list) == 0 {
		return toolkit.Result{Text: fmt.Sprintf("Nothing new: %d of them followed already.", known), Data: Added{[]Followed{}, offered}}, nil
	}
	if len(all) > maxFollow {
		return toolkit.Result{}, toolkit.Errorf(CodeAdd, "that would be %d feeds; at most %d are followed.", len(all), maxFollow).WithHint("Drop some with feed_add(remove).")
	}
	if err := w.Library.AddFeeds(ctx, list); err != nil {
		return toolkit.Result{}, toolkit.Errorf(CodeAdd, "%w.", err)
	}
	var b strings.Builder
	for i, f := range list {
		if len(list) == 1 && articles != nil {
			f.Polled = time.Now()
			n, err := w.Library.Polled(ctx, f, articles)
			if err != nil {
				return toolkit.Result{}, err
			}
			f.Articles = n
		}
		list[i] = f
		fmt.Fprintf(&b, "following %s: %s, %d articles\n", f.ID, f.Name, f.Articles)
	}
	if known > 0 {
		fmt.Fprintf(&b, "%d others are followed already\n", known)
	}
	if len(list) > 1 {
		b.WriteString("Call feed_poll to fetch their articles.\n")
	}
	return toolkit.Result{Text: strings.TrimRight(b.String(), "\n"), Data: Added{followed(list), offered}}, nil
}

var notInID = regexp.MustCompile(`[^a-z0-9]+`)

// freeID makes an id of a name that is short enough to write and not taken.
func freeID(list []toolkit.Feed, name string) string {
	base := strings.Trim(notInID.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if base = strings.Trim(base[:min(len(base), 32)], "-"); base == "" {
		base = "feed"
	}
	id := base
	for n := 2; slices.ContainsFunc(list, func(f toolkit.Feed) bool { return f.ID == id }); n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	return id
}

// failed is a fetch that failed, as an error of the call. What the floor refuses
// stays so.
func failed(ctx context.Context, err error) error {
	if _, denied := guard.AsDenied(err); denied || ctx.Err() != nil {
		return err
	}
	e := toolkit.Errorf(CodeAdd, "%w.", err).WithHint("Check the address.")
	e.Retryable = errors.Is(err, context.DeadlineExceeded)
	return e
}
