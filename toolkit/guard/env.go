package guard

import (
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
)

// passedEnv are the variables that a child inherits, if they are set. Everything
// else of chela's own environment stays with chela.
var passedEnv = []string{
	"HOME", "LANG", "LANGUAGE", "LC_*", "LOGNAME", "USER", "SHELL", "TMPDIR", "TZ", "COLORTERM", "XDG_RUNTIME_DIR",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
}

// passedEnvWindows are what Windows programs cannot start without.
var passedEnvWindows = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME", "HOMEDRIVE",
	"HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
	"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS",
}

// fixedEnv makes programs ask nobody: no prompt, pager, editor or dialog.
var fixedEnv = map[string]string{
	"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "false", "SSH_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "force",
	"GIT_PAGER": "cat", "PAGER": "cat", "MANPAGER": "cat", "SYSTEMD_PAGER": "cat", "GIT_EDITOR": "false",
	"EDITOR": "false", "VISUAL": "false", "DEBIAN_FRONTEND": "noninteractive", "GCM_INTERACTIVE": "never",
}

// refusedEnv are patterns of names, in upper case, that change which code a
// program loads or runs.
var refusedEnv = []string{
	"LD_*", "DYLD_*", "*PATH", "GIT_*", "*_CONFIG*", "BASH_ENV", "ENV", "NODE_OPTIONS", "NODE_*", "PYTHON*", "PERL5*", "PERL_*",
	"RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "*EDITOR", "*PAGER", "VISUAL", "IFS",
	"PROMPT_COMMAND", "PS1", "PS4", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*", "ZDOTDIR", "CDPATH", "*ASKPASS*", "SSH_*",
	"GOFLAGS", "GOENV", "GOTOOLCHAIN", "RUSTC_WRAPPER", "CARGO_*", "NPM_*", "PIP_*", "MAKEFLAGS", "GNUMAKEFLAGS", "LESSOPEN", "LESSCLOSE",
	"BASH_*", "PS0", "PS2", "RUBY*", "OPENSSL_*", "GCC_EXEC_PREFIX", "COMPILER_PATH", "LUA_*", "PHPRC", "PHP_INI_SCAN_DIR", "MAKEFILES",
	"EXINIT", "VIMINIT", "TAR_OPTIONS", "GREP_OPTIONS", "RSYNC_RSH", "DOTNET_*", "POSIXLY_CORRECT",
	"HOME", "SHELL", "TMPDIR", "GCONV*", "MALLOC_*", "GLIBC_TUNABLES", "*_PROXY", "BROWSER", "CHELA_*", "SYSTEMROOT", "COMSPEC", "PATHEXT",
}

// CheckEnv refuses a variable that a model wants to give to a command when its
// name changes which code runs, or when it cannot be passed at all.
func CheckEnv(name, value string) error {
	deny := func(reason string) error {
		return &Denied{Op: "set", Path: name, Rule: RuleEnv, Reason: reason}
	}
	if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
		return deny("a name without = and a value without NUL bytes are wanted")
	}
	if strings.HasPrefix(strings.TrimSpace(value), "() {") {
		return deny("its value is a shell function")
	}
	upper := strings.ToUpper(name)
	for _, pattern := range refusedEnv {
		if ok, err := path.Match(pattern, upper); ok || err != nil {
			return deny("it decides which code programs load or run (" + pattern + ")")
		}
	}
	return nil
}

// cleanEnv builds a child's environment from the parent's: the allow-list, the
// fixed answers, the search path, then extra, which is checked.
func cleanEnv(parent, pass []string, searchPath string, extra map[string]string, pty bool) ([]string, error) {
	env := map[string]string{}
	allow := slices.Concat(passedEnv, pass)
	if runtime.GOOS == "windows" {
		allow = append(allow, passedEnvWindows...)
	}
	for _, kv := range parent {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		for _, pattern := range allow {
			if match, err := path.Match(pattern, envKey(name)); match && err == nil {
				env[name] = value
			}
		}
	}
	maps.Copy(env, fixedEnv)
	env["PATH"] = searchPath
	env["TERM"] = "dumb"
	if pty {
		env["TERM"] = "xterm-256color"
	} else {
		env["NO_COLOR"] = "1"
	}
	for name, value := range extra {
		if err := CheckEnv(name, value); err != nil {
			return nil, err
		}
		env[name] = value
	}
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out, nil
}

// envKey is the form in which names are compared: Windows ignores case.
func envKey(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
