package toolkit

import (
	"context"
	"time"
)

// Library keeps the feeds that are followed and their articles. It is one for
// all sessions and outlasts them.
type Library interface {
	// Feeds returns all feeds, by category and name.
	Feeds(ctx context.Context) ([]Feed, error)
	// AddFeeds follows feeds, all or none. One whose id or address is there
	// already is an error.
	AddFeeds(ctx context.Context, list []Feed) error
	// DropFeed forgets a feed and its articles.
	DropFeed(ctx context.Context, id string) error
	// Polled stores what a poll of a feed found out (its state, and the articles
	// that are not there yet) and returns how many those are. A feed that was
	// dropped meanwhile stays dropped: an error.
	Polled(ctx context.Context, f Feed, list []Article) (added int, err error)
	// Articles returns those that a filter lets through, the newest first, and
	// how many there are without its limit.
	Articles(ctx context.Context, q ArticleFilter) (list []Article, total int, err error)
	// MarkRead notes that articles were read.
	MarkRead(ctx context.Context, list []Article) error
}

// Feed is one feed that is followed.
type Feed struct {
	ID       string
	Name     string
	URL      string
	Category string
	Tags     []string
	Enabled  bool
	Interval time.Duration // between polls
	Articles int           // that are kept; the library counts them

	Added    time.Time
	Polled   time.Time // zero: never
	Error    string    // of the last poll; empty: it worked
	ETag     string    // what the server wants back, so that it need not send the same again
	Modified string    // likewise
}

// Article is one entry of a feed.
type Article struct {
	Feed      string // id
	FeedName  string
	ID        string // within the feed
	Title     string
	URL       string
	Summary   string // text, without markup
	Published time.Time
	Read      bool
}

// ArticleFilter says which articles are wanted. Empty fields ask for nothing.
type ArticleFilter struct {
	Category string
	Since    time.Time
	Unread   bool
	Limit    int // 0: 100
}
