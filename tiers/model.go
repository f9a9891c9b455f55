package tiers

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Model is what is known about a model when its tier is decided. Facts from
// the server come first; [Guess] fills what only the name can tell.
type Model struct {
	Name          string
	Parameters    int64    // 0: unknown
	Capabilities  []string // as Ollama names them: tools, thinking, vision, embedding
	ContextLength int      // tokens the model was trained for; 0: unknown
	Remote        bool     // runs elsewhere (a cloud model), so its size is no limit here
	Known         bool     // the facts came from a server, not from the name
}

// Has reports whether the model states the capability.
func (m Model) Has(capability string) bool {
	for _, c := range m.Capabilities {
		if c == capability {
			return true
		}
	}
	return false
}

// sizeInName finds "7b", "1.5b", "8x7b", "270m" and "e4b" as a whole word of a
// model's name or tag. The size may stand anywhere: quantised tags
// ("7b-instruct-q4_K_M") and custom names ("custom-30b") carry it too.
var sizeInName = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(?:(\d+)x)?e?(\d+(?:\.\d+)?)([bm])(?:$|[^a-z0-9])`)

// SizeFromName returns the parameter count that a name or tag states, and
// whether it states one. A mixture (8x7b) counts whole.
func SizeFromName(name string) (int64, bool) {
	m := sizeInName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	return size(m[1], m[2], m[3])
}

// ParseSize reads Ollama's parameter_size ("7.6B", "494.03M", "46.7B").
func ParseSize(s string) (int64, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false
	}
	n := strings.ToLower(s[len(s)-1:])
	if n != "b" && n != "m" && n != "k" && n != "t" {
		return 0, false
	}
	return size("", s[:len(s)-1], n)
}

func size(times, number, unit string) (int64, bool) {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !(f > 0 && f <= 1e6) { // also refuses NaN
		return 0, false
	}
	if times != "" {
		n, err := strconv.Atoi(times)
		if err != nil || n <= 0 || n > 1024 {
			return 0, false
		}
		f *= float64(n)
	}
	scale := map[string]float64{"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}[strings.ToLower(unit)]
	return int64(f * scale), true
}

// FormatSize writes a parameter count the way Ollama does: 7.6B, 494M.
func FormatSize(n int64) string {
	switch {
	case n <= 0:
		return "unknown size"
	case n >= 1e9:
		return trimZero(float64(n)/1e9) + "B"
	default:
		return trimZero(float64(n)/1e6) + "M"
	}
}

func trimZero(f float64) string {
	s := strconv.FormatFloat(f, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// frontier lists hosted model families by the longest matching prefix. They
// are only a fallback for names without a size: what a server says wins.
var frontier = []struct {
	prefix string
	tier   Tier
}{
	{"claude-haiku", Standard},
	{"claude-3-haiku", Standard},
	{"claude-3-5-haiku", Standard},
	{"claude", Full},
	{"gpt-3.5", Standard},
	{"gpt-4o-mini", Standard},
	{"gpt-4.1-mini", Standard},
	{"gpt-4.1-nano", Essential},
	{"gpt-4", Full},
	{"gpt-5-mini", Standard},
	{"gpt-5-nano", Standard},
	{"gpt-5", Full},
	{"command-r-plus", Full},
	{"command-r", Standard},
	{"gemini-flash", Standard},
	{"gemini", Full},
}

// frontierTier returns the tier of a hosted family that the name starts with.
func frontierTier(name string) (Tier, string, bool) {
	base := strings.ToLower(name)
	if i := strings.LastIndexByte(base, '/'); i >= 0 {
		base = base[i+1:]
	}
	best, found := 0, false
	var tier Tier
	for _, f := range frontier {
		if strings.HasPrefix(base, f.prefix) && len(f.prefix) > best {
			best, tier, found = len(f.prefix), f.tier, true
		}
	}
	if !found {
		return Essential, "", false
	}
	return tier, base[:best], true
}

// isCloud reports whether a tag says that the model runs on someone else's
// machine: Ollama names those "...:cloud" or "...-cloud".
func isCloud(name string) bool {
	n := strings.ToLower(name)
	return strings.HasSuffix(n, ":cloud") || strings.HasSuffix(n, "-cloud")
}

// knownSizes are families whose default tag says nothing about the size.
// Facts from the model's own page; a server's answer replaces them.
var knownSizes = map[string]int64{
	"phi4": 14e9, "phi-4": 14e9, "mistral": 7e9, "mixtral": 47e9,
	"llama3": 8e9, "llama3.1": 8e9, "llama3.2": 3e9, "llama3.3": 70e9,
	"qwen2.5": 7e9, "qwen2.5-coder": 7e9, "qwen3": 8e9, "gemma3": 4e9,
	"mistral-nemo": 12e9, "mistral-small": 24e9, "devstral": 24e9, "deepseek-r1": 8e9,
}

// Guess fills the facts that a name alone can give. It never overrides what
// the caller already knows.
func Guess(m Model) Model {
	if isCloud(m.Name) {
		m.Remote = true
	}
	if m.Parameters > 0 {
		return m
	}
	if n, ok := SizeFromName(m.Name); ok {
		m.Parameters = n
		return m
	}
	base, tag, _ := strings.Cut(strings.ToLower(m.Name), ":")
	if tag == "" || tag == "latest" {
		m.Parameters = knownSizes[base]
	}
	return m
}

// describe says where the size came from, for the reason of a decision.
func (m Model) describe() string {
	if m.Parameters <= 0 {
		return "size unknown"
	}
	source := "by its name"
	if m.Known {
		source = "says the server"
	}
	return fmt.Sprintf("%s parameters, %s", FormatSize(m.Parameters), source)
}
