package store

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// HistoryQuery asks the history. Its zero value asks for the newest of all.
type HistoryQuery struct {
	Text      string // words, "phrases", OR, a word with - in front that must not be there; the last word may be a beginning
	Tool      string
	State     string // of a call: done, failed, denied, …
	By        string // who decided: mode, rule, person, policy, floor
	Session   string // id, or the beginning of one
	File      string // a part of a path that the call changed or named
	Workspace string // empty: all
	Since     time.Time
	Kind      string // message or call; empty: both
	Limit     int    // 0: 100
}

// calls reports whether only calls can answer.
func (q HistoryQuery) calls() bool {
	return q.Kind == "call" || q.Tool != "" || q.State != "" || q.By != "" || q.File != ""
}

// HistoryHit is one message or call that was found.
type HistoryHit struct {
	Kind      string    `json:"kind"`
	ID        string    `json:"id"`
	Session   string    `json:"session"`
	Title     string    `json:"title"` // of the session
	Workspace string    `json:"workspace"`
	Turn      int       `json:"turn"`
	Role      string    `json:"role,omitempty"` // of a message
	Tool      string    `json:"tool,omitempty"`
	What      string    `json:"what"` // one line
	State     string    `json:"state,omitempty"`
	By        string    `json:"by,omitempty"`
	At        time.Time `json:"at"`
	Snippet   string    `json:"snippet,omitempty"` // around the first word that matched
}

// maxWords bounds a search: more words than that are a pasted text, and each
// costs a look-up.
const maxWords = 32

// MatchText makes an FTS5 query of what a person wrote. Whatever that is, the
// query is one that SQLite understands: each word is quoted. words are those
// that must be there, for marking them. An empty query means that there is
// nothing to look for.
func MatchText(text string) (match string, words []string) {
	var must []string // groups, all of which must hold; a group is words joined by OR
	var not []string
	or := false
	for i, t := range tokens(text) {
		if i >= maxWords {
			break
		}
		if t.text == "OR" && !t.quoted {
			or = len(must) > 0
			continue
		}
		parts := wordsOf(t.text)
		if len(parts) == 0 {
			continue
		}
		q := `"` + strings.Join(parts, " ") + `"`
		if t.last && !t.quoted {
			q += "*"
		}
		switch {
		case t.minus:
			not = append(not, q)
			continue
		case or:
			must[len(must)-1] += " OR " + q
		default:
			must = append(must, q)
		}
		or = false
		words = append(words, parts...)
	}
	if len(must) == 0 {
		return "", nil
	}
	match = "(" + strings.Join(must, ") AND (") + ")"
	for _, n := range not {
		match += " NOT " + n
	}
	return match, words
}

type token struct {
	text   string
	quoted bool
	minus  bool
	last   bool // the text ends with it, so it may be unfinished
}

// tokens splits a query into words and quoted phrases.
func tokens(text string) []token {
	var out []token
	rest := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, " "), "\x00", " "))
	for rest != "" {
		var t token
		if rest[0] == '-' && len(rest) > 1 && rest[1] != ' ' {
			t.minus, rest = true, rest[1:]
		}
		if rest[0] == '"' {
			body, after, closed := strings.Cut(rest[1:], `"`)
			t.text, t.quoted, rest = body, closed, after
		} else {
			end := strings.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			t.text, rest = rest[:end], rest[end:]
		}
		rest = strings.TrimLeft(rest, " \t\r\n\v\f")
		t.last = rest == "" && !strings.HasSuffix(text, " ")
		out = append(out, t)
	}
	return out
}

// wordsOf splits as the index does.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// SearchHistory finds messages and calls, the newest first. A query that holds
// no words finds by its other fields.
func (s *Store) SearchHistory(ctx context.Context, q HistoryQuery) ([]HistoryHit, error) {
	match, words := MatchText(q.Text)
	if match == "" && strings.TrimSpace(q.Text) != "" && len(wordsOf(q.Text)) == 0 {
		return nil, nil // only signs, which no index holds
	}
	var where []string
	var args []any
	add := func(cond string, v ...any) { where, args = append(where, cond), append(args, v...) }
	if match != "" {
		add(`r.id IN (SELECT rowid FROM history_words WHERE history_words MATCH ?)`, match)
	}
	switch {
	case q.calls():
		add(`r.kind = 'call'`)
	case q.Kind == "message":
		add(`r.kind = 'message'`)
	}
	for _, f := range []struct{ column, value string }{{"c.tool", q.Tool}, {"c.state", q.State}, {"c.decided_by", q.By}, {"s.workspace", q.Workspace}} {
		if f.value != "" {
			add(f.column+` = ?`, f.value)
		}
	}
	if q.Session != "" {
		add(`substr(r.session, 1, ?) = ?`, len(q.Session), q.Session)
	}
	if q.File != "" {
		add(`(instr(c.changed, ?) > 0 OR instr(c.args, ?) > 0)`, q.File, q.File)
	}
	if !q.Since.IsZero() {
		add(`r.at >= ?`, nanos(q.Since))
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	sql := `SELECT r.kind, r.ref, r.session, s.title, s.workspace, coalesce(m.turn, c.turn), coalesce(m.role, ''), coalesce(c.tool, ''),
		coalesce(c.summary, ''), coalesce(c.state, ''), coalesce(c.decided_by, ''), r.at,
		coalesce(m.content, c.summary || char(10) || c.args || char(10) || c.output || char(10) || substr(c.full_output, 1, 65536))
		FROM history_rows r JOIN sessions s ON s.id = r.session
		LEFT JOIN messages m ON r.kind = 'message' AND m.id = r.ref
		LEFT JOIN calls c ON r.kind = 'call' AND c.id = r.ref`
	if len(where) > 0 {
		sql += " WHERE " + strings.Join(where, " AND ")
	}
	sql += " ORDER BY r.at DESC, r.id DESC LIMIT ?"
	args = append(args, limit)
	return query(ctx, s.read, "searching the history", func(row interface{ Scan(...any) error }) (HistoryHit, error) {
		var h HistoryHit
		var when int64
		var text string
		err := row.Scan(&h.Kind, &h.ID, &h.Session, &h.Title, &h.Workspace, &h.Turn, &h.Role, &h.Tool, &h.What, &h.State, &h.By, &when, &text)
		h.At = at(when)
		if h.Kind == "message" {
			h.What = firstLine(text)
		}
		if len(words) > 0 {
			h.Snippet = around(text, words)
		}
		return h, err
	}, sql, args...)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:199]) + "…"
	}
	return s
}

// around is the text about the first of the words that is in it, on one line.
func around(text string, words []string) string {
	const before, after = 60, 140
	low := strings.ToLower(text)
	at := -1
	for _, w := range words {
		if i := strings.Index(low, strings.ToLower(w)); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 || len(low) != len(text) { // letters that change their length: no place can be told
		return strings.Join(strings.Fields(firstLine(text)), " ")
	}
	from, to := max(at-before, 0), min(at+after, len(text))
	out := strings.Join(strings.Fields(strings.ToValidUTF8(text[from:to], "")), " ")
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}

// ParseHistory reads a query with its filters: tool:exec status:failed by:rule
// session:1a2b file:main.go kind:message since:7d (or a date), and words. What is
// no filter is a word; a filter whose value cannot be read is an error.
func ParseHistory(text string, now time.Time) (HistoryQuery, error) {
	var q HistoryQuery
	var words []string
	for _, t := range tokens(text) {
		key, value, ok := strings.Cut(t.text, ":")
		if t.quoted || t.minus || !ok || value == "" {
			words = append(words, t.original())
			continue
		}
		switch key {
		case "tool":
			q.Tool = value
		case "status", "state":
			q.State = value
		case "by":
			q.By = value
		case "session":
			q.Session = value
		case "file":
			q.File = value
		case "kind":
			if value != "message" && value != "call" {
				return q, fmt.Errorf("kind:%s is neither message nor call", value)
			}
			q.Kind = value
		case "since":
			at, err := since(value, now)
			if err != nil {
				return q, err
			}
			q.Since = at
		default:
			words = append(words, t.original())
		}
	}
	q.Text = strings.Join(words, " ")
	if strings.HasSuffix(text, " ") {
		q.Text += " "
	}
	return q, nil
}

func (t token) original() string {
	out := t.text
	if t.quoted {
		out = `"` + out + `"`
	}
	if t.minus {
		out = "-" + out
	}
	return out
}

// since reads 90m, 12h, 7d, 2w, or a date.
func since(v string, now time.Time) (time.Time, error) {
	if d, err := time.ParseInLocation(time.DateOnly, v, now.Location()); err == nil {
		return d, nil
	}
	unit := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[v[len(v)-1]]
	var n int
	if _, err := fmt.Sscanf(v[:len(v)-1], "%d", &n); err != nil || unit == 0 || n < 0 || n > 100_000 {
		return time.Time{}, fmt.Errorf("since:%s is no time: write 90m, 12h, 7d, 2w or 2026-12-31", v)
	}
	return now.Add(-time.Duration(n) * unit), nil
}
