package headless

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/atotto/clipboard"
)

// terminal describes what the command writes to.
func (t Terminal) terminal() Finding {
	name := os.Getenv("TERM")
	switch {
	case !t.OutIsTerm:
		return Finding{"terminal", Good, "output goes to no terminal", ""}
	case name == "dumb":
		return Finding{"terminal", Warning, "TERM is dumb", "The workstation needs a real terminal; chela run works here."}
	}
	detail := fmt.Sprintf("%s, %d columns", name, t.Width)
	if ct := os.Getenv("COLORTERM"); ct != "" {
		detail += ", " + ct
	}
	if !t.Color {
		detail += ", without colours"
	}
	return Finding{"terminal", Good, detail, ""}
}

// programs looks for what tools start. chela works without any of them.
func programs() []Finding {
	var out []Finding
	for _, p := range []struct{ name, without string }{
		{"git", "The git tools and the marks in the file tree need it."},
		{shell(), "The exec tool needs it."},
		{"ollama", "Needed only to start a server from here: https://ollama.com/download"},
	} {
		if path, err := exec.LookPath(p.name); err == nil {
			out = append(out, Finding{p.name, Good, path, ""})
		} else {
			out = append(out, Finding{p.name, Warning, "not found in PATH", p.without})
		}
	}
	return out
}

func shell() string {
	if runtime.GOOS == "windows" {
		return "powershell"
	}
	return "bash"
}

// surroundings looks at what lies between chela and the person.
func surroundings() []Finding {
	remote := os.Getenv("SSH_CONNECTION") != ""
	out := []Finding{{"clipboard", Good, "a clipboard program was found", ""}}
	if clipboard.Unsupported || remote {
		out[0] = Finding{"clipboard", Good, "through the terminal (OSC 52)", ""}
		if !remote {
			out[0].Hint = "If copying does not work, install wl-clipboard, xclip or xsel."
		}
	}
	if os.Getenv("TMUX") != "" {
		out = append(out, Finding{"tmux", Good, "chela runs inside tmux", "For copying and quick keys: `set -g set-clipboard on`, `set -s escape-time 10`, `set -g focus-events on`."})
	}
	if os.Getenv("STY") != "" {
		out = append(out, Finding{"screen", Warning, "chela runs inside GNU screen", "It passes neither the clipboard nor true colour on; tmux does."})
	}
	if remote {
		out = append(out, Finding{"ssh", Good, "chela runs on a remote machine", "Ollama on your own machine can be reached with `ssh -R 11434:127.0.0.1:11434`."})
	}
	return out
}
