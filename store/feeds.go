package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Feed is one feed that is followed.
type Feed struct {
	ID       string
	Name     string
	URL      string
	Category string
	Tags     []string
	Enabled  bool
	Interval time.Duration
	Articles int // that are kept; counted when it is read

	Added    time.Time
	Polled   time.Time
	Error    string
	ETag     string
	Modified string
}

// Article is one entry of a feed.
type Article struct {
	Feed      string
	FeedName  string // read from the feed
	ID        string
	Title     string
	URL       string
	Summary   string
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

// maxArticles is how many of a feed are kept, the newest: several times what a
// feed lists at once, so that what is dropped does not come back as new.
const maxArticles = 500

// Feeds returns all feeds, by category and name.
func (s *Store) Feeds(ctx context.Context) ([]Feed, error) {
	return query(ctx, s.read, "reading the feeds", func(row interface{ Scan(...any) error }) (Feed, error) {
		var f Feed
		var tags string
		var interval, added, polled int64
		if err := row.Scan(&f.ID, &f.Name, &f.URL, &f.Category, &tags, &f.Enabled, &interval, &added, &polled, &f.Error, &f.ETag, &f.Modified, &f.Articles); err != nil {
			return f, err
		}
		f.Interval, f.Added, f.Polled = time.Duration(interval), at(added), at(polled)
		return f, json.Unmarshal([]byte(tags), &f.Tags)
	}, `SELECT id, name, url, category, tags, enabled, interval_ns, added_at, polled_at, error, etag, modified,
		(SELECT count(*) FROM articles WHERE feed = feeds.id) FROM feeds ORDER BY category, name, id`)
}

// AddFeeds stores feeds, all or none. One whose id or URL is there already is
// an error.
func (s *Store) AddFeeds(ctx context.Context, list []Feed) error {
	return s.tx(ctx, "storing feeds", func(tx *sql.Tx) error {
		for _, f := range list {
			tags, err := json.Marshal(append([]string{}, f.Tags...))
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO feeds (id, name, url, category, tags, enabled, interval_ns, added_at, polled_at, error, etag, modified)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				f.ID, f.Name, f.URL, f.Category, string(tags), f.Enabled, int64(f.Interval), nanos(f.Added), nanos(f.Polled), f.Error, f.ETag, f.Modified); err != nil {
				return fmt.Errorf("feed %s (%s): %w", f.ID, f.URL, err)
			}
		}
		return nil
	})
}

// DropFeed removes a feed and its articles.
func (s *Store) DropFeed(ctx context.Context, id string) error {
	return s.tx(ctx, "removing feed "+id, func(tx *sql.Tx) error {
		return one(tx.ExecContext(ctx, `DELETE FROM feeds WHERE id = ?`, id))
	})
}

// one demands that a statement met a row.
func one(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return ErrNotFound
}

// FeedPolled stores a feed's state after a poll and the articles that are not
// there yet, and returns how many those are. Of each feed the newest 500 are
// kept.
func (s *Store) FeedPolled(ctx context.Context, f Feed, list []Article) (added int, err error) {
	err = s.tx(ctx, "storing the poll of feed "+f.ID, func(tx *sql.Tx) error {
		if err := one(tx.ExecContext(ctx, `UPDATE feeds SET enabled = ?, polled_at = ?, error = ?, etag = ?, modified = ? WHERE id = ?`,
			f.Enabled, nanos(f.Polled), f.Error, f.ETag, f.Modified, f.ID)); err != nil {
			return err
		}
		for _, a := range list {
			r, err := tx.ExecContext(ctx, `INSERT INTO articles (feed, id, title, url, summary, published_at) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (feed, id) DO NOTHING`, f.ID, a.ID, a.Title, a.URL, a.Summary, nanos(a.Published))
			if err != nil {
				return err
			}
			n, err := r.RowsAffected()
			if err != nil {
				return err
			}
			added += int(n)
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM articles WHERE feed = ?1 AND id NOT IN
			(SELECT id FROM articles WHERE feed = ?1 ORDER BY published_at DESC, id LIMIT ?2)`, f.ID, maxArticles)
		return err
	})
	return added, err
}

// Articles returns those that a filter lets through, the newest first, and how
// many there are without its limit.
func (s *Store) Articles(ctx context.Context, q ArticleFilter) (list []Article, total int, err error) {
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	list, err = query(ctx, s.read, "reading articles", func(row interface{ Scan(...any) error }) (Article, error) {
		var a Article
		var published int64
		err := row.Scan(&a.Feed, &a.FeedName, &a.ID, &a.Title, &a.URL, &a.Summary, &published, &a.Read, &total)
		a.Published = at(published)
		return a, err
	}, `SELECT a.feed, f.name, a.id, a.title, a.url, a.summary, a.published_at, a.read, count(*) OVER ()
		FROM articles a JOIN feeds f ON f.id = a.feed
		WHERE (?1 = '' OR f.category = ?1) AND a.published_at >= ?2 AND (a.read = 0 OR NOT ?3)
		ORDER BY a.published_at DESC, a.feed, a.id LIMIT ?4`, q.Category, nanos(q.Since), q.Unread, limit)
	return list, total, err
}

// MarkArticlesRead notes that articles were read.
func (s *Store) MarkArticlesRead(ctx context.Context, list []Article) error {
	return s.tx(ctx, "marking articles as read", func(tx *sql.Tx) error {
		for _, a := range list {
			if _, err := tx.ExecContext(ctx, `UPDATE articles SET read = 1 WHERE feed = ? AND id = ?`, a.Feed, a.ID); err != nil {
				return err
			}
		}
		return nil
	})
}
