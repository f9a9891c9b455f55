package guard

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// protection holds the name rules of one workspace. It looks at names only;
// link targets are resolved first, so that the rules see what is really meant.
type protection struct {
	own   []string // folded workspace-relative paths of chela's own directories
	extra []string // folded glob patterns of further secret files
}

func newProtection(extra []string) (*protection, error) {
	p := &protection{}
	for _, pattern := range extra {
		folded := strings.ToLower(strings.TrimPrefix(pattern, "./"))
		if folded == "" || !doublestar.ValidatePattern(folded) {
			return nil, fmt.Errorf("secret pattern %q is not a valid glob: use *, ?, [a-z], {a,b} and **", pattern)
		}
		p.extra = append(p.extra, folded)
	}
	return p, nil
}

// check returns the rule that protects rel, with a reason, or "". With secrets,
// those are not looked for: a person allowed one to be read.
func (p *protection) check(rel string, secrets bool) (Rule, string) {
	parent := ""
	for _, c := range components(rel) {
		f := foldName(c)
		if rule, reason := checkComponent(parent, f); rule != "" && !(secrets && rule == RuleSecret) {
			return rule, reason
		}
		parent = f
	}
	rule, reason := p.checkPath(rel)
	if secrets && rule == RuleSecret {
		return "", ""
	}
	return rule, reason
}

// checkPath applies the rules that depend on this workspace.
func (p *protection) checkPath(rel string) (Rule, string) {
	if len(p.own) == 0 && len(p.extra) == 0 {
		return "", ""
	}
	folded := foldPath(rel)
	for _, own := range p.own {
		if within(folded, own) {
			return RuleOwnState, "this is chela's own state, which no tool may touch"
		}
	}
	for _, pattern := range p.extra {
		if matchSecret(pattern, folded) {
			return RuleSecret, fmt.Sprintf("it matches the secret pattern %q from the settings", pattern)
		}
	}
	return "", ""
}

// containsOwn reports whether rel is an ancestor of one of chela's own
// directories: moving it would move them.
func (p *protection) containsOwn(rel string) bool {
	folded := foldPath(rel)
	for _, own := range p.own {
		if within(own, folded) {
			return true
		}
	}
	return false
}

func foldPath(rel string) string {
	parts := components(rel)
	for i, c := range parts {
		parts[i] = foldName(c)
	}
	return strings.Join(parts, "/")
}

// within reports whether p is dir or below it; both are clean slash paths.
func within(p, dir string) bool {
	if dir == "." || dir == "" || p == dir {
		return true
	}
	return len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir
}

// matchSecret matches a pattern without a slash against every component, one
// with a slash against the path and against its tails.
func matchSecret(pattern, folded string) bool {
	if !strings.Contains(pattern, "/") {
		for c := range strings.SplitSeq(folded, "/") {
			if doublestar.MatchUnvalidated(pattern, c) {
				return true
			}
		}
		return false
	}
	pattern = strings.TrimPrefix(pattern, "/")
	for dir := folded; dir != "."; dir = path.Dir(dir) {
		if doublestar.MatchUnvalidated(pattern, dir) || doublestar.MatchUnvalidated("**/"+pattern, dir) {
			return true
		}
	}
	return false
}

// checkComponent applies the fixed name rules to one folded component whose
// folded parent is known.
func checkComponent(parent, name string) (Rule, string) {
	switch name {
	case ".git", "git~1":
		return RuleGit, "git's own files decide what git runs; use the git tools"
	}
	if reason := secretName(parent, name); reason != "" {
		return RuleSecret, reason
	}
	return "", ""
}

// secretNames are files and directories that hold credentials, by exact name.
var secretNames = map[string]string{
	".env": "environment files hold credentials",
	".ssh": "SSH keys", ".gnupg": "GnuPG keys",
	"id_rsa": "an SSH private key", "id_dsa": "an SSH private key", "id_ecdsa": "an SSH private key",
	"id_ed25519": "an SSH private key", "id_ecdsa_sk": "an SSH private key", "id_ed25519_sk": "an SSH private key",
	"id_xmss": "an SSH private key", "credentials.json": "credentials",
	".netrc": "passwords", "_netrc": "passwords", ".npmrc": "registry tokens", ".pypirc": "registry tokens",
	".git-credentials": "passwords", ".pgpass": "passwords", ".htpasswd": "passwords",
	".vault-token": "a Vault token", ".dockercfg": "registry tokens",
}

// secretPairs are files known by their directory and name.
var secretPairs = map[[2]string]string{
	{".aws", "credentials"}: "AWS credentials", {".config", "gcloud"}: "Google Cloud credentials",
	{".kube", "config"}: "Kubernetes credentials", {".docker", "config.json"}: "registry tokens",
	{".cargo", "credentials.toml"}: "registry tokens", {".cargo", "credentials"}: "registry tokens",
	{".config", "gh"}: "GitHub tokens", {".azure", "accesstokens.json"}: "Azure tokens",
}

// secretSuffixes are the extensions of key material.
var secretSuffixes = map[string]string{
	".pem": "key material", ".key": "key material", ".p12": "key material", ".pfx": "key material",
	".jks": "a key store", ".keystore": "a key store", ".kdbx": "a password database", ".ppk": "an SSH private key",
}

func secretName(parent, name string) string {
	if reason, ok := secretNames[name]; ok {
		return reason
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		if reason, ok := secretSuffixes[name[dot:]]; ok {
			return reason
		}
		if strings.HasPrefix(name, ".env.") && !envTemplate[name[dot:]] {
			return "environment files hold credentials"
		}
		if name[dot:] == ".json" && (strings.HasPrefix(name, "service-account") || strings.HasPrefix(name, "service_account")) {
			return "a service account key"
		}
	}
	if len(parent) > 1 && parent[0] == '.' {
		if reason, ok := secretPairs[[2]string{parent, name}]; ok {
			return reason
		}
	}
	return ""
}

// envTemplate are the endings of environment files meant to be shared.
var envTemplate = map[string]bool{".example": true, ".sample": true, ".template": true}
