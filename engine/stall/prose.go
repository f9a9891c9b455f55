package stall

import (
	"strings"
)

// prose is the text outside code fences, with a mark where a fence stood: what
// stands in code says nothing about what the model means to do. Reading stops
// at mostProse bytes from the end, since the end is what matters.
func prose(text string) string {
	if len(text) > mostProse {
		text = strings.ToValidUTF8(text[len(text)-mostProse:], "")
	}
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			if fenced = !fenced; !fenced {
				b.WriteString(fenceMark + "\n")
			}
			continue
		}
		if !fenced {
			b.WriteString(line)
		}
	}
	if fenced {
		b.WriteString(fenceMark)
	}
	return strings.TrimSpace(strings.ReplaceAll(b.String(), "’", "'"))
}

const (
	mostProse = 16 << 10
	fenceMark = "\x00"
)

// sentenceEnd splits prose into sentences. A dot inside "main.go" is none.
var sentenceEnd = compiled(`[.!?。！？]+["')*_]*\s+|\n+`)

// sentencesOf are the sentences of prose, with their marks, without blank ones.
func sentencesOf(p string) []string {
	var out []string
	at := 0
	for _, m := range sentenceEnd().FindAllStringIndex(p, -1) {
		if s := strings.TrimSpace(p[at:m[1]]); s != "" {
			out = append(out, s)
		}
		at = m[1]
	}
	if s := strings.TrimSpace(p[at:]); s != "" {
		out = append(out, s)
	}
	return out
}

func lastSentence(p string) string {
	all := sentencesOf(p)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// shell is a fence of commands.
var shell = compiled("(?m)^\\s*```(bash|sh|shell|zsh|console|powershell|cmd)\\s*$")

// showsCommand reports whether an answer shows commands where it should have run
// them.
func showsCommand(text string) bool { return shell.MatchString(text) }
