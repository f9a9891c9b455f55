package code

import (
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// cargoToml is what is looked at of Cargo.toml.
type cargoToml struct {
	Package      struct{ Name, Edition any }
	Workspace    *struct{ Members []string }
	Dependencies map[string]any
	DevDeps      map[string]any `toml:"dev-dependencies"`
	Bin          []struct{ Name, Path string }
	Lib          struct {
		ProcMacro bool `toml:"proc-macro"`
	}
}

// inspectRust looks for a crate or a workspace of crates.
func inspectRust(s site) *Stack {
	if s.find("Cargo.toml") == "" {
		return nil
	}
	st := &Stack{Kind: "rust", Languages: []string{"Rust"}, Manager: "cargo", Exts: []string{".rs"}, Versions: [][]string{{"cargo", "--version"}}}
	st.Configs = s.all("Cargo.toml", "build.rs", "rust-toolchain*", "rustfmt.toml", ".rustfmt.toml", "clippy.toml")
	var m cargoToml
	edition := "2021"
	if _, err := toml.Decode(s.text("Cargo.toml"), &m); err == nil {
		st.Name, _ = m.Package.Name.(string)
		st.Deps, st.DevDeps = len(m.Dependencies), len(m.DevDeps)
		for d := range m.Dependencies {
			st.Frameworks = known(st.Frameworks, d, rustFrameworks)
		}
		slices.Sort(st.Frameworks)
		for _, b := range m.Bin {
			st.Entries = append(st.Entries, b.Path)
		}
		if e, ok := m.Package.Edition.(string); ok {
			edition = e
		}
	}
	for _, name := range s.Names(s.path("src")) {
		if name == "main.rs" {
			st.Entries = append(st.Entries, "src/main.rs")
		}
	}
	st.command = func(job Job, o Options) (Command, error) { return rust(s, edition, job, o) }
	return st
}

var rustFrameworks = map[string]string{
	"axum": "axum", "actix-web": "actix-web", "rocket": "rocket", "tokio": "tokio", "clap": "clap", "serde": "serde",
	"bevy": "bevy", "tauri": "tauri", "ratatui": "ratatui", "diesel": "diesel", "sqlx": "sqlx",
}

func rust(s site, edition string, job Job, o Options) (Command, error) {
	c := Command{Reason: "Cargo.toml", Exts: []string{".rs"}, Problems: ReadCargoJSON, Live: liveCargo}
	asks := func() {
		if s.find("build.rs") != "" {
			c.Asks = append(c.Asks, "build.rs runs while the crate is compiled")
			c.Shown = s.text("build.rs")
		}
	}
	switch job {
	case Test:
		c.Tool, c.Tests = "cargo test", ReadCargo
		c.Argv = []string{"cargo", "test", "--no-fail-fast", "--color=never"}
		filter := o.Grep
		if rel := o.rel(s.dir); o.Target != "" {
			name := strings.TrimSuffix(path.Base(rel), ".rs")
			switch {
			case o.IsFile && path.Dir(rel) == "tests":
				c.Argv = append(c.Argv, "--test="+name)
			case o.IsFile && strings.HasPrefix(rel, "src/") && name != "lib" && name != "main" && name != "mod" && filter == "":
				filter = name + "::"
			case o.IsFile:
				c.Notes = append(c.Notes, "cargo cannot pick the tests of "+rel+"; all run")
			default:
				c.Notes = append(c.Notes, "cargo runs the tests of the crate, not of a folder")
			}
		}
		if o.Coverage {
			c.Notes = append(c.Notes, "cargo test measures no coverage")
		}
		if filter == "" {
			filter = o.Select
		}
		if filter != "" {
			c.Argv = append(c.Argv, "--", dashless(filter))
		}
		return c, nil
	case Typecheck:
		asks()
		c.Tool, c.Argv = "cargo check", []string{"cargo", "check", "--all-targets", "--message-format=json"}
	case Lint:
		asks()
		c.Tool, c.Argv = "clippy", []string{"cargo", "clippy", "--all-targets", "--message-format=json"}
		if o.Fix {
			c.Argv = append(c.Argv, "--fix", "--allow-dirty", "--allow-staged")
		}
		if !s.Has("cargo-clippy") {
			return none("clippy is not installed: rustup component add clippy")
		}
	case Build:
		asks()
		c.Tool, c.Argv = "cargo build", []string{"cargo", "build", "--message-format=json"}
		if o.Script != "" {
			c.Argv = append(c.Argv, "--bin="+o.Script)
		}
	case Format:
		c.Tool, c.Unformed = "rustfmt", ReadRustfmt
		if len(o.Files) == 0 && (o.Target == "" || !o.IsFile) {
			if c.Argv = []string{"cargo", "fmt"}; o.Check {
				c.Argv = append(c.Argv, "--check", "--", "-l")
			}
			return c, nil
		}
		c.Argv = []string{"rustfmt", "--edition", edition}
		if o.Check {
			c.Argv = append(c.Argv, "--check", "-l")
		}
		c.Argv = append(c.Argv, o.paths(s.dir)...)
	case Start:
		c.Tool, c.Argv = "cargo run", []string{"cargo", "run"}
	}
	return c, nil
}

// dashless keeps a filter from being taken for an option.
func dashless(filter string) string { return strings.TrimLeft(filter, "-") }
