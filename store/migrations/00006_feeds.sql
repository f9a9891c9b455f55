-- +goose Up
-- The feeds that are followed. tags is a JSON list; etag and modified are what
-- the server wants back with the next request.
CREATE TABLE feeds (
  id          TEXT PRIMARY KEY,
  name        TEXT NOT NULL,
  url         TEXT NOT NULL UNIQUE,
  category    TEXT NOT NULL,
  tags        TEXT NOT NULL,
  enabled     INTEGER NOT NULL,
  interval_ns INTEGER NOT NULL,
  added_at    INTEGER NOT NULL,
  polled_at   INTEGER NOT NULL,
  error       TEXT NOT NULL,
  etag        TEXT NOT NULL,
  modified    TEXT NOT NULL
) STRICT;

CREATE TABLE articles (
  feed         TEXT NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
  id           TEXT NOT NULL,
  title        TEXT NOT NULL,
  url          TEXT NOT NULL,
  summary      TEXT NOT NULL,
  published_at INTEGER NOT NULL,
  read         INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (feed, id)
) STRICT;

CREATE INDEX articles_published ON articles (published_at);

-- +goose Down
DROP TABLE articles;
DROP TABLE feeds;
