package window

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// SummaryPrompt asks the model for a summary of turns that are about to be
// taken out of its window. limit is in tokens. It is sent without tools, after
// the turns, and its answer goes through [AcceptSummary].
func SummaryPrompt(limit int) string {
	return fmt.Sprintf(`Summarise the conversation above for yourself, so that you can go on with the work without it.
Write at most %d words, as a plain list, one fact a line:
- what was found out about the project (files, functions, causes)
- what was decided, and what was tried and did not work
- what remains to be done
Do not repeat what the user wrote. Do not call tools. Do not invent anything.`, summaryWords(limit))
}

// summaryWords leaves room in the limit: a word is about one and a third tokens.
func summaryWords(limit int) int { return max(limit/2, 60) }

// The bounds of a model's summary, in bytes. What is shorter says nothing;
// what is longer than a summary block was never meant as one.
const (
	summaryLeast = 40
	summaryMost  = 8 << 10
)

// Reasons why a model's summary is not taken. The block without notes is.
var (
	ErrSummaryEmpty = errors.New("the model's summary is empty")
	ErrSummaryLong  = fmt.Errorf("the model's summary is longer than %d KiB", summaryMost>>10)
	ErrSummaryCalls = errors.New("the model's summary holds a tool call")
)

// thought is the thinking that some models leave in their text.
var thought = regexp.MustCompile(`(?s)<think(?:ing)?>.*?</think(?:ing)?>|^.*?</think(?:ing)?>`)

// callMarks are parts of the markup that models write calls in. A summary that
// holds one would be read as a call, by the server's parser or by ours, each
// time it is sent.
var callMarks = []string{
	"<tool_call", "</tool_call", "<function=", "<function_call", "<invoke", "<parameter", "<arg_key", "[tool_calls]", "<|tool", "<｜tool",
	"<|python_tag|", "<|channel|", "to=functions.", "\"arguments\"", "\"parameters\"", "```tool_code", "```json",
}

// AcceptSummary checks a model's summary and returns it trimmed, without its
// thinking and with no line that could end the block. It refuses what is empty,
// too long, or holds a call.
func AcceptSummary(text string) (string, error) {
	if len(text) > 8*summaryMost {
		return "", ErrSummaryLong
	}
	text = strings.ToValidUTF8(text, "")
	text = strings.TrimSpace(thought.ReplaceAllString(text, ""))
	if len(text) < summaryLeast || strings.HasPrefix(text, "<think") {
		return "", ErrSummaryEmpty
	}
	if len(text) > summaryMost {
		return "", ErrSummaryLong
	}
	low := strings.ToLower(text)
	for _, m := range callMarks {
		if strings.Contains(low, m) {
			return "", fmt.Errorf("%w (%s)", ErrSummaryCalls, m)
		}
	}
	if low[0] == '{' || low[0] == '[' && strings.HasSuffix(low, "]") {
		return "", fmt.Errorf("%w (it is JSON)", ErrSummaryCalls)
	}
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*• \t")
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), nil
}
