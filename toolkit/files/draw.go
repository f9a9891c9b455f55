package files

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// draw renders a tree in at most room characters. Folders are opened level by
// level, so that every entry near the root is shown before any deep one. left
// counts the entries that are not shown.
func draw(root *node, room int) (text string, left int) {
	room -= len(root.name) + 2
	type item struct {
		n     *node
		depth int
	}
	queue := []item{{root, 0}}
	for len(queue) > 0 {
		it := queue[0]
		queue = queue[1:]
		kids := it.n.children
		for it.n.open < len(kids) {
			cost := utf8.RuneCountInString(kids[it.n.open].label()) + 4*(it.depth+1) + 1
			if cost > room {
				break
			}
			room -= cost
			it.n.open++
		}
		if it.n.open < len(kids) {
			room -= 40 // the line that counts the rest
		}
		for _, k := range kids[:it.n.open] {
			queue = append(queue, item{k, it.depth + 1})
		}
	}
	var b strings.Builder
	b.WriteString(root.name + "/\n")
	left = root.lines(&b, "")
	return b.String(), left
}

func (n *node) label() string {
	s := n.name
	if n.dir {
		s += "/"
	}
	if n.note != "" {
		s += " " + n.note
	}
	return s
}

// lines writes what is below a node and returns how many entries it leaves out.
func (n *node) lines(b *strings.Builder, indent string) (left int) {
	for i, k := range n.children[:n.open] {
		branch, below := "├── ", "│   "
		if i == len(n.children)-1 {
			branch, below = "└── ", "    "
		}
		b.WriteString(indent + branch + k.label() + "\n")
		left += k.lines(b, indent+below)
	}
	if rest := n.children[n.open:]; len(rest) > 0 {
		hidden := 0
		for _, k := range rest {
			hidden += 1 + k.size()
		}
		fmt.Fprintf(b, "%s└── … %d more\n", indent, hidden)
		left += hidden
	}
	return left
}

// size is the number of entries below a node.
func (n *node) size() int {
	total := 0
	for _, k := range n.children {
		total += 1 + k.size()
	}
	return total
}
