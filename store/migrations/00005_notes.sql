-- +goose Up
-- What belongs to a session beside its messages and calls: its work list, its
-- plans. body is JSON.
CREATE TABLE notes (
  session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  kind       TEXT NOT NULL,
  id         TEXT NOT NULL,
  body       TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (session, kind, id)
) STRICT;

-- +goose Down
DROP TABLE notes;
