package rescue

import "strings"

// harmonyMarks reads a call of gpt-oss with its marks, in whatever order the
// header came.
func (s *scanner) harmonyMarks(i int) (envelope, bool) {
	switch name, _ := s.mark(i); name {
	case "start", "channel", "constrain", "message":
		return s.harmony(i)
	}
	return envelope{}, false
}

// harmonyPlain reads one whose marks were lost: commentary to=functions.NAME
// json{...}. Only these words tell it from prose.
func (s *scanner) harmonyPlain(i int) (envelope, bool) {
	word, _ := s.ident(i)
	if _, ok := headerWords[word]; ok || s.has(i, "to=functions.") {
		return s.harmony(i)
	}
	return envelope{}, false
}

// gluedHeader does not occur in prose.
const gluedHeader = "assistantcommentary to=functions."

// headerWords are what a header holds beside marks and the recipient.
var headerWords = map[string]bool{
	"assistant": true, "commentary": true, "analysis": true, "assistantcommentary": true, "assistantanalysis": true,
	"json": true, "code": true,
}

// maxHeader is how many words and marks a header may have.
const maxHeader = 12

func (s *scanner) harmony(i int) (envelope, bool) {
	e := envelope{family: Harmony, span: span{i, i}}
	recipient := ""
	for range maxHeader {
		at := s.space(i)
		if at >= len(s.text) {
			return e, false
		}
		if mark, end := s.mark(at); mark != "" {
			i = end
			continue
		}
		if s.text[at] == '{' {
			if recipient == "" {
				return e, false
			}
			named, ok := s.named(Harmony, recipient, at)
			return named, ok
		}
		word, end := s.ident(at)
		switch {
		case word == "to" && s.has(end, "="):
			recipient, end = s.ident(end + 1)
			recipient = strings.TrimPrefix(recipient, "functions.")
		case !headerWords[word]:
			return e, false
		}
		i = end
	}
	return e, false
}
