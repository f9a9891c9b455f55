package pocket

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Token types of the GGUF format (llama_token_type in llama.h).
const (
	typeControl     = 3
	typeUserDefined = 4
)

// tokenizer maps text to tokens as llama.cpp does for a byte-level vocabulary
// without merges: control and user-defined tokens are found in the text, each
// other byte is one token. Decoding an encoded text gives the text back, byte
// for byte. It is read-only and safe for concurrent use.
type tokenizer struct {
	text  []string // text[id] is what the token stands for
	bytes [256]int // bytes[b] is the token of byte b
	marks []mark   // longest first, the order in which llama.cpp cuts a text
	eos   int
}

type mark struct {
	text string
	id   int
}

func newTokenizer(tokens []string, types []int32, eos int) (*tokenizer, error) {
	if len(tokens) != len(types) {
		return nil, fmt.Errorf("the vocabulary has %d tokens and %d token types", len(tokens), len(types))
	}
	if eos < 0 || eos >= len(tokens) {
		return nil, fmt.Errorf("the end token %d is not one of the %d tokens", eos, len(tokens))
	}
	t := &tokenizer{text: make([]string, len(tokens)), eos: eos}
	symbols := byteSymbols()
	for id, s := range tokens {
		switch types[id] {
		case typeControl, typeUserDefined:
			if s == "" {
				return nil, fmt.Errorf("token %d is empty", id)
			}
			t.text[id] = s
			t.marks = append(t.marks, mark{s, id})
		default:
			b, ok := symbols[s]
			if !ok {
				return nil, fmt.Errorf("token %d %q is no byte, or one seen before: only vocabularies without merges can be read", id, s)
			}
			delete(symbols, s)
			t.text[id], t.bytes[b] = string([]byte{b}), id
		}
	}
	if len(symbols) > 0 {
		return nil, fmt.Errorf("the vocabulary lacks %d of the 256 bytes", len(symbols))
	}
	slices.SortStableFunc(t.marks, func(a, b mark) int { return cmp.Compare(len(b.text), len(a.text)) })
	return t, nil
}

// byteSymbols returns GPT-2's table of the characters that stand for bytes:
// printable bytes for themselves, the others in order from U+0100.
func byteSymbols() map[string]byte {
	out, next := make(map[string]byte, 256), rune(256)
	for b := range 256 {
		r := rune(b)
		if r < '!' || r > '~' && r < 0xA1 || r == 0xAD {
			r = next
			next++
		}
		out[string(r)] = byte(b)
	}
	return out
}

// encode returns the tokens of s.
func (t *tokenizer) encode(s string) []int {
	return t.cut(make([]int, 0, len(s)), s, t.marks)
}

// cut appends the tokens of s. Each mark in turn divides what the longer ones
// before it left, which matters where two marks overlap.
func (t *tokenizer) cut(ids []int, s string, marks []mark) []int {
	for i, m := range marks {
		for {
			before, after, found := strings.Cut(s, m.text)
			if !found {
				break
			}
			ids = append(t.cut(ids, before, marks[i+1:]), m.id)
			s = after
		}
	}
	for i := range len(s) {
		ids = append(ids, t.bytes[s[i]])
	}
	return ids
}

// decode returns the text of ids. An id outside the vocabulary is an error.
func (t *tokenizer) decode(ids []int) (string, error) {
	var b strings.Builder
	for _, id := range ids {
		if id < 0 || id >= len(t.text) {
			return "", fmt.Errorf("token %d is not one of the %d tokens of the vocabulary", id, len(t.text))
		}
		b.WriteString(t.text[id])
	}
	return b.String(), nil
}
