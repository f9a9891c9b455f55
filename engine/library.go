package engine

import (
	"context"

	"chela/store"
	"chela/toolkit"
)

// library keeps the feeds in the store: [toolkit.Library].
type library struct{ store *store.Store }

// Feeds returns all feeds.
func (l library) Feeds(ctx context.Context) ([]toolkit.Feed, error) {
	list, err := l.store.Feeds(ctx)
	out := make([]toolkit.Feed, len(list))
	for i, f := range list {
		out[i] = toolkit.Feed(f)
	}
	return out, err
}

// AddFeeds follows feeds, all or none.
func (l library) AddFeeds(ctx context.Context, list []toolkit.Feed) error {
	feeds := make([]store.Feed, len(list))
	for i, f := range list {
		feeds[i] = store.Feed(f)
	}
	return l.store.AddFeeds(context.WithoutCancel(ctx), feeds)
}

// DropFeed forgets a feed and its articles.
func (l library) DropFeed(ctx context.Context, id string) error {
	return l.store.DropFeed(context.WithoutCancel(ctx), id)
}

// Polled stores what a poll found out.
func (l library) Polled(ctx context.Context, f toolkit.Feed, list []toolkit.Article) (int, error) {
	return l.store.FeedPolled(context.WithoutCancel(ctx), store.Feed(f), articles(list))
}

// Articles returns those that a filter lets through.
func (l library) Articles(ctx context.Context, q toolkit.ArticleFilter) ([]toolkit.Article, int, error) {
	list, total, err := l.store.Articles(ctx, store.ArticleFilter(q))
	out := make([]toolkit.Article, len(list))
	for i, a := range list {
		out[i] = toolkit.Article(a)
	}
	return out, total, err
}

// MarkRead notes that articles were read.
func (l library) MarkRead(ctx context.Context, list []toolkit.Article) error {
	return l.store.MarkArticlesRead(context.WithoutCancel(ctx), articles(list))
}

func articles(list []toolkit.Article) []store.Article {
	out := make([]store.Article, len(list))
	for i, a := range list {
		out[i] = store.Article(a)
	}
	return out
}

// Library is what the feeds' tools work with, for the screen and the command
// line.
func (e *Engine) Library() toolkit.Library { return library{e.cfg.Store} }
