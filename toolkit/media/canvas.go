package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

type canvasArgs struct {
	Type     string         `json:"type" enum:"code,chart,diagram,table,html,markdown,mermaid,svg" alias:"kind"`
	Content  string         `json:"content" min:"1" alias:"data,code,source"`
	Title    string         `json:"title,omitempty" alias:"name"`
	Language string         `json:"language,omitempty" alias:"lang"`
	Metadata map[string]any `json:"metadata,omitempty" doc:"hints; {\"kind\":\"line\"} for a line chart"`
}

// Drawn is the data of canvas_render.
type Drawn struct {
	ID      string `json:"artifactId"`
	Type    string `json:"type"`
	Title   string `json:"title"`
	Path    string `json:"path"`
	Preview string `json:"preview"` // the drawing, for the screen: text, bounded
}

// The bounds of a drawing.
const (
	canvasDir  = ".chela-canvas"
	maxCanvas  = 1 << 20 // bytes of the content
	maxPreview = 8000    // characters of the drawing
	shownModel = 200     // characters of it that the model gets back
)

// Canvas draws something for the person and keeps it as a file.
func Canvas() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "canvas_render", Summary: "Draw a table, chart, diagram, code or document for the user, and keep it as a file.", Category: "media",
		Level: toolkit.Safe, Tier: tiers.Full, Synonyms: "show display artifact graph plot visualise mermaid svg html",
		Guide: "A table takes CSV, JSON rows or Markdown; a chart takes label,value lines or a JSON object of numbers.",
	}, planCanvas, runCanvas)
}

// endings are those of the kept files.
var endings = map[string]string{"chart": "txt", "diagram": "txt", "table": "txt", "html": "html", "markdown": "md", "mermaid": "mmd", "svg": "svg", "code": "txt"}

// artifact is where a drawing is kept: the same content is the same file.
func (a canvasArgs) artifact() (id, path string) {
	sum := sha256.Sum256([]byte(a.Type + "\x00" + a.Title + "\x00" + a.Language + "\x00" + a.Content))
	id = "c" + hex.EncodeToString(sum[:5])
	return id, canvasDir + "/" + id + "." + endings[a.Type]
}

func planCanvas(_ context.Context, w *toolkit.Workspace, a canvasArgs) (toolkit.Plan, error) {
	if len(a.Content) > maxCanvas {
		return toolkit.Plan{}, toolkit.Errorf(CodeTooLarge, "content has %d bytes; at most %d are drawn.", len(a.Content), maxCanvas).WithHint("Draw a part of it.")
	}
	_, path := a.artifact()
	t, err := w.Files.Locate(path)
	if err != nil {
		return toolkit.Plan{}, explain(path, err)
	}
	p := toolkit.Plan{Summary: strings.TrimSpace(a.Type + " " + a.Title), Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: a.Content}}
	if !t.Exists {
		p.Effects = []toolkit.Effect{{Kind: toolkit.Writes, Target: t.Path}}
		p.Facts = []toolkit.Fact{{Kind: "absent", Target: t.Path}}
	}
	return p, nil
}

func runCanvas(_ context.Context, w *toolkit.Workspace, a canvasArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	id, path := a.artifact()
	drawing, note := draw2D(a)
	d := Drawn{ID: id, Type: a.Type, Title: a.Title, Path: path, Preview: clip(drawing, maxPreview)}
	var r toolkit.Result
	if target(p) != "" {
		written, change, err := create(w, p, []byte(a.Content))
		if err != nil {
			return toolkit.Result{}, err
		}
		d.Path, r.Changed = written.Path, []toolkit.Change{change}
	}
	r.Data = d
	r.Text = fmt.Sprintf("shown to the user as %s, kept as %s%s\n%s", id, d.Path, note, clip(drawing, shownModel))
	return r, nil
}

// draw2D draws a content as text. What cannot be drawn is shown as it is, and
// the note says why.
func draw2D(a canvasArgs) (drawing, note string) {
	content := guard.ToText([]byte(a.Content))
	switch a.Type {
	case "table":
		if rows := tableOf(content); len(rows) > 0 {
			return drawTable(rows), fmt.Sprintf(", %d rows", len(rows)-1)
		}
		return content, " (no table was found in it: write CSV, JSON rows or Markdown)"
	case "chart":
		points := pointsOf(content)
		if len(points) == 0 {
			return content, " (no numbers were found in it: write label,value lines)"
		}
		kind, _ := a.Metadata["kind"].(string)
		if kind == "" {
			kind, _ = a.Metadata["type"].(string)
		}
		if kind == "line" {
			return drawLine(points), fmt.Sprintf(", %d values", len(points))
		}
		return drawBars(points), fmt.Sprintf(", %d values", len(points))
	case "mermaid", "diagram":
		if g, ok := flowOf(content); ok {
			return g, ""
		}
		return content, " (kept as it is: only flowcharts and sequences are drawn as text)"
	case "html", "svg":
		return content, " (open the file to see it)"
	}
	return content, ""
}

// clip cuts a text at so many characters.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// decodeOrdered reads an object's keys in the order in which they are written.
func decodeOrdered(text string, each func(key string, v any)) bool {
	d := json.NewDecoder(strings.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		var v any
		if d.Decode(&v) != nil {
			return false
		}
		if k, ok := key.(string); ok {
			each(k, v)
		}
	}
	return true
}
