package catalogue

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// doors are what reaches files, programs or the network. A name is a function
// or type of the package; "*" is the whole package.
var doors = map[string][]string{
	"os": {
		"Open*", "Create*", "ReadFile", "WriteFile", "ReadDir", "DirFS", "Mkdir*", "Remove*", "Rename", "Link", "Symlink", "Readlink",
		"Chmod", "Chown", "Lchown", "Chtimes", "Truncate", "Stat", "Lstat", "CopyFS", "Root", "NewFile", "Pipe", "Chdir",
		"StartProcess", "FindProcess", "Process", "Setenv", "Unsetenv", "Clearenv",
	},
	"os/exec":                {"*"},
	"io/ioutil":              {"*"},
	"syscall":                {"*"},
	"plugin":                 {"*"},
	"unsafe":                 {"*"},
	"net":                    {"Dial*", "Listen*", "Dialer", "Resolver", "DefaultResolver", "Lookup*", "ListenConfig", "File*"},
	"net/http":               {"Get", "Post*", "Head", "Client", "Default*", "Transport", "NewFileTransport*", "Dir", "FS", "FileServer*", "ServeFile*", "ListenAndServe*", "Serve*", "Server"},
	"net/rpc":                {"*"},
	"net/smtp":               {"*"},
	"crypto/tls":             {"Dial*", "Listen*", "Dialer"},
	"path/filepath":          {"Walk*", "Glob", "EvalSymlinks"},
	"golang.org/x/sys/*":     {"*"},
	"github.com/creack/pty":  {"*"},
	"github.com/otiai10/*":   {"*"},
	"golang.org/x/net/proxy": {"*"},
}

func glob(pattern, name string) bool {
	rest, open := strings.CutSuffix(pattern, "*")
	return name == pattern || open && strings.HasPrefix(name, rest)
}

// source is one parsed file of a package below toolkit.
type source struct {
	path string
	pkg  string // folder relative to toolkit, "." for toolkit itself
	file *ast.File
	fset *token.FileSet
}

// sources parses every file of toolkit that is part of the program.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", filepath.Dir(p))
		out = append(out, source{p, filepath.ToSlash(rel), f, fset})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("only %d files were found", len(out))
	}
	return out
}

// breaches returns what a file uses that belongs behind the guard.
func breaches(s source) []string {
	var out []string
	names := map[string]string{} // local name -> import path
	for _, im := range s.file.Imports {
		path, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if im.Name != nil {
			name = im.Name.Name
		}
		for door, what := range doors {
			if !glob(door, path) {
				continue
			}
			if what[0] == "*" || name == "." {
				out = append(out, s.fset.Position(im.Pos()).String()+": imports "+path)
			} else {
				names[name] = path
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok || names[id.Name] == "" {
			return true
		}
		if slices.ContainsFunc(doors[names[id.Name]], func(p string) bool { return glob(p, sel.Sel.Name) }) {
			out = append(out, s.fset.Position(sel.Pos()).String()+": uses "+id.Name+"."+sel.Sel.Name)
		}
		return true
	})
	return out
}

func TestToolsHaveNoOtherDoorThanTheGuard(t *testing.T) {
	for _, s := range sources(t) {
		if s.pkg == "guard" || strings.HasPrefix(s.pkg, "guard/") || s.pkg == "tooltest" { // which only tests import: see architecture_test.go
			continue
		}
		for _, b := range breaches(s) {
			t.Error(b)
		}
	}
}

func TestTheDoorCheckSeesBreaches(t *testing.T) {
	for name, code := range map[string]string{
		"a function":   "package x\nimport \"os\"\nvar _ = os.ReadFile\n",
		"a renamed":    "package x\nimport o \"os\"\nfunc f() { o.OpenFile(\"x\", 0, 0) }\n",
		"a dot import": "package x\nimport . \"os\"\nvar _ = ReadFile\n",
		"a package":    "package x\nimport \"os/exec\"\nvar _ = exec.Command\n",
		"a client":     "package x\nimport \"net/http\"\nvar _ = http.Client{}\n",
		"a dialer":     "package x\nimport \"net\"\nvar _ net.Dialer\n",
	} {
		t.Run(name, func(t *testing.T) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, "x.go", code, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(breaches(source{"x.go", "x", f, fset})) == 0 {
				t.Error("the breach was not seen")
			}
		})
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", "package x\nimport (\"net/http\"; \"os\")\nvar _ = http.StatusOK\nvar _ = os.PathSeparator\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := breaches(source{"x.go", "x", f, fset}); len(got) > 0 {
		t.Errorf("harmless uses are refused: %v", got)
	}
}

// allowed says which packages of chela a package below toolkit may import.
func allowed(pkg, imported string) bool {
	switch pkg {
	case "guard":
		return false
	case ".":
		return imported == "chela/toolkit/guard" || imported == "chela/tiers" || imported == "chela/store"
	case "catalogue":
		return imported == "chela/toolkit" || strings.HasPrefix(imported, "chela/toolkit/")
	}
	return slices.Contains([]string{"chela/toolkit", "chela/toolkit/guard", "chela/tiers", "chela/store"}, imported) ||
		strings.HasPrefix(imported, "chela/toolkit/") && imported != "chela/toolkit/catalogue"
}

func TestImportsGoOneWay(t *testing.T) {
	for _, s := range sources(t) {
		for _, im := range s.file.Imports {
			path, err := strconv.Unquote(im.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(path, "chela/") && !allowed(s.pkg, path) {
				t.Errorf("%s: package toolkit/%s must not import %s", s.fset.Position(im.Pos()), s.pkg, path)
			}
		}
	}
}
