package meta

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// The usual constants of BM25 (Robertson and Zaragoza 2009): how soon further
// occurrences stop counting, and how much long texts are held back.
const (
	saturation = 1.2
	lengthness = 0.75
)

// index ranks short texts by BM25 over stemmed words.
type index struct {
	docs   []map[string]float64 // weighted occurrences of each word
	length []float64
	mean   float64
	df     map[string]int // in how many texts a word is
}

// field is a part of a text with its weight: a word of the name says more than
// one of the description.
type field struct {
	text   string
	weight float64
}

func newIndex(docs [][]field) *index {
	x := &index{df: map[string]int{}}
	for _, fields := range docs {
		counts := map[string]float64{}
		n := 0.0
		for _, f := range fields {
			for _, w := range words(f.text) {
				counts[w] += f.weight
				n += f.weight
			}
		}
		for w := range counts {
			x.df[w]++
		}
		x.docs, x.length = append(x.docs, counts), append(x.length, n)
		x.mean += n
	}
	x.mean /= max(float64(len(docs)), 1)
	return x
}

// scores rates every text for a query; 0: no word of it is in the text.
func (x *index) scores(query string) []float64 {
	out := make([]float64, len(x.docs))
	terms := words(query)
	slices.Sort(terms)
	for _, w := range slices.Compact(terms) {
		df := float64(x.df[w])
		idf := math.Log(1 + (float64(len(x.docs))-df+0.5)/(df+0.5))
		for i, counts := range x.docs {
			if tf := counts[w]; tf > 0 {
				out[i] += idf * tf * (saturation + 1) / (tf + saturation*(1-lengthness+lengthness*x.length[i]/x.mean))
			}
		}
	}
	return out
}

// words splits a text, drops what says nothing, and cuts the usual endings, so
// that "searching files" finds search_file.
func words(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !slices.Contains(stopWords, w) {
			out = append(out, stem(w))
		}
	}
	return out
}

var stopWords = strings.Fields("a an and as at be by can do for from how i in into is it me my need of on or please so some that the this to tool tools up use using want what with you")

func stem(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) >= 3 {
			w = rest
			break
		}
	}
	if len(w) > 3 { // schedule and scheduling, notify and notifies
		w = strings.TrimRight(w, "eiy")
	}
	return w
}
