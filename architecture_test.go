package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// layers say what the packages below a folder may import: of this module, and
// (where external is set) of others. The longest folder that fits counts. A
// package may always import those of its own layer.
var layers = []struct {
	folder   string
	internal []string // folders of this module
	external []string // prefixes of other modules; nil: any
	std      bool     // nothing but the standard library beside internal
}{
	{folder: ".", internal: []string{"engine", "store", "tiers", "toolkit", "toolkit/guard", "themes", "ui"}},
	{folder: "themes", external: []string{"charm.land/lipgloss/v2", "github.com/charmbracelet/"}},
	{folder: "tiers", std: true},
	{folder: "store", external: []string{"modernc.org/sqlite", "github.com/pressly/goose/", "golang.org/x/sys/"}},
	{folder: "toolkit/guard"},
	{folder: "toolkit", internal: []string{"tiers", "store", "toolkit/guard"}},
	{folder: "engine", internal: []string{"store", "tiers", "toolkit", "toolkit/guard"}},
	{folder: "ui", internal: []string{"engine", "store", "themes", "tiers", "toolkit", "toolkit/guard"}},
	{folder: "docs", internal: []string{"engine", "store", "tiers", "toolkit", "themes", "ui"}},
}

const module = "chela"

// source is one Go file of the module.
type source struct {
	name   string // with slashes, relative to the root
	folder string
	test   bool
	text   string
	file   *ast.File
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(name)
		base := path.Base(slash)
		if d.IsDir() && slash != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(slash, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		out = append(out, source{slash, path.Dir(slash), strings.HasSuffix(slash, "_test.go"), string(text), file})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// below reports whether a folder is another one or in it.
func below(folder, parent string) bool {
	return parent == "." || folder == parent || strings.HasPrefix(folder, parent+"/")
}

// layerOf returns the index of a folder's layer, or -1. The root's own layer
// holds the root only.
func layerOf(folder string) int {
	best := -1
	for i, l := range layers {
		fits := below(folder, l.folder) && (l.folder != "." || folder == ".")
		if fits && (best < 0 || len(l.folder) > len(layers[best].folder)) {
			best = i
		}
	}
	return best
}

func TestImportsGoOneWay(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue // tests may look at neighbours; what is built may not
		}
		own := layerOf(s.folder)
		if own < 0 {
			t.Errorf("%s: the folder %s belongs to no layer: name it in architecture_test.go", s.name, s.folder)
			continue
		}
		for _, spec := range s.file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if fault := forbidden(own, imported); fault != "" {
				t.Errorf("%s imports %s: %s", s.name, imported, fault)
			}
		}
	}
}

// forbidden says why a layer may not import a package, or "".
func forbidden(own int, imported string) string {
	l := layers[own]
	inside, isInternal := strings.CutPrefix(imported, module+"/")
	switch {
	case imported == module:
		return "nothing imports main"
	case imported == module+"/toolkit/tooltest":
		return "only tests import it"
	case isInternal:
		their := layerOf(inside)
		if their == own {
			return ""
		}
		for _, ok := range l.internal {
			if their >= 0 && layers[their].folder == ok {
				return ""
			}
		}
		return l.folder + " may import only " + strings.Join(l.internal, ", ")
	case !strings.Contains(strings.SplitN(imported, "/", 2)[0], "."):
		return "" // the standard library
	case l.std:
		return l.folder + " uses nothing but the standard library"
	case l.external == nil:
		return ""
	}
	for _, ok := range l.external {
		if strings.HasPrefix(imported, ok) {
			return ""
		}
	}
	return l.folder + " may import only " + strings.Join(l.external, ", ")
}

func TestTheLayersForbidWhatTheyShould(t *testing.T) {
	for _, tc := range []struct {
		folder, imported string
		ok               bool
	}{
		{"engine/headless", "chela/ui/safetext", false},
		{"engine/headless", "chela/engine/event", true},
		{"engine", "chela/toolkit/files", true},
		{"toolkit/guard", "chela/toolkit", false},
		{"toolkit/files", "chela/toolkit/guard", true},
		{"toolkit/files", "chela/engine", false},
		{"tiers", "github.com/google/uuid", false},
		{"store", "chela/tiers", false},
		{"store", "modernc.org/sqlite/lib", true},
		{"themes", "charm.land/bubbletea/v2", false},
		{"ui/pane", "chela/engine/event", true},
		{"ui", "chela", false},
		{".", "chela/ui", true},
	} {
		if fault := forbidden(layerOf(tc.folder), tc.imported); (fault == "") != tc.ok {
			t.Errorf("%s importing %s: %q, want allowed: %v", tc.folder, tc.imported, fault, tc.ok)
		}
	}
}

func TestEveryPackageSaysWhatItGuarantees(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		doc := s.file.Doc.Text()
		want := "Package " + s.file.Name.Name + " "
		if s.file.Name.Name == "main" {
			want = "Command "
		}
		documented[s.folder] = documented[s.folder] || strings.HasPrefix(doc, want)
	}
	for folder, ok := range documented {
		if !ok {
			t.Errorf("package %s has no doc comment", folder)
		}
	}
}

// maxLines is how long a file may be: one concept a file.
const maxLines = 600

func TestFilesStaySmall(t *testing.T) {
	for _, s := range sources(t) {
		if n := strings.Count(s.text, "\n"); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: split it", s.name, n, maxLines)
		}
	}
}

// unfinished finds the marks of work that was put off, in comments and errors.
// The words are in pieces, or this file would find itself.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b|(?i)not` + ` implemented`)

func TestNothingIsPutOff(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue // what tests search for may hold any word
		}
		for i, line := range strings.Split(s.text, "\n") {
			if word := unfinished.FindString(line); word != "" {
				t.Errorf("%s:%d: %q: finish it", s.name, i+1, word)
			}
		}
	}
}
