package feeds

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

type pollArgs struct {
	FeedID string `json:"feedId,omitempty" doc:"absent: all that are due" alias:"feed_id,id,feed"`
}

// Polled is the data of feed_poll.
type Polled struct {
	Polled      int     `json:"polled"`
	NewArticles int     `json:"newArticles"`
	Errors      []Fault `json:"errors"`
}

// Fault is a feed that could not be polled.
type Fault struct {
	Feed  string `json:"feed"`
	Error string `json:"error"`
}

// The bounds of one poll.
const (
	maxPoll  = 60 // feeds; the others stay due
	atOnce   = 4
	maxFault = 200 // characters of an error
)

// Poll fetches new articles.
func Poll() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "feed_poll", Summary: "Fetch new articles of feeds.", Category: "feeds", Level: toolkit.Moderate, Tier: tiers.Full,
		Idempotent: true, Synonyms: "rss atom refresh update news fetch",
	}, planPoll, runPoll, toolkit.AvailableIf(reachable))
}

// due are the feeds that a call polls.
func due(ctx context.Context, w *toolkit.Workspace, a pollArgs, now time.Time) ([]toolkit.Feed, error) {
	if err := usable(ctx, w); err != nil {
		return nil, err
	}
	list, err := w.Library.Feeds(ctx)
	if err != nil {
		return nil, err
	}
	if a.FeedID != "" {
		f, err := find(list, a.FeedID)
		return []toolkit.Feed{f}, err
	}
	list = slices.DeleteFunc(list, func(f toolkit.Feed) bool { return !f.Enabled || now.Sub(f.Polled) < f.Interval })
	slices.SortStableFunc(list, func(x, y toolkit.Feed) int { return x.Polled.Compare(y.Polled) })
	return list[:min(len(list), maxPoll)], nil
}

func planPoll(ctx context.Context, w *toolkit.Workspace, a pollArgs) (toolkit.Plan, error) {
	list, err := due(ctx, w, a, time.Now())
	if err != nil {
		return toolkit.Plan{}, err
	}
	p := toolkit.Plan{Summary: fmt.Sprintf("%d feeds are due", len(list))}.WithPrivate(list)
	var text strings.Builder
	for _, f := range list {
		if e, ok := dials(f.URL); ok && !slices.Contains(p.Effects, e) {
			p.Effects = append(p.Effects, e)
		}
		fmt.Fprintf(&text, "GET %s\n", f.URL)
	}
	p.Preview = toolkit.Preview{Kind: toolkit.PreviewText, Text: text.String()}
	if len(list) == 1 {
		p.Summary = list[0].ID
		p.Preview = toolkit.Preview{Kind: toolkit.PreviewURL, Method: http.MethodGet, URL: list[0].URL}
	}
	return p, nil
}

func runPoll(ctx context.Context, w *toolkit.Workspace, _ pollArgs, p toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
	if err := usable(ctx, w); err != nil {
		return toolkit.Result{}, err
	}
	list, ok := p.Private().([]toolkit.Feed)
	if !ok {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the plan does not say which feeds are meant.").WithHint("Make the call again.")
	}
	data := Polled{Errors: []Fault{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, f := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			n, err := poll(ctx, w, f)
			mu.Lock()
			defer mu.Unlock()
			data.Polled++
			data.NewArticles += n
			if err != nil {
				data.Errors = append(data.Errors, Fault{f.ID, clip(err.Error(), maxFault)})
				progress(toolkit.Progress{Text: f.ID + ": " + clip(err.Error(), maxFault) + "\n"})
				return
			}
			progress(toolkit.Progress{Text: fmt.Sprintf("%s: %d new\n", f.ID, n)})
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return toolkit.Result{}, ctx.Err()
	}
	slices.SortFunc(data.Errors, func(a, b Fault) int { return strings.Compare(a.Feed, b.Feed) })
	text := fmt.Sprintf("polled %d feeds: %d new articles", data.Polled, data.NewArticles)
	if data.Polled == 0 {
		text = "No feed is due. Each is polled at most once an hour; name one with feedId to poll it now."
	}
	for _, e := range data.Errors {
		text += "\nfailed: " + e.Feed + ": " + e.Error
	}
	return toolkit.Result{Text: text, Data: data}, nil
}

// poll fetches one feed and stores what it found out, a failure included.
func poll(ctx context.Context, w *toolkit.Workspace, f toolkit.Feed) (int, error) {
	now := time.Now()
	articles, err := news(ctx, w, &f, now)
	if ctx.Err() != nil {
		return 0, ctx.Err() // it stays due
	}
	f.Polled, f.Error = now, ""
	if err != nil {
		f.Error = clip(err.Error(), maxFault)
	}
	n, stored := w.Library.Polled(ctx, f, articles)
	if err == nil {
		err = stored
	}
	return n, err
}

// news fetches a feed, unless the server says that nothing changed.
func news(ctx context.Context, w *toolkit.Workspace, f *toolkit.Feed, now time.Time) ([]toolkit.Article, error) {
	header := map[string][]string{}
	if f.ETag != "" {
		header["If-None-Match"] = []string{f.ETag}
	}
	if f.Modified != "" {
		header["If-Modified-Since"] = []string{f.Modified}
	}
	page, err := fetch(ctx, w, f.URL, header)
	if err != nil {
		if d, denied := guard.AsDenied(err); denied {
			return nil, fmt.Errorf("refused (%s): %s", d.Rule, d.Reason)
		}
		return nil, err
	}
	switch page.Status {
	case http.StatusOK:
	case http.StatusNotModified:
		return nil, nil
	case http.StatusGone:
		f.Enabled = false
		return nil, fmt.Errorf("the feed is gone for good (410), and is polled no more")
	default:
		return nil, fmt.Errorf("the server answered %d", page.Status)
	}
	if page.Truncated {
		return nil, fmt.Errorf("the feed has more than %d MiB", maxFeed>>20)
	}
	r, err := parse(page.Body, page.URL, now)
	if err != nil {
		return nil, err
	}
	f.ETag, f.Modified = clip(page.Header.Get("ETag"), 256), clip(page.Header.Get("Last-Modified"), 64)
	return r.articles, nil
}
