package rescue_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/engine/rescue"
	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/catalogue"
)

// essential are the tools that the smallest models are offered.
func essential(t testing.TB) []*toolkit.Spec {
	t.Helper()
	reg, err := catalogue.New()
	if err != nil {
		t.Fatal(err)
	}
	var out []*toolkit.Spec
	for _, tool := range reg.All() {
		if spec := tool.Spec(); spec.Tier == tiers.Essential {
			out = append(out, spec)
		}
	}
	return out
}

// found is a call as tests write it.
type found struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

func calls(t testing.TB, r rescue.Result) []found {
	t.Helper()
	out := []found{}
	for _, c := range r.Calls {
		f := found{Name: c.Name}
		if err := json.Unmarshal(c.Args, &f.Arguments); err != nil {
			t.Fatalf("the arguments of %s are no object: %v: %s", c.Name, err, c.Args)
		}
		out = append(out, f)
	}
	return out
}

// sample is one line of the cases file.
type sample struct {
	ID       string  `json:"id"`
	Family   string  `json:"family"`
	Content  string  `json:"content"`
	Expected []found `json:"expected"`
	Note     string  `json:"note"`
}

func samples(t testing.TB) []sample {
	t.Helper()
	b, err := os.ReadFile("testdata/rescue.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// TestCases takes what real models wrote.
func TestCases(t *testing.T) {
	tools := essential(t)
	list := samples(t)
	if len(list) < 50 {
		t.Fatalf("only %d cases", len(list))
	}
	for _, c := range list {
		done := "stop"
		if strings.Contains(c.Note, "done_reason=length") {
			done = "length"
		}
		r := rescue.Parse(c.Content, rescue.Options{Tools: tools, Done: done})
		if diff := cmp.Diff(c.Expected, calls(t, r)); diff != "" {
			t.Errorf("%s (%s): %s\n%s\nnotes: %q (-want +got)\n%s", c.ID, c.Family, c.Note, c.Content, r.Notes, diff)
		}
	}
}

// TestNoCaseThatIsCutOffWrites cuts every case at every byte.
func TestNoCaseThatIsCutOffWrites(t *testing.T) {
	tools := essential(t)
	writes := map[string]bool{}
	for _, spec := range tools {
		writes[spec.Name] = !spec.ReadOnly
	}
	for _, c := range samples(t) {
		for n := range len(c.Content) + 1 {
			for _, call := range rescue.Parse(c.Content[:n], rescue.Options{Tools: tools, Done: "length"}).Calls {
				if writes[call.Name] {
					t.Errorf("%s cut at %d: %s %s", c.ID, n, call.Name, call.Args)
				}
			}
		}
	}
}

// TestACutNeverChangesWhatIsWritten cuts the cases that write or run, as a
// server does that claims to be done: there is no call, or the right one.
func TestACutNeverChangesWhatIsWritten(t *testing.T) {
	tools := essential(t)
	for _, c := range samples(t) {
		if c.ID == "r19" || len(c.Expected) == 0 {
			continue // without any closing tag the end cannot be known; and half an explanation is another message
		}
		for n := range len(c.Content) {
			got := calls(t, rescue.Parse(c.Content[:n], rescue.Options{Tools: tools, Done: "stop"}))
			for i, g := range got {
				if g.Name != "write_file" && g.Name != "edit_file" && g.Name != "exec" {
					continue
				}
				if i >= len(c.Expected) || !cmp.Equal(c.Expected[i], g) {
					t.Errorf("%s cut at %d (%q): %+v", c.ID, n, c.Content[max(0, n-30):n], g)
				}
			}
		}
	}
}
