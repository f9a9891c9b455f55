package window

import (
	"fmt"
	"slices"
)

// Steps are the windows that are asked for, in tokens. Few of them, since any
// other value than the one in force makes the server load the model again.
// Each doubles the one before; 24k is between, because that is where the cache
// of a 7B to 14B model meets an 8 to 16 GB card and doubling is too coarse.
// Under 4k the prompt and the ten essential tools leave no room for a file.
var Steps = []int{4 << 10, 8 << 10, 16 << 10, 24 << 10, 32 << 10, 64 << 10, 128 << 10}

const (
	// Default is the window when nothing is known about memory: large enough
	// for an agent's work, small enough for an 8 GB card with a 7B model.
	Default = 16 << 10

	// unknownMost is the most that is asked for while memory is unknown, and
	// cheapCache the cache, in bytes, up to which more than Default is.
	unknownMost = 32 << 10
	cheapCache  = 2 << 30

	// knownMost is the most that is asked for without a setting. Larger prompts
	// take minutes to read on such machines, and small models lose their way in
	// them long before; 128k is for who asks for it.
	knownMost = 64 << 10

	// usefulLoaded is the least window of a loaded model that is worth keeping
	// in order to save a load. The server's own default of 4096 is not.
	usefulLoaded = 8 << 10

	// overhead is what a runner takes beside weights and cache: the compute
	// buffers and the driver's context, in bytes.
	overhead = 768 << 20
)

// Loaded is what /api/ps says about a model that is in memory; its zero value
// is a model that is not.
type Loaded struct {
	Window   int   // tokens in force
	Size     int64 // bytes it takes: weights, cache and buffers
	SizeVRAM int64 // bytes of them on the GPU
}

// split reports whether a part of the model had to stay off the GPU.
func (l Loaded) split() bool { return l.SizeVRAM > 0 && l.SizeVRAM < l.Size }

// Facts are what is known when a window is chosen. Zero means unknown.
type Facts struct {
	Setting    int   // models.window, in tokens; 0: not set
	Trained    int   // the context length the model was trained for
	Cache      KV    // what a token costs in the cache
	ModelBytes int64 // on disk, which is about what the weights take
	Memory     int64 // bytes that model and cache may take together: VRAM, or unified memory
	Loaded     Loaded
	Failed     int  // the smallest window at which loading the model failed
	Remote     bool // it runs elsewhere: its memory is not ours
}

// Choice is a window with its reason, one sentence for a person.
type Choice struct {
	Tokens  int
	Reason  string
	KVBytes int64 // the cache at this size, an upper bound; 0: unknown
}

// Choose picks num_ctx. It is total: whatever is unknown, there is a window.
// It never exceeds a known trained length, and stays below a window at which
// the model failed to load. The setting comes first; then the window in force,
// if it is large enough or one step short, because another one means loading
// the model again; then what fits the memory; then [Default].
//
// Call it once when a model is taken into use and keep the result: Loaded
// changes by using it.
func Choose(f Facts) Choice {
	tokens, reason := f.choose()
	if most := StepDown(f.Failed); f.Failed > 0 && tokens >= f.Failed {
		if most == 0 {
			most = min(f.Failed, Steps[0])
		}
		tokens, reason = most, fmt.Sprintf("the model could not be loaded with %s", size(f.Failed))
	}
	if f.Trained > 0 && tokens > f.Trained {
		tokens, reason = f.Trained, fmt.Sprintf("the model was trained for no more than %s", size(f.Trained))
	}
	return Choice{Tokens: tokens, Reason: reason, KVBytes: f.Cache.Bytes(tokens)}
}

func (f Facts) choose() (int, string) {
	if f.Setting > 0 {
		return f.Setting, "set by models.window in settings.yml"
	}
	if f.Remote {
		return Steps[len(Steps)-1], "the model runs elsewhere, so its cache costs nothing here"
	}
	want, reason := f.want()
	if f.Trained > 0 {
		want = min(want, f.Trained)
	}
	in := f.Loaded.Window
	keeps := in >= want && !f.Loaded.split() || in == want ||
		in < want && in >= max(StepDown(want), min(usefulLoaded, want))
	if in > 0 && keeps && (f.Failed == 0 || in < f.Failed) {
		return in, "the model is loaded with it, and another would load it again"
	}
	if in > want && f.Loaded.split() {
		reason += "; the one in force leaves a part of the model off the GPU"
	}
	return want, reason
}

// want is the window one would ask for if nothing were loaded.
func (f Facts) want() (int, string) {
	if f.Cache == (KV{}) {
		return Default, "the default: what the cache takes is unknown"
	}
	room, known := f.room()
	if !known {
		w := Default
		for _, s := range Steps {
			if s > w && s <= unknownMost && f.Cache.Bytes(s) <= cheapCache {
				w = s
			}
		}
		if w > Default {
			return w, fmt.Sprintf("the cache takes only %s", bytesText(f.Cache.Bytes(w)))
		}
		return w, "the default: how much memory there is is unknown"
	}
	w := Steps[0]
	for _, s := range Steps {
		if s <= knownMost && f.Cache.Bytes(s) <= room {
			w = s
		}
	}
	if f.Cache.Bytes(w) > room {
		return w, "the smallest step: model and cache are larger than the memory"
	}
	return w, fmt.Sprintf("model and cache fit the memory: %s of cache", bytesText(f.Cache.Bytes(w)))
}

// room is what the memory leaves for the cache. A model larger than the memory
// is split anyway, so that half the memory bounds its cache.
func (f Facts) room() (int64, bool) {
	memory, model := f.Memory, f.ModelBytes
	if memory <= 0 && f.Loaded.split() {
		memory = f.Loaded.SizeVRAM // the GPU took no more
	}
	if memory <= 0 || model <= 0 {
		return 0, false
	}
	room := memory - model - overhead
	if room <= 0 {
		return f.Cache.Bytes(usefulLoaded), true
	}
	return room, true
}

// StepDown is the next step below a window that could not be loaded; 0: there
// is none, and the model does not fit at all.
func StepDown(tokens int) int {
	for _, s := range slices.Backward(Steps) {
		if s < tokens {
			return s
		}
	}
	return 0
}

func size(tokens int) string {
	if tokens >= 1<<10 && tokens%(1<<10) == 0 {
		return fmt.Sprintf("%dk tokens", tokens>>10)
	}
	return fmt.Sprintf("%d tokens", tokens)
}

func bytesText(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }
