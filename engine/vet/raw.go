package vet

import (
	"strings"
	"unicode/utf8"

	"github.com/ollama/ollama/api"

	"chela/engine/rescue"
)

// RawText joins the tokens of an answer. It is exact unless a character was
// lost: one that is split over two tokens does not survive the way here, and
// U+FFFD stands in its place. A model that really wrote U+FFFD makes it inexact
// too, which only costs the use of its values.
func RawText(tokens []string) (text string, exact bool) {
	text = strings.Join(tokens, "")
	return text, utf8.ValidString(text) && !strings.ContainsRune(text, utf8.RuneError)
}

// Raw joins the tokens of an answer's logprobs, in the order they came. Where
// the server gives a token's bytes and they hold more than its text, they
// count: a character that was split is whole again.
func Raw(tokens []api.Logprob) (text string, exact bool) {
	parts := make([]string, len(tokens))
	for i, t := range tokens {
		parts[i] = t.Token
		if strings.ContainsRune(t.Token, utf8.RuneError) || !utf8.ValidString(t.Token) {
			if b, ok := bytesOf(t.Bytes); ok {
				parts[i] = b
			}
		}
	}
	return RawText(parts)
}

func bytesOf(ints []int) (string, bool) {
	b := make([]byte, len(ints))
	for i, n := range ints {
		if n < 0 || n > 255 {
			return "", false
		}
		b[i] = byte(n)
	}
	return string(b), len(b) > 0
}

// Recovered is what a dropped answer was.
type Recovered struct {
	Calls []rescue.Call // each found in the text: it is rescued, and as doubtful
	Text  string        // for the reader, without the calls; empty if it is not known
	Why   string        // for people
}

// Lost reports whether the server dropped an answer: tokens were generated, and
// no text, no thinking and no call arrived. With the raw text it is read again.
// A call whose arguments lost characters is not taken.
func Lost(in Input) (Recovered, bool) {
	if in.Tokens <= 0 || len(in.Calls) > 0 || strings.TrimSpace(in.Text) != "" || strings.TrimSpace(in.Thinking) != "" {
		return Recovered{}, false
	}
	out := Recovered{Why: "the server dropped what the model wrote"}
	if strings.TrimSpace(in.Raw) == "" {
		if in.Raw == "" {
			out.Why += ", and the raw text is not known"
		}
		return out, true
	}
	r := rescue.Parse(in.Raw, rescue.Options{Tools: in.Specs, Done: in.Done})
	out.Text = r.Text
	for _, c := range r.Calls {
		if !in.RawExact && strings.ContainsRune(string(c.Args), utf8.RuneError) {
			out.Why += "; a call of " + c.Name + " lost characters on the way and is not taken"
			continue
		}
		out.Calls = append(out.Calls, c)
	}
	if len(out.Calls) == 0 && len(r.Calls) > 0 {
		out.Text = ""
	}
	return out, true
}
