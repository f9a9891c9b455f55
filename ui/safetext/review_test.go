package safetext_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"chela/ui/safetext"
)

func TestApprovalTextHidesNoTail(t *testing.T) {
	tests := []struct {
		name, in, command, review string
	}{
		{"short runs stay", "a    b", "a    b", "a    b"},
		{"padding is counted", "ls" + strings.Repeat(" ", 240) + "; rm -rf ~", "ls ␠×240 ; rm -rf ~", "ls ␠×240 ; rm -rf ~"},
		{"trailing padding is counted", "ls" + strings.Repeat(" ", 21), "ls ␠×21 ", "ls ␠×21 "},
		{"blank lines are counted", "ls" + strings.Repeat("\n", 58) + "rm", "ls\n↵×57\nrm", "ls\n↵×57\nrm"},
		{"two blank lines stay", "a\n\n\nb", "a\n\n\nb", "a\n\n\nb"},
		{"blanks do not make a line less blank", "a\n \n  \n \nb", "a\n↵×3\nb", "a\n↵×3\nb"},
		{"tabs are seen in a command", "a\tb", "a␉b", "a   b"},
		{"CR is part of a shell word", "ls\r\n", "ls<CR>\n", "ls\n"},
		{"unusual blanks are named", "rm\u00a0-rf", "rm<U+00A0>-rf", "rm<U+00A0>-rf"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := safetext.Command(tt.in); got != tt.command {
				t.Errorf("Command(%q) = %q, want %q", tt.in, got, tt.command)
			}
			if got := safetext.Review(tt.in); got != tt.review {
				t.Errorf("Review(%q) = %q, want %q", tt.in, got, tt.review)
			}
		})
	}
}

func TestTitleIsShortAndOneLine(t *testing.T) {
	for _, in := range []string{"ok", strings.Repeat("x", 10_000), strings.Repeat("\x1b]52;c;?\x07", 500), "a\nb", strings.Repeat("日", 300), strings.Repeat("\xff", 5000)} {
		got := safetext.Title(in)
		if ansi.StringWidth(got) > safetext.MaxTitle || strings.ContainsAny(got, "\n\x1b\x07") {
			t.Errorf("Title(%.20q…) = %q", in, got)
		}
	}
	if got := safetext.Title("  fix the test "); got != "fix the test" {
		t.Errorf("Title trims: got %q", got)
	}
}

func TestHiddenCharactersAreCounted(t *testing.T) {
	tests := []struct {
		name string
		got  safetext.Report
		want safetext.Report
	}{
		{"nothing", safetext.HiddenCommand("go test ./...\n\techo"), safetext.Report{}},
		{"foreign words are fine", safetext.Hidden("Привет, мир"), safetext.Report{}},
		{"arguments may be foreign", safetext.HiddenCommand("echo Привет"), safetext.Report{}},
		{"CRLF is no control", safetext.Hidden("a\r\nb"), safetext.Report{}},
		{"bidi and comment", safetext.HiddenCommand("rm -rf /tmp/x \u202e#"), safetext.Report{Bidi: 1}},
		{
			"one of each", safetext.Hidden("\x1b\u200b\U000e0041\xff\ue000\u2028\u00a0"),
			safetext.Report{Control: 1, ZeroWidth: 2, Invalid: 1, Unknown: 2, Spaces: 1},
		},
		{"stacked marks", safetext.Hidden("a" + strings.Repeat("\u0301", 8)), safetext.Report{Marks: 3}},
		{"Cyrillic a in a host", safetext.Hidden("https://p\u0430ypal.com/x"), safetext.Report{Confusable: []string{"p<U+0430>ypal.com"}}},
		{"Latin look-alike as a program", safetext.HiddenCommand("ɡit push"), safetext.Report{Confusable: []string{"<U+0261>it"}}},
		{"behind a pipe and an assignment", safetext.HiddenCommand("ls | A=1 сat"), safetext.Report{Confusable: []string{"<U+0441>at"}}},
		{"mixed word", safetext.Hidden("the p\u0430ssword"), safetext.Report{Confusable: []string{"p<U+0430>ssword"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Error(diff)
			}
			if tt.want.Any() != (tt.got.String() != "") {
				t.Errorf("Any is %v, the warning %q", tt.want.Any(), tt.got.String())
			}
		})
	}
}

func TestWarningsReadAsWords(t *testing.T) {
	got := safetext.Report{Bidi: 2, Control: 1, Confusable: []string{"<U+0261>it"}}.String()
	if want := "2 text-reordering characters, 1 control character, look-alike letters in <U+0261>it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
