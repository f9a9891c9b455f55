-- +goose Up
-- What files held before a call changed them, so that it can be undone.
CREATE TABLE snapshots (
  call       TEXT NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
  path       TEXT NOT NULL,                 -- relative to the workspace
  existed    INTEGER NOT NULL,
  before     BLOB NOT NULL,                 -- gzip of the content; empty when there was none
  after      TEXT NOT NULL DEFAULT '',      -- hash of what the call left; 'absent'; empty while it runs
  created_at INTEGER NOT NULL,
  PRIMARY KEY (call, path)
) STRICT;
CREATE INDEX snapshots_by_age ON snapshots (created_at);

-- +goose Down
DROP TABLE snapshots;
