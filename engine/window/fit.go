package window

import (
	"cmp"
	"fmt"
	"slices"
)

// Kind says what an item of a conversation is.
type Kind int

// The kinds of items.
const (
	UserText      Kind = iota
	AssistantText      // also hidden messages of the program
	ToolCall
	ToolResult
	Summary // the block that stands for what was summarised before
)

// Item is one part of a conversation, in the order in which it is sent. An
// assistant's message with text and calls may be one AssistantText item.
type Item struct {
	Kind   Kind
	Turn   int // the last turn of an item list is the running one; a Summary has 0
	Tokens int // with its message's overhead

	// Of a tool result: its tool, a signature of name and arguments, the one
	// path that it is about, and whether it is a stub or an error.
	Tool   string
	Call   string
	Path   string
	Folded bool
	Error  bool

	// Kept is, of a Summary, the tokens of what the person wrote.
	Kept int // see Digest.Kept
}

// The shares of the window, in percent, by which compaction goes. It begins
// late and goes down far, so that the next one is far away too: each breaks the
// prefix that the server caches. Fixed reserves of cloud agents are larger than
// a small window and compact it in every step.
const (
	HighWater = 80 // more than this is used: act
	LowWater  = 50 // go down to this
	TightMark = 65 // more than this is left: little was gained
)

const (
	// FoldTokens is the most a folded result takes; see [Fold]. Results under
	// twice that are not worth a broken prefix.
	FoldTokens = 60

	// KeepResults is how many results of the running turn are never folded: the
	// last one, and those before it while all of them take no more than
	// keepShare percent of the window. Three large ones would leave so little
	// that every step compacts.
	KeepResults = 3
	keepShare   = 25

	// MaxTight is how many compactions of one turn may gain little. Then the
	// next one ends the turn, or it would compact in every step.
	MaxTight = 3

	// leastGain is the share of the window, in percent, that summarising must
	// free to be worth it.
	leastGain = 3
)

// SummaryTokens bounds a summary, without what the person wrote: a sixteenth
// of the window, between 256 and 2048 tokens.
func SummaryTokens(window int) int { return min(max(window/16, 256), 2048) }

// State is a conversation and the room it has, all in tokens.
type State struct {
	Items   []Item
	Prefix  int // system prompt and tools
	Window  int
	Reserve int // for the answer; no more than half the window counts
	Tight   int // plans of this turn so far that were Tight
}

// Plan says what gives way. The zero plan changes nothing. Indexes are those of
// the items, ascending, and none is in both lists.
type Plan struct {
	Fold      []int // tool results to replace by their stubs
	Summarise []int // items to take out; what the person wrote among them moves into the summary, verbatim
	Summary   int   // tokens of the new summary with what the person wrote; 0: none is written

	Before, After int  // tokens of the request
	Tight         bool // more than TightMark is still in use
	Full          bool // nothing more can give way and the next request does not fit: end the turn and say so
	Reason        string
}

// Acts reports whether the plan changes the conversation.
func (p Plan) Acts() bool { return len(p.Fold)+len(p.Summarise) > 0 }

// Fit plans what gives way when a conversation outgrows its window: first tool
// results, those that a later one supersedes before the others, the oldest
// first, never the running turn's last ones ([KeepResults]); then the oldest
// whole turns, and at last the running turn's own first steps. The texts of the
// person are never folded or dropped: those of summarised turns move into the
// summary, that of the running turn stays where it is.
//
// Guarantees: a plan that acts leaves at least 100-HighWater percent of the
// window free, or is Full. A second Fit after applying a plan does nothing.
func Fit(s State) Plan {
	f := newFitting(s)
	p := Plan{Before: f.used, After: f.used}
	if s.Window <= 0 || f.used <= f.high {
		return p
	}
	p.Fold = f.fold()
	p.Summarise, p.Summary = f.summarise()
	p.Fold = slices.DeleteFunc(p.Fold, func(i int) bool {
		_, gone := slices.BinarySearch(p.Summarise, i)
		return gone
	})
	slices.Sort(p.Fold)
	p.After = f.used
	p.Tight = p.After > f.tight
	p.Full = p.After > f.high || p.Tight && s.Tight >= MaxTight
	p.Reason = f.reason(p)
	return p
}

// fitting is a plan in the making.
type fitting struct {
	State
	cost             []int // tokens of each item as planned so far
	used             int
	high, low, tight int
	running          int // the running turn
	cut              int // running-turn items before it may be summarised
	protected        map[int]bool
}

func newFitting(s State) *fitting {
	f := &fitting{State: s, used: s.Prefix, protected: map[int]bool{}, cost: make([]int, len(s.Items))}
	f.high = min(s.Window*HighWater/100, s.Window-min(max(s.Reserve, 0), s.Window/2))
	f.low = min(s.Window*LowWater/100, f.high*LowWater/HighWater)
	f.tight = min(s.Window*TightMark/100, f.high*TightMark/HighWater)
	for i, it := range s.Items {
		f.cost[i] = max(it.Tokens, 0)
		f.used += f.cost[i]
		f.running = max(f.running, it.Turn)
	}
	f.cut = -1
	last, sum := 0, 0
	for i, it := range slices.Backward(s.Items) {
		if it.Kind != ToolResult || it.Turn != f.running {
			continue
		}
		sum += f.cost[i]
		if last == KeepResults || last > 0 && sum > s.Window*keepShare/100 {
			break
		}
		f.protected[i] = true
		f.cut, last = i, last+1
	}
	f.cut = f.stepStart(f.cut)
	return f
}

// stepStart goes back from a result to the answer that made its call.
func (f *fitting) stepStart(i int) int {
	for i > 0 && f.Items[i].Kind == ToolResult {
		i--
	}
	for i > 0 && f.Items[i-1].Turn == f.running && (f.Items[i-1].Kind == AssistantText || f.Items[i-1].Kind == ToolCall) {
		i--
	}
	return i
}

// fold picks results until the low mark is reached.
func (f *fitting) fold() []int {
	type candidate struct{ index, rank int }
	var all []candidate
	latest := map[string]int{} // of a call or a path, the last good result
	for i, it := range f.Items {
		if it.Kind == ToolResult && !it.Error {
			for _, k := range it.keys() {
				latest[k] = i
			}
		}
	}
	for i, it := range f.Items {
		if it.Kind != ToolResult || it.Folded || f.protected[i] || f.cost[i] < 2*FoldTokens {
			continue
		}
		rank := 1
		if it.Error && it.Turn == f.running {
			rank = 2 // it may still be what the model works on
		}
		for _, k := range it.keys() {
			if j, ok := latest[k]; ok && j > i {
				rank = 0
			}
		}
		all = append(all, candidate{i, rank})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
	var out []int
	for _, c := range all {
		if f.used <= f.low {
			break
		}
		f.used -= f.cost[c.index] - FoldTokens
		f.cost[c.index] = FoldTokens
		out = append(out, c.index)
	}
	return out
}

// keys are what a later result can supersede an item by.
func (it Item) keys() []string {
	var k []string
	if it.Call != "" {
		k = append(k, "call\x00"+it.Call)
	}
	if it.Path != "" {
		k = append(k, "path\x00"+it.Tool+"\x00"+it.Path)
	}
	return k
}

func (f *fitting) reason(p Plan) string {
	switch {
	case p.Full && f.Prefix > f.high:
		return fmt.Sprintf("the system prompt and the tools alone take %d of %d tokens", f.Prefix, f.Window)
	case p.Full:
		return fmt.Sprintf("%d of %d tokens are in use and nothing more can be shortened", p.After, f.Window)
	case len(p.Summarise) > 0:
		return fmt.Sprintf("%d old outputs folded and %d messages summarised: %d tokens became %d", len(p.Fold), len(p.Summarise), p.Before, p.After)
	}
	return fmt.Sprintf("%d old outputs folded: %d tokens became %d", len(p.Fold), p.Before, p.After)
}
