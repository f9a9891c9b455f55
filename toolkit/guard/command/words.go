package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// readWord removes quotes. The word is literal if the shell expands nothing in
// it: no variable, substitution, arithmetic, glob, brace list or tilde.
func readWord(w *syntax.Word) Word {
	var b strings.Builder
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text, ok := unquoted(p.Value, i == 0, len(w.Parts) == 1)
			if !ok {
				return Word{Text: source(w)}
			}
			b.WriteString(text)
		case *syntax.SglQuoted:
			if p.Dollar { // escapes like \x41 are decoded by the shell
				return Word{Text: source(w)}
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return Word{Text: source(w)}
			}
			for _, in := range p.Parts {
				lit, ok := in.(*syntax.Lit)
				if !ok {
					return Word{Text: source(w)}
				}
				b.WriteString(inDoubleQuotes(lit.Value))
			}
		default:
			return Word{Text: source(w)}
		}
	}
	return Word{Text: b.String(), Literal: true}
}

// unquoted removes backslashes from a part without quotes, unless the shell
// would expand it.
func unquoted(v string, first, only bool) (string, bool) {
	if only && (v == "[" || v == "]" || v == "{}" || v == "{" || v == "}") {
		return v, true // nothing to expand: a command's name, find's placeholder
	}
	if first && strings.HasPrefix(v, "~") || strings.Contains(v, "=~") || strings.Contains(v, ":~") {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '*', '?', '[', '{', '}', '$', '`':
			return "", false
		case '\\':
			if i++; i >= len(v) {
				return "", false
			}
			if v[i] == '\n' {
				continue
			}
		}
		b.WriteByte(v[i])
	}
	return b.String(), true
}

// inDoubleQuotes removes the backslashes that have a meaning there.
func inDoubleQuotes(v string) string {
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) && strings.IndexByte("$`\"\\\n", v[i+1]) >= 0 {
			if i++; v[i] == '\n' {
				continue
			}
		}
		b.WriteByte(v[i])
	}
	return b.String()
}

func source(n syntax.Node) string {
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.Minify(true)).Print(&b, n); err != nil {
		return ""
	}
	return b.String()
}

// pathWord is the path that a word means, also where the shell expands a tilde,
// $HOME or $PWD at its start. ok is false if the rest is not literal.
func pathWord(w *syntax.Word) (text string, ok bool) {
	if word := readWord(w); word.Literal {
		if strings.HasPrefix(word.Text, "~") {
			return "./" + word.Text, true // a quoted tilde is a letter
		}
		return word.Text, true
	}
	if len(w.Parts) == 0 {
		return "", false
	}
	parts, prefix := w.Parts, ""
	if q, isQuoted := parts[0].(*syntax.DblQuoted); isQuoted && !q.Dollar && len(parts) == 1 && len(q.Parts) > 0 {
		if p, isParam := q.Parts[0].(*syntax.ParamExp); isParam {
			if prefix = place(p); prefix == "" || len(q.Parts) > 2 {
				return "", false
			}
			if len(q.Parts) == 2 {
				lit, isLit := q.Parts[1].(*syntax.Lit)
				if !isLit || !strings.HasPrefix(lit.Value, "/") {
					return "", false
				}
				return prefix + inDoubleQuotes(lit.Value), true
			}
			return prefix, true
		}
	}
	switch p := parts[0].(type) {
	case *syntax.ParamExp:
		if prefix = place(p); prefix == "" {
			return "", false
		}
		parts = parts[1:]
	case *syntax.Lit:
		if p.Value != "~" && !strings.HasPrefix(p.Value, "~/") {
			return "", false
		}
		rest, fine := unquoted(p.Value[1:], false, false)
		if !fine {
			return "", false
		}
		prefix, parts = "~"+rest, parts[1:]
	default:
		return "", false
	}
	if len(parts) == 0 {
		return prefix, true
	}
	tail := readWord(&syntax.Word{Parts: parts})
	if !tail.Literal || (!strings.HasPrefix(tail.Text, "/") && !strings.Contains(prefix, "/")) {
		return "", false
	}
	return prefix + tail.Text, true
}

// place is the folder that $HOME or $PWD stands for.
func place(p *syntax.ParamExp) string {
	bare := p.Param != nil && !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
	switch {
	case bare && p.Param.Value == "HOME":
		return "~"
	case bare && p.Param.Value == "PWD":
		return "."
	}
	return ""
}

func anchored(p string) bool {
	return strings.HasPrefix(p, "/") || p == "~" || strings.HasPrefix(p, "~/")
}

// join puts a path below a folder without cleaning it: what ".." leads to
// depends on links.
func join(dir, p string) string {
	switch {
	case dir == "" || anchored(p):
		return p
	case p == "":
		return dir
	}
	return strings.TrimSuffix(dir, "/") + "/" + p
}

// baseName is the name by which a program is known.
func baseName(program string) string { return path.Base(program) }

// quote prints a word so that every shell reads it as exactly this text.
func quote(s string) string {
	if s == "[" || s == "]" {
		return s
	}
	assigns := strings.Contains(s, "=") && !strings.HasPrefix(s, "-")
	if s != "" && !assigns && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-./,:+@%=", r)
	}) < 0 && !reserved[s] {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// reserved words mean something only without quotes.
var reserved = set(`if then else elif fi do done case esac while until for select function in time coproc`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
