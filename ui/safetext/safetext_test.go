package safetext_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"chela/ui/safetext"
)

// variants are all functions whose result goes to the screen.
var variants = map[string]func(string) string{
	"Line":    safetext.Line,
	"Block":   safetext.Block,
	"Command": safetext.Command,
	"Review":  safetext.Review,
	"Title":   safetext.Title,
	"ASCII":   safetext.ASCII,
}

// harmful returns the first rune of s that must never reach a terminal.
func harmful(s string, newlines bool) (rune, bool) {
	for i, r := range s {
		if r >= 0x20 && r < 0x7f {
			continue
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return r, true
			}
		}
		if r == '\n' && newlines {
			continue
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) || !unicode.IsGraphic(r) {
			return r, true
		}
		switch {
		case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2800,
			r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
			return r, true
		}
	}
	return 0, false
}

func TestNoRuneOfAForbiddenCategoryGetsThrough(t *testing.T) {
	for name, f := range variants {
		multi := name == "Block" || name == "Command" || name == "Review"
		step := rune(64)
		if name == "Title" {
			step = 8 // what is cut off a title is not tested
		}
		for lo := rune(0); lo <= unicode.MaxRune; lo += step {
			if name != "Block" && lo > 0x30000 && lo < 0xe0000 || name == "Review" {
				continue // unassigned planes, and a variant of Block: once is enough
			}
			var in strings.Builder
			for r := lo; r < lo+step; r++ {
				in.WriteString("a" + string(r)) // a surrogate becomes U+FFFD; see the bytes below
			}
			if bad, found := harmful(f(in.String()), multi); found {
				t.Fatalf("%s lets U+%04X through in %q", name, bad, f(in.String()))
			}
		}
		for c := range 256 {
			in := "a" + string([]byte{byte(c)}) + "b\xed\xa0\x80"
			if bad, found := harmful(f(in), multi); found {
				t.Fatalf("%s lets U+%04X through for byte %#x", name, bad, c)
			}
		}
	}
}

var hostile = []string{
	"\x1b]52;c;cm0gLXJmIH4=\x07",              // clipboard write
	"\x1b]52;c;?\x1b\\",                       // clipboard read
	"\x1b]0;title\x07",                        // title
	"\x1b]0;never ends and swallows the rest", // unterminated
	"\x1b]8;;https://evil.example\x1b\\good.example\x1b]8;;\x1b\\",
	"\x1b[6n", "\x1b[c", "\x1b[>q", "\x1b[21t", // queries that answer as keys
	"\x1bP$qm\x1b\\",      // DECRQSS
	"\x1bP1;2;never ends", // DCS unterminated
	"\x1b_Ga=T;AAAA\x1b\\",
	"\x1b^private\x1b\\", "\x1bXsos\x1b\\",
	"\x1bc", "\x1b[2J\x1b[H", "\x1b[?1049h", "\x1b[?1003h", "\x1b(0",
	"\x1b[8mhidden\x1b[m", "\x1b[38;2;0;0;0m",
	"\u009b31m", "\u009d52;c;?\u009c", "\u0090q\u009c", "\x9b31m",
	"\x1b[", "\x1b", "\x1b]", "\x1bP",
	"rm -rf /\rls     ", "a\b\b\bb", "x\x7f\x7f", "\a\a\a", "\x00",
	"rm \u202e txt.exe", "\u2066a\u2069", "a\u200bb", "\U000e0041\U000e0042", "\u2028\u2029",
	"\U0001f468\u200d\U0001f469", "\ufeffx", "soft\u00adhyphen", "a\ufe0f", "\u3164",
}

func TestHostileSequencesAreShownInsteadOfObeyed(t *testing.T) {
	for _, seq := range hostile {
		text := "before " + seq + " after"
		for name, f := range variants {
			got := f(text)
			if bad, found := harmful(got, name != "Line" && name != "Title"); found {
				t.Errorf("%s(%q) holds U+%04X", name, text, bad)
			}
			if !strings.HasPrefix(got, "before ") || !strings.Contains(got, "after") {
				t.Errorf("%s(%q) = %q: the text around the sequence is gone", name, text, got)
			}
			if ansi.Strip(got) != got {
				t.Errorf("%s(%q) = %q still holds an escape sequence", name, text, got)
			}
		}
		for cut := range seq {
			if bad, found := harmful(safetext.Block(seq[:cut])+safetext.Block(seq[cut:]), true); found {
				t.Errorf("%q split at %d holds U+%04X", seq, cut, bad)
			}
		}
	}
}

func TestExactForms(t *testing.T) {
	tests := []struct {
		name, in, line, block string
	}{
		{"plain", "go test ./...", "go test ./...", "go test ./..."},
		{"letters of any script", "Ελλάς 日本 naïve", "Ελλάς 日本 naïve", "Ελλάς 日本 naïve"},
		{"newlines", "a\nb\r\nc", "a↵b↵c", "a\nb\nc"},
		{"tab stops", "\tx\nab\ty", " x↵ab y", "    x\nab  y"},
		{"tab after wide letters", "日\tx", "日 x", "日  x"},
		{"carriage return", "rm -rf /\rls", "rm -rf /<CR>ls", "rm -rf /<CR>ls"},
		{"escape", "\x1b[31m", "<ESC>[31m", "<ESC>[31m"},
		{"bidi", "a\u202eb", "a<U+202E>b", "a<U+202E>b"},
		{"invalid byte", "a\x9bb", "a<0x9b>b", "a<0x9b>b"},
		{"C1 as UTF-8", "\u009b", "<U+009B>", "<U+009B>"},
		{"a few marks", "e\u0301\u0323", "e\u0301\u0323", "e\u0301\u0323"},
		{"mark without a base", "\u0301x", "<U+0301>x", "<U+0301>x"},
		{"mark at a line start", "a\n\u0301x", "a↵\u0301x", "a\n<U+0301>x"},
		{
			"zalgo", "a\u0301\u0301\u0301\u0301\u0301\u0301b",
			"a\u0301\u0301\u0301\u0301\u0301<U+0301>b", "a\u0301\u0301\u0301\u0301\u0301<U+0301>b",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := safetext.Line(tt.in); got != tt.line {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.line)
			}
			if got := safetext.Block(tt.in); got != tt.block {
				t.Errorf("Block(%q) = %q, want %q", tt.in, got, tt.block)
			}
		})
	}
}

// anyText draws text with a taste for what matters here.
func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom(hostile),
		rapid.SampledFrom([]string{"\n", "\r", "\r\n", "\t", " ", "\u0301", "\ufe0f", "日", "a", "│"}),
		rapid.StringN(0, 4, 8),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 20), func(p []string) string { return strings.Join(p, "") })
}

func TestBlockIsIdempotentAndLineLocal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "text")
		once := safetext.Block(s)
		if twice := safetext.Block(once); twice != once {
			t.Fatalf("Block(%q) = %q, Block of that = %q", s, once, twice)
		}
		if l := safetext.Line(safetext.Line(s)); l != safetext.Line(s) {
			t.Fatalf("Line is not idempotent for %q", s)
		}
		var lines strings.Builder
		for line := range strings.SplitAfterSeq(s, "\n") {
			lines.WriteString(safetext.Block(line))
		}
		if lines.String() != once {
			t.Fatalf("Block(%q) = %q, line by line %q", s, once, lines.String())
		}
	})
}

func TestCleanTextIsReturnedWithoutAllocation(t *testing.T) {
	for _, s := range []string{"plain ASCII, one line", "日本語 and naïve text", "several\nlines\n"} {
		if n := testing.AllocsPerRun(100, func() { _ = safetext.Block(s) }); n != 0 {
			t.Errorf("Block(%q) allocates %v times", s, n)
		}
	}
}

func FuzzVariants(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, fn := range variants {
			if bad, found := harmful(fn(s), name == "Block" || name == "Command" || name == "Review"); found {
				t.Errorf("%s(%q) holds U+%04X", name, s, bad)
			}
		}
		if once := safetext.Block(s); safetext.Block(once) != once {
			t.Errorf("Block is not idempotent for %q", s)
		}
		_ = safetext.HiddenCommand(s).String()
	})
}

func BenchmarkBlockASCII(b *testing.B) {
	s := strings.Repeat("func main() { fmt.Println(\"hello\") }\n", 100)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		_ = safetext.Block(s)
	}
}

func BenchmarkBlockTabs(b *testing.B) {
	s := strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read: %w\", err)\n\t}\n", 100)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		_ = safetext.Block(s)
	}
}

func TestInOrderDropsOnlyWhatReorders(t *testing.T) {
	for _, r := range "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
		if got := safetext.InOrder("a" + string(r) + "b"); got != "ab" {
			t.Errorf("%U: %q", r, got)
		}
	}
	if s := "\x1b[1mשלום 漢字 a\u200bb\x1b[m"; safetext.InOrder(s) != s {
		t.Errorf("%q was changed to %q", s, safetext.InOrder(s))
	}
}
