package tiers

import (
	"fmt"
	"sort"
	"strings"
)

// The limits between the tiers, in parameters. They are the design's: under
// 12B a model loses its way among more than ten tools, from 40B it handles all.
const (
	StandardFrom int64 = 12e9
	FullFrom     int64 = 40e9
)

// Overrides replace detection, the highest first: the session's own choice,
// then the entry for this model in settings.
type Overrides struct {
	Session *Tier
	Models  map[string]Tier // keys: exact name, name without tag, or a prefix ending in "*"
}

// Decision is a tier with the one-sentence reason a person is shown.
type Decision struct {
	Tier   Tier
	Reason string
}

// Classify decides a model's tier. It is total: every model has a tier, and an
// unknown one is Essential.
func Classify(m Model, o Overrides) Decision {
	if o.Session != nil {
		return Decision{*o.Session, "chosen for this session"}
	}
	if key, t, ok := match(o.Models, m.Name); ok {
		return Decision{t, fmt.Sprintf("set by tiers.models %q in settings.yml", key)}
	}
	sized := m.Parameters > 0
	m = Guess(m)
	if m.Remote {
		return Decision{Full, "a cloud model: it runs elsewhere, " + m.describe()}
	}
	if !sized {
		if t, family, ok := frontierTier(m.Name); ok {
			return Decision{t, fmt.Sprintf("hosted family %q", family)}
		}
	}
	switch {
	case m.Parameters <= 0:
		return Decision{Essential, "size unknown, so the smallest set; set tiers.models to change it"}
	case m.Parameters < StandardFrom:
		return Decision{Essential, "under 12B: " + m.describe()}
	case m.Parameters < FullFrom:
		return Decision{Standard, "12B to under 40B: " + m.describe()}
	default:
		return Decision{Full, "40B or more: " + m.describe()}
	}
}

// match finds the most specific override for a name: exact, then without its
// tag, then the longest prefix pattern.
func match(models map[string]Tier, name string) (string, Tier, bool) {
	n := strings.ToLower(name)
	base, _, _ := strings.Cut(n, ":")
	keys := make([]string, 0, len(models))
	for k := range models {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		return len(keys[i]) > len(keys[j]) || len(keys[i]) == len(keys[j]) && keys[i] < keys[j]
	})
	for _, want := range []string{n, n + ":latest", base} {
		for _, k := range keys {
			if strings.ToLower(k) == want {
				return k, models[k], true
			}
		}
	}
	for _, k := range keys {
		if p, ok := strings.CutSuffix(strings.ToLower(k), "*"); ok && strings.HasPrefix(n, p) {
			return k, models[k], true
		}
	}
	return "", Essential, false
}
