package pocket

import "math"

// The products below add the terms of an output in the order of the columns,
// one accumulator an output, whatever the number of rows or tokens computed
// side by side. So a token's values do not depend on how the prompt was cut
// into batches, and a reused prefix gives the same bits as a fresh one.

// matmul computes y = x times the transpose of w for n tokens: x is n by in,
// w is out by in, y is n by out. It works on eight outputs at a time, to have
// enough independent sums for the processor's pipeline.
func matmul(y, w, x []float32, n, in, out int) {
	t := 0
	for ; t+4 <= n; t += 4 {
		matmul4(y[t*out:], w, x[t*in:], in, out)
	}
	for ; t < n; t++ {
		matvec(y[t*out:(t+1)*out], w, x[t*in:(t+1)*in])
	}
}

// matmul4 is matmul for four tokens, two rows of w at a time.
func matmul4(y, w, x []float32, in, out int) {
	x0, x1, x2, x3 := x[:in], x[in:2*in], x[2*in:3*in], x[3*in:4*in]
	o := 0
	for ; o+2 <= out; o += 2 {
		a, b := w[o*in:(o+1)*in], w[(o+1)*in:(o+2)*in]
		a, b = a[:len(x0)], b[:len(x0)]
		y1, y2, y3 := x1[:len(x0)], x2[:len(x0)], x3[:len(x0)]
		var a0, a1, a2, a3, b0, b1, b2, b3 float32
		for i, v0 := range x0 {
			u, v := a[i], b[i]
			v1, v2, v3 := y1[i], y2[i], y3[i]
			a0 += v0 * u
			a1 += v1 * u
			a2 += v2 * u
			a3 += v3 * u
			b0 += v0 * v
			b1 += v1 * v
			b2 += v2 * v
			b3 += v3 * v
		}
		y[o], y[out+o], y[2*out+o], y[3*out+o] = a0, a1, a2, a3
		y[o+1], y[out+o+1], y[2*out+o+1], y[3*out+o+1] = b0, b1, b2, b3
	}
	for ; o < out; o++ {
		row := w[o*in : (o+1)*in]
		y[o], y[out+o], y[2*out+o], y[3*out+o] = dot(row, x0), dot(row, x1), dot(row, x2), dot(row, x3)
	}
}

// matvec is matmul for one token, eight rows of w at a time.
func matvec(y, w, x []float32) {
	in, o := len(x), 0
	for ; o+8 <= len(y); o += 8 {
		r := w[o*in : (o+8)*in]
		r0, r1, r2, r3 := r[:in], r[in:2*in], r[2*in:3*in], r[3*in:4*in]
		r4, r5, r6, r7 := r[4*in:5*in], r[5*in:6*in], r[6*in:7*in], r[7*in:8*in]
		r0, r1, r2, r3 = r0[:len(x)], r1[:len(x)], r2[:len(x)], r3[:len(x)]
		r4, r5, r6, r7 = r4[:len(x)], r5[:len(x)], r6[:len(x)], r7[:len(x)]
		var s0, s1, s2, s3, s4, s5, s6, s7 float32
		for i, v := range x {
			s0 += v * r0[i]
			s1 += v * r1[i]
			s2 += v * r2[i]
			s3 += v * r3[i]
			s4 += v * r4[i]
			s5 += v * r5[i]
			s6 += v * r6[i]
			s7 += v * r7[i]
		}
		y[o], y[o+1], y[o+2], y[o+3] = s0, s1, s2, s3
		y[o+4], y[o+5], y[o+6], y[o+7] = s4, s5, s6, s7
	}
	for ; o < len(y); o++ {
		y[o] = dot(w[o*in:(o+1)*in], x)
	}
}

func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s float32
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

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

func add(x, y []float32) {
	y = y[:len(x)]
	for i := range x {
		x[i] += y[i]
	}
}
