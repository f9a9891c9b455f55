package catalogue

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"chela/toolkit"
)

// contract is one entry of the public catalogue.
type contract struct {
	Name     string `json:"name"`
	Category string `json:"category"`
	Level    string `json:"level"`
	Tier     string `json:"tier"`
	Params   []struct {
		Name     string          `json:"name"`
		Type     string          `json:"type"`
		Required bool            `json:"required"`
		Default  json.RawMessage `json:"default"`
		Enum     []string        `json:"enum"`
		Limits   string          `json:"limits"`
	} `json:"params"`
}

func contracts(t *testing.T) []contract {
	t.Helper()
	data, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []contract
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func registry(t *testing.T) *toolkit.Registry {
	t.Helper()
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// parameter is what the contract and a schema have in common.
type parameter struct {
	Name     string
	Type     string
	Required bool
	Default  any
	Enum     []string
	Min, Max *float64
}

func TestEveryToolKeepsItsContract(t *testing.T) {
	byName := map[string]contract{}
	for _, c := range contracts(t) {
		byName[c.Name] = c
	}
	for _, tool := range registry(t).All() {
		s := tool.Spec()
		t.Run(s.Name, func(t *testing.T) {
			c, ok := byName[s.Name]
			if !ok {
				t.Fatalf("the catalogue has no tool %q", s.Name)
			}
			if s.Category != c.Category || s.Level.String() != c.Level || s.Tier.String() != c.Tier {
				t.Errorf("category, level, tier = %s, %s, %s; the contract says %s, %s, %s",
					s.Category, s.Level, s.Tier, c.Category, c.Level, c.Tier)
			}
			if diff := cmp.Diff(promised(t, c), declared(t, s.Schema)); diff != "" {
				t.Errorf("parameters (-contract +tool):\n%s", diff)
			}
			for alias, target := range s.Schema.Aliases {
				if s.Schema.Properties[alias] != nil {
					t.Errorf("alias %q of %q is a parameter itself", alias, target)
				}
			}
		})
	}
}

func TestToolsAreInCatalogueOrder(t *testing.T) {
	var order []string
	for _, c := range contracts(t) {
		order = append(order, c.Name)
	}
	last := -1
	for _, tool := range registry(t).All() {
		at := slices.Index(order, tool.Spec().Name)
		if at <= last {
			t.Errorf("%s is registered out of order", tool.Spec().Name)
		}
		last = at
	}
}

func TestTheEssentialTenAreAllThere(t *testing.T) {
	r := registry(t)
	n := 0
	for _, c := range contracts(t) {
		if c.Tier != "essential" {
			continue
		}
		n++
		if _, ok := r.Get(c.Name); !ok {
			t.Errorf("essential tool %s is missing", c.Name)
		}
	}
	if n != 10 {
		t.Errorf("the contract has %d essential tools, want 10", n)
	}
}

var limits = regexp.MustCompile(`^(-?\d+(?:\.\d+)?)\.\.(\d*)`)

func promised(t *testing.T, c contract) []parameter {
	t.Helper()
	var out []parameter
	for _, p := range c.Params {
		x := parameter{Name: p.Name, Type: p.Type, Required: p.Required, Enum: p.Enum}
		if len(p.Default) > 0 {
			if err := json.Unmarshal(p.Default, &x.Default); err != nil {
				t.Fatal(err)
			}
		}
		if m := limits.FindStringSubmatch(p.Limits); m != nil {
			x.Min = number(t, m[1])
			if m[2] != "" {
				x.Max = number(t, m[2])
				if strings.Contains(p.Limits, "milliseconds") {
					*x.Max *= 1000 // larger values are another unit, not an error
				}
			}
		}
		out = append(out, x)
	}
	return out
}

func number(t *testing.T, s string) *float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return &f
}

func declared(t *testing.T, s *toolkit.Schema) []parameter {
	t.Helper()
	var out []parameter
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		x := parameter{Name: name, Type: p.Type, Required: slices.Contains(s.Required, name), Enum: enumOf(p)}
		if len(p.Default) > 0 {
			if err := json.Unmarshal(p.Default, &x.Default); err != nil {
				t.Fatal(err)
			}
		}
		x.Min, x.Max = p.Minimum, p.Maximum
		if p.MinLength != nil && p.MaxLength != nil { // of a text; that it is not empty alone is no limit of the contract
			low, high := float64(*p.MinLength), float64(*p.MaxLength)
			x.Min, x.Max = &low, &high
		}
		out = append(out, x)
	}
	return out
}

func enumOf(p *jsonschema.Schema) []string {
	var out []string
	for _, e := range p.Enum {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
