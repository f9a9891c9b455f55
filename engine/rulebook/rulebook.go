// Package rulebook keeps the rules that outlive a session in a file that a
// person can read, edit and put under version control: rules.yml in the config
// folder.
//
// Guarantees:
//
//   - What the file says is what is in force: it is looked at for each call, and
//     read again when it changed. A rule that is taken out by hand ends at once.
//   - A file that cannot be read, or holds a rule that cannot be understood, is
//     an error, never fewer rules: a deny rule may be among them.
//   - A rule that is past its time is not in force.
//   - Adding and removing leave everything else in the file as it is, comments
//     included, and a kill in between leaves the old or the new file.
//
// A Book is safe for concurrent use.
package rulebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"chela/engine/pipeline"
	"chela/store"
)

// Book is the rules of one file.
type Book struct {
	path string

	mu    sync.Mutex
	stamp stamp
	rules []store.Rule
}

// stamp tells whether a file is the one that was read.
type stamp struct {
	size int64
	at   time.Time
	file fs.FileInfo
}

// New returns the book of a file, which need not be there yet.
func New(path string) *Book { return &Book{path: path} }

// Path is the file's name.
func (b *Book) Path() string { return b.path }

// entry is a rule as it is written. Times are RFC 3339, and read by us: the YAML
// library takes what is no time for none.
type entry struct {
	ID        string `yaml:"id"`
	Decision  string `yaml:"decision"`
	Tool      string `yaml:"tool"`
	Scope     string `yaml:"scope"`
	Pattern   string `yaml:"pattern"`
	Workspace string `yaml:"workspace"`
	Since     string `yaml:"since"`
	Until     string `yaml:"until"`
}

// lines writes a rule. Texts are in double quotes as JSON has them, which is
// YAML too: plain ones lose tabs and more.
func lines(r store.Rule) ([]string, error) {
	var out []string
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	for _, f := range []struct{ key, value string }{
		{"id", r.ID},
		{"decision", r.Decision},
		{"tool", r.Tool},
		{"scope", r.Scope},
		{"pattern", r.Pattern},
		{"workspace", r.Workspace},
		{"since", at(r.Created)},
		{"until", at(r.Expires)},
	} {
		if f.value == "" {
			continue
		}
		quoted, err := json.Marshal(f.value)
		if err != nil {
			return nil, fmt.Errorf("writing rule %s: %w", r.ID, err)
		}
		out = append(out, f.key+": "+string(quoted))
	}
	return out, nil
}

func when(key, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%s %q is no time such as 2026-12-31T18:00:00Z", key, text)
	}
	return t, nil
}

const header = `# What chela lets run, asks about or denies without asking you again.
# Each rule was shown to you before it was written here. Take one out and it ends
# at once; chela rules lists them in words.
rules:
`

// maxFile bounds what is read.
const maxFile = 4 << 20

// All returns every rule that is not past its time, the oldest first.
func (b *Book) All(now time.Time) ([]store.Rule, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.read(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(b.rules), func(r store.Rule) bool {
		return !r.Expires.IsZero() && !now.Before(r.Expires)
	}), nil
}

// InForce returns the rules for a workspace: its own, and those for all.
func (b *Book) InForce(workspace string, now time.Time) ([]store.Rule, error) {
	all, err := b.All(now)
	return slices.DeleteFunc(all, func(r store.Rule) bool { return r.Workspace != "" && r.Workspace != workspace }), err
}

// read brings rules up to date with the file. The caller holds mu.
func (b *Book) read() error {
	info, err := os.Stat(b.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.rules, b.stamp = nil, stamp{}
		return nil
	case err != nil:
		return b.fault(err)
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return b.fault(fmt.Errorf("it is no regular file of at most %d MiB", maxFile>>20))
	}
	if b.stamp.file != nil && b.stamp.size == info.Size() && b.stamp.at.Equal(info.ModTime()) && os.SameFile(b.stamp.file, info) {
		return nil
	}
	data, err := os.ReadFile(b.path)
	if err != nil {
		return b.fault(err)
	}
	rules, err := parse(data)
	if err != nil {
		return b.fault(err)
	}
	b.rules, b.stamp = rules, stamp{info.Size(), info.ModTime(), info}
	return nil
}

func (b *Book) fault(err error) error {
	return fmt.Errorf("the rules in %s cannot be read: %w: repair the file, or move it away", b.path, err)
}

func parse(data []byte) ([]store.Rule, error) {
	var file struct {
		Rules []entry `yaml:"rules"`
	}
	if err := yaml.UnmarshalWithOptions(data, &file, yaml.Strict()); err != nil {
		return nil, errors.New(strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	var out []store.Rule
	for i, e := range file.Rules {
		since, err := when("since", e.Since)
		if err != nil {
			return nil, fmt.Errorf("rule number %d: %w", i+1, err)
		}
		until, err := when("until", e.Until)
		if err != nil {
			return nil, fmt.Errorf("rule number %d: %w", i+1, err)
		}
		r := store.Rule{
			ID: e.ID, Decision: e.Decision, Tool: e.Tool, Scope: e.Scope, Pattern: e.Pattern, Workspace: e.Workspace, Created: since, Expires: until,
		}
		if r.ID == "" {
			r.ID = fmt.Sprintf("rules.yml-%d", i+1) // written by hand
		}
		if err := pipeline.CheckRule(r); err != nil {
			return nil, fmt.Errorf("rule number %d: %w", i+1, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// Add writes a rule at the end of the file.
func (b *Book) Add(r store.Rule) error {
	if err := pipeline.CheckRule(r); err != nil {
		return err
	}
	text, err := lines(r)
	if err != nil {
		return err
	}
	var block strings.Builder
	fmt.Fprintf(&block, "  # %s\n", strings.Join(strings.Fields(pipeline.Describe(r)), " "))
	for i, line := range text {
		lead := "    "
		if i == 0 {
			lead = "  - "
		}
		block.WriteString(lead + line + "\n")
	}
	return b.change(func(data []byte) ([]byte, error) {
		if len(bytes.TrimSpace(data)) == 0 {
			data = []byte(header)
		}
		if !bytes.HasSuffix(data, []byte("\n")) {
			data = append(data, '\n')
		}
		return append(data, block.String()...), nil
	}, func(rules []store.Rule) bool {
		return slices.ContainsFunc(rules, func(o store.Rule) bool { return o.ID == r.ID })
	})
}

// Remove takes a rule out. Its error wraps store.ErrNotFound when there is none
// of this id.
func (b *Book) Remove(id string) error {
	return b.change(func(data []byte) ([]byte, error) {
		out, ok := without(data, id)
		if !ok {
			return nil, fmt.Errorf("rule %q: %w", id, store.ErrNotFound)
		}
		return out, nil
	}, func(rules []store.Rule) bool {
		return !slices.ContainsFunc(rules, func(o store.Rule) bool { return o.ID == id })
	})
}

// without takes the lines of an entry out, with the comment above it.
func without(data []byte, id string) ([]byte, bool) {
	text := strings.SplitAfter(string(data), "\n")
	begins := func(i int) (indent int, ok bool) {
		t := strings.TrimLeft(text[i], " ")
		return len(text[i]) - len(t), strings.HasPrefix(t, "- ")
	}
	for i := range text {
		indent, ok := begins(i)
		if !ok {
			continue
		}
		end := i + 1
		for end < len(text) && (strings.TrimSpace(text[end]) == "" || len(text[end])-len(strings.TrimLeft(text[end], " ")) > indent) {
			end++
		}
		var e []entry
		if yaml.Unmarshal([]byte(strings.Join(text[i:end], "")), &e) != nil || len(e) != 1 || e[0].ID != id {
			continue
		}
		for i > 0 && strings.HasPrefix(strings.TrimSpace(text[i-1]), "# ") && strings.HasPrefix(text[i-1], strings.Repeat(" ", max(indent, 1))) {
			i--
		}
		return []byte(strings.Join(slices.Concat(text[:i], text[end:]), "")), true
	}
	return nil, false
}

// change writes the file anew. What cannot be read back is not written: a file
// that a person laid out in another way is left for them to change.
func (b *Book) change(f func([]byte) ([]byte, error), holds func([]store.Rule) bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.read(); err != nil {
		return err
	}
	data, err := os.ReadFile(b.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b.fault(err)
	}
	out, err := f(data)
	if err != nil {
		return err
	}
	rules, err := parse(out)
	if err != nil || !holds(rules) {
		return fmt.Errorf("%s is laid out in a way that cannot be changed safely: change it by hand", b.path)
	}
	return write(b.path, out)
}

func write(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of %s: %w (set CHELA_CONFIG_DIR to a folder you can write)", path, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".rules-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
