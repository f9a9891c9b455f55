package files

import (
	"regexp"
	"strings"
)

// copiedNumber is the prefix that read_file puts before a line, and its
// relatives from other programs ("12: ", "12 | ").
var copiedNumber = regexp.MustCompile(`^[ \t]*\d+(?:\t|: ?| ?\| ?)`)

// stripNumbers removes copied line numbers if every line that is not blank has
// one.
func stripNumbers(s string) (string, bool) {
	lines := strings.Split(s, "\n")
	found := false
	for i, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		m := copiedNumber.FindString(l)
		if m == "" {
			return s, false
		}
		lines[i], found = l[len(m):], true
	}
	return strings.Join(lines, "\n"), found
}

// sameTrailing ignores blanks at the ends of lines.
func sameTrailing(file, old []string) bool {
	for i := range old {
		if strings.TrimRight(file[i], " \t") != strings.TrimRight(old[i], " \t") {
			return false
		}
	}
	return true
}

// sameShift also ignores an indent that all lines of one side have in addition.
func sameShift(file, old []string) bool {
	_, _, ok := shift(file, old)
	return ok
}

// shift finds the indent that must be added to, or removed from, old's lines to
// get the file's.
func shift(file, old []string) (add, remove string, ok bool) {
	known := false
	for i := range old {
		f, o := strings.TrimRight(file[i], " \t"), strings.TrimRight(old[i], " \t")
		if f == "" && o == "" {
			continue
		}
		if f == "" || o == "" {
			return "", "", false
		}
		fi, oi := indentOf(f), indentOf(o)
		if f[len(fi):] != o[len(oi):] {
			return "", "", false
		}
		var a, r string
		switch {
		case strings.HasSuffix(fi, oi):
			a = fi[:len(fi)-len(oi)]
		case strings.HasSuffix(oi, fi):
			r = oi[:len(oi)-len(fi)]
		default:
			return "", "", false
		}
		if known && (a != add || r != remove) {
			return "", "", false
		}
		add, remove, known = a, r, true
	}
	return add, remove, known
}

func indentOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }

// keepIndent takes the replacement as it is.
func keepIndent(_, _, with []string) []string { return with }

// shiftIndent shifts the replacement like the match.
func shiftIndent(file, old, with []string) []string {
	add, remove, ok := shift(file, old)
	if !ok {
		return with
	}
	out := make([]string, len(with))
	for i, l := range with {
		switch {
		case strings.TrimSpace(l) == "":
			out[i] = l
		case remove != "":
			out[i] = strings.TrimPrefix(l, remove)
		default:
			out[i] = add + l
		}
	}
	return out
}

// sameWords ignores all white space but the line ends.
func sameWords(file, old []string) bool {
	for i := range old {
		if !equalWords(file[i], old[i]) {
			return false
		}
	}
	return true
}

func equalWords(a, b string) bool {
	for {
		a, b = strings.TrimLeft(a, " \t"), strings.TrimLeft(b, " \t")
		i, j := strings.IndexAny(a, " \t"), strings.IndexAny(b, " \t")
		if i < 0 {
			i = len(a)
		}
		if j < 0 {
			j = len(b)
		}
		if a[:i] != b[:j] {
			return false
		}
		if a == "" && b == "" {
			return true
		}
		a, b = a[i:], b[j:]
	}
}

// mapIndent gives each line of the replacement the indent that the file has
// where old had the same one; deeper lines keep what they have beyond it.
func mapIndent(file, old, with []string) []string {
	known := map[string]string{}
	for i := range old {
		if strings.TrimSpace(old[i]) == "" {
			continue
		}
		if _, ok := known[indentOf(old[i])]; !ok {
			known[indentOf(old[i])] = indentOf(file[i])
		}
	}
	out := make([]string, len(with))
	for i, l := range with {
		out[i] = l
		if strings.TrimSpace(l) == "" {
			continue
		}
		in := indentOf(l)
		for n := len(in); n >= 0; n-- {
			if to, ok := known[in[:n]]; ok {
				out[i] = to + in[n:] + l[len(in):]
				break
			}
		}
	}
	return out
}

// unescape resolves the escape sequences that models leave in arguments which
// they encoded twice.
func unescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`, `\'`, `'`, "\\`", "`").Replace(s)
}
