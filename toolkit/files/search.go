package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"chela/toolkit/guard"
)

// Limits of one search.
const (
	maxSearched = 32 << 20 // bytes of one file
	keptBuffer  = 4 << 20  // bytes of a buffer that is used again
	maxContent  = 300      // characters shown of a matching line
)

// search collects the matches of one call. Files arrive from several
// goroutines in no order; what is kept is the first matches by path and line,
// so that the result does not depend on the order.
type search struct {
	matcher *matcher
	globs   *globs
	root    string
	context int
	most    int // matches to keep

	buffers sync.Pool

	mu      sync.Mutex
	found   []fileMatches
	kept    int    // matches in found
	beyond  string // files after this path cannot be among the first; "" is none
	total   int
	files   int
	binary  int
	secret  int
	large   int
	failed  int
	ignored int64
	full    bool
}

type fileMatches struct {
	path    string
	matches []Match
}

func (s *search) walk(ctx context.Context, f *guard.FS) error {
	stats, err := f.Walk(ctx, guard.WalkOptions{Root: s.root, Gitignore: true, SkipDeps: true}, s.visit)
	s.ignored, s.full = stats.Ignored, stats.Full
	s.failed += int(stats.Failed)
	return err
}

func (s *search) visit(e *guard.Entry) error {
	if e.Type != 0 || !s.globs.match(e.Path, belowOf(e.Path, s.root), e.Name()) {
		return nil
	}
	if e.Rule != "" {
		s.count(&s.secret)
		return nil
	}
	buf, _ := s.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	data, more, err := e.ReadInto(*buf, maxSearched)
	if cap(data) <= keptBuffer {
		*buf = data[:0]
		defer s.buffers.Put(buf)
	}
	switch {
	case err != nil:
		if !errors.Is(err, guard.ErrNotRegular) {
			s.count(&s.failed)
		}
		return nil
	case guard.IsBinary(data):
		s.count(&s.binary)
		return nil
	case more:
		s.count(&s.large)
	}
	s.count(&s.files)
	s.take(e.Path, data)
	return nil
}

func (s *search) count(n *int) {
	s.mu.Lock()
	*n++
	s.mu.Unlock()
}

// take finds the matches of one file.
func (s *search) take(rel string, data []byte) {
	s.mu.Lock()
	keep := s.beyond == "" || rel < s.beyond
	s.mu.Unlock()
	var list []Match
	total, line, counted := 0, 1, 0
	s.matcher.lines(data, func(start, end int) bool {
		total++
		if keep && len(list) < s.most {
			line += bytes.Count(data[counted:start], []byte{'\n'})
			counted = start
			list = append(list, s.match(rel, data, line, start, end))
		}
		return true
	})
	if total == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += total
	if len(list) > 0 {
		s.found = append(s.found, fileMatches{rel, list})
		s.kept += len(list)
		if s.kept > 4*s.most {
			s.prune()
		}
	}
}

// prune drops the files that cannot be among the first matches any more.
func (s *search) prune() {
	slices.SortFunc(s.found, func(a, b fileMatches) int { return strings.Compare(a.path, b.path) })
	n := 0
	for i, f := range s.found {
		if n += len(f.matches); n >= s.most {
			clear(s.found[i+1:])
			s.found, s.kept = s.found[:i+1], n
			s.beyond = f.path
			return
		}
	}
}

// sorted returns the first matches by path and line.
func (s *search) sorted() []Match {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(s.found, func(a, b fileMatches) int { return strings.Compare(a.path, b.path) })
	var out []Match
	for _, f := range s.found {
		out = append(out, f.matches[:min(len(f.matches), s.most-len(out))]...)
	}
	return out
}

func (s *search) match(rel string, data []byte, line, start, end int) Match {
	m := Match{File: rel, Line: line, Content: s.excerpt(data[start:end]), Before: []string{}, After: []string{}}
	for at := start; len(m.Before) < s.context && at > 0; {
		from, to, _ := lineAround(data, at-1)
		m.Before = append(m.Before, clip(data[from:to]))
		at = from
	}
	slices.Reverse(m.Before)
	_, _, at := lineAround(data, start)
	for len(m.After) < s.context && at < len(data) {
		from, to, next := lineAround(data, at)
		m.After = append(m.After, clip(data[from:to]))
		at = next
	}
	return m
}

// excerpt is a matching line; of a very long one the part around the match.
func (s *search) excerpt(line []byte) string {
	if len(line) <= maxContent {
		return guard.ToText(line)
	}
	loc := s.matcher.re.FindIndex(line)
	if loc == nil || loc[0] < maxContent/2 {
		return clip(line)
	}
	from := loc[0] - maxContent/3
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	return fmt.Sprintf("[%d bytes] %s", from, clip(line[from:]))
}

func clip(line []byte) string {
	if len(line) <= maxContent {
		return guard.ToText(line)
	}
	n := maxContent
	for n > 0 && !utf8.RuneStart(line[n]) {
		n--
	}
	return fmt.Sprintf("%s [+%d bytes]", guard.ToText(line[:n]), len(line)-n)
}

// notes say what was not searched. Ignored folders are only worth a word when
// nothing was found.
func (s *search) notes(nothing bool) []string {
	var out []string
	add := func(n int, one, many string) {
		if n > 0 {
			out = append(out, plural(n, one, many))
		}
	}
	add(s.secret, "protected file was not searched", "protected files were not searched")
	add(s.large, "file is so large that only its beginning was searched", "files are so large that only their beginning was searched")
	add(s.failed, "file or folder could not be read", "files or folders could not be read")
	if nothing {
		add(s.binary, "binary file was not searched", "binary files were not searched")
		if s.ignored > 0 {
			out = append(out, "ignored and dependency folders were left out; give one as path to search it")
		}
	}
	if s.full {
		out = append(out, "the folder has too many entries; not all were searched")
	}
	return out
}
