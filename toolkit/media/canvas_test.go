package media

import (
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/tooltest"
)

func TestEachKindIsDrawnAndKept(t *testing.T) {
	for name, c := range map[string]struct{ kind, content, want string }{
		"csv":            {"table", "name,n\ngo,12\nc,3\n", "name   n\n────  ──\ngo    12\nc      3"},
		"json rows":      {"table", `[{"b":1,"a":"x"},{"b":22,"a":"y"}]`, " b  a\n──  ─\n 1  x\n22  y"},
		"markdown table": {"table", "| a | b |\n|---|---|\n| x | 1 |", "a  b\n─  ─\nx  1"},
		"bars":           {"chart", `{"go":4,"c":-2}`, "go " + strings.Repeat("█", 40) + " 4\nc  " + strings.Repeat("░", 20) + " -2"},
		"flowchart":      {"mermaid", "graph TD\n A[Start] -->|yes| B(End)\n A --> C", "┌───────┐\n│ Start │\n└───────┘\n  ├──yes──▶ End\n  └──▶ C\n┌─────┐\n│ End │\n└─────┘\n┌───┐\n│ C │\n└───┘"},
		"chain":          {"diagram", "flowchart LR\nA-->B-->C;", "┌───┐\n│ A │\n└───┘\n  └──▶ B\n┌───┐\n│ B │\n└───┘\n  └──▶ C\n┌───┐\n│ C │\n└───┘"},
		"sequence":       {"mermaid", "sequenceDiagram\nparticipant A as Ann\nA->>B: hi\nB-->>A: yes", "[Ann]  [B]\nAnn ──▶ B: hi\nB ╌╌▶ Ann: yes"},
		"other":          {"mermaid", "pie\n \"a\": 1", "pie\n \"a\": 1"},
		"code":           {"code", "x := 1", "x := 1"},
		"html":           {"html", "<p>x</p>", "<p>x</p>"},
		"svg":            {"svg", "<svg/>", "<svg/>"},
		"markdown":       {"markdown", "# T", "# T"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := bench(t)
			p, r, err := tooltest.Do(t, Canvas(), w, a{"type": c.kind, "content": c.content, "title": "T"})
			if err != nil {
				t.Fatal(err)
			}
			d, ok := r.Data.(Drawn)
			if !ok || d.Preview != c.want || d.Type != c.kind || d.Title != "T" || !strings.HasPrefix(d.Path, canvasDir+"/"+d.ID) {
				t.Errorf("drawn:\n%s\n%+v", d.Preview, d)
			}
			if got := tooltest.Read(t, w.Root, d.Path); got != c.content || target(p) != d.Path || len(r.Changed) != 1 {
				t.Errorf("kept %q, plan %v", got, p.Effects)
			}
			_, again, err := tooltest.Do(t, Canvas(), w, a{"type": c.kind, "content": c.content, "title": "T"})
			if err != nil || len(again.Changed) != 0 || again.Data != any(d) {
				t.Errorf("again: %v, %+v", err, again)
			}
		})
	}
}

func TestALineChart(t *testing.T) {
	w, _ := bench(t)
	_, r, err := tooltest.Do(t, Canvas(), w, a{"type": "chart", "content": "mon: 1\ntue: 3\nwed: 2", "metadata": a{"kind": "line"}})
	if err != nil {
		t.Fatal(err)
	}
	d, ok := r.Data.(Drawn)
	lines := strings.Split(d.Preview, "\n")
	if !ok || len(lines) != chartHeight+2 || lines[0] != "3 │ •" || lines[chartHeight-1] != "1 │•" || !strings.HasSuffix(lines[chartHeight+1], "mon … wed") {
		t.Errorf("drawn:\n%s", d.Preview)
	}
}

func TestTheModelGetsTheBeginningOnly(t *testing.T) {
	w, _ := bench(t)
	_, r, err := tooltest.Do(t, Canvas(), w, a{"type": "code", "content": strings.Repeat("x", 20_000)})
	d, ok := r.Data.(Drawn)
	if err != nil || !ok || len([]rune(d.Preview)) != maxPreview || len(r.Text) > 400 {
		t.Errorf("%v, %d and %d characters", err, len(d.Preview), len(r.Text))
	}
	if _, _, err := tooltest.Do(t, Canvas(), w, a{"type": "code", "content": strings.Repeat("x", maxCanvas+1)}); toolkit.AsError(err).Code != CodeTooLarge {
		t.Errorf("got %v", err)
	}
}

func FuzzDrawing(f *testing.F) {
	for _, s := range []string{"a,b\n1,2", `[{"a":1},{"b":[2]}]`, `[[1,2],[3]]`, "|a|\n|-|\n|b|", "graph TD\nA-->B", "sequenceDiagram\nA->>B: x", `{"a":1e308,"b":-1e308}`, `{"labels":["a"],"datasets":[{"data":[1]}]}`, "[1,2,3]", "a: NaN\nb: Inf", "\xff,\xff\n1,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, kind := range []string{"table", "chart", "mermaid"} {
			for _, meta := range []map[string]any{nil, {"kind": "line"}} {
				if d, _ := draw2D(canvasArgs{Type: kind, Content: s, Metadata: meta}); len(d) > 100*len(s)+1_000_000 {
					t.Errorf("%s: %d bytes became %d", kind, len(s), len(d))
				}
			}
		}
	})
}
