package syntax

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/themes"
)

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func palette() *Palette {
	return NewPalette(themes.NewStyles(themes.Dark()).Code)
}

func TestEveryEmbeddedLexerLoadsAndColours(t *testing.T) {
	paths, err := fs.Glob(files, "lexers/*.xml")
	if err != nil || len(paths) < 25 {
		t.Fatalf("%d lexers, %v", len(paths), err)
	}
	for _, path := range paths {
		lexer, err := chroma.NewXMLLexer(files, path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		name := lexer.Config().Name
		if registry().Get(name) == nil {
			t.Errorf("%s is not registered", name)
		}
		// Rules are compiled on first use, so use them.
		source := "x = \"a\" + 12 # y\nfrom a select b // c\n<p class=\"q\">RUN ls</p>\n"
		if got := strip(palette().Lines(source, name)); got != source {
			t.Errorf("%s changes the text to %q", name, got)
		}
	}
}

func strip(lines []string) string {
	return ansi.Strip(strings.Join(lines, "\n")) + "\n"
}

func TestWordsGetTheirColours(t *testing.T) {
	p := palette()
	tests := []struct {
		language, source, word string
		pen                    string
	}{
		{"go", "func add(a int) { return f(a, 12, \"s\") // sum\n}\n", "func", p.keyword.Draw("func")},
		{"go", "func add(a int) {}\n", "int", p.typ.Draw("int")},
		{"go", "x := f(12)\n", "f", p.function.Draw("f")},
		{"golang", "x := 12 // sum\n", "// sum", p.comment.Draw("// sum")},
		{"main.go", "x := \"s\"\n", "s", p.str.Draw("\"s\"")},
		{"python", "def f():\n    return 12\n", "return", p.keyword.Draw("return")},
		{"json", "{\"a\": 12}\n", "12", p.number.Draw("12")},
		{"py", "# hi\n", "# hi", p.comment.Draw("# hi")},
	}
	for _, tt := range tests {
		if got := strings.Join(p.Lines(tt.source, tt.language), "\n"); !strings.Contains(got, tt.pen) {
			t.Errorf("%s: %q is not drawn as %q in %q", tt.language, tt.word, tt.pen, got)
		}
	}
}

func TestPlainWhereColourIsNotPossible(t *testing.T) {
	p := palette()
	long := strings.Repeat("func f() {}\n", MaxSource/12+1)
	for name, in := range map[string][2]string{
		"no language": {"if x\n", ""}, "unknown": {"if x\n", "klingon"}, "too long": {long, "go"},
	} {
		for _, line := range p.Lines(in[0], in[1]) {
			if want := p.text.Draw(ansi.Strip(line)); line != want {
				t.Errorf("%s: %q, want %q", name, line, want)
				break
			}
		}
	}
}

func TestTheLineBeingWrittenIsPlain(t *testing.T) {
	p := palette()
	got := p.Lines("func f() {\n\treturn", "go")
	if len(got) != 2 || got[1] != p.text.Draw("\treturn") {
		t.Errorf("got %q", got)
	}
	if got[0] != p.Lines("func f() {\n", "go")[0] {
		t.Errorf("the line before it changed: %q", got[0])
	}
}

func FuzzLinesKeepTheText(f *testing.F) {
	f.Add("func f() { /* a\nb */ `x\ny` \"unclosed\n'\n", "go")
	f.Add("/* \r */\n", "go")
	f.Add("def f(:\n  '''\n", "python")
	f.Add("<a b=c><script>let x</script>\n", "html")
	f.Add("FROM x\nRUN ls \\\n -a\n", "docker")
	f.Add("{\"a\": [1, 2,, }\n", "json")
	f.Fuzz(func(t *testing.T, source, language string) {
		if strings.ContainsAny(source, "\x1b\u009b\u009d\u0090\u0098\u009e\u009f\x18\x1a") || len(source) > 2000 {
			t.Skip("safetext lets no escape sequences through; length is bounded by MaxSource")
		}
		want := strings.Split(source, "\n")
		if strings.HasSuffix(source, "\n") {
			want = want[:len(want)-1]
		}
		if source == "" {
			want = nil
		}
		got := palette().Lines(source, language)
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d: %q", len(got), len(want), got)
		}
		for i := range got {
			if s := sgr.ReplaceAllString(got[i], ""); s != want[i] {
				t.Fatalf("line %d is %q, want %q", i, s, want[i])
			}
		}
	})
}
