package pocket

import (
	"context"
	"math"
)

// batch is the number of prompt tokens that pass through the network side by
// side; a cancelled context is noticed after each.
const batch = 16

// state is a loaded network with the keys and values of the tokens that it has
// seen. It is not safe for concurrent use.
type state struct {
	*weights
	tokens []int       // the tokens in the cache, in order
	keys   [][]float32 // by layer: dim values for each token
	values [][]float32

	evaluated int // tokens that passed through the network since it was loaded

	// Scratch space for one batch.
	x, h, q, att, tmp, gate, up []float32
	sin, cos, scores, logits    []float32
}

func newState(w *weights) *state {
	buf := func(n int) []float32 { return make([]float32, batch*n) }
	return &state{
		weights: w, keys: make([][]float32, w.layers), values: make([][]float32, w.layers),
		x: buf(w.dim), h: buf(w.dim), q: buf(w.dim), att: buf(w.dim), tmp: buf(w.dim), gate: buf(w.ffn), up: buf(w.ffn),
		sin: buf(w.headDim / 2), cos: buf(w.headDim / 2), logits: make([]float32, w.vocab),
	}
}

// keep forgets all but the first n tokens.
func (s *state) keep(n int) {
	s.tokens = s.tokens[:n]
	for l := range s.keys {
		s.keys[l], s.values[l] = s.keys[l][:n*s.dim], s.values[l][:n*s.dim]
	}
}

// eval appends tokens to the cache. It returns the logits after the last one,
// valid until the next call, or the context's error between two batches; the
// cache then holds the tokens that were finished.
func (s *state) eval(ctx context.Context, tokens []int) ([]float32, error) {
	for len(tokens) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		n := min(batch, len(tokens))
		s.forward(tokens[:n])
		tokens = tokens[n:]
		if len(tokens) == 0 {
			last := s.x[(n-1)*s.dim : n*s.dim]
			rmsNorm(s.h, last, s.outNorm, s.eps)
			matmul(s.logits, s.out, s.h, 1, s.dim, s.vocab)
		}
	}
	return s.logits, nil
}

// forward passes at most batch tokens through the layers; x holds the result.
func (s *state) forward(tokens []int) {
	n, d := len(tokens), s.dim
	first := len(s.tokens)
	x, h, q, att, tmp := s.x[:n*d], s.h[:n*d], s.q[:n*d], s.att[:n*d], s.tmp[:n*d]
	gate, up := s.gate[:n*s.ffn], s.up[:n*s.ffn]
	for i, t := range tokens {
		copy(x[i*d:(i+1)*d], s.embd[t*d:])
		s.angles(i, first+i)
	}
	for l := range s.blocks {
		b := &s.blocks[l]
		rmsNorm(h, x, b.attnNorm, s.eps)
		matmul(q, b.q, h, n, d, d)
		matmul(tmp, b.k, h, n, d, d)
		matmul(att, b.v, h, n, d, d)
		for i := range n {
			s.rotate(q[i*d:(i+1)*d], i)
			s.rotate(tmp[i*d:(i+1)*d], i)
		}
		s.keys[l] = append(s.keys[l], tmp...)
		s.values[l] = append(s.values[l], att...)
		for i := range n {
			s.attend(att[i*d:(i+1)*d], q[i*d:(i+1)*d], s.keys[l], s.values[l], first+i+1)
		}
		matmul(tmp, b.attnOut, att, n, d, d)
		addScaled(x, 1, tmp)

		rmsNorm(h, x, b.ffnNorm, s.eps)
		matmul(gate, b.gate, h, n, d, s.ffn)
		matmul(up, b.up, h, n, d, s.ffn)
		swiglu(gate, up)
		matmul(tmp, b.down, gate, n, s.ffn, d)
		addScaled(x, 1, tmp)
	}
	s.tokens = append(s.tokens, tokens...)
	s.evaluated += n
}

// angles computes the rotation of position pos into the batch's place i.
func (s *state) angles(i, pos int) {
	half := len(s.ropeFreq)
	for j, f := range s.ropeFreq {
		sin, cos := math.Sincos(float64(pos) * f)
		s.sin[i*half+j], s.cos[i*half+j] = float32(sin), float32(cos)
	}
}

// rotate applies the rotary position embedding to neighbouring pairs of each
// head (llama.cpp's NORM convention).
func (s *state) rotate(v []float32, i int) {
	half := len(s.ropeFreq)
	sin, cos := s.sin[i*half:(i+1)*half], s.cos[i*half:(i+1)*half]
	for ; len(v) >= 2*half; v = v[2*half:] {
		for j, c := range cos {
			a, b := v[2*j], v[2*j+1]
			v[2*j], v[2*j+1] = a*c-b*sin[j], a*sin[j]+b*c
		}
	}
}

// attend writes the attention of one query over the first n tokens to out.
func (s *state) attend(out, q, keys, values []float32, n int) {
	if cap(s.scores) < n {
		s.scores = make([]float32, 2*n)
	}
	scores, scale := s.scores[:n], float32(1/math.Sqrt(float64(s.headDim)))
	for lo := 0; lo < s.dim; lo += s.headDim {
		hi := lo + s.headDim
		qh, oh := q[lo:hi], out[lo:hi]
		for t := range scores {
			scores[t] = dot(qh, keys[t*s.dim+lo:t*s.dim+hi]) * scale
		}
		softmax(scores)
		clear(oh)
		for t, p := range scores {
			addScaled(oh, p, values[t*s.dim+lo:t*s.dim+hi])
		}
	}
}

// argmax returns the index of the largest value, the first of equals.
func argmax(v []float32) int {
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return best
}
