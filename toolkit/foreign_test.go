package toolkit_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/toolkit/catalogue"
)

// TestOurOwnToolsComeBackFromTheWire reads each tool as it is sent.
func TestOurOwnToolsComeBackFromTheWire(t *testing.T) {
	reg, err := catalogue.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range reg.All() {
		own := tool.Spec()
		got, err := toolkit.SpecFromWire(own.Wire())
		if err != nil {
			t.Errorf("%s: %v", own.Name, err)
			continue
		}
		if got.Name != own.Name || got.Summary != own.Summary || got.Level != toolkit.Dangerous || got.ReadOnly {
			t.Errorf("%s came back as %+v", own.Name, got)
		}
		if diff := cmp.Diff(own.Schema.Names(), got.Schema.Names()); diff != "" {
			t.Errorf("%s: parameters (-want +got):\n%s", own.Name, diff)
		}
		got.Inherit(own)
		if diff := cmp.Diff(own.Schema.Aliases, got.Schema.Aliases); diff != "" || got.ReadOnly != own.ReadOnly {
			t.Errorf("%s: what it inherited (-want +got):\n%s", own.Name, diff)
		}
	}
}

func TestInheritLeavesWhatIsNotCertain(t *testing.T) {
	from := &toolkit.Spec{Schema: &toolkit.Schema{Aliases: map[string]string{"dir": "path", "folder": "path"}}}
	both, err := toolkit.ParseSchema(json.RawMessage(`{"properties":{"dir":{"type":"string"},"folder":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	to := &toolkit.Spec{Schema: both}
	if to.Inherit(from); len(to.Schema.Aliases) != 0 {
		t.Errorf("took %v", to.Schema.Aliases)
	}
}

func TestSchemasFromElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"absent":               {"", true},
		"null":                 {"null", true},
		"no properties":        {`{"type":"object"}`, true},
		"a type that is open":  {`{"properties":{"x":{}}}`, true},
		"no object":            {`{"type":"array"}`, false},
		"no JSON":              {`{`, false},
		"properties as a list": {`{"properties":[]}`, false},
	} {
		if _, err := toolkit.ParseSchema(json.RawMessage(c.text)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCanonicalNamesOfTheSameToolAreEqual(t *testing.T) {
	for _, name := range []string{"exec", "Bash", "functions.shell:0", "run-command", "runCommand", "exec<|channel|>commentary"} {
		if got := toolkit.CanonicalName(name); got != "exec" {
			t.Errorf("%q is %q", name, got)
		}
	}
	if got := toolkit.CanonicalName("get_weather"); got != "get_weather" {
		t.Errorf("an unknown name is %q", got)
	}
}
