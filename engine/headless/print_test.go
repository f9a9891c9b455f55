package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela/engine/event"
)

func TestExitCodes(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want int
	}{
		{nil, OK},
		{errors.New("x"), Failed},
		{Usagef("x"), Usage},
		{fmt.Errorf("wrapped: %w", &Error{Denied, errors.New("x")}), Denied},
		{errors.Join(&Error{Code: Cancelled}, nil), Cancelled},
		{fmt.Errorf("asking: %w", context.Canceled), Cancelled},
	} {
		if got := Code(tc.err); got != tc.want {
			t.Errorf("Code(%v) = %d, want %d", tc.err, got, tc.want)
		}
	}
	if got := (&Error{Code: 1}).Error(); got != "" {
		t.Errorf("an error that was said elsewhere says %q", got)
	}
}

func TestJSONHidesNothingAndStaysTheSameValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\u009b\u202e\u200b\x7f\U000e0041é\\\"\n")))).Draw(t, "text")
		raw, err := json.Marshal(map[string]string{"text": want})
		if err != nil {
			t.Fatal(err)
		}
		got := escapeHidden(raw)
		for _, r := range string(got) {
			if r == 0x7f || r > 0x7f && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r)) {
				t.Fatalf("%U is in %q", r, got)
			}
		}
		var back map[string]string
		if err := json.Unmarshal(got, &back); err != nil || back["text"] != want {
			t.Fatalf("%q became %q (%v)", want, back["text"], err)
		}
	})
}

func TestAStreamedAnswerIsCleanedLikeAWholeOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.StringOf(rapid.SampledFrom([]rune("ab é\r\n\x1b")))).Draw(t, "pieces")
		var out strings.Builder
		p := &progress{t: Terminal{Out: &out, OutIsTerm: true, Safe: visible}}
		for _, s := range pieces {
			if err := p.show(event.Event{Body: event.TextDelta{Text: s}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.show(event.Event{Body: event.MessageDone{}}); err != nil {
			t.Fatal(err)
		}
		whole := strings.Join(pieces, "")
		want := visible(strings.TrimSuffix(whole, "\r")) // nothing came behind it
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestAPipedAnswerIsPassedOnByteForByte(t *testing.T) {
	var out strings.Builder
	p := &progress{t: Terminal{Out: &out, Safe: visible}}
	const text = "a\tb\r\x1b[31mred\n"
	if err := p.show(event.Event{Body: event.TextDelta{Text: text}}); err != nil {
		t.Fatal(err)
	}
	if out.String() != text {
		t.Errorf("%q", out.String())
	}
}

func TestTablesAlignWideCharactersAndFitTheTerminal(t *testing.T) {
	var out strings.Builder
	tb := &table{}
	tb.add("NAME", "WHAT")
	tb.add("日本", "x")
	tb.add("ab", "a long text that does not fit")
	if err := tb.write(Terminal{Out: &out, OutIsTerm: true, Width: 20}, true); err != nil {
		t.Fatal(err)
	}
	want := "NAME  WHAT\n日本  x\nab    a long text t…\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStylesAreForTerminalsThatWantThem(t *testing.T) {
	for _, tc := range []struct {
		t    Terminal
		want string
	}{
		{Terminal{}, "x"},
		{Terminal{Color: true}, "x"},
		{Terminal{OutIsTerm: true}, "x"},
		{Terminal{Color: true, OutIsTerm: true}, "\x1b[1mx\x1b[m"},
	} {
		if got := tc.t.bold("x"); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.t, got, tc.want)
		}
	}
}
