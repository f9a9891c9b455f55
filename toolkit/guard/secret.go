package guard

import "strings"

// HoldsSecrets reports whether the last component of a path, relative to the
// workspace, is by its name a file or folder of credentials, and which. It is
// what a sandbox masks: keys and certificates known only by their extension are
// not among it, since builds and tests often need some that are no secret.
func HoldsSecrets(path string) (reason string, ok bool) {
	parent, name := "", ""
	for _, c := range components(path) {
		parent, name = name, foldName(c)
	}
	if reason, ok := secretNames[name]; ok {
		return reason, true
	}
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && strings.HasPrefix(name, ".env.") && !envTemplate[name[dot:]] {
		return secretNames[".env"], true
	}
	reason, ok = secretPairs[[2]string{parent, name}]
	return reason, ok
}
