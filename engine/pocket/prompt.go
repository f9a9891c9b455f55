package pocket

import (
	"slices"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/template"
)

// chatPrompt renders the conversation as Ollama's chat handler does. If the
// prompt is longer than the window and truncate is set, messages are left out
// from the front, except system messages and the last message.
func chatPrompt(t *template.Template, tok *tokenizer, window int, msgs []api.Message, tools api.Tools, truncate bool) (string, error) {
	for first := 0; ; first++ {
		var shown []api.Message
		for _, m := range msgs[:first] {
			if m.Role == "system" {
				shown = append(shown, m)
			}
		}
		// Concat copies: Execute merges neighbours of one role in place.
		p, err := render(t, template.Values{Messages: slices.Concat(shown, msgs[first:]), Tools: tools})
		if err != nil {
			return "", err
		}
		if !truncate || first >= len(msgs)-1 || len(tok.encode(p)) <= window {
			return p, nil
		}
	}
}

func render(t *template.Template, v template.Values) (string, error) {
	var b strings.Builder
	if err := t.Execute(&b, v); err != nil {
		return "", badRequest("render the chat template: %w", err)
	}
	return b.String(), nil
}
