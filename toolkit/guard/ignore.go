package guard

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreRules are the compiled lines of one .gitignore file. Plain names and
// "*.ext" lines, which are nearly all lines in practice, cost one map lookup
// each; only the rest is matched as globs. The last line that matches wins.
type ignoreRules struct {
	names    map[string][]int32 // basename without wildcards
	suffixes map[string][]int32 // "*.ext", keyed by ".ext"
	globs    []int32            // the lines that need matching, ascending
	lines    []ignoreLine
}

type ignoreLine struct {
	pattern  string
	negate   bool
	dirOnly  bool
	anchored bool // matches against the path below the file's directory
}

// ignoreNode is the chain of rules that apply in one directory, nearest first.
type ignoreNode struct {
	up    *ignoreNode
	rules *ignoreRules
	base  string // the directory of the file, "" for the workspace
}

// ignored reports whether the entry rel with this base name is ignored.
func (n *ignoreNode) ignored(rel, name string, isDir bool) bool {
	for ; n != nil; n = n.up {
		below := rel
		if n.base != "" {
			below = rel[len(n.base)+1:]
		}
		if line := n.rules.match(below, name, isDir); line != nil {
			return !line.negate
		}
	}
	return false
}

func (r *ignoreRules) match(rel, name string, isDir bool) *ignoreLine {
	best := int32(-1)
	latest := func(ids []int32) {
		for i := len(ids) - 1; i >= 0 && ids[i] > best; i-- {
			if isDir || !r.lines[ids[i]].dirOnly {
				best = ids[i]
				return
			}
		}
	}
	if r.names != nil {
		latest(r.names[name])
	}
	if r.suffixes != nil {
		// Every suffix that starts at a dot may be a key: "*.min.js" too.
		for i := 0; i < len(name); i++ {
			if name[i] == '.' {
				latest(r.suffixes[name[i:]])
			}
		}
	}
	for i := len(r.globs) - 1; i >= 0 && r.globs[i] > best; i-- {
		l := &r.lines[r.globs[i]]
		if l.dirOnly && !isDir {
			continue
		}
		subject := name
		if l.anchored {
			subject = rel
		}
		if doublestar.MatchUnvalidated(l.pattern, subject) {
			best = r.globs[i]
			break
		}
	}
	if best < 0 {
		return nil
	}
	return &r.lines[best]
}

// parseIgnore compiles the text of a .gitignore file (gitignore(5)). Lines that
// are no valid pattern match nothing, as in git. It returns nil for no patterns.
func parseIgnore(text string) *ignoreRules {
	r := &ignoreRules{}
	text = strings.TrimPrefix(text, "\uFEFF")
	for raw := range strings.SplitSeq(text, "\n") {
		line, plain, ok := parseIgnoreLine(strings.TrimSuffix(raw, "\r"))
		if !ok {
			continue
		}
		id := int32(len(r.lines))
		r.lines = append(r.lines, line)
		switch {
		case plain != "":
			if r.names == nil {
				r.names = map[string][]int32{}
			}
			r.names[plain] = append(r.names[plain], id)
		case !line.anchored && strings.HasPrefix(line.pattern, "*.") && !strings.ContainsAny(line.pattern[1:], `*?[\{`):
			if r.suffixes == nil {
				r.suffixes = map[string][]int32{}
			}
			r.suffixes[line.pattern[1:]] = append(r.suffixes[line.pattern[1:]], id)
		default:
			r.globs = append(r.globs, id)
		}
	}
	if len(r.lines) == 0 {
		return nil
	}
	return r
}

// parseIgnoreLine translates one line into a doublestar pattern; plain is the
// name when the line is a basename without wildcards.
func parseIgnoreLine(s string) (line ignoreLine, plain string, ok bool) {
	s = trimIgnoreSpace(s)
	if s == "" || s[0] == '#' {
		return line, "", false
	}
	if s[0] == '!' {
		line.negate, s = true, s[1:]
	}
	if strings.HasSuffix(s, "/") {
		line.dirOnly, s = true, strings.TrimSuffix(s, "/")
	}
	line.anchored = strings.Contains(s, "/")
	s = strings.TrimPrefix(s, "/")
	if s == "" {
		return line, "", false
	}
	if rest, found := strings.CutPrefix(s, "**/"); found && !strings.Contains(rest, "/") {
		s, line.anchored = rest, false
	}
	if !line.anchored && !strings.ContainsAny(s, `*?[\`) {
		return line, s, true
	}
	// doublestar has alternatives in braces, which gitignore has not.
	s = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(s)
	if strings.HasSuffix(s, "/**") {
		s += "/*" // everything below, but not the directory itself
	}
	line.pattern = s
	return line, "", doublestar.ValidatePattern(s)
}

// trimIgnoreSpace drops trailing spaces that no backslash protects.
func trimIgnoreSpace(s string) string {
	end := len(s)
	for end > 0 && (s[end-1] == ' ' || s[end-1] == '\t') {
		if end > 1 && s[end-2] == '\\' {
			break
		}
		end--
	}
	return s[:end]
}
