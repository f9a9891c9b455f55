-- +goose Up
CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  title      TEXT NOT NULL DEFAULT '',
  workspace  TEXT NOT NULL,
  model      TEXT NOT NULL DEFAULT '',
  mode       TEXT NOT NULL DEFAULT '',
  tier       TEXT NOT NULL DEFAULT '', -- the session's own choice; empty: detected
  promoted   TEXT NOT NULL DEFAULT '[]',
  turns      INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, -- unix nanoseconds, as every time here
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_workspace ON sessions (workspace, updated_at);

CREATE TABLE messages (
  id         TEXT PRIMARY KEY,
  session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL, -- order within the session
  turn       INTEGER NOT NULL,
  role       TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
  content    TEXT NOT NULL DEFAULT '',
  thinking   TEXT NOT NULL DEFAULT '',
  model      TEXT NOT NULL DEFAULT '',
  call       TEXT NOT NULL DEFAULT '', -- role tool: the call it answers
  tool       TEXT NOT NULL DEFAULT '',
  calls      TEXT NOT NULL DEFAULT '[]', -- role assistant: the calls it made
  state      TEXT NOT NULL CHECK (state IN ('final', 'partial')),
  stats      TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  UNIQUE (session, seq)
) STRICT;

CREATE TABLE calls (
  id           TEXT PRIMARY KEY,
  session      TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  turn         INTEGER NOT NULL,
  seq          INTEGER NOT NULL, -- order within the session
  tool         TEXT NOT NULL,
  origin       TEXT NOT NULL,
  state        TEXT NOT NULL, -- emitted, validated, waiting, running, done, failed, denied, interrupted, cancelled
  emitted      TEXT NOT NULL DEFAULT '', -- arguments as emitted
  args         TEXT NOT NULL DEFAULT '', -- after repair
  repairs      TEXT NOT NULL DEFAULT '[]',
  plan         TEXT NOT NULL DEFAULT '',
  plan_hash    TEXT NOT NULL DEFAULT '',
  summary      TEXT NOT NULL DEFAULT '',
  level        TEXT NOT NULL DEFAULT '',
  decision     TEXT NOT NULL DEFAULT '',
  reasons      TEXT NOT NULL DEFAULT '[]',
  decided_by   TEXT NOT NULL DEFAULT '', -- mode, rule, person, floor, cache of the session
  rule         TEXT NOT NULL DEFAULT '',
  output       TEXT NOT NULL DEFAULT '', -- what the model got
  full_output  TEXT NOT NULL DEFAULT '', -- everything, when output is a part of it
  data         TEXT NOT NULL DEFAULT '',
  error        TEXT NOT NULL DEFAULT '',
  changed      TEXT NOT NULL DEFAULT '[]',
  emitted_at   INTEGER NOT NULL,
  validated_at INTEGER NOT NULL DEFAULT 0,
  judged_at    INTEGER NOT NULL DEFAULT 0,
  run_at       INTEGER NOT NULL DEFAULT 0,
  returned_at  INTEGER NOT NULL DEFAULT 0,
  UNIQUE (session, seq)
) STRICT;
CREATE INDEX calls_by_time ON calls (emitted_at);

CREATE TABLE approvals (
  id         TEXT PRIMARY KEY,
  call       TEXT NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
  session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  plan_hash  TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'superseded', 'cancelled')),
  scope      TEXT NOT NULL DEFAULT '', -- once, session, rule
  reason     TEXT NOT NULL DEFAULT '',
  rule       TEXT NOT NULL DEFAULT '',
  asked_at   INTEGER NOT NULL,
  decided_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX approvals_by_session ON approvals (session, state);

CREATE TABLE rules (
  id         TEXT PRIMARY KEY,
  decision   TEXT NOT NULL CHECK (decision IN ('allow', 'ask', 'deny')),
  tool       TEXT NOT NULL,
  scope      TEXT NOT NULL,    -- exact, prefix, folder, tool
  pattern    TEXT NOT NULL,    -- what the scope compares with
  workspace  TEXT NOT NULL DEFAULT '', -- empty: everywhere
  session    TEXT NOT NULL DEFAULT '', -- not empty: only there
  created_at INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE settings (
  key        TEXT PRIMARY KEY,
  value      TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE settings;
DROP TABLE rules;
DROP TABLE approvals;
DROP TABLE calls;
DROP TABLE messages;
DROP TABLE sessions;
