package media

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The bounds of a table.
const (
	maxRows = 200
	maxCols = 20
	maxCell = 60 // columns of the screen
)

// tableOf reads rows, the head first, from JSON, Markdown, CSV or tabs.
func tableOf(text string) [][]string {
	text = strings.TrimSpace(text)
	rows := jsonRows(text)
	if rows == nil && strings.HasPrefix(text, "|") {
		rows = markdownRows(text)
	}
	if rows == nil {
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = -1, true, true
		head, _, _ := strings.Cut(text, "\n")
		for _, c := range "\t;" {
			if strings.ContainsRune(head, c) && !strings.Contains(head, ",") {
				r.Comma = c
			}
		}
		var err error
		if rows, err = r.ReadAll(); err != nil || len(rows) < 2 || len(rows[0]) < 2 {
			return nil
		}
	}
	return rows
}

// jsonRows reads a list of objects or of lists; nil: it is none.
func jsonRows(text string) [][]string {
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil || len(list) == 0 {
		return nil
	}
	var head []string
	var rows [][]string
	for _, item := range list {
		var cells []any
		if json.Unmarshal(item, &cells) == nil {
			row := make([]string, len(cells))
			for i, c := range cells {
				row[i] = cell(c)
			}
			rows = append(rows, row)
			continue
		}
		values := map[string]string{}
		if !decodeOrdered(string(item), func(k string, v any) {
			if values[k] = cell(v); !slices.Contains(head, k) {
				head = append(head, k)
			}
		}) {
			return nil
		}
		row := make([]string, len(head))
		for i, k := range head {
			row[i] = values[k]
		}
		rows = append(rows, row)
	}
	if head != nil {
		rows = append([][]string{head}, rows...)
	}
	return rows
}

// cell is a JSON value on one line.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func markdownRows(text string) [][]string {
	var rows [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		if strings.Trim(line, "|-: \t") == "" {
			continue // between head and rows
		}
		var row []string
		for c := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			row = append(row, strings.TrimSpace(c))
		}
		rows = append(rows, row)
	}
	return rows
}

// drawTable draws rows in columns, numbers to the right.
func drawTable(rows [][]string) string {
	left := 0
	if len(rows) > maxRows+1 {
		left, rows = len(rows)-maxRows-1, rows[:maxRows+1]
	}
	cols := 0
	for _, r := range rows {
		cols = max(cols, min(len(r), maxCols))
	}
	widths, words := make([]int, cols), make([]bool, cols)
	at := func(r []string, c int) string {
		if c >= len(r) {
			return ""
		}
		return ansi.Truncate(strings.Join(strings.Fields(r[c]), " "), maxCell, "…")
	}
	for i, r := range rows {
		for c := range cols {
			v := at(r, c)
			widths[c] = max(widths[c], ansi.StringWidth(v))
			if _, ok := numberOf(v); i > 0 && v != "" && !ok {
				words[c] = true
			}
		}
	}
	var b strings.Builder
	for i, r := range rows {
		var line strings.Builder
		for c := range cols {
			v := at(r, c)
			pad := strings.Repeat(" ", widths[c]-ansi.StringWidth(v))
			if c > 0 {
				line.WriteString("  ")
			}
			if words[c] {
				line.WriteString(v + pad)
			} else {
				line.WriteString(pad + v)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if i == 0 {
			for c := range cols {
				if c > 0 {
					b.WriteString("  ")
				}
				b.WriteString(strings.Repeat("─", widths[c]))
			}
			b.WriteByte('\n')
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "and %d more rows\n", left)
	}
	return strings.TrimRight(b.String(), "\n")
}
