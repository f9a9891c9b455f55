package window_test

import (
	"testing"

	"pgregory.net/rapid"

	"chela/engine/window"
)

const (
	gib = 1 << 30
	k   = 1 << 10
)

// real models: model_info as /api/show has it, and bytes on disk.
var (
	llama32    = info("llama", 28, 24, 8, 128, 3072, 131072)
	qwenCoder7 = info("qwen2", 28, 28, 4, 0, 3584, 32768) // its file leaves the lengths to the embedding
	qwen3x8    = info("qwen3", 36, 32, 8, 128, 4096, 40960)
	qwen3x32   = info("qwen3", 64, 64, 8, 128, 5120, 40960)
	gptOSS     = with(info("gptoss", 24, 64, 8, 64, 2880, 131072), "gptoss.attention.sliding_window", 128.0)
	gemma3x12  = with(info("gemma3", 48, 16, 8, 256, 3840, 131072), "gemma3.attention.sliding_window", 1024.0)
)

func info(arch string, layers, heads, kvHeads, length, embedding, context float64) map[string]any {
	m := map[string]any{
		"general.architecture": arch, arch + ".block_count": layers, arch + ".attention.head_count": heads,
		arch + ".attention.head_count_kv": kvHeads, arch + ".embedding_length": embedding, arch + ".context_length": context,
	}
	if length > 0 {
		m[arch+".attention.key_length"], m[arch+".attention.value_length"] = length, length
	}
	return m
}

func with(m map[string]any, key string, v any) map[string]any {
	m[key] = v
	return m
}

func TestCacheOfRealModels(t *testing.T) {
	list := func(v ...any) []any { return v }
	hybrid := with(info("nemotron", 4, 32, 0, 128, 4096, 8192), "nemotron.attention.head_count_kv", list(0.0, 8.0, 0.0, 8.0))
	for name, c := range map[string]struct {
		info map[string]any
		at   int
		want int64
	}{
		"llama3.2:3b":                         {llama32, 16 * k, 114688 * 16 * k},
		"qwen2.5-coder:7b without lengths":    {qwenCoder7, 16 * k, 57344 * 16 * k},
		"qwen3:8b":                            {qwen3x8, 16 * k, 147456 * 16 * k},
		"qwen3:32b":                           {qwen3x32, 16 * k, 262144 * 16 * k},
		"gpt-oss:20b, half its layers local":  {gptOSS, 16 * k, 12*2048*16*k + 12*2048*(4096+512)},
		"gemma3:12b, five of six are local":   {gemma3x12, 16 * k, 8*8192*16*k + 40*8192*(1024+512)},
		"gemma3:12b in a small window":        {gemma3x12, 1 * k, 48 * 8192 * k},
		"a list of heads, some without":       {hybrid, 10, 10 * 2 * 2 * 8 * 256},
		"a list that was left out (null)":     {with(info("x", 2, 4, 0, 64, 256, 0), "x.attention.head_count_kv", nil), 1, 2 * 2 * 4 * 128},
		"a window without a pattern":          {with(info("mistral", 2, 4, 4, 64, 256, 0), "mistral.attention.sliding_window", 16.0), 1000, 2 * 2 * 4 * 128 * 1000},
		"a pattern as a list":                 {with(with(info("y", 2, 4, 4, 64, 256, 0), "y.attention.sliding_window", 88.0), "y.attention.sliding_window_pattern", list(true, false)), 1000, 1024*1000 + 1024*600},
		"full attention in one of four":       {with(info("qwen3next", 4, 4, 4, 64, 256, 0), "qwen3next.full_attention_interval", 4.0), 10, 10 * 1024},
		"nothing known":                       {nil, 16 * k, 0},
		"no layers":                           {info("z", 0, 4, 4, 64, 256, 0), 16 * k, 0},
		"an absurd number of layers is no go": {info("z", 1e9, 4, 4, 64, 256, 0), 16 * k, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := window.KVBytesPerToken(c.info).Bytes(c.at); got != c.want {
				t.Errorf("cache at %d tokens: %d bytes, want %d", c.at, got, c.want)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	facts := func(m map[string]any, disk float64, change func(*window.Facts)) window.Facts {
		arch := m["general.architecture"].(string)
		f := window.Facts{Trained: int(m[arch+".context_length"].(float64)), Cache: window.KVBytesPerToken(m), ModelBytes: int64(disk * 1e9)}
		if change != nil {
			change(&f)
		}
		return f
	}
	memory := func(g int64) func(*window.Facts) { return func(f *window.Facts) { f.Memory = g * gib } }
	loaded := func(tokens int, size, vram float64) func(*window.Facts) {
		return func(f *window.Facts) {
			f.Loaded = window.Loaded{Window: tokens, Size: int64(size * 1e9), SizeVRAM: int64(vram * 1e9)}
		}
	}
	for name, c := range map[string]struct {
		facts window.Facts
		want  int
	}{
		"nothing known":                               {window.Facts{}, 16 * k},
		"llama3.2:3b, memory unknown":                 {facts(llama32, 2.0, nil), 16 * k},
		"qwen2.5-coder:7b, a cheap cache":             {facts(qwenCoder7, 4.7, nil), 32 * k},
		"qwen3:8b, memory unknown":                    {facts(qwen3x8, 5.2, nil), 16 * k},
		"gpt-oss:20b never above 32k by itself":       {facts(gptOSS, 13.8, nil), 32 * k},
		"llama3.2:3b on 8 GiB":                        {facts(llama32, 2.0, memory(8)), 32 * k},
		"qwen2.5-coder:7b on 8 GiB":                   {facts(qwenCoder7, 4.7, memory(8)), 32 * k},
		"qwen3:8b on 8 GiB":                           {facts(qwen3x8, 5.2, memory(8)), 16 * k},
		"qwen3:8b on 10 GiB takes the step between":   {facts(qwen3x8, 5.2, memory(10)), 24 * k},
		"qwen3:8b on 24 GiB gets its whole length":    {facts(qwen3x8, 5.2, memory(24)), 40960},
		"qwen3:32b on 24 GiB":                         {facts(qwen3x32, 20.2, memory(24)), 16 * k},
		"qwen3:32b on 16 GiB does not fit at all":     {facts(qwen3x32, 20.2, memory(16)), 8 * k},
		"gpt-oss:20b on 16 GiB":                       {facts(gptOSS, 13.8, memory(16)), 64 * k},
		"gemma3:12b on 12 GiB":                        {facts(gemma3x12, 8.1, memory(12)), 32 * k},
		"the setting wins":                            {facts(qwen3x8, 5.2, func(f *window.Facts) { f.Setting = 20000; f.Memory = 8 * gib }), 20000},
		"never above the trained length":              {facts(qwen3x8, 5.2, func(f *window.Facts) { f.Setting = 131072 }), 40960},
		"a setting that failed to load":               {facts(qwen3x8, 5.2, func(f *window.Facts) { f.Setting, f.Failed = 32768, 32768 }), 24 * k},
		"a larger window in force is kept":            {facts(qwen3x8, 5.2, loaded(32*k, 10, 10)), 32 * k},
		"one step short is kept":                      {facts(qwen3x8, 5.2, loaded(8*k, 7, 7)), 8 * k},
		"the server's default of 4096 is not":         {facts(qwen3x8, 5.2, loaded(4*k, 6, 6)), 16 * k},
		"a larger one on the CPU too is kept":         {facts(qwen3x8, 5.2, loaded(32*k, 10, 0)), 32 * k},
		"a larger one that splits the model is left":  {facts(qwen3x8, 5.2, loaded(40960, 11.5, 8)), 8 * k},
		"what failed is not kept":                     {facts(qwen3x8, 5.2, func(f *window.Facts) { loaded(32*k, 10, 10)(f); f.Failed = 16 * k }), 8 * k},
		"a failure at the smallest step stays there":  {window.Facts{Failed: 4 * k}, 4 * k},
		"a model trained for 2048":                    {window.Facts{Trained: 2048}, 2048},
		"a loaded window of a model trained for less": {window.Facts{Trained: 2048, Loaded: window.Loaded{Window: 4096, Size: 1, SizeVRAM: 1}}, 2048},
		"a model elsewhere gets its whole length":     {window.Facts{Remote: true, Trained: 100000}, 100000},
		"a model elsewhere whose length is not known": {window.Facts{Remote: true}, 128 * k},
	} {
		t.Run(name, func(t *testing.T) {
			got := window.Choose(c.facts)
			if got.Tokens != c.want || got.Reason == "" || got.KVBytes != c.facts.Cache.Bytes(got.Tokens) {
				t.Errorf("Choose: %+v, want %d tokens, a reason and the cache's size", got, c.want)
			}
		})
	}
}

// Whatever is known, the bounds hold, and a choice does not change itself: what
// is loaded with it is kept.
func TestChooseStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.OneOf(rapid.Just(0), rapid.IntRange(512, 300000))
		f := window.Facts{
			Setting: tokens.Draw(t, "setting"), Trained: tokens.Draw(t, "trained"), Failed: tokens.Draw(t, "failed"),
			Cache:      window.KV{PerToken: rapid.Int64Range(0, 1<<20).Draw(t, "cache")},
			ModelBytes: rapid.Int64Range(0, 40*gib).Draw(t, "model"), Memory: rapid.Int64Range(0, 60*gib).Draw(t, "memory"),
			Loaded: window.Loaded{Window: tokens.Draw(t, "loaded")}, Remote: rapid.Bool().Draw(t, "remote"),
		}
		c := window.Choose(f)
		switch {
		case c.Tokens <= 0:
			t.Fatalf("no window: %+v", c)
		case f.Trained > 0 && c.Tokens > f.Trained:
			t.Fatalf("above the trained length: %+v", c)
		case f.Failed > 4096 && c.Tokens >= f.Failed:
			t.Fatalf("not below what failed: %+v", c)
		}
		f.Loaded = window.Loaded{Window: c.Tokens, Size: 1, SizeVRAM: 1}
		if again := window.Choose(f); again.Tokens != c.Tokens {
			t.Fatalf("loaded with %d, then %+v", c.Tokens, again)
		}
	})
}

func TestStepDownEnds(t *testing.T) {
	seen := 0
	for w := 200000; w > 0; w = window.StepDown(w) {
		seen++
	}
	if seen != len(window.Steps)+1 {
		t.Errorf("%d steps down from 200000, want each of %d once", seen-1, len(window.Steps))
	}
}
