package list

import "strings"

// Lines returns what is visible: exactly as many lines as the list is high.
// Below the last item, if everything fits, they are empty.
func (l *List) Lines() []string {
	l.settle()
	out := make([]string, 0, l.height)
	skip := l.off
	last := l.top
	for i := l.top; i < len(l.items) && len(out) < l.height; i++ {
		lines := l.lines(i)
		lines = lines[min(skip, len(lines)):]
		skip = 0
		out = append(out, lines[:min(len(lines), l.height-len(out))]...)
		last = i
	}
	if len(l.items) > 0 {
		l.seen = max(l.seen, last+1)
	}
	for len(out) < l.height {
		out = append(out, "")
	}
	l.trim(MaxCached)
	return out
}

// View is [List.Lines] as one string.
func (l *List) View() string { return strings.Join(l.Lines(), "\n") }

// ItemAt returns the index of the item that is drawn in line y of the view and
// which of its lines that is.
func (l *List) ItemAt(y int) (index, line int, ok bool) {
	if y < 0 || y >= l.height {
		return 0, 0, false
	}
	l.settle()
	y += l.off
	for i := l.top; i < len(l.items); i++ {
		n := l.rows(i)
		if y < n {
			return i, y, true
		}
		y -= n
	}
	return 0, 0, false
}

// Visible returns the indexes of the first and last item that are at least
// partly on screen; ok is false when there is none.
func (l *List) Visible() (first, last int, ok bool) {
	if len(l.items) == 0 || l.height == 0 {
		return 0, 0, false
	}
	l.settle()
	first, last = l.span()
	return first, last, true
}

func (l *List) lines(i int) []string {
	return l.cache.get(l.items[i], l.width, l.selecting && i == l.sel)
}

func (l *List) rows(i int) int { return len(l.lines(i)) }

// span returns the items that the viewport touches, without settling it.
func (l *List) span() (first, last int) {
	first, last = l.top, l.top
	room := l.height + l.off
	for i := l.top; i < len(l.items) && room > 0; i++ {
		room -= l.rows(i)
		last = i
	}
	return first, last
}

func (l *List) visible(i int) bool {
	first, last := l.span()
	return len(l.items) > 0 && i >= first && i <= last
}

// settle brings the position back into what is possible after items have
// changed. It costs as much as what is visible.
func (l *List) settle() {
	if len(l.items) == 0 {
		l.top, l.off, l.sel, l.seen = 0, 0, 0, 0
		return
	}
	if l.follow {
		l.bottomAt(len(l.items) - 1)
		return
	}
	l.top = min(max(l.top, 0), len(l.items)-1)
	l.off = min(max(l.off, 0), max(l.rows(l.top)-1, 0))
	if below, all := l.below(); all && below < l.height {
		l.bottomAt(len(l.items) - 1)
	}
}

// below counts the lines from the top of the viewport on, up to one more than
// fit; all says that the end was reached.
func (l *List) below() (n int, all bool) {
	n = -l.off
	for i := l.top; i < len(l.items); i++ {
		n += l.rows(i)
		if n > l.height {
			return n, false
		}
	}
	return n, true
}

// bottomAt moves the viewport so that item i ends in its last line, or to the
// start if there is not enough above it.
func (l *List) bottomAt(i int) {
	need := l.height
	for ; i >= 0; i-- {
		n := l.rows(i)
		if n >= need {
			l.top, l.off = i, n-need
			if l.off == n && n > 0 { // no height: keep the item's last line
				l.off = n - 1
			}
			return
		}
		need -= n
	}
	l.top, l.off = 0, 0
}

func (l *List) atBottom() bool {
	_, all := l.below()
	return all
}
