package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Policy says what a sandboxed command may do. All paths are absolute. Those of
// ReadOnly and Hidden win over those of Workspace and Writable that hold them.
type Policy struct {
	Workspace string   // may be written to
	Writable  []string // further folders that may be written to; they must exist
	// Cache is a folder for the caches of build tools; it is made if missing, may
	// be written to, and is what XDG_CACHE_HOME means inside. Only sandboxed
	// commands should use it: they can put anything there.
	Cache    string
	ReadOnly []string // beside what the workspace holds of git
	// Hidden is what a command does not see, such as chela's own folders. One
	// that does not exist yet, and could be made from inside, is made first.
	Hidden  []string
	Home    string // whose credentials are hidden; os.UserHomeDir if empty
	Network bool   // the machine's network, and not a loopback of its own
	Limits  Limits
}

// Limits bound a sandboxed command. Zero is no limit.
type Limits struct {
	CPU          time.Duration // of each process, in whole seconds
	AddressSpace int64         // bytes of each process
	FileSize     int64         // bytes of each file it writes
	Processes    int           // processes and threads at once, of all its tree; see Support.Processes
	OpenFiles    int           // of each process
	Temp         int64         // bytes in /tmp
}

// DefaultLimits stop what runs away and leave room for large builds. The address
// space is not bounded, since race detectors and runtimes with a collector
// reserve terabytes that they never use; when memory runs out, the kernel ends
// sandboxed processes first.
func DefaultLimits() Limits {
	return Limits{FileSize: 4 << 30, Processes: 4096, Temp: 2 << 30}
}

// check completes a policy.
func (p Policy) check() (Policy, error) {
	if p.Home == "" {
		p.Home, _ = os.UserHomeDir() // without one there is nothing of it to hide
	}
	lists := [][]string{{p.Workspace}, p.Writable, p.ReadOnly, p.Hidden}
	for _, list := range lists {
		for _, dir := range list {
			if !filepath.IsAbs(dir) {
				return p, fmt.Errorf("sandbox policy: %q is no absolute path", dir)
			}
		}
	}
	if p.Cache == "" {
		return p, nil
	}
	if !filepath.IsAbs(p.Cache) {
		return p, fmt.Errorf("sandbox policy: the cache %q is no absolute path", p.Cache)
	}
	if err := os.MkdirAll(p.Cache, 0o700); err != nil {
		return p, fmt.Errorf("sandbox policy: making the cache: %w", err)
	}
	return p, nil
}

// homeSecrets are what is hidden in the home folder: credentials, keys, the
// sessions of browsers, the history of shells, and sockets that lead out.
var homeSecrets = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/hub", ".config/glab-cli",
	".config/op", ".config/rclone", ".config/doctl", ".config/containers", ".config/sops", ".config/age", ".oci", ".terraform.d",
	".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".git-credentials", ".config/git/credentials", ".pgpass", ".my.cnf",
	".vault-token", ".dockercfg", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
	".gradle/gradle.properties", ".composer/auth.json", ".config/composer/auth.json", ".nuget/NuGet/NuGet.Config", ".ollama/id_ed25519",
	".password-store", ".local/share/keyrings", ".local/share/kwalletd", ".1password", ".config/Bitwarden", ".config/keepassxc",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
	".config/Signal", ".config/Slack", ".config/discord", ".colima", ".rd", ".local/share/containers",
	".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".lesshst", ".viminfo",
	".claude", ".codex", ".gemini", ".cursor",
}
