package files

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// closedCost is what it takes to say how many entries are not shown.
const closedCost = 24

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
		indent := 4 * (it.depth + 1)
		for it.n.open < len(kids) {
			k := kids[it.n.open]
			cost := utf8.RuneCountInString(k.label()) + indent + 1
			if len(k.children) > 0 {
				cost += closedCost
			}
			rest := 0
			if it.n.open+1 < len(kids) {
				rest = indent + closedCost // the line that counts the rest
			}
			if cost+rest > room {
				break
			}
			room -= cost
			it.n.open++
		}
		switch {
		case it.n.open == len(kids) && len(kids) > 0:
			room += closedCost // nothing has to be counted
		case it.n.open > 0:
			room -= indent
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
		b.WriteString(indent + branch + k.label())
		if k.open == 0 && len(k.children) > 0 {
			fmt.Fprintf(b, " … %s", plural(k.size(), "entry", "entries"))
			left += k.size()
			b.WriteByte('\n')
			continue
		}
		b.WriteByte('\n')
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
