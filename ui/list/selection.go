package list

// SetSelecting turns the selection on or off. Turned on, it is where it was, if
// that is on screen, else on the last visible item of a list that follows, or
// on the first visible one.
func (l *List) SetSelecting(on bool) {
	if on == l.selecting {
		return
	}
	l.selecting = on
	if !on || len(l.items) == 0 {
		return
	}
	l.settle()
	if first, last := l.span(); l.sel < first || l.sel > last {
		l.sel = first
		if l.follow {
			l.sel = last
		}
	}
}

// Selected returns the selected item.
func (l *List) Selected() (Item, bool) {
	if !l.selecting || l.sel >= len(l.items) {
		return nil, false
	}
	return l.items[l.sel], true
}

// Select selects the item with the ID, brings it into view and reports whether
// there is one. It turns the selection on.
func (l *List) Select(id string) bool {
	i, ok := l.index[id]
	if !ok {
		return false
	}
	l.selecting = true
	l.choose(i)
	return true
}

// Move moves the selection by n items, up if n is negative, as far as there are
// items, and keeps it in view. The list follows its end only while the last
// item is selected.
func (l *List) Move(n int) {
	if !l.selecting || len(l.items) == 0 {
		return
	}
	if i := min(max(l.sel+n, 0), len(l.items)-1); i != l.sel {
		l.choose(i)
	}
}

func (l *List) choose(i int) {
	l.settle()
	l.sel = i
	l.reveal(i)
	if i < len(l.items)-1 {
		l.leave()
	} else {
		l.follow = l.atBottom()
	}
}

// reveal moves the view as little as it takes to show item i: all of it, or its
// start if it is higher than the view.
func (l *List) reveal(i int) {
	l.settle()
	if i < l.top || i == l.top && l.off > 0 {
		l.leave()
		l.top, l.off = i, 0
		l.settle()
		return
	}
	end := -l.off
	for j := l.top; j <= i && end <= l.height; j++ {
		end += l.rows(j)
	}
	if end <= l.height {
		return
	}
	if l.rows(i) >= l.height {
		l.leave()
		l.top, l.off = i, 0
		l.settle()
		return
	}
	l.bottomAt(i)
}
