// Package list is a virtualised list of items of different heights: the
// conversation, the timeline, the queue, the history.
//
// It guarantees that drawing costs in proportion to what is visible, however
// many items there are; that an unchanged item is rendered once per width; that
// the view has exactly the height it was given and shows no blank line beyond
// the end unless everything fits; and that what a person is reading stays where
// it is when items are added, replaced or removed above it.
//
// A List is not safe for concurrent use; it belongs to the screen's goroutine.
package list

import "slices"

// Item is one entry. IDs are unique within a list.
type Item interface {
	ID() string
	// Version changes whenever Render would give something else.
	Version() uint64
	// Render returns the item's lines at the width, styled, each complete in
	// itself. Lines that are too wide are cut. No lines hide the item.
	Render(width int, selected bool) []string
}

// Finisher is an Item that at some point never changes again. Once it has been
// rendered as finished it is frozen: its version is not asked for any more, and
// only [List.Replace] or [List.Invalidate] renders it anew at the same width.
type Finisher interface {
	Item
	Finished() bool
}

// List holds the items and the position of the viewport. The zero value is not
// ready for use; see [New].
type List struct {
	items         []Item
	index         map[string]int
	width, height int

	// The viewport starts off lines below the start of items[top]. That, and
	// not a number of lines from the start, is what makes heights above it
	// irrelevant.
	top, off int

	follow bool
	seen   int // items up to here were visible at some time, or known when follow ended

	selecting bool
	sel       int

	cache cache
}

// New returns an empty list of the size, in cells, that follows its end.
func New(width, height int) *List {
	return &List{
		index:  map[string]int{},
		width:  max(width, 1),
		height: max(height, 0),
		follow: true,
		cache:  newCache(),
	}
}

// Len is the number of items.
func (l *List) Len() int { return len(l.items) }

// At returns the item at index i, which must be in range.
func (l *List) At(i int) Item { return l.items[i] }

// Index returns the position of the item with the ID.
func (l *List) Index(id string) (int, bool) {
	i, ok := l.index[id]
	return i, ok
}

// Append adds items at the end. An item whose ID is known replaces that one in
// its place. While the list follows and its last item is selected, the
// selection moves on to the new last item.
func (l *List) Append(items ...Item) {
	trail := l.selecting && l.follow && l.sel == len(l.items)-1
	for _, it := range items {
		if i, known := l.index[it.ID()]; known {
			l.replaceAt(i, it)
			continue
		}
		l.index[it.ID()] = len(l.items)
		l.items = append(l.items, it)
	}
	if trail {
		l.sel = len(l.items) - 1
	}
}

// Insert adds items in front of index at, which is clamped to the list. What is
// on screen stays where it is. Known IDs are replaced as in [List.Append].
func (l *List) Insert(at int, items ...Item) {
	at = min(max(at, 0), len(l.items))
	if at == len(l.items) {
		l.Append(items...)
		return
	}
	fresh := make([]Item, 0, len(items))
	batch := make(map[string]int, len(items))
	for _, it := range items {
		if i, known := l.index[it.ID()]; known {
			l.replaceAt(i, it)
		} else if i, twice := batch[it.ID()]; twice {
			fresh[i] = it
		} else {
			batch[it.ID()] = len(fresh)
			fresh = append(fresh, it)
		}
	}
	n := len(fresh)
	l.items = slices.Insert(l.items, at, fresh...)
	l.reindex(at)
	if at <= l.top {
		l.top += n
	}
	if at <= l.sel {
		l.sel += n
	}
	if at < l.seen {
		l.seen += n
	}
}

// Replace puts item in the place of the one with the ID and reports whether
// there was one.
func (l *List) Replace(id string, item Item) bool {
	i, ok := l.index[id]
	if !ok {
		return false
	}
	if other, taken := l.index[item.ID()]; taken && other != i {
		return false // the new ID belongs to another item
	}
	l.replaceAt(i, item)
	return true
}

func (l *List) replaceAt(i int, item Item) {
	old := l.items[i].ID()
	l.cache.drop(old)
	delete(l.index, old)
	l.index[item.ID()] = i
	l.items[i] = item
}

// Remove takes the item with the ID away and reports whether there was one. The
// selection goes to the item that takes its place.
func (l *List) Remove(id string) bool {
	i, ok := l.index[id]
	if !ok {
		return false
	}
	l.cache.drop(id)
	delete(l.index, id)
	l.items = slices.Delete(l.items, i, i+1)
	l.reindex(i)
	switch {
	case i < l.top:
		l.top--
	case i == l.top:
		l.off = 0
	}
	if i < l.sel || l.sel >= len(l.items) {
		l.sel = max(l.sel-1, 0)
	}
	if i < l.seen {
		l.seen--
	}
	return true
}

// SetItems replaces all items, after a new search say. The first visible item
// and the selected one keep their places if they are still there. Of items with
// the same ID the last one counts.
func (l *List) SetItems(items []Item) {
	id := func(i int) string {
		if i >= 0 && i < len(l.items) {
			return l.items[i].ID()
		}
		return ""
	}
	top, sel, seen := id(l.top), id(l.sel), id(l.seen-1)

	l.items = make([]Item, 0, len(items))
	clear(l.index)
	for _, it := range items {
		if i, twice := l.index[it.ID()]; twice {
			l.items[i] = it
			continue
		}
		l.index[it.ID()] = len(l.items)
		l.items = append(l.items, it)
	}
	// Items may be other values with the old IDs.
	l.cache.clear()

	last := max(len(l.items)-1, 0)
	if i, ok := l.index[top]; ok {
		l.top = i
	} else {
		l.top, l.off = min(l.top, last), 0
	}
	if i, ok := l.index[sel]; ok {
		l.sel = i
	} else {
		l.sel = min(l.sel, last)
	}
	l.seen = len(l.items)
	if i, ok := l.index[seen]; ok {
		l.seen = i + 1
	}
}

func (l *List) reindex(from int) {
	for i := from; i < len(l.items); i++ {
		l.index[l.items[i].ID()] = i
	}
}

// Resize sets the size in cells. The first visible item stays in view, at about
// the place where it was; so does the selected one if it was visible.
func (l *List) Resize(width, height int) {
	width, height = max(width, 1), max(height, 0)
	if width == l.width && height == l.height {
		return
	}
	l.settle()
	keep := l.selecting && l.visible(l.sel)
	if len(l.items) > 0 && width != l.width && l.off > 0 {
		before := l.rows(l.top)
		l.width = width
		l.off = l.off * l.rows(l.top) / max(before, 1)
	}
	l.width, l.height = width, height
	if keep {
		l.reveal(l.sel)
	}
}

// Invalidate forgets everything rendered, after a change of theme say.
func (l *List) Invalidate() { l.cache.clear() }
