package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"chela/toolkit"
)

// Markdown is docs/tools.md: every tool with its level, tier, cost and
// parameters. A test fails when the file is not current.
func Markdown() (string, error) {
	r, err := New()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Tools\n\nMade from the tools themselves (`go generate ./toolkit/catalogue`). " +
		"The level is that of a call whose arguments say nothing worse; tokens are what the schema costs in each request (o200k). " +
		"Which of them a model gets is in [models.md](models.md); what runs without a question in [security.md](security.md).\n")
	var categories []string
	for _, t := range r.All() {
		if c := t.Spec().Category; !slices.Contains(categories, c) {
			categories = append(categories, c)
		}
	}
	for _, c := range categories {
		fmt.Fprintf(&b, "\n## %s\n", c)
		for _, t := range r.All() {
			if s := t.Spec(); s.Category == c {
				tool(&b, s)
			}
		}
	}
	return b.String(), nil
}

func tool(b *strings.Builder, s *toolkit.Spec) {
	fmt.Fprintf(b, "\n### %s\n\n%s %s\n\n%s, %s, %d tokens", s.Name, s.Summary, s.Guide, s.Level, s.Tier, s.Tokens())
	for _, f := range []struct {
		on   bool
		text string
	}{{s.ReadOnly, "only reads"}, {s.Foreign, "its output is data from outside"}, {s.EndsTurn, "ends the turn"}} {
		if f.on {
			b.WriteString(", " + f.text)
		}
	}
	b.WriteString(".\n")
	if len(s.Schema.PropertyOrder) == 0 {
		return
	}
	b.WriteString("\n| Parameter | Type | Unless given | |\n|---|---|---|---|\n")
	for _, name := range s.Schema.PropertyOrder {
		p := s.Schema.Properties[name]
		def := string(p.Default)
		if slices.Contains(s.Schema.Required, name) {
			def = "required"
		} else if def == "" {
			def = "absent"
		}
		about := p.Description
		if len(p.Enum) > 0 {
			var values []string
			for _, e := range p.Enum {
				values = append(values, fmt.Sprint(e))
			}
			about = strings.TrimSpace(about + " (" + strings.Join(values, ", ") + ")")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, p.Type, strings.ReplaceAll(def, "|", `\|`), strings.ReplaceAll(about, "|", `\|`))
	}
}
