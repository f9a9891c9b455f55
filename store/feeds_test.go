package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/store"
)

func TestFeedsAndTheirArticlesAreKept(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "chela.db"))
	ctx := t.Context()
	now := time.Unix(1_000_000, 0)
	feeds := []store.Feed{
		{ID: "b", Name: "B", URL: "https://b", Category: "dev", Tags: []string{"x"}, Enabled: true, Interval: time.Hour, Added: now},
		{ID: "a", Name: "A", URL: "https://a", Category: "ai", Tags: []string{}, Enabled: true, Interval: time.Hour, Added: now},
	}
	if err := s.AddFeeds(ctx, feeds); err != nil {
		t.Fatal(err)
	}
	if err := s.AddFeeds(ctx, []store.Feed{{ID: "c", URL: "https://c"}, {ID: "d", URL: "https://b"}}); err == nil {
		t.Error("the same address twice was taken")
	}
	b := feeds[0]
	b.Polled, b.ETag, b.Error = now, `"1"`, ""
	articles := []store.Article{
		{ID: "1", Title: "old", URL: "https://b/1", Summary: "s", Published: now.Add(-48 * time.Hour)},
		{ID: "2", Title: "new", URL: "https://b/2", Published: now.Add(-time.Hour)},
	}
	for _, want := range []int{2, 0} {
		if n, err := s.FeedPolled(ctx, b, articles); err != nil || n != want {
			t.Fatalf("%d new, %v; want %d", n, err, want)
		}
	}
	b.Articles = 2
	got, err := s.Feeds(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]store.Feed{feeds[1], b}, got); diff != "" {
		t.Errorf("feeds (-want):\n%s", diff)
	}
	list, total, err := s.Articles(ctx, store.ArticleFilter{Category: "dev", Limit: 1})
	if err != nil || total != 2 || len(list) != 1 || list[0].Title != "new" || list[0].FeedName != "B" {
		t.Errorf("%v, %d of %+v", err, total, list)
	}
	if list, _, err = s.Articles(ctx, store.ArticleFilter{Since: now.Add(-24 * time.Hour)}); err != nil || len(list) != 1 {
		t.Errorf("since yesterday: %v, %v", err, list)
	}
	if err := s.MarkArticlesRead(ctx, list); err != nil {
		t.Fatal(err)
	}
	if list, total, err = s.Articles(ctx, store.ArticleFilter{Unread: true}); err != nil || total != 1 || list[0].Title != "old" {
		t.Errorf("unread: %v, %d %v", err, total, list)
	}
	if err := s.DropFeed(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if list, _, err = s.Articles(ctx, store.ArticleFilter{}); err != nil || len(list) != 0 {
		t.Errorf("after the feed went: %v, %v", err, list)
	}
	if err := s.DropFeed(ctx, "b"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("dropped twice: %v", err)
	}
	if _, err := s.FeedPolled(ctx, b, articles); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a poll of a feed that went: %v", err)
	}
}

func TestOfAFeedTheNewestArticlesAreKept(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "chela.db"))
	now := time.Unix(1_000_000, 0)
	f := store.Feed{ID: "a", URL: "https://a", Enabled: true}
	if err := s.AddFeeds(t.Context(), []store.Feed{f}); err != nil {
		t.Fatal(err)
	}
	var list []store.Article
	for i := range 520 {
		list = append(list, store.Article{ID: fmt.Sprint(i), Published: now.Add(time.Duration(i) * time.Second)})
	}
	if _, err := s.FeedPolled(t.Context(), f, list); err != nil {
		t.Fatal(err)
	}
	got, total, err := s.Articles(t.Context(), store.ArticleFilter{})
	if err != nil || total != 500 || len(got) != 100 || got[0].ID != "519" {
		t.Errorf("%v: %d, the first %+v", err, total, got[0])
	}
}
