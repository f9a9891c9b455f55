package guard

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the shortest value that is treated as a secret: shorter ones
// occur by chance.
const minSecret = 8

// Secret is a value that must not be shown.
type Secret struct {
	Kind  string // what stands in its place, such as "openai-key" or a variable's name
	Value string
}

// Redactor replaces secrets by "[REDACTED:kind]": values it was told, in plain,
// base64, URL and JSON form, and well-known key formats. Text without secrets
// comes back unchanged. It cannot recognise a secret that is neither.
type Redactor struct {
	known   *strings.Replacer
	forms   []string
	longest int // bytes of the longest known form
}

// NewRedactor takes values from environ ("NAME=value" lines whose name looks
// secret) and from secrets. Values that are short, common or simple are left
// out, because replacing them would only garble the text.
func NewRedactor(environ []string, secrets []Secret) *Redactor {
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if ok && secretVarName(name) && !strings.HasPrefix(value, "/") {
			secrets = append(secrets, Secret{Kind: strings.ToLower(name), Value: value})
		}
	}
	forms := map[string]string{}
	for _, s := range secrets {
		v := strings.TrimSpace(s.Value)
		if !distinctive(v) {
			continue
		}
		kind := cmp.Or(strings.Map(kindRune, s.Kind), "secret")
		quoted, _ := json.Marshal(v) // a string always marshals
		for _, form := range []string{
			v, base64.StdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)),
			url.QueryEscape(v), url.PathEscape(v), string(quoted[1 : len(quoted)-1]),
		} {
			if _, taken := forms[form]; !taken {
				forms[form] = "[REDACTED:" + kind + "]"
			}
		}
	}
	r := &Redactor{}
	// Longest first, so that a value which begins another does not win.
	keys := make([]string, 0, len(forms))
	for form := range forms {
		keys = append(keys, form)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	r.forms = keys
	var pairs []string
	for _, k := range keys {
		r.longest = max(r.longest, len(k))
		pairs = append(pairs, k, forms[k])
	}
	if len(pairs) > 0 {
		r.known = strings.NewReplacer(pairs...)
	}
	return r
}

func kindRune(c rune) rune {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		return c
	}
	return '-'
}

// secretVarName reports whether a variable's name says that its value is secret.
// SecretName reports whether the value of a variable, or of an option, of this
// name looks secret.
func SecretName(name string) bool { return secretVarName(name) }

func secretVarName(name string) bool {
	upper := strings.ToUpper(name)
	for _, part := range []string{
		"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY",
		"CREDENTIAL", "AUTH_KEY", "ENCRYPTION_KEY", "SIGNING_KEY", "WEBHOOK", "DATABASE_URL", "DSN", "_PAT",
	} {
		if strings.Contains(upper, part) {
			return true
		}
	}
	return false
}

// distinctive reports whether a value can be told from ordinary text.
func distinctive(v string) bool {
	if len(v) < minSecret {
		return false
	}
	seen := map[rune]bool{}
	letters, others := 0, 0
	for _, c := range v {
		seen[c] = true
		if c >= 'a' && c <= 'z' {
			letters++
		} else {
			others++
		}
	}
	switch {
	case len(seen) < 5, placeholder(v):
		return false
	case others == 0 && letters < 12: // looks like a word
		return false
	case strings.Trim(v, "0123456789") == "" && len(v) < 12:
		return false
	}
	switch strings.ToLower(v) {
	case "localhost", "undefined", "production", "development", "127.0.0.1", "localhost:5432", "anonymous", "disabled":
		return false
	}
	return true
}

// Text returns s without secrets.
func (r *Redactor) Text(s string) string {
	if r.known != nil {
		s = r.known.Replace(s)
	}
	lower := ""
	for i := range secretPatterns {
		p := &secretPatterns[i]
		if lower == "" {
			lower = strings.ToLower(s)
		}
		if !slices.ContainsFunc(p.hints, func(h string) bool { return strings.Contains(lower, h) }) {
			continue
		}
		s = p.replace(s)
	}
	return s
}

func (p *secretPattern) replace(s string) string {
	matches := p.re.FindAllStringSubmatchIndex(s, -1)
	if matches == nil {
		return s
	}
	var out strings.Builder
	last := 0
	for _, m := range matches {
		start, end := m[0], m[1]
		if p.keep > 0 {
			start, end = m[2*(p.keep+1)], m[2*(p.keep+1)+1]
		}
		secret := s[start:end]
		if strings.HasPrefix(secret, "[REDACTED:") || (p.plausible != nil && !p.plausible(secret)) {
			continue
		}
		out.WriteString(s[last:start])
		out.WriteString("[REDACTED:" + p.kind + "]")
		last = end
	}
	out.WriteString(s[last:])
	return out.String()
}

// Bytes returns data without secrets; data itself is not changed.
func (r *Redactor) Bytes(data []byte) []byte {
	s := string(data)
	if t := r.Text(s); t != s {
		return []byte(t)
	}
	return data
}

// JSON returns a JSON text whose strings, keys included, are without secrets.
// Order and spacing stay. What is not valid JSON is treated as text.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) {
		return r.Bytes(raw)
	}
	var out bytes.Buffer
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out.WriteByte(raw[i])
			i++
			continue
		}
		end := i + 1
		for raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		literal := raw[i : end+1]
		i = end + 1
		var s string
		if json.Unmarshal(literal, &s) == nil {
			if clean := r.Text(s); clean != s {
				literal, _ = json.Marshal(clean) // a string always marshals
			}
		}
		out.Write(literal)
	}
	return out.Bytes()
}
