package list

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// MaxCached bounds the rendered lines that a list keeps, in bytes. What is far
// from the viewport goes first; what is visible stays in any case.
const MaxCached = 8 << 20

// cache remembers the lines of an item for one width and version, unselected
// and selected.
type cache struct {
	entries map[string]*entry
	bytes   int
}

type entry struct {
	width   int
	version uint64
	frozen  bool
	lines   [2][]string
	have    [2]bool
	bytes   int
}

// lineOverhead is what a line costs beside its bytes: the string header.
const lineOverhead = 16

func newCache() cache { return cache{entries: map[string]*entry{}} }

func (c *cache) get(it Item, width int, selected bool) []string {
	slot := 0
	if selected {
		slot = 1
	}
	e := c.entries[it.ID()]
	if e == nil {
		e = &entry{width: width, version: it.Version()}
		c.entries[it.ID()] = e
	} else if e.width != width || !e.frozen && e.version != it.Version() {
		c.bytes -= e.bytes
		*e = entry{width: width, version: it.Version()}
	}
	if !e.have[slot] {
		lines := render(it, width, selected)
		n := 0
		for _, line := range lines {
			n += len(line) + lineOverhead
		}
		e.lines[slot], e.have[slot] = lines, true
		e.bytes += n
		c.bytes += n
		if f, ok := it.(Finisher); ok {
			e.frozen = f.Finished()
		}
	}
	return e.lines[slot]
}

func (c *cache) drop(id string) {
	if e := c.entries[id]; e != nil {
		c.bytes -= e.bytes
		delete(c.entries, id)
	}
}

func (c *cache) clear() {
	clear(c.entries)
	c.bytes = 0
}

// render asks the item for its lines and holds it to its contract, since one
// line that is too wide would break the frame of the whole screen.
func render(it Item, width int, selected bool) []string {
	lines := it.Render(width, selected)
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		for part := range strings.SplitSeq(line, "\n") {
			if len(part) > width && ansi.StringWidth(part) > width {
				part = ansi.Truncate(part, width, "…")
			}
			out = append(out, part)
		}
	}
	return out
}

// trim drops what is far from the viewport when the cache has grown too big:
// first all beyond a few screens, and if single items are huge, all that is not
// visible.
func (l *List) trim(limit int) {
	if l.cache.bytes <= limit {
		return
	}
	first, last := l.span()
	for _, margin := range []int{4 * max(l.height, 1), 0} {
		for id := range l.cache.entries {
			if i, ok := l.index[id]; !ok || i < first-margin || i > last+margin {
				l.cache.drop(id)
			}
		}
		// Half the limit leaves room, so that not every frame trims.
		if l.cache.bytes <= limit/2 {
			return
		}
	}
}
