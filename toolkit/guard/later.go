package guard

import "strings"

// runsLaterNames are files that some program executes or obeys later without
// being asked: shells, editors, package managers, CI, agents.
var runsLaterNames = map[string]string{
	".bashrc": "your shell runs it", ".bash_profile": "your shell runs it", ".bash_login": "your shell runs it",
	".bash_logout": "your shell runs it", ".bash_aliases": "your shell runs it", ".profile": "your shell runs it",
	".zshrc": "your shell runs it", ".zshenv": "your shell runs it", ".zprofile": "your shell runs it",
	".zlogin": "your shell runs it", ".zlogout": "your shell runs it", ".envrc": "direnv runs it",
	".gitconfig": "git can run programs named in it", ".gitmodules": "git can fetch and run what it names",
	".gitattributes": "git can run filters named in it", ".ripgreprc": "ripgrep can run programs named in it",
	".mcp.json": "agents start the servers it names", ".tmux.conf": "tmux runs it", ".vimrc": "the editor runs it",
	".exrc": "the editor runs it", ".nvimrc": "the editor runs it", ".inputrc": "the shell reads it",
	".gdbinit": "gdb runs it", ".lldbinit": "lldb runs it", ".pre-commit-config.yaml": "git hooks run it",
	".gitlab-ci.yml": "CI runs it", ".travis.yml": "CI runs it", "jenkinsfile": "CI runs it",
	"package.json": "its scripts run on install and test", ".pnp.cjs": "node loads it", ".yarnrc.yml": "yarn loads code named in it",
	"sitecustomize.py": "python runs it at start", "usercustomize.py": "python runs it at start",
	"crontab": "cron runs it",
}

// runsLaterDirs are directories whose content is executed or obeyed later.
var runsLaterDirs = map[string]string{
	".vscode": "the editor runs its tasks", ".idea": "the editor runs its configurations",
	".husky": "git hooks run it", ".githooks": "git hooks run it", ".devcontainer": "the editor builds and runs it",
	".claude": "an agent obeys it", ".cursor": "an agent obeys it", ".codex": "an agent obeys it",
	".gemini": "an agent obeys it", ".circleci": "CI runs it", ".buildkite": "CI runs it",
}

// RunsLater reports whether a file at this path, relative to the workspace, is
// executed or obeyed later by something else, and by what. A write to such a
// file deserves a person's eye even when other writes do not. It looks at the
// name only and touches no file.
func RunsLater(path string) (reason string, ok bool) {
	parts := components(path)
	for i, c := range parts {
		f := foldName(c)
		if reason, ok := runsLaterDirs[f]; ok {
			return reason, true
		}
		if i > 0 {
			parent := foldName(parts[i-1])
			switch {
			case parent == ".github" && (f == "workflows" || f == "actions"):
				return "CI runs it", true
			case f == "hooks" && (parent == ".git" || strings.HasSuffix(parent, ".git")):
				return "git runs it", true
			case parent == ".config" && (f == "fish" || f == "git" || f == "autostart" || f == "systemd" || f == "nvim"):
				return "your session runs it", true
			case parent == ".chela":
				return "chela obeys it", true
			}
		}
		if i == len(parts)-1 {
			if reason, ok := runsLaterNames[f]; ok {
				return reason, true
			}
		}
	}
	return "", false
}
