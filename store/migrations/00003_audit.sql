-- +goose Up
-- The audit: what was about to be done, by whose leave, and what became of it.
-- body is the canonical JSON that the hash covers, so what a filter sees is cut
-- out of it and cannot say something else.
CREATE TABLE audit (
  seq     INTEGER PRIMARY KEY, -- without gaps
  body    TEXT NOT NULL,
  prev    TEXT NOT NULL,       -- hash of the row before; empty for the first
  hash    TEXT NOT NULL,       -- hex SHA-256 over prev, a newline and body
  kind    TEXT GENERATED ALWAYS AS (body ->> 'kind') VIRTUAL,
  at      INTEGER GENERATED ALWAYS AS (body ->> 'at') VIRTUAL, -- unix nanoseconds
  session TEXT GENERATED ALWAYS AS (body ->> 'session') VIRTUAL,
  call    TEXT GENERATED ALWAYS AS (body ->> 'call') VIRTUAL,
  tool    TEXT GENERATED ALWAYS AS (body ->> 'tool') VIRTUAL,
  upto    INTEGER GENERATED ALWAYS AS (body ->> 'upto') VIRTUAL
) STRICT;
CREATE INDEX audit_by_call ON audit (call);
CREATE INDEX audit_pruned ON audit (upto) WHERE kind = 'pruned';

-- +goose StatementBegin
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
  SELECT raise(ABORT, 'the audit is append-only');
END;
-- +goose StatementEnd

-- Only retention deletes: it first appends a row, itself part of the chain, that
-- says up to where and with which hash.
-- +goose StatementBegin
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
WHEN old.seq > (SELECT coalesce(max(upto), 0) FROM audit WHERE kind = 'pruned')
BEGIN
  SELECT raise(ABORT, 'the audit is append-only');
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE audit;
DELETE FROM settings WHERE key = 'audit.head';
