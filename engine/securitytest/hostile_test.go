package securitytest

import "regexp"

// class is what a parameter stands for, as far as its name tells. Its other
// spellings say less: a file's content may be called code.
type class int

const (
	text    class = iota // anything; it gets every hostile value
	aPath                // a file or folder
	aURL                 // an address
	command              // what a shell or interpreter runs
	env                  // an object of environment variables
)

// classes are tried in this order. A name that none fits is text, so a new
// parameter is never left out.
var classes = []struct {
	class class
	name  *regexp.Regexp
}{
	{env, regexp.MustCompile(`(?i)^(env|environment)$`)},
	{command, regexp.MustCompile(`(?i)^(cmd|command|commands|shell_command|script|code)$`)},
	{aURL, regexp.MustCompile(`(?i)(^|_)(url|uri|href|webhook|endpoint)s?$|Url$`)},
	{aPath, regexp.MustCompile(`(?i)(^|_)(path|paths|file|files|filename|file_path|filepath|dir|directory|folder|cwd|workdir|working_dir|destination)$`)},
}

func classOf(name string) class {
	for _, c := range classes {
		if c.name.MatchString(name) {
			return c.class
		}
	}
	return text
}

// hostile are the values that must be stopped before anything happens, by class.
func hostile(p places) map[class][]any {
	return map[class][]any{
		aPath: {
			"../out/secret", p.tmp + "/out/secret", p.tmp + "/ws2/secret", "../ws2/secret", "/etc/passwd", "~/.ssh/id_rsa", "sub/../../out/secret",
			".git/config", ".git/hooks/pre-commit", ".GIT/config", ".git./config", ".g\u200cit/config", "sub/../.git/config", ".git",
			p.cfg + "/settings.yml", p.state + "/chela.db", "link/secret", "link", "proc", ".env", "a\x00b", "new\x1b[2Jname", "new\rname", "new\nname",
		},
		aURL: {
			"http://127.0.0.1:11434/api/tags", "http://localhost/", "http://[::1]/", "http://[::ffff:7f00:1]/", "http://0.0.0.0/", "http://10.0.0.1/",
			"http://169.254.169.254/latest/meta-data/", "http://metadata.google.internal/", "http://[fd00:ec2::254]/", "http://100.100.100.200/",
			"http://loc.test/", "http://mixed.test/", "http://pub.test@127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.1/",
			"file:///etc/passwd", "gopher://pub.test/", "javascript:alert(1)", "http://pub.test/\r\nX-A: b", "http://pub.test:22/", "--proxy=http://127.0.0.1/",
		},
		command: {
			"cat ../out/secret", "cat " + p.tmp + "/out/secret", "cat link/secret", "cat < ../out/secret", "echo x > ../out/mark", "touch " + p.tmp + "/out/mark",
			"cat .git/config", "echo x > .git/config", "cp a.txt .git/hooks/pre-commit", "cat .env", "cat " + p.state + "/chela.db", "echo x > " + p.cfg + "/settings.yml",
			"cd " + p.cfg + " && touch settings.yml", "cd .git && touch config2", "cat < /dev/tcp/127.0.0.1/11434", "echo a\rtouch mark", "echo a\x00b", "echo \x1b[2J",
		},
		env: {
			map[string]any{"LD_PRELOAD": "./x.so"},
			map[string]any{"PATH": "."},
			map[string]any{"BASH_ENV": "a.txt"},
			map[string]any{"GIT_SSH_COMMAND": "touch ../out/mark"},
			map[string]any{"CHELA_DATA_DIR": "/tmp"},
		},
	}
}

// injected are values that are harmless where they are only names or text, and
// must do nothing outside the workspace.
func injected(p places) []any {
	return []any{
		"--output=../out/mark", "--output=" + p.tmp + "/out/mark", "-o../out/mark", "--upload-pack=touch ../out/mark", "--exec=touch ../out/mark",
		"-exec touch ../out/mark ;", "$(touch ../out/mark)", "`touch ../out/mark`", "; touch ../out/mark", "x\ntouch ../out/mark", "../out/*", "../**/secret",
		p.tmp + "/**/secret", "{../out/secret,a.txt}", "\x1b]52;c;eA==\x07", "ext::sh -c touch% ../out/mark", "a.txt\x00--output=../out/mark",
	}
}
