package stall_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine/stall"
)

// stream feeds a text in pieces of one to eight bytes, as tokens come, and
// returns the loop and the bytes that were fed until it was found.
func stream(text string) (stall.Loop, int, bool) {
	var s stall.Stream
	seed := uint32(len(text))
	for at := 0; at < len(text); {
		seed = seed*1664525 + 1013904223
		n := min(1+int(seed>>24)%8, len(text)-at)
		at += n
		if l, ok := s.Write(text[at-n : at]); ok {
			return l, at, true
		}
	}
	return stall.Loop{}, len(text), false
}

const opening = "The parser reads the file line by line and keeps the comments. Next comes the part about tests.\n\n"

func TestStreamFindsLoops(t *testing.T) {
	numbered := func(format string) string {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	var varied strings.Builder
	for i := range 60 {
		varied.WriteString([]string{"Wait, let me check the file once more, to be sure.\n\n", "**Wait** - let me check the file once more; to be sure!\n", "wait... Let me check the file once more to be sure\n\n\n"}[i%3])
	}
	paragraph := strings.Repeat("Each function is called by the next one, and the last by the first. ", 3) + "So it goes on.\n\nThen the cache is cleared, the index is written, and the walk begins anew.\n\n"
	for name, c := range map[string]struct {
		loop  string
		limit int // bytes of the loop after which it is found, four to a token
	}{
		"a sentence":                   {strings.Repeat("I'll do it. I'll start with the first file now. ", 100), 600},
		"a short sentence":             {strings.Repeat("I'll do it. ", 300), 1400},
		"a word":                       {strings.Repeat("the ", 2000), 1400},
		"two words":                    {strings.Repeat("The the ", 1000), 1400},
		"a paragraph":                  {strings.Repeat(paragraph, 20), 3*len(paragraph) + 300},
		"two kilobytes":                {strings.Repeat(longText(), 6), 3*len(longText()) + 300},
		"lines with other punctuation": {varied.String(), 900},
		"sentences that count":         {numbered("Attempt %d: I will now start over with the file.\n"), 800},
		"Chinese":                      {strings.Repeat("我现在开始修改这个文件。", 200), 600},
		"code":                         {strings.Repeat("if err := file.Close(); err != nil { return err }\n", 200), 2400},
		"a tagged call that leaked":    {strings.Repeat(`<tool_call>{"name": "exec"}</tool_call>`+"\n", 300), 2400},
		"one letter":                   {strings.Repeat("a", 9000), 6500},
		"zeros":                        {strings.Repeat("0, ", 4000), 6500},
		"blank lines":                  {strings.Repeat("\n", 9000), 300},
		"headings without a sentence":  {strings.Repeat("Next step\nRead file and think\n", 300), 2000},
	} {
		t.Run(name, func(t *testing.T) {
			loop, at, ok := stream(opening + c.loop)
			if !ok || at-len(opening) > c.limit {
				t.Fatalf("found %v after %d bytes of the loop, want within %d: %v", ok, at-len(opening), c.limit, loop)
			}
			if loop.Start > at || loop.Times < 2 || loop.String() == "" {
				t.Errorf("%+v after %d bytes", loop, at)
			}
			if first := c.loop[:min(len(c.loop), 12)]; loop.Start > 0 && loop.Start < len(opening)-200 {
				t.Errorf("starts at %d, before %q", loop.Start, first)
			}
		})
	}
	t.Run("equal chunks", func(t *testing.T) {
		var s stall.Stream
		fired := 0
		for i := range 40 {
			if _, ok := s.Write(" very"); ok {
				fired = i + 1
				break
			}
		}
		if fired != 31 {
			t.Errorf("31 equal chunks are too many, fired at %d", fired)
		}
	})
}

// longText is prose of nearly 2 KiB in which nothing repeats.
func longText() string {
	var b strings.Builder
	for i := range 24 {
		fmt.Fprintf(&b, "In part %c the %s is %s by its %s, which nobody had expected then. ", 'a'+i, nouns[i%7], verbs[i%5], nouns[(i*3+1)%7])
	}
	return b.String()
}

var (
	nouns = []string{"parser", "index", "window", "queue", "cache", "reader", "session"}
	verbs = []string{"filled", "checked", "emptied", "locked", "moved"}
)

func TestStreamLeavesRealTextAlone(t *testing.T) {
	rows := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i, i*i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"a table":                      "| name | value | note |\n|" + strings.Repeat("-----|", 12) + "\n" + rows("| row %d | %d | ok |\n", 80),
		"a table of equal cells":       strings.Repeat("| yes | no | yes | no |\n", 20),
		"code with repeated lines":     strings.Repeat("\tif err != nil {\n\t\treturn err\n\t}\n", 30),
		"SQL values":                   strings.Repeat("(NULL, NULL, 'open', 0),\n", 40),
		"a list of similar items":      rows("- Step %d: run the tests of package number %d and look at the output.\n", 60),
		"a numbered list":              rows("%d. Read the file and check the value %d.\n", 60),
		"JSON objects that are equal":  "[" + strings.Repeat(`{"name": "test", "value": 1, "ok": true}, `, 30) + "]",
		"JSON numbers":                 "[" + strings.Repeat("0.0, ", 500) + "]",
		"base64":                       strings.Repeat("QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB", 30),
		"base64 of zeros":              strings.Repeat("A", 3000),
		"ASCII art":                    strings.Repeat("  /\\  "+strings.Repeat("XXXX    ", 8)+"\n", 40),
		"a rule":                       strings.Repeat("=", 400),
		"a box":                        "┌" + strings.Repeat("─", 200) + "┐\n" + strings.Repeat("│"+strings.Repeat(" ", 60)+"│\n", 20),
		"a progress bar":               strings.Repeat("█", 300),
		"a hex dump":                   rows("%08x  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................| %d\n", 60),
		"test output":                  rows("=== RUN   TestThing/case_%d\n--- PASS: TestThing/case_%d (0.00s)\n", 80),
		"a refrain":                    strings.Repeat("Row, row, row your boat.\n", 2) + "Gently down the stream.\n" + strings.Repeat("Merrily, merrily, merrily, merrily.\n", 2) + "Life is but a dream.\n",
		"YAML entries":                 strings.Repeat("  - name: web\n    image: nginx\n", 4),
		"a matrix":                     strings.Repeat(strings.Repeat("1 0 0 0 0 0 0 0 ", 4)+"\n", 30),
		"go test with many ok":         rows("ok  \tchela/engine/p%d\t0.%dms\n", 60),
		"emphasis":                     "This is very, very, very, very important. No, no, no, no, no!\n",
		"a licence in three files":     strings.Repeat("Copyright (c) 2026 The Authors. All rights reserved.\n", 2),
		"a diff":                       rows("-\told := value(%d)\n+\tnew := value(%d)\n", 60),
		"indentation token by token":   strings.Repeat(" ", 500) + "x",
		"HTML list":                    strings.Repeat("  <li><a href=\"#\">Item</a></li>\n", 40),
		"an assembly listing":          strings.Repeat("\tNOP\n\tMOVQ AX, BX\n", 50),
		"a CSV":                        rows("%d,%d,open,none,none\n", 100),
		"a log":                        rows("2026-01-02 10:00:%02d INFO server: request %d done\n", 90),
		"a poem of short lines":        "So much depends\nupon\n\na red wheel\nbarrow\n\nglazed with rain\nwater\n",
		"a conversation in the answer": strings.Repeat("User: yes\nModel: no\n", 8),
	} {
		t.Run(name, func(t *testing.T) {
			if l, at, ok := stream(opening + text); ok {
				t.Errorf("taken for a loop after %d bytes: %+v", at, l)
			}
		})
	}
}

// The standard library is the largest real text at hand: generated tables, test
// data and all. Every 32nd file is read; CHELA_TEST_ALL_SOURCES=1 reads each.
func TestStreamLeavesTheStandardLibraryAlone(t *testing.T) {
	every := 32
	if os.Getenv("CHELA_TEST_ALL_SOURCES") != "" {
		every = 1
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no go command to ask for the standard library: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no sources of the standard library: %v", err)
	}
	seen, read := 0, 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		if seen++; seen%every != 0 {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		if l, at, ok := stream(string(text[:min(len(text), 256<<10)])); ok {
			t.Errorf("%s: taken for a loop at byte %d: %+v", path, at, l)
		}
		return nil
	})
	if err != nil || read == 0 {
		t.Fatalf("read %d files: %v", read, err)
	}
}

// Whatever comes and however it is cut, the answer holds what Start points at,
// and a loop that was found stays found.
func FuzzStream(f *testing.F) {
	f.Add(strings.Repeat("ab ", 900), 3)
	f.Add(strings.Repeat("Über, über. ", 90)+"\xff\xfe", 1)
	f.Add(strings.Repeat("\n", 500), 7)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = min(max(size, 1), 4096)
		var s stall.Stream
		var found *stall.Loop
		for at := 0; at < len(text); at += size {
			end := min(at+size, len(text))
			l, ok := s.Write(text[at:end])
			switch {
			case found != nil && (!ok || l != *found):
				t.Fatalf("the loop changed: %+v, then %+v", *found, l)
			case ok && (l.Start < 0 || l.Start > end || l.Times < 2):
				t.Fatalf("%+v in an answer of %d bytes", l, end)
			case ok:
				found = &l
			}
		}
	})
}
