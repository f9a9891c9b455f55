package code

import (
	"regexp"
	"slices"
	"strings"
)

// ReadFileList reads one file a line, as gofmt -l and prettier --list-different
// print them.
func ReadFileList(out Output, at Place) []string {
	var got []string
	for _, l := range lines(out.Stdout) {
		if l = strings.TrimSpace(l); l != "" {
			got = add(got, at.path(l))
		}
	}
	return got
}

var reformat = regexp.MustCompile(`^(?i:would reformat|reformatted):? (.+)$`)

// ReadReformat reads "would reformat FILE", as black and ruff print it.
func ReadReformat(out Output, at Place) []string {
	var got []string
	for _, l := range lines(out.All) {
		if m := reformat.FindStringSubmatch(l); m != nil {
			got = add(got, at.path(m[1]))
		}
	}
	return got
}

// ReadRustfmt reads rustfmt --check -l: one file a line.
func ReadRustfmt(out Output, at Place) []string {
	var got []string
	for _, name := range ReadFileList(out, at) {
		if strings.HasSuffix(name, ".rs") {
			got = add(got, name)
		}
	}
	return got
}

// ReadClangFormat reads the warnings of clang-format --dry-run.
func ReadClangFormat(out Output, at Place) []string { return filesOf(colonProblems(out.All, at)) }

// ReadGitHubFiles reads the files that biome names.
func ReadGitHubFiles(out Output, at Place) []string { return filesOf(ReadGitHub(out, at)) }

// ReadTscFiles reads the files that dotnet format names.
func ReadTscFiles(out Output, at Place) []string { return filesOf(ReadTsc(out, at)) }

func filesOf(list []Problem) []string {
	var got []string
	for _, p := range list {
		if p.File != "" {
			got = add(got, p.File)
		}
	}
	return got
}

func add(list []string, v string) []string {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}
