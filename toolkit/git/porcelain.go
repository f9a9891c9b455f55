package git

import (
	"fmt"
	"strconv"
	"strings"
)

// File is one changed file.
type File struct {
	Path string `json:"path"` // relative to the folder that was asked about
	Kind string `json:"kind"` // modified, added, deleted, renamed, copied, type changed, conflict
	From string `json:"from,omitempty"`
}

// State is what git says of a work tree.
type State struct {
	Branch    string   `json:"branch"`   // "(detached)" when no branch is checked out
	Upstream  string   `json:"upstream"` // "" if there is none
	Ahead     int      `json:"ahead"`
	Behind    int      `json:"behind"`
	Staged    []File   `json:"staged"`
	Unstaged  []File   `json:"unstaged"`
	Untracked []string `json:"untracked"` // a folder ends with a slash
	Conflicts []string `json:"conflicts"`
	NoCommits bool     `json:"-"` // the branch has no commit yet
}

// Clean reports whether nothing is changed, staged or new.
func (s *State) Clean() bool {
	return len(s.Staged)+len(s.Unstaged)+len(s.Untracked)+len(s.Conflicts) == 0
}

// Marks returns one letter for each path: M changed, A added, D deleted, R
// renamed, U in conflict, ? new. What the work tree says wins over the index.
func (s *State) Marks() map[string]string {
	m := map[string]string{}
	for _, list := range [][]File{s.Staged, s.Unstaged} {
		for _, f := range list {
			mark := marks[f.Kind]
			if mark == "M" && (m[f.Path] == "A" || m[f.Path] == "R") {
				continue // still new to the last commit
			}
			m[f.Path] = mark
		}
	}
	for _, p := range s.Untracked {
		m[strings.TrimSuffix(p, "/")] = "?"
	}
	for _, p := range s.Conflicts {
		m[p] = "U"
	}
	return m
}

var kinds = map[byte]string{
	'M': "modified", 'A': "added", 'D': "deleted", 'R': "renamed", 'C': "copied", 'T': "type changed",
}

var marks = map[string]string{
	"modified": "M", "added": "A", "deleted": "D", "renamed": "R", "copied": "A", "type changed": "M",
}

// parseStatus reads the output of status --porcelain=v2 --branch -z. Paths in
// it are relative to the top of the work tree; prefix is taken off, and what is
// not below it is left out.
func parseStatus(out, prefix string) (*State, error) {
	s := &State{Staged: []File{}, Unstaged: []File{}, Untracked: []string{}, Conflicts: []string{}}
	records := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(records); i++ {
		rec := records[i]
		if rec == "" {
			continue
		}
		kind, rest, _ := strings.Cut(rec, " ")
		bad := fmt.Errorf("git status: the line %q is not understood", rec)
		switch kind {
		case "#":
			s.header(rest)
		case "1", "2":
			// XY sub modes... path; kind 2 has a score before it and the old
			// path as the next record.
			n := 8
			if kind == "2" {
				n = 9
			}
			fields := strings.SplitN(rec, " ", n+1)
			if len(fields) != n+1 || len(fields[1]) != 2 {
				return nil, bad
			}
			from := ""
			if kind == "2" {
				if i++; i >= len(records) {
					return nil, bad
				}
				from = strings.TrimPrefix(records[i], prefix)
			}
			path, ok := strings.CutPrefix(fields[n], prefix)
			if !ok || path == "" {
				continue
			}
			if k, ok := kinds[fields[1][0]]; ok {
				s.Staged = append(s.Staged, File{path, k, from})
			}
			if k, ok := kinds[fields[1][1]]; ok {
				s.Unstaged = append(s.Unstaged, File{Path: path, Kind: k})
			}
		case "u":
			fields := strings.SplitN(rec, " ", 11)
			if len(fields) != 11 {
				return nil, bad
			}
			if path, ok := strings.CutPrefix(fields[10], prefix); ok && path != "" {
				s.Conflicts = append(s.Conflicts, path)
			}
		case "?":
			if path, ok := strings.CutPrefix(rest, prefix); ok && path != "" {
				s.Untracked = append(s.Untracked, path)
			}
		case "!":
		default:
			return nil, bad
		}
	}
	return s, nil
}

func (s *State) header(line string) {
	key, value, _ := strings.Cut(line, " ")
	switch key {
	case "branch.head":
		s.Branch = value
	case "branch.oid":
		s.NoCommits = value == "(initial)"
	case "branch.upstream":
		s.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		s.Ahead = count(strings.TrimPrefix(ahead, "+"))
		s.Behind = count(strings.TrimPrefix(behind, "-"))
	}
}

// count reads a number that git printed; what is none counts as 0.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
