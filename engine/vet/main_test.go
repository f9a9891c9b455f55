package vet_test

import (
	"encoding/json"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"
	"github.com/ollama/ollama/tools"

	"chela/engine/vet"
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

// served is what Ollama makes of a model's output, by its own code: with a tag
// its generic parser, else the parser of that name. The output comes in pieces
// of four bytes.
func served(t testing.TB, specs []*toolkit.Spec, parser, tag, raw string) (in vet.Input, err error) {
	t.Helper()
	var offered []api.Tool
	for _, s := range specs {
		var tool api.Tool
		if err := json.Unmarshal(s.Wire(), &tool); err != nil {
			t.Fatal(err)
		}
		offered = append(offered, tool)
	}
	in = vet.Input{Specs: specs, Done: "stop", Tokens: len(raw)/4 + 1}
	add := func(calls []api.ToolCall) {
		for _, c := range calls {
			args, err := json.Marshal(c.Function.Arguments)
			if err != nil {
				t.Fatal(err)
			}
			in.Calls = append(in.Calls, vet.Call{Name: c.Function.Name, Args: args})
		}
	}
	generic := tools.NewParserWithTag(offered, tag)
	own := parsers.ParserForName(parser)
	if own != nil {
		own.Init(offered, nil, nil)
	}
	for rest := raw; rest != ""; {
		piece := rest[:min(4, len(rest))]
		rest = rest[len(piece):]
		if own == nil {
			calls, content := generic.Add(piece)
			in.Text += content
			add(calls)
			continue
		}
		content, thinking, calls, err := own.Add(piece, rest == "")
		if err != nil {
			return in, err
		}
		in.Text += content
		in.Thinking += thinking
		add(calls)
	}
	if own == nil {
		in.Text += generic.Content()
	}
	return in, nil
}
