package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Place says in which list of settings.yml a tool stands.
type Place int

// The places of a tool.
const (
	ByTier   Place = iota // in none: the model's tier decides
	Promoted              // tools.promote: given to every model
	Demoted               // tools.demote: given to none
)

// SetTool puts a tool into one of the lists of a settings file, and takes it
// out of the other. The rest of the file stays as it is, comments included; a
// file that is not there is made. A file that is no YAML is left alone, and the
// error says so. The new file takes the old one's place in one step.
func SetTool(file, tool string, place Place) error {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	out, err := setTool(file, data, tool, place)
	if err != nil {
		return err
	}
	if bytes.Equal(out, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("making the folder of %s: %w (set CHELA_CONFIG_DIR to a folder you can write)", file, err)
	}
	return replaceFile(file, out)
}

func setTool(file string, data []byte, tool string, place Place) ([]byte, error) {
	before, problems := Parse(file, data)
	for _, p := range problems {
		if strings.HasPrefix(p.Text, "is no valid YAML") || strings.HasPrefix(p.Text, "is not a list of keys") {
			return nil, fmt.Errorf("%w: repair it first", p)
		}
	}
	with := func(list []string, in bool) []string {
		list = slices.DeleteFunc(slices.Clone(list), func(n string) bool { return strings.EqualFold(n, tool) })
		if in {
			list = append(list, tool)
		}
		return list
	}
	for _, l := range []struct {
		key  string
		old  []string
		want []string
	}{
		{"promote", before.Tools.Promote, with(before.Tools.Promote, place == Promoted)},
		{"demote", before.Tools.Demote, with(before.Tools.Demote, place == Demoted)},
	} {
		if slices.Equal(l.old, l.want) {
			continue
		}
		var err error
		if data, err = setList(data, l.key, l.want); err != nil {
			return nil, fmt.Errorf("changing tools.%s in %s: %w", l.key, file, err)
		}
	}
	after, _ := Parse(file, data)
	if !slices.Equal(after.Tools.Promote, with(before.Tools.Promote, place == Promoted)) || !slices.Equal(after.Tools.Demote, with(before.Tools.Demote, place == Demoted)) {
		return nil, fmt.Errorf("%s is written in a way that cannot be changed safely: put %s into tools.promote or tools.demote by hand", file, tool)
	}
	return data, nil
}

// setList sets a list below tools.
func setList(data []byte, key string, list []string) ([]byte, error) {
	value, err := yaml.MarshalWithOptions(list, yaml.Flow(true))
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(string(value))
	tree, err := parser.ParseBytes(data, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil || isEmpty(tree.Docs[0].Body) {
		head := bytes.TrimRight(data, "\n")
		if len(head) > 0 {
			head = append(head, '\n')
		}
		return append(head, fmt.Sprintf("tools:\n  %s: %s\n", key, text)...), nil
	}
	path, err := yaml.PathString("$.tools." + key)
	if err != nil {
		return nil, err
	}
	if _, err := path.FilterFile(tree); err == nil {
		if err := path.ReplaceWithReader(tree, strings.NewReader(text)); err != nil {
			return nil, err
		}
		return []byte(tree.String() + "\n"), nil
	}
	root, err := yaml.PathString("$")
	if err != nil {
		return nil, err
	}
	into, add := root, fmt.Sprintf("tools:\n  %s: %s\n", key, text)
	tools, err := yaml.PathString("$.tools")
	if err != nil {
		return nil, err
	}
	if n, err := tools.FilterFile(tree); err == nil && !isEmpty(n) {
		into, add = tools, fmt.Sprintf("%s: %s\n", key, text)
	}
	if err := into.MergeFromReader(tree, strings.NewReader(add)); err != nil {
		return nil, err
	}
	return []byte(tree.String() + "\n"), nil
}

func isEmpty(n ast.Node) bool { return n.Type() == ast.NullType || n.Type() == ast.CommentType }

// replaceFile writes beside a file and renames, so that a kill in between
// leaves the old or the new one. What a link names is replaced, not the link.
func replaceFile(file string, data []byte) (err error) {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".settings-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("writing %s: %w", file, err), os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
