package pocket

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/ollama/ollama/api"
)

// errTooLong has the words of Ollama's runner; clients match on them.
var errTooLong = errors.New("the input length exceeds the context length")

// errNoInput has the words of Ollama's runner.
var errNoInput = errors.New("no input provided")

// The values of done_reason.
const (
	doneStop   = "stop"
	doneLength = "length"
	doneLoad   = "load"
	doneUnload = "unload"
)

// completion is one request to the network.
type completion struct {
	prompt []int
	opts   api.Options

	truncate bool // cut the middle out of a prompt that is too long
	shift    bool // drop old tokens when the window fills up

	logprobs    bool
	topLogprobs int
}

// piece is text that is ready to be sent, with the tokens that it came from.
type piece struct {
	text     string
	logprobs []api.Logprob
}

// outcome says how a completion ended and what it cost. Prompt tokens count
// with those that were found in the cache, as in Ollama; their time does not.
type outcome struct {
	reason string
	api.Metrics
}

// fit returns the prompt that goes into the window: num_keep tokens from the
// front, and the end.
func (c *completion) fit() ([]int, error) {
	prompt, window := c.prompt, c.opts.NumCtx
	if len(prompt) == 0 {
		return nil, errNoInput
	}
	if len(prompt) <= window {
		return prompt, nil
	}
	if !c.truncate {
		return nil, errTooLong
	}
	keep := c.kept(len(prompt))
	return slices.Concat(prompt[:keep], prompt[len(prompt)-(window-keep):]), nil
}

// kept returns num_keep, at least one token less than the window so that
// something can be dropped. A negative value stands for the whole prompt.
func (c *completion) kept(prompt int) int {
	keep := c.opts.NumKeep
	if keep < 0 {
		keep = prompt
	}
	return min(keep, c.opts.NumCtx-1)
}

// limit returns the number of tokens to generate: num_predict, and never more
// than ten windows, Ollama's own bound. Zero means no limit there too.
func (c *completion) limit() int {
	most := 10 * c.opts.NumCtx
	if n := c.opts.NumPredict; n > 0 {
		return min(n, most)
	}
	return most
}

// generate answers c, passing text to emit as soon as it is known not to be the
// beginning of a stop sequence or half a character. It ends early with emit's
// error or the context's.
func (s *state) generate(ctx context.Context, tok *tokenizer, c completion, emit func(piece) error) (outcome, error) {
	var out outcome
	prompt, err := c.fit()
	if err != nil {
		return out, err
	}
	out.PromptEvalCount = len(prompt)
	keep, limit := c.kept(len(prompt)), c.limit()
	s.keep(min(commonPrefix(s.tokens, prompt), len(prompt)-1))
	next := prompt[len(s.tokens):]

	var pending piece
	flush := func() error {
		p := piece{validPrefix(pending.text), pending.logprobs}
		pending = piece{}
		if p.text == "" {
			return nil
		}
		return emit(p)
	}
	finish := func(reason string) (outcome, error) {
		out.reason = reason
		return out, flush()
	}
	for range limit {
		if len(s.tokens)+len(next) > c.opts.NumCtx {
			if !c.shift {
				return finish(doneLength)
			}
			next = s.drop(keep, c.opts.NumCtx, next)
		}
		start := time.Now()
		logits, err := s.eval(ctx, next)
		if err != nil {
			return out, err
		}
		if out.EvalCount++; out.EvalCount == 1 {
			out.PromptEvalDuration = time.Since(start)
		} else {
			out.EvalDuration += time.Since(start)
		}
		token := argmax(logits)
		if token == tok.eos {
			return finish(doneStop)
		}
		next = []int{token}
		pending.text += tok.text[token]
		if c.logprobs {
			pending.logprobs = append(pending.logprobs, logprobs(logits, token, c.topLogprobs, tok))
		}
		if text, stop := cutAtStop(pending.text, c.opts.Stop); stop {
			pending.text = text
			pending.logprobs = logprobsOf(text, pending.logprobs)
			return finish(doneStop)
		}
		if mayBecomeStop(pending.text, c.opts.Stop) || endsInsideRune(pending.text) {
			continue
		}
		if err := flush(); err != nil {
			return out, err
		}
	}
	return finish(doneLength)
}

// drop makes room in a full window as Ollama's runner does: it forgets the
// older half of what follows the first keep tokens. The rest is returned, in
// front of next, to be computed again, because its positions change.
func (s *state) drop(keep, window int, next []int) []int {
	free := max((window-keep)/2, 1)
	discard := max(free-(window-len(s.tokens)), 0)
	again := slices.Concat(s.tokens[keep+discard:], next)
	s.keep(keep)
	return again
}

func commonPrefix(a, b []int) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// logprobs returns the natural logarithms of the probabilities of token and of
// the top likeliest tokens.
func logprobs(logits []float32, token, top int, tok *tokenizer) api.Logprob {
	peak := float64(logits[argmax(logits)])
	var sum float64
	for _, l := range logits {
		sum += math.Exp(float64(l) - peak)
	}
	norm := peak + math.Log(sum)
	one := func(id int) api.TokenLogprob {
		text := tok.text[id]
		b := make([]int, len(text))
		for i := range b {
			b[i] = int(text[i])
		}
		return api.TokenLogprob{Token: text, Logprob: float64(logits[id]) - norm, Bytes: b}
	}
	lp := api.Logprob{TokenLogprob: one(token)}
	if top > 0 {
		ids := make([]int, len(logits))
		for i := range ids {
			ids[i] = i
		}
		slices.SortStableFunc(ids, func(a, b int) int {
			switch {
			case logits[a] > logits[b]:
				return -1
			case logits[a] < logits[b]:
				return 1
			}
			return 0
		})
		for _, id := range ids[:min(top, len(ids))] {
			lp.TopLogprobs = append(lp.TopLogprobs, one(id))
		}
	}
	return lp
}

// logprobsOf keeps the tokens that begin inside text.
func logprobsOf(text string, all []api.Logprob) []api.Logprob {
	used := 0
	for i, lp := range all {
		if used >= len(text) {
			return all[:i]
		}
		used += len(lp.Token)
	}
	return all
}
