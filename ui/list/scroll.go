package list

// Following reports whether the view keeps to the end as content arrives. It
// does so from the start; scrolling up ends it, and reaching the end, by
// [List.End] or by scrolling down, starts it again.
func (l *List) Following() bool { return l.follow }

// NewBelow is the number of items that were added since the view left the end
// and that have not been on screen yet.
func (l *List) NewBelow() int {
	if l.follow {
		return 0
	}
	return max(len(l.items)-l.seen, 0)
}

// ScrollLines moves the view by n lines, up if n is negative.
func (l *List) ScrollLines(n int) {
	if len(l.items) == 0 || n == 0 {
		return
	}
	l.settle()
	if n > 0 {
		if l.follow {
			return
		}
		for l.off += n; l.top < len(l.items)-1 && l.off >= l.rows(l.top); l.top++ {
			l.off -= l.rows(l.top)
		}
		l.arrive()
		return
	}
	l.leave()
	for l.off += n; l.off < 0 && l.top > 0; {
		l.top--
		l.off += l.rows(l.top)
	}
	l.off = max(l.off, 0)
	l.stay()
}

// ScrollPages moves the view by n pages, which overlap by one line. The
// selection comes along as far as it takes to stay in view.
func (l *List) ScrollPages(n int) {
	l.ScrollLines(n * max(l.height-1, 1))
	if l.selecting && len(l.items) > 0 {
		first, last := l.span()
		l.sel = min(max(l.sel, first), last)
	}
}

// ScrollItems moves the view to the start of an item: the n-th below the first
// visible one, or above it if n is negative, where the start of a partly hidden
// first item counts as one.
func (l *List) ScrollItems(n int) {
	if len(l.items) == 0 || n == 0 {
		return
	}
	l.settle()
	if n > 0 {
		if !l.follow {
			l.top, l.off = min(l.top+n, len(l.items)-1), 0
			l.arrive()
		}
		return
	}
	l.leave()
	if l.off > 0 {
		n++
	}
	l.top, l.off = max(l.top+n, 0), 0
	l.stay()
}

// Home shows the start and selects the first item: what a key acts on must be
// on the screen.
func (l *List) Home() {
	if l.selecting {
		l.sel = 0
	}
	l.settle()
	l.leave()
	l.top, l.off = 0, 0
	l.stay()
}

// End shows the end, follows it from now on and selects the last item.
func (l *List) End() {
	if l.selecting {
		l.sel = max(len(l.items)-1, 0)
	}
	l.follow = true
	l.settle()
}

// leave ends following. All that is there now is old news.
func (l *List) leave() {
	if l.follow {
		l.follow = false
		l.seen = len(l.items)
	}
}

// stay is called after a move up: if there was nowhere to go, since all fits,
// the end is still on screen and is still followed.
func (l *List) stay() {
	l.settle()
	if l.top == 0 && l.off == 0 && l.atBottom() {
		l.follow = true
	}
}

// arrive is called after a move down.
func (l *List) arrive() {
	l.settle()
	l.follow = l.atBottom()
}
