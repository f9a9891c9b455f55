package pocket

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func modelTokenizer(t testing.TB) *tokenizer {
	t.Helper()
	f, err := openFile()
	if err != nil {
		t.Fatal(err)
	}
	return f.tok
}

func TestMarksAreOneToken(t *testing.T) {
	t.Parallel()
	tok := modelTokenizer(t)
	for _, c := range []struct {
		name, text string
		want       []int
	}{
		{"empty", "", []int{}},
		{"a byte each", "a\n\xc3\xa9", []int{'a', '\n', 0xc3, 0xa9}},
		{"control", "<|user|>hi<|assistant|>", []int{258, 'h', 'i', 259}},
		{"part of a mark", "<|user|", []int{'<', '|', 'u', 's', 'e', 'r', '|'}},
		{"marks side by side", `<tool_call>{"name": "", "arguments": {}}</tool_call><|end|>`, []int{261, 262, 263, 257}},
		{"of overlapping marks the longer wins", `<tool_call>{"name": ", "arguments": {`, append([]int{261}, bytesOf(`, "arguments": {`)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, tok.encode(c.text)); d != "" {
				t.Errorf("encode(%q) (-want +got):\n%s", c.text, d)
			}
		})
	}
}

func bytesOf(s string) []int {
	var ids []int
	for i := range len(s) {
		ids = append(ids, int(s[i]))
	}
	return ids
}

func TestDecodeRefusesForeignTokens(t *testing.T) {
	t.Parallel()
	tok := modelTokenizer(t)
	for _, id := range []int{-1, 264, 1 << 40} {
		if s, err := tok.decode([]int{'a', id}); err == nil {
			t.Errorf("decode of token %d gave %q, want an error", id, s)
		}
	}
}

func TestVocabulariesThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	tokens := func() ([]string, []int32) {
		list, types := make([]string, 257), make([]int32, 257)
		for s, b := range byteSymbols() {
			list[b], types[b] = s, 1
		}
		list[256], types[256] = "<|end|>", typeControl
		return list, types
	}
	if list, types := tokens(); true {
		if _, err := newTokenizer(list, types, 256); err != nil {
			t.Fatalf("a sound vocabulary was refused: %v", err)
		}
	}
	for name, spoil := range map[string]func(list []string, types []int32) ([]string, []int32, int){
		"a merge":         func(l []string, ty []int32) ([]string, []int32, int) { return append(l, "ab"), append(ty, 1), 256 },
		"a byte twice":    func(l []string, ty []int32) ([]string, []int32, int) { l['b'] = l['a']; return l, ty, 256 },
		"a byte missing":  func(l []string, ty []int32) ([]string, []int32, int) { return l[1:], ty[1:], 255 },
		"no end token":    func(l []string, ty []int32) ([]string, []int32, int) { return l, ty, 257 },
		"an empty mark":   func(l []string, ty []int32) ([]string, []int32, int) { l[256] = ""; return l, ty, 256 },
		"too few types":   func(l []string, ty []int32) ([]string, []int32, int) { return l, ty[1:], 256 },
		"a negative end":  func(l []string, ty []int32) ([]string, []int32, int) { return l, ty, -1 },
		"nothing":         func([]string, []int32) ([]string, []int32, int) { return nil, nil, 0 },
		"an unknown byte": func(l []string, ty []int32) ([]string, []int32, int) { l['a'] = ""; return l, ty, 256 },
	} {
		t.Run(name, func(t *testing.T) {
			list, types, eos := spoil(tokens())
			if _, err := newTokenizer(list, types, eos); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

func TestEncodingLosesNothing(t *testing.T) {
	t.Parallel()
	tok := modelTokenizer(t)
	pieces := []string{"", "é", "\x00", "\xff", `"`, "<", ">", "|", "{", "}"}
	for _, m := range tok.marks {
		pieces = append(pieces, m.text, m.text[:len(m.text)/2], m.text[len(m.text)/2:])
	}
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, tok, strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String())).Draw(t, "text"), ""))
	})
}

func FuzzTokenizer(f *testing.F) {
	tok := modelTokenizer(f)
	f.Add("")
	f.Add("read main.go")
	f.Add(`<tool_call>{"name": "", "arguments": {}}</tool_call>`)
	f.Add("<|<|user|>\xff\xc3")
	f.Fuzz(func(t *testing.T, s string) { roundTrip(t, tok, s) })
}

func roundTrip(t interface{ Fatalf(string, ...any) }, tok *tokenizer, s string) {
	ids := tok.encode(s)
	got, err := tok.decode(ids)
	if err != nil {
		t.Fatalf("decode(encode(%q)): %v", s, err)
	}
	if got != s {
		t.Fatalf("decode(encode(%q)) = %q", s, got)
	}
	if n := strings.Count(s, tok.text[tok.eos]); n != count(ids, tok.eos) {
		t.Fatalf("%q holds %d end marks, its tokens %d", s, n, count(ids, tok.eos))
	}
}

func count(ids []int, id int) int {
	n := 0
	for _, x := range ids {
		if x == id {
			n++
		}
	}
	return n
}
