package ollama

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"chela/engine/window"
	"chela/tiers"
)

// Model is what a server says about one of its models.
type Model struct {
	Name          string    `json:"name"`
	Digest        string    `json:"digest"`
	Size          int64     `json:"size"` // bytes on disk
	Parameters    int64     `json:"parameters"`
	Family        string    `json:"family"`
	Quantization  string    `json:"quantization"`
	ContextLength int       `json:"context_length"` // tokens it was trained for
	Capabilities  []string  `json:"capabilities"`
	Remote        bool      `json:"remote,omitempty"`
	Loaded        bool      `json:"loaded"`
	Window        int       `json:"window,omitempty"` // tokens in force while loaded
	OnGPU         float64   `json:"on_gpu,omitempty"` // share of it in GPU memory while loaded
	Modified      time.Time `json:"modified"`
	BuiltIn       bool      `json:"built_in,omitempty"`
	Hosts         []string  `json:"hosts,omitempty"` // the servers that have it, when there are several

	Cache    window.KV `json:"-"` // what a token costs in memory; zero: unknown
	InMemory int64     `json:"-"` // bytes it takes while loaded
	InVRAM   int64     `json:"-"` // bytes of them on the GPU
	Template string    `json:"-"`
	Parser   string    `json:"-"` // of the Modelfile: which of the server's parsers finds its calls; empty: the generic one
	Sampling string    `json:"-"` // the Modelfile's own parameters, as text
}

// Has reports whether the model states the capability.
func (m Model) Has(capability string) bool { return slices.Contains(m.Capabilities, capability) }

// OnlyEmbeds reports whether the model makes vectors and cannot chat. Servers
// that state no capabilities leave the family: those of the usual embedding
// models are kinds of BERT.
func (m Model) OnlyEmbeds() bool {
	if len(m.Capabilities) > 0 {
		return m.Has("embedding") && !m.Has("completion")
	}
	return strings.Contains(m.Family, "bert")
}

// Tier returns what tier selection needs.
func (m Model) Tier() tiers.Model {
	return tiers.Model{
		Name: m.Name, Parameters: m.Parameters, Capabilities: m.Capabilities,
		ContextLength: m.ContextLength, Remote: m.Remote, Known: m.Parameters > 0,
	}
}

// Models lists the installed models with their capabilities, the most
// recently changed first. A model whose details cannot be had is listed with
// what is known.
func (c *Client) Models(ctx context.Context) ([]Model, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, infoTimeout)
	defer cancel()
	list, err := c.api.List(ctx)
	if err != nil {
		return nil, c.explain(caller, "listing models", "", err)
	}
	running, err := c.api.ListRunning(ctx)
	if err != nil {
		running = &api.ProcessResponse{} // an older server; nothing depends on it
	}
	out := make([]Model, 0, len(list.Models))
	for _, l := range list.Models {
		m := Model{
			Name: l.Name, Digest: l.Digest, Size: l.Size, Family: l.Details.Family, Quantization: l.Details.QuantizationLevel,
			Remote: l.RemoteHost != "", Modified: l.ModifiedAt,
		}
		m.Parameters, _ = tiers.ParseSize(l.Details.ParameterSize)
		if show, err := c.api.Show(ctx, &api.ShowRequest{Model: l.Name}); err == nil {
			m.fill(show)
		}
		m.loaded(running)
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b Model) int { return b.Modified.Compare(a.Modified) })
	return out, nil
}

// Model returns one model's details.
func (c *Client) Model(ctx context.Context, name string) (Model, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, infoTimeout)
	defer cancel()
	show, err := c.api.Show(ctx, &api.ShowRequest{Model: name})
	if err != nil {
		return Model{}, c.explain(caller, "asking for the model", name, err)
	}
	m := Model{Name: name, Remote: show.RemoteHost != "", Modified: show.ModifiedAt}
	m.fill(show)
	if running, err := c.api.ListRunning(ctx); err == nil {
		m.loaded(running)
	}
	// Only the list has the digest, by which what is learnt is kept, and the
	// size. A cloud model may not be in it.
	if list, err := c.api.List(ctx); err == nil {
		for _, l := range list.Models {
			if l.Name == name || strings.TrimSuffix(l.Name, ":latest") == name {
				m.Digest, m.Size = l.Digest, l.Size
			}
		}
	}
	return m, nil
}

func (m *Model) fill(show *api.ShowResponse) {
	m.Family, m.Quantization = show.Details.Family, show.Details.QuantizationLevel
	if n, ok := tiers.ParseSize(show.Details.ParameterSize); ok {
		m.Parameters = n
	}
	if n := number(show.ModelInfo["general.parameter_count"]); n > 0 {
		m.Parameters = n
	}
	if arch, ok := show.ModelInfo["general.architecture"].(string); ok {
		m.ContextLength = int(number(show.ModelInfo[arch+".context_length"]))
	}
	m.Cache = window.KVBytesPerToken(show.ModelInfo)
	m.Template, m.Sampling, m.Parser = show.Template, show.Parameters, parserLine(show.Modelfile)
	m.Capabilities = nil
	for _, c := range show.Capabilities {
		m.Capabilities = append(m.Capabilities, string(c))
	}
	m.Remote = m.Remote || show.RemoteHost != ""
}

// parserLine is the parser that a Modelfile names. The API does not fill its
// own field for local models.
func parserLine(modelfile string) string {
	for line := range strings.Lines(modelfile) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "PARSER "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// number reads a JSON number that is known to be whole.
func number(v any) int64 {
	f, ok := v.(float64)
	if !ok || f < 0 || f > 1e15 {
		return 0
	}
	return int64(f)
}

func (m *Model) loaded(running *api.ProcessResponse) {
	for _, r := range running.Models {
		if r.Name == m.Name || r.Model == m.Name || strings.TrimSuffix(r.Name, ":latest") == m.Name {
			m.Loaded, m.Window, m.InMemory, m.InVRAM = true, r.ContextLength, r.Size, r.SizeVRAM
			if r.Size > 0 {
				m.OnGPU = float64(r.SizeVRAM) / float64(r.Size)
			}
		}
	}
}

// FormatBytes writes a size as people read it: 5.2 GB.
func FormatBytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d kB", (n+999)/1000)
}
