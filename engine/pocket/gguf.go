package pocket

import (
	"bytes"
	_ "embed" // the model and its Modelfile
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/ollama/ollama/fs/ggml"
	"github.com/x448/float16"
)

//go:embed pocket.gguf
var ggufBytes []byte

// Tensor types of the GGUF format that the file uses (ggml_type in ggml.h).
const (
	kindF32 = 0
	kindF16 = 1
)

// hyper holds the sizes of the network, as the file's metadata states them.
type hyper struct {
	layers, dim, heads, headDim, ffn, vocab int
	context                                 int
	eps, ropeBase                           float32
}

// modelFile is what is read of the GGUF file without touching the weights. It
// never changes after it was read.
type modelFile struct {
	ggml  *ggml.GGML
	hyper hyper
	tok   *tokenizer
}

// openFile reads the metadata of the embedded file, once.
var openFile = sync.OnceValues(func() (*modelFile, error) {
	f, err := parseFile(ggufBytes)
	if err != nil {
		return nil, fmt.Errorf("read the built-in model: %w", err)
	}
	return f, nil
})

func parseFile(b []byte) (*modelFile, error) {
	// -1: arrays of any length are kept; the vocabulary is one of them.
	g, err := ggml.Decode(bytes.NewReader(b), -1)
	if err != nil {
		return nil, fmt.Errorf("decode the GGUF header: %w", err)
	}
	kv := g.KV()
	if a := kv.Architecture(); a != "llama" {
		return nil, fmt.Errorf("architecture %q: only llama can be run", a)
	}
	h := hyper{
		layers:   int(kv.BlockCount()),
		dim:      int(kv.EmbeddingLength()),
		heads:    int(kv.HeadCountMax()),
		headDim:  int(kv.EmbeddingHeadCountK()),
		ffn:      int(kv.Uint("feed_forward_length")),
		vocab:    int(kv.Uint("vocab_size")),
		context:  int(kv.ContextLength()),
		eps:      kv.Float("attention.layer_norm_rms_epsilon"),
		ropeBase: kv.Float("rope.freq_base"),
	}
	if kv.HeadCountKVMax() != kv.HeadCountMax() || h.heads*h.headDim != h.dim {
		return nil, errors.New("grouped or uneven attention heads are not supported: export with as many key heads as query heads")
	}
	tok, err := newTokenizer(kv.Strings("tokenizer.ggml.tokens"), kv.Ints("tokenizer.ggml.token_type"), int(kv.Uint("tokenizer.ggml.eos_token_id")))
	if err != nil {
		return nil, err
	}
	if len(tok.text) != h.vocab {
		return nil, fmt.Errorf("the vocabulary has %d tokens, the metadata says %d", len(tok.text), h.vocab)
	}
	return &modelFile{ggml: g, hyper: h, tok: tok}, nil
}

// tensor returns a weight as float32, row by row, and checks its size.
func (f *modelFile) tensor(b []byte, name string, want int) ([]float32, error) {
	ts := f.ggml.Tensors()
	for _, t := range ts.Items() {
		if t.Name != name {
			continue
		}
		if t.Elements() != uint64(want) {
			return nil, fmt.Errorf("tensor %s has %d elements, want %d", name, t.Elements(), want)
		}
		start, size := ts.Offset+t.Offset, t.Size()
		if start > uint64(len(b)) || size > uint64(len(b))-start {
			return nil, fmt.Errorf("tensor %s ends after the file", name)
		}
		return floats(b[start:start+size], t.Kind, name)
	}
	return nil, fmt.Errorf("tensor %s is missing", name)
}

func floats(raw []byte, kind uint32, name string) ([]float32, error) {
	switch kind {
	case kindF32:
		out := make([]float32, len(raw)/4)
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		return out, nil
	case kindF16:
		out := make([]float32, len(raw)/2)
		for i := range out {
			out[i] = float16.Frombits(binary.LittleEndian.Uint16(raw[2*i:])).Float32()
		}
		return out, nil
	}
	return nil, fmt.Errorf("tensor %s has type %d: only F32 and F16 can be read", name, kind)
}

// block holds the weights of one layer; a matrix is out rows of in columns.
type block struct {
	attnNorm, q, k, v, attnOut []float32
	ffnNorm, gate, up, down    []float32
}

// weights holds the network, converted to float32. It is read-only.
type weights struct {
	hyper
	embd, outNorm, out []float32
	blocks             []block
	ropeFreq           []float64 // radians a position, for each pair of a head
}

// loadWeights converts the weights of the file b, which f describes. Float32
// costs twice the memory of the file's F16 and saves a conversion for every
// weight and token.
func loadWeights(f *modelFile, b []byte) (*weights, error) {
	h := f.hyper
	w := &weights{hyper: h, blocks: make([]block, h.layers), ropeFreq: make([]float64, h.headDim/2)}
	for i := range w.ropeFreq {
		w.ropeFreq[i] = math.Pow(float64(h.ropeBase), -2*float64(i)/float64(h.headDim))
	}
	var err error
	read := func(dst *[]float32, name string, elements int) {
		if err == nil {
			*dst, err = f.tensor(b, name+".weight", elements)
		}
	}
	read(&w.embd, "token_embd", h.vocab*h.dim)
	read(&w.outNorm, "output_norm", h.dim)
	read(&w.out, "output", h.vocab*h.dim)
	for i := range w.blocks {
		l, p := &w.blocks[i], fmt.Sprintf("blk.%d.", i)
		read(&l.attnNorm, p+"attn_norm", h.dim)
		read(&l.q, p+"attn_q", h.dim*h.dim)
		read(&l.k, p+"attn_k", h.dim*h.dim)
		read(&l.v, p+"attn_v", h.dim*h.dim)
		read(&l.attnOut, p+"attn_output", h.dim*h.dim)
		read(&l.ffnNorm, p+"ffn_norm", h.dim)
		read(&l.gate, p+"ffn_gate", h.ffn*h.dim)
		read(&l.up, p+"ffn_up", h.ffn*h.dim)
		read(&l.down, p+"ffn_down", h.dim*h.ffn)
	}
	if err != nil {
		return nil, fmt.Errorf("load the built-in model: %w", err)
	}
	return w, nil
}
