package media

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// maxLines bounds a drawn diagram.
const maxLines = 200

var (
	flowHead = regexp.MustCompile(`^(?:flowchart|graph)\b`)
	flowEdge = regexp.MustCompile(`\s*(?:--+>|--+|==+>|-\.+->?)(?:\|([^|]*)\|)?\s*|\s*--\s+([^->|]+?)\s+--+>\s*`)
	flowNode = regexp.MustCompile(`^([\p{L}\p{N}_.-]+?)\s*(?:\[+[/\\(]?(.*?)[/\\)]?\]+|\(+\[?(.*?)\]?\)+|\{+(.*?)\}+|>(.*?)\])?$`)
	message  = regexp.MustCompile(`^(.+?)\s*(--?>>?\+?-?|--?[x)])\s*(.+?)\s*:\s*(.*)$`)
)

// flowOf draws a simple flowchart or sequence of Mermaid; false: it is another
// diagram, or one with parts that are not understood.
func flowOf(text string) (string, bool) {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSpace(line), ";")
		if line != "" && !strings.HasPrefix(line, "%%") {
			lines = append(lines, line)
		}
	}
	if len(lines) < 2 || len(lines) > maxLines {
		return "", false
	}
	switch {
	case flowHead.MatchString(lines[0]):
		return flowchart(lines[1:])
	case lines[0] == "sequenceDiagram":
		return sequence(lines[1:])
	}
	return "", false
}

// flowchart draws each node as a box, with its arrows below it, in the order in
// which the nodes are named.
func flowchart(lines []string) (string, bool) {
	var order []string
	names := map[string]string{}
	out := map[string][]string{}
	node := func(s string) (string, bool) {
		m := flowNode.FindStringSubmatch(strings.TrimSpace(s))
		if m == nil {
			return "", false
		}
		id := m[1]
		if _, ok := names[id]; !ok {
			order, names[id] = append(order, id), id
		}
		for _, label := range m[2:] {
			if label != "" {
				names[id] = strings.Trim(label, `"'`)
			}
		}
		return id, true
	}
	type edge struct{ from, to, label string }
	var edges []edge
	for _, line := range lines {
		switch word, _, _ := strings.Cut(line, " "); word {
		case "subgraph", "end", "style", "classDef", "class", "linkStyle", "direction", "click":
			continue
		}
		arrows := flowEdge.FindAllStringSubmatchIndex(line, -1)
		at, last := 0, ""
		for i := 0; i <= len(arrows); i++ {
			stop := len(line)
			if i < len(arrows) {
				stop = arrows[i][0]
			}
			id, ok := node(line[at:stop])
			if !ok {
				return "", false
			}
			if i > 0 {
				label := ""
				for g := 1; g <= 2; g++ {
					if a := arrows[i-1]; a[2*g] >= 0 {
						label = strings.TrimSpace(line[a[2*g]:a[2*g+1]])
					}
				}
				edges = append(edges, edge{last, id, label})
			}
			last = id
			if i < len(arrows) {
				at = arrows[i][1]
			}
		}
	}
	if len(edges) == 0 {
		return "", false
	}
	for _, e := range edges {
		arrow := "──▶ "
		if e.label != "" {
			arrow = "──" + e.label + "──▶ "
		}
		out[e.from] = append(out[e.from], arrow+names[e.to])
	}
	var b strings.Builder
	for _, id := range order {
		w := ansi.StringWidth(names[id])
		fmt.Fprintf(&b, "┌%s┐\n│ %s │\n└%s┘\n", strings.Repeat("─", w+2), names[id], strings.Repeat("─", w+2))
		for i, arrow := range out[id] {
			corner := "├"
			if i == len(out[id])-1 {
				corner = "└"
			}
			b.WriteString("  " + corner + arrow + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n"), true
}

// sequence draws who says what to whom, one line a message.
func sequence(lines []string) (string, bool) {
	var out, who []string
	alias := map[string]string{}
	named := func(id string) string {
		n := id
		if alias[id] != "" {
			n = alias[id]
		}
		if !slices.Contains(who, n) {
			who = append(who, n)
		}
		return n
	}
	for _, line := range lines {
		word, rest, _ := strings.Cut(line, " ")
		if word == "participant" || word == "actor" {
			id, name, ok := strings.Cut(rest, " as ")
			if ok {
				alias[id] = name
			}
			named(id)
			continue
		}
		if m := message.FindStringSubmatch(line); m != nil {
			arrow := "──▶"
			if strings.HasPrefix(m[2], "--") {
				arrow = "╌╌▶"
			}
			out = append(out, fmt.Sprintf("%s %s %s: %s", named(m[1]), arrow, named(m[3]), m[4]))
			continue
		}
		out = append(out, "· "+line)
	}
	if len(who) < 1 {
		return "", false
	}
	return "[" + strings.Join(who, "]  [") + "]\n" + strings.Join(out, "\n"), true
}
