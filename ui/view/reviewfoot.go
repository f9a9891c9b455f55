package view

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"chela/ui/intent"
)

// foot is what stands below the text of a review: where one is in it and what
// is not possible yet, and the keys that decide.
func (r *Review) foot(w, h int) []string {
	if h <= 0 {
		return nil
	}
	var out []string
	if h >= withAir {
		out = append(out, "")
	}
	if h >= withReason {
		out = append(out, r.place(w))
	}
	most := 1
	switch {
	case h >= threeKeyLines:
		most = 3
	case h >= twoKeyLines:
		most = 2
	}
	return append(out, r.keys(w, most)...)
}

// place is the hunk that the review is at, and whether the call can be allowed
// or why not yet, which comes first where there is no room for both.
func (r *Review) place(w int) string {
	left, right := "", r.st.Faint.Render("seen to the end")
	if n := r.preview.hunks(); n > 1 && r.tab == tabPreview {
		left = r.st.Faint.Render(fmt.Sprintf("hunk %d of %d", r.hunk+1, n))
	}
	if why := r.Disabled(intent.Approve); why != "" {
		right = r.st.Warn.Render(why)
	}
	if line := ends(" "+left, w-1, right); line != " "+left {
		return line
	}
	return " " + right
}

// keys draws the keys that decide in at most most lines, with their verbs if
// there is room. Those that cannot act are dim. The keys alone always fit.
func (r *Review) keys(w, most int) []string {
	var long, short []string
	for _, b := range intent.ForScopes([]intent.Scope{intent.Review, intent.Global}) {
		if !b.Intent.Decides() && b.Intent != intent.Back {
			continue
		}
		key, verb := r.st.Key, r.st.KeyHint
		if r.Disabled(b.Intent) != "" {
			key, verb = r.st.Disabled, r.st.Disabled
		}
		k := key.Render(intent.Show(b.Keys[0]))
		short = append(short, k)
		long = append(long, k+" "+verb.Render(b.Verb))
	}
	if lines := flow(long, "   ", w-1); len(lines) <= most {
		return lines
	}
	return flow(short, " ", w-1)[:1]
}

// flow fills lines of w cells with pieces. A piece never breaks.
func flow(pieces []string, gap string, w int) []string {
	var lines []string
	line, used := "", 0
	for _, p := range pieces {
		n := ansi.StringWidth(p)
		if line != "" && used+len(gap)+n > w {
			lines = append(lines, line)
			line, used = "", 0
		}
		if line == "" {
			line = " " + p
		} else {
			line += gap + p
			used += len(gap)
		}
		used += n
	}
	if strings.TrimSpace(line) != "" {
		lines = append(lines, line)
	}
	return lines
}
