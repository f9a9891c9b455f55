package pocket

import (
	"hash/fnv"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/ollama/ollama/api"
)

// EmbeddingSize is the number of dimensions of an embedding.
const EmbeddingSize = 256

// embed answers POST /api/embed. The vectors do not come from the network:
// see vectorOf.
func (s *Server) embed(out *reply, r *http.Request) error {
	start := time.Now()
	req, err := decode[api.EmbedRequest](out.w, r)
	if err != nil {
		return err
	}
	input, err := embedInput(req.Input)
	if err != nil {
		return err
	}
	if _, found := known(req.Model); !found {
		return errUnknownModel(req.Model)
	}
	p, err := prepare(req.Options)
	if err != nil {
		return err
	}
	res := api.EmbedResponse{Model: req.Model, Embeddings: make([][]float32, len(input))}
	for i, text := range input {
		if err := r.Context().Err(); err != nil {
			return err
		}
		tokens := p.file.tok.encode(text)
		if len(tokens) > p.opts.NumCtx {
			if !isTrue(req.Truncate) {
				return badRequest("%w", errTooLong)
			}
			tokens = tokens[:p.opts.NumCtx]
			if text, err = p.file.tok.decode(tokens); err != nil {
				return err
			}
		}
		v := vectorOf(text)
		if req.Dimensions > 0 && req.Dimensions < len(v) {
			v = v[:req.Dimensions]
			normalize(v)
		}
		res.Embeddings[i] = v
		res.PromptEvalCount += len(tokens)
	}
	res.TotalDuration = time.Since(start)
	return out.one(res)
}

func embedInput(in any) ([]string, error) {
	switch v := in.(type) {
	case nil:
		return nil, nil
	case string:
		if v == "" {
			return nil, nil
		}
		return []string{v}, nil
	case []any:
		list := make([]string, len(v))
		for i, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, badRequest("invalid input type: input[%d] is a %T, want a string", i, item)
			}
			list[i] = s
		}
		return list, nil
	default:
		return nil, badRequest("invalid input type: input is a %T, want a string or a list of strings", in)
	}
}

// vectorOf returns the embedding of a text: its words and the runs of three and
// four characters in them, hashed into EmbeddingSize dimensions with a sign
// (feature hashing, Weinberger et al. 2009), of length one. Texts that share
// words or parts of words are near each other; meaning plays no part. The same
// text gives the same vector on every machine; a text without letters or digits
// gives the zero vector.
func vectorOf(text string) []float32 {
	v := make([]float32, EmbeddingSize)
	count := func(feature string, weight float32) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(feature)) // never fails
		sum := h.Sum64()
		if sum>>63 == 0 {
			weight = -weight
		}
		v[sum%EmbeddingSize] += weight
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		count(w, 2)
		runes := []rune("^" + w + "$")
		for _, n := range []int{3, 4} {
			for i := 0; i+n <= len(runes); i++ {
				count(string(runes[i:i+n]), 1)
			}
		}
	}
	normalize(v)
	return v
}

// normalize scales v to length one; the zero vector stays.
func normalize(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
}
