package callmode

import "strings"

// Markup is a notation for calls in text. Each is one that package rescue reads.
type Markup string

// The notations, by the models that know them.
const (
	Hermes   Markup = "hermes"    // <tool_call>{"name", "arguments"}</tool_call>: Hermes, Qwen, and most fine-tunes
	Tools    Markup = "tools"     // <tools>{"name", "arguments"}</tools>: Qwen2.5-Coder, see vllm#32926
	Fenced   Markup = "fenced"    // the object in a json fence, as models without training for tools write it
	ToolCode Markup = "tool_code" // Python calls in a tool_code fence: Gemma
	Llama    Markup = "llama"     // {"name", "parameters"}: Llama 3 and 4
	XML      Markup = "xml"       // <function=NAME><parameter=KEY>: Qwen3-Coder
	Mistral  Markup = "mistral"   // [TOOL_CALLS][{"name", "arguments"}]
)

// Markups are all notations.
var Markups = []Markup{Hermes, Tools, Fenced, ToolCode, Llama, XML, Mistral}

// Facts are what is known about a model. Any of them may be missing.
type Facts struct {
	Name     string // as the server lists it
	Family   string // general.architecture
	Template string // the chat template
	Parser   string // the PARSER line of its Modelfile
}

// MarkupFor chooses the notation that a model is most likely to write right.
// The name comes first, since a family is only an architecture (a Hermes on
// Llama is of family llama) and a template may ask for what the model was not
// trained for (Qwen2.5-Coder's asks for <tool_call>, and it wrote a bare fence
// each time; with two <tools> examples it was right in every case, vllm#32926).
// Without any hint it is Hermes: its marks may follow prose and do not occur by
// chance, while a fence counts only at the end of an answer.
func MarkupFor(f Facts) Markup {
	name, family, parser := strings.ToLower(f.Name), strings.ToLower(f.Family), strings.ToLower(f.Parser)
	has := func(text string, parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has(name, "qwen2.5-coder", "qwen2.5coder", "qwen25-coder"):
		return Tools
	case has(name, "qwen3-coder", "qwen3coder", "qwen3.5", "qwen3.6"), has(parser, "qwen3-coder", "qwen3.5"):
		return XML
	case has(name, "hermes", "qwen", "qwq", "deepseek", "granite", "smollm"):
		return Hermes
	case has(name, "mistral", "mixtral", "devstral", "magistral", "ministral", "codestral"), has(parser, "mistral", "ministral"):
		return Mistral
	case has(name, "gemma"):
		return ToolCode
	case has(name, "phi", "starcoder", "codellama", "tinyllama"):
		return Fenced
	case has(name, "llama3", "llama-3", "llama4", "llama-4"):
		return Llama
	case has(f.Template, "[TOOL_CALLS]"):
		return Mistral
	case has(f.Template, "<function="):
		return XML
	case has(f.Template, "<tool_call>"):
		return Hermes
	case has(f.Template, "<|python_tag|>", `"parameters":`):
		return Llama
	case has(family, "gemma"):
		return ToolCode
	case has(family, "mistral"):
		return Mistral
	case family == "mllama" || family == "llama4":
		return Llama
	case has(family, "phi"):
		return Fenced
	}
	return Hermes
}
