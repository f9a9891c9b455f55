package ui

import (
	"testing"
	"time"

	"chela/engine/ollamatest"
	"chela/toolkit"
)

func TestTheReaderShowsArticlesAndMarksWhatWasRead(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	d := start(t, setup{server: srv.Host(), w: 120, h: 30})
	d.submit("/feeds")
	d.shows("no feeds yet")

	lib := d.m.eng.Library()
	feed := toolkit.Feed{ID: "go", Name: "Go Blog", URL: "http://127.0.0.1:9/feed", Enabled: true, Interval: time.Hour, Added: d.now, Polled: d.now}
	if err := lib.AddFeeds(t.Context(), []toolkit.Feed{feed}); err != nil {
		t.Fatal(err)
	}
	_, err := lib.Polled(t.Context(), feed, []toolkit.Article{
		{Feed: "go", ID: "1", Title: "Older news", URL: "https://go.dev/1", Summary: "Long ago.", Published: d.now.Add(-48 * time.Hour)},
		{Feed: "go", ID: "2", Title: "A faster \x1b[31mcollector", URL: "https://go.dev/2", Summary: "It pauses less.", Published: d.now.Add(-time.Hour)},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.submit("/feeds")
	d.shows("Fetch new articles", "● A faster <ESC>[31mcollector", "● Older news", "Go Blog · 1h ago", "2 of 2 articles, 2 unread")
	d.press("down")
	d.press("enter") // the newest one
	d.shows("https://go.dev/2", "It pauses less.")
	d.press("esc")
	d.submit("/feeds")
	d.shows("1 unread", "  A faster <ESC>[31mcollector", "● Older news")
	d.press("enter") // what is fetched is asked about as any call
	d.shows("‖ feed_poll", "waits")
}
