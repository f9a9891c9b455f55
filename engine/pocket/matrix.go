package pocket

import (
	"math"

	"gonum.org/v1/gonum/blas/gonum"
)

// blas is used for its assembly kernels only (SSE on amd64, plain Go
// elsewhere). Every output of a product is one dot product of its own, however
// many tokens are computed side by side: so a token's values do not depend on
// how the prompt was cut into batches, and a reused prefix gives the same bits
// as a fresh one. gonum's matrix products would not promise that, and would
// start goroutines.
var blas gonum.Implementation

// matmul computes y = x times the transpose of w for n tokens: x is n by in,
// w is out by in, y is n by out.
func matmul(y, w, x []float32, n, in, out int) {
	for o := range out {
		row := w[o*in : (o+1)*in] // stays in the first-level cache for all tokens
		for t := range n {
			y[t*out+o] = dot(row, x[t*in:(t+1)*in])
		}
	}
}

func dot(a, b []float32) float32 { return blas.Sdot(len(a), a, 1, b, 1) }

// rmsNorm writes x, scaled to a root mean square of one, times weight to y,
// for each of the n tokens in x.
func rmsNorm(y, x, weight []float32, eps float32) {
	d := len(weight)
	for ; len(x) >= d; x, y = x[d:], y[d:] {
		scale := float32(1 / math.Sqrt(float64(dot(x[:d], x[:d])/float32(d)+eps)))
		for i, w := range weight {
			y[i] = x[i] * scale * w
		}
	}
}

// softmax turns scores into weights that add up to one, in place.
func softmax(s []float32) {
	top := s[0]
	for _, v := range s {
		top = max(top, v)
	}
	var sum float32
	for i, v := range s {
		e := float32(math.Exp(float64(v - top)))
		s[i] = e
		sum += e
	}
	scale := 1 / sum
	for i := range s {
		s[i] *= scale
	}
}

// swiglu writes silu(gate) * up to gate.
func swiglu(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = g / (1 + float32(math.Exp(float64(-g)))) * up[i]
	}
}

// addScaled adds a times y to x.
func addScaled(x []float32, a float32, y []float32) { blas.Saxpy(len(x), a, y, 1, x, 1) }
