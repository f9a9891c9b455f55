package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// The roles of a stored message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Message is one finished message of a session, or the part of one that
// arrived before the connection was lost or the turn cancelled.
type Message struct {
	ID       string          `json:"id"`
	Session  string          `json:"session"`
	Seq      int             `json:"seq"` // order within the session; AppendMessage sets it
	Turn     int             `json:"turn"`
	Role     string          `json:"role"`
	Content  string          `json:"content"`
	Thinking string          `json:"thinking,omitempty"`
	Model    string          `json:"model,omitempty"`
	Call     string          `json:"call,omitempty"` // role tool: the call it answers
	Tool     string          `json:"tool,omitempty"`
	Calls    []string        `json:"calls,omitempty"` // role assistant: ids of the calls it made
	Partial  bool            `json:"partial,omitempty"`
	Stats    json.RawMessage `json:"stats,omitempty"`
	Created  time.Time       `json:"created"`
}

// AppendMessage stores a message as the last of its session and returns it
// with its place.
func (s *Store) AppendMessage(ctx context.Context, m Message) (Message, error) {
	state := "final"
	if m.Partial {
		state = "partial"
	}
	stats := "{}"
	if len(m.Stats) > 0 {
		stats = string(m.Stats)
	}
	err := s.tx(ctx, "storing a message of session "+m.Session, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			INSERT INTO messages (id, session, seq, turn, role, content, thinking, model, call, tool, calls, state, stats, created_at)
			VALUES (?1, ?2, (SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE session = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
			RETURNING seq`,
			m.ID, m.Session, m.Turn, m.Role, m.Content, m.Thinking, m.Model, m.Call, m.Tool, list(m.Calls), state, stats, nanos(m.Created)).Scan(&m.Seq)
	})
	return m, err
}

func scanMessage(row interface{ Scan(...any) error }) (Message, error) {
	var m Message
	var calls, state, stats string
	var created int64
	err := row.Scan(&m.ID, &m.Session, &m.Seq, &m.Turn, &m.Role, &m.Content, &m.Thinking, &m.Model, &m.Call, &m.Tool, &calls, &state, &stats, &created)
	m.Calls, m.Partial, m.Created = unlist(calls), state == "partial", at(created)
	if stats != "{}" {
		m.Stats = json.RawMessage(stats)
	}
	return m, err
}

// Messages returns a session's messages in order.
func (s *Store) Messages(ctx context.Context, session string) ([]Message, error) {
	return query(ctx, s.read, "reading the messages of session "+session, scanMessage, `
		SELECT id, session, seq, turn, role, content, thinking, model, call, tool, calls, state, stats, created_at
		FROM messages WHERE session = ? ORDER BY seq`, session)
}
