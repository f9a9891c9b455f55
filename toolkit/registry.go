package toolkit

import (
	"fmt"
	"sort"
	"strings"

	"github.com/agnivade/levenshtein"

	"chela/tiers"
)

// Registry is the fixed set of tools of a program. It is built once and then
// only read. The order of tools is the order of registration, which is the
// order in every prompt: a stable prefix depends on it.
type Registry struct {
	tools  []Tool
	byName map[string]int
}

// NewRegistry holds the tools. Two with the same name (case folded) are an
// error, since one could shadow the other; so is a name with anything but ASCII
// letters, digits and "_-.", which could look like another.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{byName: map[string]int{}}
	for _, t := range tools {
		key := fold(t.Spec().Name)
		if key == "" || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_.") != "" {
			return nil, fmt.Errorf("tool %q: a name is made of ASCII letters, digits and _ - .: rename it", t.Spec().Name)
		}
		if i, ok := r.byName[key]; ok {
			return nil, fmt.Errorf("tool %q has the same name as %q: rename one", t.Spec().Name, r.tools[i].Spec().Name)
		}
		r.byName[key] = len(r.tools)
		r.tools = append(r.tools, t)
	}
	return r, nil
}

// All returns the tools in order. The slice must not be changed.
func (r *Registry) All() []Tool { return r.tools }

// Get returns the tool with exactly this name.
func (r *Registry) Get(name string) (Tool, bool) {
	i, ok := r.byName[fold(name)]
	if !ok || r.tools[i].Spec().Name != name {
		return nil, false
	}
	return r.tools[i], true
}

// other names that models were trained to use. Each is a habit seen in the
// field, not a guess; the target is always one of the ten.
var aliases = map[string]string{
	"bash": "exec", "shell": "exec", "run": "exec", "run_command": "exec", "execute": "exec", "execute_command": "exec",
	"run_shell_command": "exec", "run_terminal_cmd": "exec", "terminal": "exec", "sh": "exec", "cmd": "exec",
	"read": "read_file", "cat": "read_file", "open_file": "read_file", "view": "read_file", "view_file": "read_file", "get_file": "read_file",
	"write": "write_file", "create_file": "write_file", "create_new_file": "write_file", "save_file": "write_file", "write_to_file": "write_file",
	"edit": "edit_file", "replace": "edit_file", "str_replace": "edit_file", "replace_in_file": "edit_file", "modify_file": "edit_file",
	"search": "grep", "search_text": "grep", "ripgrep": "grep", "rg": "grep", "grep_search": "grep", "search_code": "grep",
	"glob": "search_files", "find": "search_files", "find_files": "search_files", "file_search": "search_files",
	"ls": "directory_tree", "list_dir": "directory_tree", "list_files": "directory_tree", "list_directory": "directory_tree", "tree": "directory_tree",
	"status": "git_status", "fetch": "web_fetch", "fetch_url": "web_fetch", "http_get": "web_fetch", "read_url": "web_fetch",
	"done": "complete_task", "finish": "complete_task", "task_complete": "complete_task", "attempt_completion": "complete_task",
}

// Resolve finds the tool that a model meant: exact, then by case, dashes and
// known prefixes, then by the alias table. It never guesses by similarity:
// that would run something nobody asked for. repaired says what was changed,
// or is empty.
func (r *Registry) Resolve(name string) (tool Tool, repaired string, ok bool) {
	if t, ok := r.Get(name); ok {
		return t, "", true
	}
	key := normalise(name)
	if i, ok := r.byName[key]; ok {
		t := r.tools[i]
		return t, fmt.Sprintf("name %q read as %q", name, t.Spec().Name), true
	}
	if target, ok := aliases[key]; ok {
		if t, ok := r.Get(target); ok {
			return t, fmt.Sprintf("name %q read as %q", name, target), true
		}
	}
	return nil, "", false
}

// Nearest returns up to n tool names most like name, the nearest first.
func (r *Registry) Nearest(name string, n int) []string {
	key := normalise(name)
	names := make([]string, len(r.tools))
	for i, t := range r.tools {
		names[i] = t.Spec().Name
	}
	distance := func(s string) int {
		d := levenshtein.ComputeDistance(key, s)
		if key != "" && (strings.Contains(s, key) || strings.Contains(key, s)) {
			d -= min(len(s), len(key)) // a part of the name says more than its length
		}
		return d
	}
	sort.SliceStable(names, func(i, j int) bool { return distance(names[i]) < distance(names[j]) })
	return names[:min(n, len(names))]
}

// Catalogue returns what tier selection needs, with the schema cost of each.
// unavailable maps a tool's name to why it cannot work here.
func (r *Registry) Catalogue(unavailable map[string]string) []tiers.Tool {
	out := make([]tiers.Tool, len(r.tools))
	for i, t := range r.tools {
		s := t.Spec()
		out[i] = tiers.Tool{Name: s.Name, Tier: s.Tier, Tokens: s.Tokens(), Unavailable: unavailable[s.Name]}
	}
	return out
}

// normalise cuts a name at the first character that no tool name has (leaked
// markers follow there), drops call prefixes and indexes, and folds case and
// dashes.
func normalise(name string) string {
	name = strings.TrimSpace(name)
	if i := strings.IndexFunc(name, func(c rune) bool {
		return !(c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
	}); i >= 0 {
		name = name[:i]
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 { // functions.read_file, default_api.exec
		name = name[i+1:]
	}
	return fold(snake(name))
}

// snake turns readFile into read_file.
func snake(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' && i > 0 && s[i-1] >= 'a' && s[i-1] <= 'z' {
			b.WriteByte('_')
		}
		b.WriteByte(c)
	}
	return b.String()
}

func fold(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "_")) }
