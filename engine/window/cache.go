package window

// KV is the size of a model's key-value cache. The zero value is unknown.
type KV struct {
	PerToken int64 // bytes for each token of the window
	Local    int64 // bytes for each token in layers that see only Span tokens
	Span     int   // tokens those layers keep; 0: there are none
}

// batch is what a runner keeps of a sliding window beyond its span, in tokens:
// the batch that is being read (Ollama's default).
const batch = 512

// Bytes is the cache of a window, in bytes.
func (k KV) Bytes(tokens int) int64 {
	if tokens <= 0 {
		return 0
	}
	return k.PerToken*int64(tokens) + k.Local*int64(min(tokens, k.Span+batch))
}

// pattern is how an architecture mixes its layers.
type pattern struct {
	every int // one layer in so many sees everything
	least int // tokens that its runner keeps for the others at least
}

// patterns are those of architectures whose file states a sliding window but
// not its pattern. The numbers are those of Ollama's own estimate (GraphSize in
// fs/ggml). Gemma 2 is not here: its older runner keeps everything.
var patterns = map[string]pattern{"gemma3": {every: 6}, "gptoss": {every: 2, least: 4096}, "gpt-oss": {every: 2, least: 4096}}

// bytesPerElement is f16, the server's default. A quantised cache cannot be
// seen through the API; it is smaller, so that this stays an upper bound.
const bytesPerElement = 2

// maxLayers bounds what a file may claim; the largest models have some 130.
const maxLayers = 4096

// KVBytesPerToken reads the cost of the cache from the model_info of
// /api/show: 2 bytes x (key + value length) x KV heads, over the layers. It is
// an upper bound. Heads and lengths may be one number or a list with one for
// each layer (0: no attention there); layers with a sliding window are cheaper
// only if the file says that there is one and which layers have it, by a list,
// by full_attention_interval, or by an architecture known for its pattern. What
// is missing makes the result zero: unknown.
//
// Lists arrive as null unless the request is verbose; then the number of query
// heads bounds that of the KV heads.
func KVBytesPerToken(info map[string]any) KV {
	arch, _ := info["general.architecture"].(string)
	get := func(key string) any { return info[arch+"."+key] }
	layers := int(number(get("block_count")))
	if arch == "" || layers <= 0 || layers > maxLayers {
		return KV{}
	}
	var kv KV
	span := int(number(get("attention.sliding_window")))
	if span > 0 {
		span = max(span, patterns[arch].least)
	}
	for i := range layers {
		heads, ok := at(get("attention.head_count_kv"), i)
		if !ok {
			heads, _ = at(get("attention.head_count"), i)
		}
		bytes := bytesPerElement * heads * (length(get, "attention.key_length", i) + length(get, "attention.value_length", i))
		switch kind(arch, get, i) {
		case full:
			kv.PerToken += bytes
		case local:
			if span > 0 {
				kv.Local += bytes
			} else {
				kv.PerToken += bytes
			}
		case recurrent: // its state does not grow with the window
		}
	}
	if kv.Local > 0 {
		kv.Span = span
	}
	return kv
}

// layer is what a layer keeps of the past.
type layer int

const (
	full      layer = iota // all of it
	local                  // the last tokens
	recurrent              // a state of fixed size
)

func kind(arch string, get func(string) any, i int) layer {
	if n := number(get("full_attention_interval")); n > 1 && int64(i+1)%n != 0 {
		return recurrent
	}
	switch p := get("attention.sliding_window_pattern").(type) {
	case []any:
		if i < len(p) && p[i] == true {
			return local
		}
		return full
	case float64:
		if n := number(p); n > 1 && int64(i+1)%n != 0 {
			return local
		}
		return full
	}
	if n := patterns[arch].every; n > 0 && (i+1)%n != 0 {
		return local
	}
	return full
}

// length is a layer's key or value length; files of older models leave it to
// the embedding's share of a head.
func length(get func(string) any, key string, i int) int64 {
	if n, ok := at(get(key), i); ok {
		return n
	}
	if heads, _ := at(get("attention.head_count"), i); heads > 0 {
		return number(get("embedding_length")) / heads
	}
	return 0
}

// at reads a number, or the i-th of a list of them.
func at(v any, i int) (int64, bool) {
	switch v := v.(type) {
	case float64:
		return number(v), true
	case []any:
		if i < len(v) {
			return number(v[i]), true
		}
		return 0, true
	}
	return 0, false
}

// number reads a JSON number that is known to be whole and is small enough to
// be multiplied. Anything else is 0.
func number(v any) int64 {
	f, ok := v.(float64)
	if !ok || f < 0 || f > 1<<24 {
		return 0
	}
	return int64(f)
}
