// Package settings reads settings.yml, the one file a person sets things in.
//
// A fault costs the key it is in and no other: Load returns what was right, the
// defaults for the rest, and every fault with its line and the remedy. Security
// fails closed: where a value below security cannot be read the mode is deny,
// and so it is for a file that is no YAML at all but speaks of security.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chela/engine/callmode"
	"chela/engine/pipeline"
	"chela/tiers"
	"chela/toolkit"
)

// Settings is everything that can be set.
type Settings struct {
	Ollama   Ollama   `yaml:"ollama"`
	Models   Models   `yaml:"models"`
	Tiers    Tiers    `yaml:"tiers"`
	Tools    Tools    `yaml:"tools"`
	Security Security `yaml:"security"`
	UI       UI       `yaml:"ui"`

	Search   toolkit.SearchConfig   `yaml:"search"`
	Channels toolkit.ChannelsConfig `yaml:"channels"`
	Images   toolkit.ImagesConfig   `yaml:"images"`
	Speech   toolkit.SpeechConfig   `yaml:"speech"`
	Code     toolkit.CodeConfig     `yaml:"code"`
}

// ForTools is what the settings and the environment say to tools.
func (s Settings) ForTools() toolkit.Config {
	return toolkit.Config{Search: s.Search, Channels: s.Channels, Images: s.Images, Speech: s.Speech, Code: s.Code}.WithEnv()
}

// Ollama says where the server is.
type Ollama struct {
	Host     string   `yaml:"host"`     // host:port or URL; empty: OLLAMA_HOST, then 127.0.0.1:11434
	Hosts    []string `yaml:"hosts"`    // further servers; sessions are placed on all of them
	Parallel int      `yaml:"parallel"` // answers that one server computes at once, its OLLAMA_NUM_PARALLEL; 0: 1
}

// Models sets how models are used.
type Models struct {
	Default string                   `yaml:"default"` // used when no model was used before
	Window  int                      `yaml:"window"`  // num_ctx in tokens; 0: chosen from the model, up to 16384
	Think   string                   `yaml:"think"`   // auto, on, off
	Steps   int                      `yaml:"steps"`   // most answers in one turn; 0: 40
	Tap     bool                     `yaml:"tap"`     // ask for the raw tokens, to check what the server made of them
	Modes   map[string]callmode.Mode `yaml:"modes"`   // how single models are asked for calls: native, prompted, forced
	Preload bool                     `yaml:"preload"` // bring a model into memory when it is picked, before the first prompt
}

// Tiers overrides the tier of single models: name, name without tag, or a
// prefix ending in *.
type Tiers struct {
	Models map[string]tiers.Tier `yaml:"models"`
}

// Tools moves single tools across tiers.
type Tools struct {
	Promote []string `yaml:"promote"` // given to every model, whatever its tier
	Demote  []string `yaml:"demote"`  // given to none
	Budget  int      `yaml:"budget"`  // percent of the window that tool schemas may take; 0: 25
}

// Security sets what runs without a question.
type Security struct {
	Mode         pipeline.Mode `yaml:"mode"`          // the mode that sessions start in
	AllowedHosts []string      `yaml:"allowed_hosts"` // private host:port that web tools may reach
	Secrets      []string      `yaml:"secrets"`       // further file patterns that hold secrets
	// Sandbox says when commands run in the OS sandbox: auto (in sandbox mode
	// only), on (in every mode, and not at all without one), or off (never; so
	// sandbox mode runs none).
	Sandbox        string `yaml:"sandbox"`
	SandboxNetwork bool   `yaml:"sandbox_network"` // sandboxed commands have the machine's network

	// Policies decide about kinds of calls before they come; see pipeline.Policy.
	Policies []pipeline.Policy `yaml:"policies"`
	// Origins is the most that calls may whoever asks for them: session, cron,
	// model, rescued, person. Without an entry it is the session's mode.
	Origins   map[toolkit.Origin]pipeline.Mode `yaml:"origins"`
	AuditDays int                              `yaml:"audit_days"` // how long rows of the audit are kept; 0: for ever
}

// UI sets the screen.
type UI struct {
	Theme string `yaml:"theme"` // auto, light, dark, ansi, none
	Mouse bool   `yaml:"mouse"`
}

// Default returns the settings in force without a file.
func Default() Settings {
	return Settings{
		Models:   Models{Think: "auto", Steps: 40, Preload: true, Tap: true},
		Tools:    Tools{Budget: 25},
		Security: Security{Mode: pipeline.Ask, Sandbox: "auto"},
		UI:       UI{Theme: "auto", Mouse: true},
	}
}

// Problem is one fault of a settings file.
type Problem struct {
	File string
	Line int // 0: unknown
	Text string
	Hint string
}

// Error says where the fault is and what to do about it.
func (p Problem) Error() string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if p.Hint == "" {
		return fmt.Sprintf("%s: %s", where, p.Text)
	}
	return fmt.Sprintf("%s: %s (%s)", where, p.Text, p.Hint)
}

// maxFile is the largest settings file that is read.
const maxFile = 1 << 20

// Load reads a settings file. A file that does not exist gives the defaults
// and no problem. With problems the settings hold every section that was
// right; see the package comment for security.
func Load(file string) (Settings, []Problem) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Default(), nil
	case err == nil && !info.Mode().IsRegular():
		return Default(), []Problem{{File: file, Text: "is not a regular file", Hint: "the defaults are in force"}}
	case err == nil && info.Size() > maxFile:
		return Default(), []Problem{{File: file, Text: "is larger than 1 MiB", Hint: "the defaults are in force"}}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return Default(), []Problem{{File: file, Text: err.Error(), Hint: "the defaults are in force"}}
	}
	return Parse(file, data)
}

// Dirs are the folders that chela keeps its own things in.
type Dirs struct {
	Config string // settings.yml
	Data   string // the database
}

// FindDirs returns CHELA_CONFIG_DIR and CHELA_DATA_DIR, or the places the
// system has for them (XDG on Linux). Nothing is created.
func FindDirs() (Dirs, error) {
	var d Dirs
	if d.Config = os.Getenv("CHELA_CONFIG_DIR"); d.Config == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return d, fmt.Errorf("finding the config folder: %w (set CHELA_CONFIG_DIR)", err)
		}
		d.Config = filepath.Join(base, "chela")
	}
	if d.Data = os.Getenv("CHELA_DATA_DIR"); d.Data == "" {
		base := os.Getenv("XDG_DATA_HOME")
		if base == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return d, fmt.Errorf("finding the data folder: %w (set CHELA_DATA_DIR)", err)
			}
			base = filepath.Join(home, ".local", "share")
		}
		d.Data = filepath.Join(base, "chela")
	}
	for _, dir := range []*string{&d.Config, &d.Data} {
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return d, fmt.Errorf("finding %s: %w", *dir, err)
		}
		*dir = abs
	}
	return d, nil
}

// File is the settings file's name in the config folder.
func (d Dirs) File() string { return filepath.Join(d.Config, "settings.yml") }

// Database is the store's file name.
func (d Dirs) Database() string { return filepath.Join(d.Data, "chela.db") }

// PoolTimeout returns POOL_TIMEOUT_MS, or the pipeline's default. A value that
// is no number of milliseconds is a problem, and the default stays.
func PoolTimeout() (time.Duration, *Problem) {
	text := strings.TrimSpace(os.Getenv("POOL_TIMEOUT_MS"))
	if text == "" {
		return pipeline.DefaultTimeout, nil
	}
	d, err := time.ParseDuration(text + "ms")
	if err != nil || d <= 0 {
		return pipeline.DefaultTimeout, &Problem{
			File: "POOL_TIMEOUT_MS", Text: fmt.Sprintf("%q is no number of milliseconds", text), Hint: "300000 is in force",
		}
	}
	return d, nil
}
