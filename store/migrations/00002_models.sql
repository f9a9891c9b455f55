-- +goose Up
-- What chela learnt about a model, by the digest of its weights: a name may be
-- pulled anew, the digest is the model.
CREATE TABLE models (
  digest     TEXT PRIMARY KEY,
  name       TEXT NOT NULL, -- as it was last called
  profile    TEXT NOT NULL, -- JSON
  updated_at INTEGER NOT NULL
) STRICT;

-- Tools that the model looked up by itself, the least recently used first.
ALTER TABLE sessions ADD COLUMN loaded TEXT NOT NULL DEFAULT '[]';

-- What of the conversation is no longer sent to the model, and what stands for
-- it: JSON, empty while all is sent.
ALTER TABLE sessions ADD COLUMN summary TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE sessions DROP COLUMN summary;
ALTER TABLE sessions DROP COLUMN loaded;
DROP TABLE models;
