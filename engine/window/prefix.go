package window

import (
	"fmt"
	"hash/fnv"
	"io"
	"sort"
	"time"
)

// Chain is what a request consists of, as hashes: each covers its part and all
// before it. Two chains are compared without the texts. Zero is ready to use.
// A copy stays what it is while the original grows; only one of them may.
type Chain struct {
	hashes []uint64
	names  []string
}

// Add appends a part under the name that a person is shown if it changes:
// "the system prompt", "the tools", "message 3 (tool)". The bounds between
// pieces count: ("a","b") is not ("ab").
func (c *Chain) Add(name string, pieces ...string) {
	h := fnv.New64a()
	if n := len(c.hashes); n > 0 {
		fmt.Fprintf(h, "%x", c.hashes[n-1])
	}
	for _, p := range pieces {
		fmt.Fprintf(h, "\x00%d\x00", len(p))
		_, _ = io.WriteString(h, p) // a hash never fails
	}
	c.hashes = append(c.hashes, h.Sum64())
	c.names = append(c.names, name)
}

// Len is the number of parts.
func (c Chain) Len() int { return len(c.hashes) }

// Report says how a request continues the one before.
type Report struct {
	Kept   bool
	At     int    // the first part that differs; of a kept prefix, where the new parts begin
	Reason string // "" if kept
}

// Compare says whether next begins with all of prev. It takes time logarithmic
// in the length, since a chain that differs at one part differs at all later.
func Compare(prev, next Chain) Report {
	n := min(prev.Len(), next.Len())
	at := sort.Search(n, func(i int) bool { return prev.hashes[i] != next.hashes[i] })
	switch {
	case at < n:
		reason := prev.names[at] + " changed"
		if prev.names[at] != next.names[at] {
			reason = fmt.Sprintf("%s is where %s was", next.names[at], prev.names[at])
		}
		return Report{At: at, Reason: reason}
	case next.Len() < prev.Len():
		return Report{At: n, Reason: prev.names[n] + " was taken out"}
	}
	return Report{Kept: true, At: n}
}

// Prefill is what is known of how fast a model reads a prompt, and of what its
// server can have in its cache. The zero value knows nothing.
type Prefill struct {
	PerToken float64 `json:"ns_per_token"` // of tokens that were not cached
	Cached   int     `json:"-"`            // tokens of the last request and its answer
}

// The least by which reading anew must differ from the cache to be told apart.
const (
	tellTokens = 256
	tellTime   = 40 * time.Millisecond
)

// Observe notes a request that was answered: its prompt and answer in tokens,
// the time to read the prompt, and whether the model had to be loaded first,
// which empties the cache. Reading gets faster only by caching, so that the
// slowest rate is taken for that without; it gives way slowly.
func (p *Prefill) Observe(promptTokens, answerTokens int, prefill time.Duration, loaded bool) {
	if promptTokens <= 0 || prefill <= 0 {
		p.Cached = 0
		return
	}
	kept, known := CacheHit(promptTokens, prefill, *p)
	rate := float64(prefill) / float64(promptTokens)
	switch {
	case loaded || p.PerToken <= 0:
		p.PerToken = rate
	case rate > p.PerToken:
		p.PerToken += (rate - p.PerToken) / 2
	case known && !kept:
		p.PerToken += (rate - p.PerToken) / 4
	}
	p.Cached = promptTokens + max(answerTokens, 0)
}

// CacheHit judges by the time whether the server had the previous request in
// its cache: prompt_eval_count counts cached tokens too and says nothing. known
// is false while it cannot be told: nothing before, no rate yet, or too little
// that could have been cached.
func CacheHit(promptTokens int, prefill time.Duration, previous Prefill) (kept, known bool) {
	if promptTokens <= 0 || prefill <= 0 || previous.PerToken <= 0 || previous.Cached <= 0 {
		return false, false
	}
	fresh := max(promptTokens-previous.Cached, 0)
	anew := previous.PerToken * float64(promptTokens)
	cached := previous.PerToken * float64(fresh)
	if promptTokens-fresh < tellTokens || anew-cached < float64(tellTime) {
		return false, false
	}
	return float64(prefill) < (anew+cached)/2, true
}
