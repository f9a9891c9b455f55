-- +goose Up
-- One index over what was said and done. The texts stay where they are: the
-- index holds only words, and rows name what they belong to.
CREATE TABLE history_rows (
  id      INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL CHECK (kind IN ('message', 'call')),
  ref     TEXT NOT NULL,
  session TEXT NOT NULL,
  at      INTEGER NOT NULL,
  UNIQUE (kind, ref)
) STRICT;
CREATE INDEX history_by_time ON history_rows (at);

CREATE VIRTUAL TABLE history_words USING fts5 (
  body, content='', contentless_delete=1, prefix='2 3', tokenize="unicode61 remove_diacritics 2 tokenchars '_'"
);

-- +goose StatementBegin
CREATE TRIGGER message_is_indexed AFTER INSERT ON messages
WHEN new.role IN ('user', 'assistant') AND new.content <> ''
BEGIN
  INSERT INTO history_rows (kind, ref, session, at) VALUES ('message', new.id, new.session, new.created_at);
  INSERT INTO history_words (rowid, body) VALUES ((SELECT id FROM history_rows WHERE kind = 'message' AND ref = new.id), substr(new.content, 1, 65536));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER message_is_forgotten AFTER DELETE ON messages
BEGIN
  DELETE FROM history_words WHERE rowid = (SELECT id FROM history_rows WHERE kind = 'message' AND ref = old.id);
  DELETE FROM history_rows WHERE kind = 'message' AND ref = old.id;
END;
-- +goose StatementEnd

-- A call is indexed when it has ended: before, its text still changes.
-- +goose StatementBegin
CREATE TRIGGER call_is_indexed AFTER UPDATE OF state ON calls
WHEN new.state IN ('done', 'failed', 'denied', 'interrupted', 'cancelled')
BEGIN
  INSERT OR IGNORE INTO history_rows (kind, ref, session, at) VALUES ('call', new.id, new.session, new.emitted_at);
  DELETE FROM history_words WHERE rowid = (SELECT id FROM history_rows WHERE kind = 'call' AND ref = new.id);
  INSERT INTO history_words (rowid, body) VALUES ((SELECT id FROM history_rows WHERE kind = 'call' AND ref = new.id),
    new.tool || ' ' || new.summary || ' ' || new.args || ' ' || new.reasons || ' ' || new.error || ' ' || new.output || ' ' || substr(new.full_output, 1, 65536));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER call_is_indexed_at_once AFTER INSERT ON calls
WHEN new.state IN ('done', 'failed', 'denied', 'interrupted', 'cancelled')
BEGIN
  INSERT OR IGNORE INTO history_rows (kind, ref, session, at) VALUES ('call', new.id, new.session, new.emitted_at);
  INSERT INTO history_words (rowid, body) VALUES ((SELECT id FROM history_rows WHERE kind = 'call' AND ref = new.id),
    new.tool || ' ' || new.summary || ' ' || new.args || ' ' || new.reasons || ' ' || new.error || ' ' || new.output || ' ' || substr(new.full_output, 1, 65536));
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER call_is_forgotten AFTER DELETE ON calls
BEGIN
  DELETE FROM history_words WHERE rowid = (SELECT id FROM history_rows WHERE kind = 'call' AND ref = old.id);
  DELETE FROM history_rows WHERE kind = 'call' AND ref = old.id;
END;
-- +goose StatementEnd

INSERT INTO history_rows (kind, ref, session, at) SELECT 'message', id, session, created_at FROM messages WHERE role IN ('user', 'assistant') AND content <> '';
INSERT INTO history_rows (kind, ref, session, at) SELECT 'call', id, session, emitted_at FROM calls WHERE state IN ('done', 'failed', 'denied', 'interrupted', 'cancelled');
INSERT INTO history_words (rowid, body) SELECT r.id, substr(m.content, 1, 65536) FROM history_rows r JOIN messages m ON m.id = r.ref WHERE r.kind = 'message';
INSERT INTO history_words (rowid, body) SELECT r.id,
  c.tool || ' ' || c.summary || ' ' || c.args || ' ' || c.reasons || ' ' || c.error || ' ' || c.output || ' ' || substr(c.full_output, 1, 65536)
  FROM history_rows r JOIN calls c ON c.id = r.ref WHERE r.kind = 'call';

-- +goose Down
DROP TRIGGER message_is_indexed;
DROP TRIGGER message_is_forgotten;
DROP TRIGGER call_is_indexed;
DROP TRIGGER call_is_indexed_at_once;
DROP TRIGGER call_is_forgotten;
DROP TABLE history_words;
DROP TABLE history_rows;
