package code

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var ccExts = []string{".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh"}

var cmakeName = regexp.MustCompile(`(?i)\bproject\s*\(\s*([\w.-]+)`)

func inspectCMake(s site) *Stack {
	if s.find("CMakeLists.txt") == "" {
		return nil
	}
	st := &Stack{Kind: "cmake", Languages: []string{"C/C++"}, Exts: ccExts, Versions: [][]string{{"cmake", "--version"}}}
	st.Configs = s.all("CMakeLists.txt", "CMakePresets.json", "conanfile.*", "vcpkg.json", ".clang-format", ".clang-tidy")
	switch {
	case s.find("vcpkg.json") != "":
		st.Manager = "vcpkg"
	case s.find("conanfile.*") != "":
		st.Manager = "conan"
	}
	if m := cmakeName.FindStringSubmatch(s.text("CMakeLists.txt")); m != nil {
		st.Name = m[1]
	}
	// A build folder that is set up already is used as it is.
	dir, ready := "build", false
	for _, name := range s.names {
		sub := strings.TrimSuffix(name, "/")
		if sub == name || !strings.Contains(sub, "build") && sub != "out" {
			continue
		}
		if slices.Contains(s.Names(s.path(sub)), "CMakeCache.txt") {
			dir, ready = sub, true
			break
		}
	}
	st.command = func(job Job, o Options) (Command, error) { return cmake(s, dir, ready, job, o) }
	return st
}

func cmake(s site, dir string, ready bool, job Job, o Options) (Command, error) {
	c := Command{Reason: "CMakeLists.txt", Exts: ccExts, Problems: ReadCC}
	if !ready {
		c.Before = [][]string{{"cmake", "-S", ".", "-B", dir}}
	}
	build := []string{"cmake", "--build", dir}
	asks := []string{"CMakeLists.txt is code that cmake runs"}
	switch job {
	case Test:
		c.Tool, c.Tests = "ctest", ReadCtest
		c.Before = append(c.Before, build)
		c.Argv = []string{"ctest", "--test-dir", dir, "--output-on-failure"}
		switch {
		case o.Grep != "":
			c.Argv = append(c.Argv, "--tests-regex", o.Grep)
		case o.Target != "":
			c.Notes = append(c.Notes, "ctest cannot pick a file's tests; use grep with a test's name")
		}
		if o.Coverage {
			c.Notes = append(c.Notes, "coverage is not measured")
		}
	case Build:
		c.Tool, c.Argv, c.Asks, c.Shown = "cmake", build, asks, s.text("CMakeLists.txt")
		if o.Script != "" {
			c.Argv = append(build, "--target", dashless(o.Script))
		}
	case Lint:
		switch {
		case s.Has("clang-tidy") && s.find(".clang-tidy") != "" && o.IsFile && ready:
			c.Before = nil
			c.Tool, c.Argv = "clang-tidy", []string{"clang-tidy", "--quiet", "-p", dir, o.dotted(s.dir)}
			if o.Fix {
				c.Argv = slices.Insert(c.Argv, 1, "--fix")
			}
		case s.Has("cppcheck") && !o.Fix:
			c.Before = nil
			c.Tool, c.Argv = "cppcheck", []string{"cppcheck", "--quiet", "--enable=warning,performance", "--error-exitcode=1", "--template={file}:{line}:{column}: {severity}: {message} [{id}]", "-i" + dir, o.dotted(s.dir)}
		default:
			return none("no linter was found: cppcheck is not installed, and clang-tidy needs .clang-tidy, a build and one file")
		}
	case Format:
		c.Before = nil
		return clangFormat(s, c, o)
	case Typecheck:
		return none("C and C++ are checked by building: use build")
	default:
		return none("which program to run is not known")
	}
	return c, nil
}

// clangFormat formats the files of a call, or those of the target: clang-format
// takes no folders.
func clangFormat(s site, c Command, o Options) (Command, error) {
	if !s.Has("clang-format") {
		return none("clang-format is not installed")
	}
	files := o.Files
	switch {
	case len(files) > 0:
	case o.IsFile:
		files = []string{o.Target}
	default:
		dir := s.dir
		if o.Target != "" {
			dir = o.Target
		}
		files = sources(s.Tree, dir, ccExts, 4)
	}
	if len(files) == 0 {
		return none("no C or C++ files were found")
	}
	c.Tool, c.Unformed, c.Argv = "clang-format", ReadClangFormat, []string{"clang-format", "-i"}
	if o.Check {
		c.Argv = []string{"clang-format", "--dry-run"}
	}
	for _, f := range files {
		c.Argv = append(c.Argv, dotted(below(s.dir, f)))
	}
	return c, nil
}

// sources lists files with one of the endings, some levels deep, so many at most.
func sources(t Tree, dir string, exts []string, levels int) []string {
	var out []string
	for _, name := range t.Names(dir) {
		sub, folder := strings.CutSuffix(name, "/")
		switch {
		case len(out) >= maxFiles:
			return out
		case !folder && slices.Contains(exts, path.Ext(name)):
			out = append(out, path.Join(dir, name))
		case folder && levels > 1 && !strings.HasPrefix(sub, ".") && !skipped[sub] && !strings.Contains(sub, "build"):
			out = append(out, sources(t, path.Join(dir, sub), exts, levels-1)...)
		}
	}
	return out
}

var makeTarget = regexp.MustCompile(`^([A-Za-z0-9][\w./-]*(?:[ \t]+[A-Za-z0-9][\w./-]*)*)[ \t]*::?(?:[^=]|$)`)

// inspectMake looks for a Makefile.
func inspectMake(s site) *Stack {
	file := s.find("GNUmakefile", "makefile", "Makefile")
	if file == "" {
		return nil
	}
	st := &Stack{Kind: "make", Configs: []string{file}, Versions: [][]string{{"make", "--version"}}}
	if len(s.all("*.c", "*.cc", "*.cpp")) > 0 {
		st.Languages, st.Exts = []string{"C/C++"}, ccExts
	}
	st.Scripts = targets(s.text(file))
	st.command = func(job Job, o Options) (Command, error) { return makefile(s, file, st.Scripts, job, o) }
	return st
}

// targets are the rules of a Makefile with their recipes.
func targets(text string) []Script {
	var out []Script
	var open []int
	for _, l := range lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if strings.HasPrefix(l, "\t") {
			for _, i := range open {
				out[i].Text = strings.TrimSpace(out[i].Text + "\n" + strings.TrimSpace(l))
			}
			continue
		}
		m := makeTarget.FindStringSubmatch(l)
		if m == nil {
			if strings.TrimSpace(l) != "" {
				open = nil
			}
			continue
		}
		open = nil
		for name := range strings.FieldsSeq(m[1]) {
			i := slices.IndexFunc(out, func(s Script) bool { return s.Name == name })
			if i < 0 {
				i = len(out)
				out = append(out, Script{Name: name})
			}
			open = append(open, i)
		}
	}
	return out
}

// makeNames are the targets that do a job, the usual name first.
var makeNames = map[Job][]string{
	Test: {"test", "tests", "check"}, Build: {"build", "all"}, Lint: {"lint"}, Format: {"format", "fmt"},
	Typecheck: {"typecheck", "vet", "type-check"}, Start: {"run", "start", "dev"},
}

func makefile(s site, file string, rules []Script, job Job, o Options) (Command, error) {
	names := makeNames[job]
	if job == Build && o.Script != "" {
		names = []string{o.Script}
	}
	for _, name := range names {
		i := slices.IndexFunc(rules, func(r Script) bool { return r.Name == name })
		if i < 0 {
			continue
		}
		if o.Fix || o.Check {
			return none("make %s can neither fix nor only check", name)
		}
		c := Command{
			Tool: "make " + name, Argv: []string{"make", name}, Reason: fmt.Sprintf("%s has the target %q", file, name),
			Asks: []string{fmt.Sprintf("%s decides what make %s runs: %s", file, name, rules[i].Text)}, Shown: rules[i].Text,
			Tests: ReadMake, Problems: ReadAny, Exts: ccExts,
		}
		if o.Target != "" || o.Grep != "" || o.Coverage {
			c.Notes = append(c.Notes, "make takes no file, grep or coverage; all of it runs")
		}
		return c, nil
	}
	if job == Build && o.Script == "" && len(rules) > 0 {
		return Command{
			Tool: "make", Argv: []string{"make"}, Reason: file, Problems: ReadAny,
			Asks: []string{fmt.Sprintf("%s decides what make runs: %s: %s", file, rules[0].Name, rules[0].Text)}, Shown: rules[0].Text,
		}, nil
	}
	return none("%s has none of the targets %s", file, strings.Join(names, ", "))
}

// ReadMake reads the outcome of make test, whatever ran the tests.
func ReadMake(out Output, at Place) Report {
	r := ReadText(out, at)
	if out.Code != 0 && r.Total() == 0 {
		if problems := errorsOf(ReadAny(out, at)); len(problems) > 0 {
			r.broken(problems)
			r.Failed++
		}
	}
	return r
}

// ReadAny reads problems in whatever known form they have.
func ReadAny(out Output, at Place) []Problem {
	for _, read := range []func(Output, Place) []Problem{ReadTsc, ReadJavac, ReadCC} {
		if got := read(out, at); len(got) > 0 {
			return got
		}
	}
	return rustText(out.All, at)
}
