package window

import "unicode"

// Size is what is sent, before a model's tokenizer is applied to it.
type Size struct {
	Units    float64 // characters, each weighted by how many tokens its script takes
	Messages int
	Images   int
}

// Plus adds two sizes.
func (s Size) Plus(o Size) Size {
	return Size{s.Units + o.Units, s.Messages + o.Messages, s.Images + o.Images}
}

// The weights of characters, in those of an English letter: rough ratios of
// characters a token over the tokenizers of llama3, qwen2.5 and gpt-oss.
// Their errors are what calibration takes out.
const (
	weightDigit  = 1.6 // one to three digits a token
	weightSpace  = 0.3 // after the first of a run: indentation is one token
	weightLatin  = 1.4 // accents, Greek, Cyrillic, Hebrew, Arabic
	weightScript = 2.6 // Chinese, Japanese, Korean, Indic scripts
	weightSymbol = 5   // emoji, box drawing of the higher planes
)

// Measure weighs a text. It reads it once.
func Measure(text string) Size {
	var u float64
	space := false
	for _, r := range text {
		blank := r == ' ' || r == '\t'
		switch {
		case blank && space:
			u += weightSpace
		case r >= '0' && r <= '9':
			u += weightDigit
		case r <= unicode.MaxASCII:
			u++
		case r < 0x0900:
			u += weightLatin
		case r >= 0x1F000 && r < 0x20000:
			u += weightSymbol
		case r >= 0x2000 && r < 0x2E80:
			u += weightLatin // punctuation, arrows, boxes
		default:
			u += weightScript
		}
		space = blank
	}
	return Size{Units: u}
}

const (
	// perMessage is what a chat template adds around a message, in tokens:
	// role and markers are five to eight in the families that Ollama ships.
	perMessage = 6

	// PerImage is what an image costs, in tokens. Families differ between 256
	// and some thousand; 768 is what the usual ones take.
	PerImage = 768

	// startRatio is units a token before anything was observed; below the
	// usual 3.6 to 4.2, so that the first estimate is rather too high.
	startRatio = 3.4
	leastRatio = 1.5
	mostRatio  = 6

	// settled is the number of observations after which the ratio is trusted:
	// later ones move it by at most maxMove, and by smoothing's share of that.
	settled   = 3
	maxMove   = 1.25
	smoothing = 0.2

	// minLearn is the prompt, in tokens, below which an observation teaches
	// nothing: a template's fixed text outweighs it.
	minLearn = 200
)

// Meter estimates tokens for one model. The zero value is ready; it is plain
// data and goes into JSON, to be kept by the model's digest.
type Meter struct {
	Ratio   float64 `json:"units_per_token"`
	Samples int     `json:"samples"`
}

// ratio is units a token, also for a zero or a damaged meter.
func (m Meter) ratio() float64 {
	if m.Samples <= 0 || !(m.Ratio >= leastRatio && m.Ratio <= mostRatio) {
		return startRatio
	}
	return m.Ratio
}

// Estimate is the tokens that something of this size takes in a prompt.
func (m Meter) Estimate(s Size) int {
	return int(s.Units/m.ratio()+0.999) + s.Messages*perMessage + s.Images*PerImage
}

// Text is the tokens of a text alone.
func (m Meter) Text(text string) int { return m.Estimate(Measure(text)) }

// Message is the tokens of one message with this text and so many images.
func (m Meter) Message(text string, images int) int {
	s := Measure(text)
	s.Messages, s.Images = 1, images
	return m.Estimate(s)
}

// Observe learns from a request: what was sent, and the prompt's tokens as the
// server counted them. Short prompts, counts that no tokenizer gives and
// truncated prompts teach nothing; once settled, one observation moves the
// ratio by at most a twentieth.
func (m *Meter) Observe(sent Size, promptTokens int) {
	if promptTokens < minLearn || m.Truncated(m.Estimate(sent), promptTokens) {
		return
	}
	text := promptTokens - sent.Messages*perMessage - sent.Images*PerImage
	if text < minLearn/2 {
		return // images: what they take says nothing about the text
	}
	seen := sent.Units / float64(text)
	if seen < leastRatio || seen > mostRatio {
		return
	}
	old := m.ratio()
	share := smoothing
	if m.Samples < settled {
		share = 1 / float64(m.Samples+1)
	} else {
		seen = min(max(seen, old/maxMove), old*maxMove)
	}
	m.Ratio = old + share*(seen-old)
	m.Samples++
}

// Truncated reports whether the server must have cut the prompt: it counted
// far fewer tokens than the estimate. Before the meter has settled only less
// than three fifths says so, afterwards less than three quarters. A count of 0
// is no count, and under 512 tokens nothing is said.
func (m Meter) Truncated(estimate, counted int) bool {
	if counted <= 0 || estimate < 512 {
		return false
	}
	share := 0.6
	if m.Samples >= settled {
		share = 0.75
	}
	return float64(counted) < share*float64(estimate)
}
