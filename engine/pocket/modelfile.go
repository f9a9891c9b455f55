package pocket

import (
	_ "embed" // the Modelfile
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/parser"
	"github.com/ollama/ollama/template"
)

//go:embed train/Modelfile
var modelfileText string

// modelfile is the chat template and the parameters of the model.
type modelfile struct {
	template   *template.Template
	parameters map[string]any // in the types that api.Options.FromMap takes
}

// openModelfile reads the embedded Modelfile, once.
var openModelfile = sync.OnceValues(func() (*modelfile, error) {
	m, err := parseModelfile(modelfileText)
	if err != nil {
		return nil, fmt.Errorf("read the built-in Modelfile: %w", err)
	}
	return m, nil
})

func parseModelfile(text string) (*modelfile, error) {
	f, err := parser.ParseFile(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	var m modelfile
	raw := map[string][]string{}
	for _, c := range f.Commands {
		switch c.Name {
		case "model":
		case "template":
			if m.template, err = template.Parse(c.Args); err != nil {
				return nil, fmt.Errorf("template: %w", err)
			}
		default:
			raw[c.Name] = append(raw[c.Name], c.Args)
		}
	}
	if m.template == nil {
		return nil, fmt.Errorf("it has no TEMPLATE")
	}
	if m.parameters, err = api.FormatParams(raw); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	for k, v := range m.parameters {
		switch v := v.(type) {
		case float32:
			m.parameters[k] = float64(v)
		case []string:
			list := make([]any, len(v))
			for i := range v {
				list[i] = v[i]
			}
			m.parameters[k] = list
		}
	}
	return &m, nil
}

// options returns Ollama's defaults, overlaid with the Modelfile's parameters
// and then with the request's. The window is held between Ollama's smallest (4)
// and longest, the length that the model was built for. Unknown options are
// ignored, as Ollama does after logging them.
func (m *modelfile) options(request map[string]any, longest int) (api.Options, error) {
	opts := api.DefaultOptions()
	if err := opts.FromMap(m.parameters); err != nil {
		return opts, fmt.Errorf("the built-in Modelfile: %w", err)
	}
	known := make(map[string]any, len(request))
	for k, v := range request {
		if slices.Contains(optionNames(), k) {
			known[k] = v
		}
	}
	if err := opts.FromMap(known); err != nil {
		return opts, badRequest("options: %w", err)
	}
	opts.NumCtx = min(max(opts.NumCtx, 4), longest)
	return opts, nil
}

// optionNames returns the names that api.Options.FromMap knows. It would log
// the others to the default logger, whose output may be the screen.
var optionNames = sync.OnceValue(func() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[api.Options]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
})

// listParameters returns the parameters in the layout of `ollama show`.
func (m *modelfile) listParameters() string {
	var lines []string
	for k, v := range m.parameters {
		if list, ok := v.([]any); ok {
			for _, item := range list {
				lines = append(lines, fmt.Sprintf("%-30s %#v", k, item))
			}
			continue
		}
		lines = append(lines, fmt.Sprintf("%-30s %#v", k, v))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
