package git

import (
	"fmt"
	"slices"
	"strings"

	"chela/toolkit/guard"
)

// setting is one entry of a configuration file. Section and key are in lower
// case, as git compares them; a subsection is as written.
type setting struct {
	section, key string
	sub          *string // nil: none, which is not the empty one
	value        string
	bare         bool // no "=": true
}

func (s setting) name() string {
	if s.sub == nil {
		return s.section + "." + s.key
	}
	return s.section + "." + *s.sub + "." + s.key
}

// hostile reports settings that name programs for git to run, or that send it
// to other files. The command line switches them off; a repository that has
// them is nevertheless worth a person's look.
func (s setting) hostile() bool {
	switch s.section {
	case "filter", "include", "includeif", "alias", "gpg":
		return true
	case "diff", "merge":
		return s.key == "command" || s.key == "textconv" || s.key == "external" || s.key == "driver"
	case "core":
		switch s.key {
		case "fsmonitor":
			return !s.off()
		case "sshcommand", "editor", "pager", "hookspath", "worktree", "attributesfile", "askpass", "gitproxy", "alternaterefscommand":
			return true
		}
	case "attr":
		return s.key == "tree"
	case "credential":
		return s.key == "helper"
	case "pager", "browser", "man", "difftool", "mergetool", "guitool", "trailer":
		return s.section != "pager" || !s.off()
	case "sequence", "interactive", "uploadpack", "ssh":
		return true
	case "submodule":
		return s.key == "update" && strings.HasPrefix(s.value, "!")
	case "remote":
		return s.key == "uploadpack" || s.key == "receivepack" || s.key == "vcs"
	}
	return false
}

func (s setting) off() bool {
	switch strings.ToLower(s.value) {
	case "false", "no", "off", "0", "":
		return !s.bare
	}
	return false
}

// hostileSettings reads the configuration of the repository that holds a
// folder, without git, and returns what in it names programs or leads to other
// files, each once. A file that is not understood is such a finding too.
func hostileSettings(run *guard.Runner, dir string) ([]string, error) {
	files, err := run.GitConfig(dir)
	if err != nil {
		if _, denied := guard.AsDenied(err); denied {
			return nil, err
		}
		return []string{fmt.Sprintf("its configuration cannot be read (%v)", err)}, nil
	}
	var out []string
	for _, f := range files {
		list, err := parseConfig(string(f.Data))
		if err != nil {
			out = append(out, fmt.Sprintf("%s is not understood: %v", f.Path, err))
		}
		for _, s := range list {
			if name := s.name(); s.hostile() && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// parseConfig reads a configuration file as git does (config.c). What git
// would refuse is an error, with what came before it.
func parseConfig(text string) ([]setting, error) {
	p := &configReader{text: strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")}
	var out []setting
	section, sub := "", (*string)(nil)
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f':
			p.at++
		case c == '#' || c == ';':
			p.line()
		case c == '[':
			var ok bool
			if section, sub, ok = p.section(); !ok {
				return out, p.wrong("a section")
			}
		case letter(c):
			s, ok := p.setting()
			if !ok || section == "" {
				return out, p.wrong("a setting")
			}
			s.section, s.sub = section, sub
			out = append(out, s)
		default:
			return out, p.wrong("a line")
		}
	}
	return out, nil
}

type configReader struct {
	text string
	at   int
}

func (p *configReader) wrong(what string) error {
	return fmt.Errorf("%s near line %d", what, 1+strings.Count(p.text[:min(p.at, len(p.text))], "\n"))
}

func (p *configReader) line() {
	if i := strings.IndexByte(p.text[p.at:], '\n'); i >= 0 {
		p.at += i + 1
		return
	}
	p.at = len(p.text)
}

// section reads [name], [name "sub"] or the older [name.sub].
func (p *configReader) section() (name string, sub *string, ok bool) {
	p.at++
	start := p.at
	for p.at < len(p.text) && (word(p.text[p.at]) || p.text[p.at] == '.') {
		p.at++
	}
	name = strings.ToLower(p.text[start:p.at])
	if before, after, dotted := strings.Cut(name, "."); dotted {
		name, sub = before, &after
	}
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '"' {
		var b strings.Builder
		for p.at++; ; p.at++ {
			if p.at >= len(p.text) || p.text[p.at] == '\n' {
				return "", nil, false
			}
			c := p.text[p.at]
			if c == '"' {
				p.at++
				break
			}
			if c == '\\' {
				if p.at++; p.at >= len(p.text) || p.text[p.at] == '\n' {
					return "", nil, false
				}
				c = p.text[p.at]
			}
			b.WriteByte(c)
		}
		quoted := b.String()
		if sub != nil {
			quoted = *sub + "." + quoted
		}
		sub = &quoted
	}
	if p.at >= len(p.text) || p.text[p.at] != ']' || name == "" {
		return "", nil, false
	}
	p.at++
	return name, sub, true
}

// setting reads "key", or "key = value" with quotes, escapes, comments and
// lines that go on after a backslash.
func (p *configReader) setting() (setting, bool) {
	start := p.at
	for p.at < len(p.text) && word(p.text[p.at]) {
		p.at++
	}
	s := setting{key: strings.ToLower(p.text[start:p.at])}
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	if p.at >= len(p.text) || p.text[p.at] == '\n' {
		s.bare = true
		return s, true
	}
	if p.text[p.at] == '#' || p.text[p.at] == ';' {
		s.bare = true
		p.line()
		return s, true
	}
	if p.text[p.at] != '=' {
		return s, false
	}
	p.at++
	var b strings.Builder
	quoted := false
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		switch {
		case c == '\n':
			if quoted {
				return s, false
			}
			s.value = strings.TrimSpace(b.String())
			return s, true
		case (c == '#' || c == ';') && !quoted:
			p.line()
			s.value = strings.TrimSpace(b.String())
			return s, true
		case c == '"':
			quoted = !quoted
		case c == '\\':
			if p.at++; p.at >= len(p.text) {
				return s, false
			}
			switch e := p.text[p.at]; e {
			case '\n':
			case 't', 'n', 'b':
				b.WriteByte(' ')
			case '\\', '"':
				b.WriteByte(e)
			default:
				return s, false
			}
		default:
			b.WriteByte(c)
		}
	}
	s.value = strings.TrimSpace(b.String())
	return s, !quoted
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func word(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '-' }
