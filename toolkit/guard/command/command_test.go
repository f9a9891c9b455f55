package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reading are commands that must be proven, or the program asks too often.
var reading = []string{
	"ls", "ls -la", "ls -la src 'two words'", `echo "a && b; c"`, "cat a.txt", "cat a.txt | head -5 | wc -l", "pwd; ls", "pwd\nls", "pwd && ls || true",
	"grep -rn foo src", "grep -e foo -e bar a.txt", "grep --include='*.go' -r foo", "rg -n foo", "rg --files", "find . -name '*.go' -type f", "find src -maxdepth 2 -not -path './x/*'",
	"sed -n 1,20p a.txt", "sed -n '3p' a.txt", "sort a.txt | uniq -c | sort -rn", "cut -d ' ' -f 1 a.txt", "tr a-z A-Z", "diff -u a.txt b.txt", "cmp a.txt b.txt",
	"file a.txt", "stat -c %s a.txt", "du -sh .", "df -h", "printf '%s\\n' x", "true", ":", "test -f a.txt", "[ -f a.txt ]", "[ 1 -eq 1 ]", "[ a = b ]", "date", "date +%F", "date -u -d yesterday",
	"whoami", "id -u", "uname -a", "hostname", "basename a/b .c", "dirname a/b", "realpath a.txt", "readlink -f a.txt", "which go", "type ls", "command -v go",
	"jq .name a.json", "jq -r '.a[] | .b' a.json", "tree -L 2", "tail -n 20 a.txt", "wc -l a.txt 2>/dev/null", "ls 2>&1", "ls >/dev/null", "wc -l < a.txt", "cd sub && ls", "(cd sub && ls)", "{ ls; pwd; }", "! grep -q x a.txt",
	"ls -- -x", "head -n5 a.txt", "echo '$(id)'", "echo \\$HOME", "cat -- a.txt # a comment", "echo a=b",
}

// payloads are programs and forms, each with something that must keep it from
// being proven. They follow the table of known attacks.
var payloads = map[string][]string{
	"substitution":     {"echo $(id)", "echo `id`", "echo \"$(id)\"", "cat <(id)", "ls >(id)", "echo $((a[$(id)]))", "echo $[1]", "echo ${x:-$(id)}", "echo ${x[$(id)]}"},
	"here-documents":   {"cat <<E\n$(id)\nE", "cat <<'E'\n$(id)\nE", "cat <<< $(id)", "cat <<<x"},
	"evaluators":       {"let 'a[$(id)]=1'", "[ -v 'a[$(id)]' ]", "test -v 'a[$(id)]'", "[ -R x ]", "printf -v 'a[$(id)]' x", "printf '%n' PATH", "read 'a[$(id)]'", "trap id EXIT", "eval id", "source x", ". ./x", "alias ls=id", "export A=1", "declare -n a=b", "unset 'a[$(id)]'", "[[ a -eq b ]]", "(( a ))", "[ 'a[$(id)]' -eq 1 ]", "mapfile x", "enable -f x", "hash -p /x ls", "set -x", "shopt -s expand_aliases", "exec ls", "builtin ls", "wait", "cd -", "pushd x"},
	"names":            {"$CMD x", "${CMD}", "ls${IFS}-la", "./ls", "/bin/ls", "l* x", "$'ls'", "~/ls", "unknown", "bash -c ls", "sh x", "python3 -c 1", "node -e 1", "git status", "go list", "go version", "make", "npm test", "busybox ls"},
	"wrappers":         {"env ls", "env -S 'ls'", "nice ls", "timeout 5 ls", "stdbuf -o0 ls", "nohup ls", "setsid ls", "ionice ls", "command ls", "exec ls", "builtin echo", "xargs ls", "sudo ls", "ssh h ls", "docker run x", "time ls", "watch ls", "flock x ls"},
	"find":             {"find . -exec id ;", "find . -execdir id ';'", "find . -ok id ';'", "find . -delete", "find . -fprint x", "find . -fprintf x y", "find . -fls x", "find -files0-from x", "find -L .", "find . -okdir id ';'", "find . -name"},
	"sed and awk":      {"sed '1e touch x' a", "sed -n 'w out' a", "sed -n '1w out' a", "sed -i s/a/b/ a", "sed s/a/b/e a", "sed -n 1p -i a", "sed -n -e 1p a", "sed -n 1p --in-place a", "awk '{system(\"id\")}' a", "awk 1 a", "sed -ni 1p a"},
	"hidden writers":   {"uniq in out", "sort -o x a", "sort -ro x a", "sort --output=x a", "shuf -o x a", "iconv -o x a", "xxd a b", "tee x", "dd of=x", "tree -o x", "touch x", "file -C -m x", "date -s 1", "date 010203042026", "hostname x", "hostname -F x", "tr"},
	"abbreviations":    {"sort --compress-prog=./x a", "sort --out=x a", "tar --checkp=1 a", "rg --pr=x a", "sort --outpu x a", "grep --rec x"},
	"helpers":          {"rg --pre x a", "rg --pre=x a", "rg --hostname-bin x a", "rg -z a", "rg -nz a", "tar xf a", "split --filter=x a", "rg -f x", "rg -nL a", "sort --compress-program=x a", "file -z a", "file -bz a", "grep -R x", "grep -rf x", "man ls", "less a", "wc --files0-from=x", "du --files0-from=x", "sha256sum -c x", "jq -f x", "jq 'import \"x\" as $x; 1'", "jq env", "jq -L . 1", "tail -f a", "diff -r a b", "tree -R -H x -L 1", "cat --unknown a"},
	"git":              {"git -c alias.x=!id x", "git grep -O x", "git ls-remote --upload-pack=x .", "git fetch", "git archive --exec=x", "git rebase -x id", "git diff --output=x", "git log --output x", "git diff --no-index a b"},
	"expansions":       {"cat *", "cat a?", "cat [a]", "cat ~/x", "cat {a,b}", "cat $X", "cat \"$X\"", "ls ~", "echo ${!a}", "ls a=~/x", "cat $'a'", "cat $\"a\""},
	"redirections":     {"echo x > f", "echo x >> f", "echo x >| f", "echo x &> f", "echo x &>> f", "echo x <> f", "echo x >& f", "> f", "ls > $X", "ls 2> f", "ls < $(id)", "{x}>f ls", "ls >&$X", "(ls) > f", "{ ls; } > f"},
	"assignments":      {"PATH=. ls", "PATH=.:$PATH ls", "A=1", "A=$(id) ls", "LD_PRELOAD=x ls", "A[$(id)]=1 ls"},
	"structure":        {"ls &", "if true; then ls; fi", "while true; do ls; done", "for i in a; do ls; done", "case a in a) ls;; esac", "f() { ls; }; f", "ls() { id; }; ls", "coproc ls", "time ls", "select x in a; do ls; done", "function f { ls; }", "ls && id &", "(ls &)"},
	"not understood":   {"ls (", "ls '", "if", "ls |", "&& ls", "echo ${"},
	"nothing at all":   {"", " \n", "# only a comment"},
	"cd and what then": {"cd \"$X\" && ls", "cd a b", "cd"},
}

func TestWhatOnlyReadsIsProven(t *testing.T) {
	for _, src := range reading {
		if r := Analyse(src, Options{}); r.Class != ReadOnly || len(r.Reasons) > 0 {
			t.Errorf("%q is %v: %v", src, r.Class, r.Reasons)
		}
	}
}

func TestWhatMayDoMoreIsNot(t *testing.T) {
	for name, list := range payloads {
		t.Run(name, func(t *testing.T) {
			for _, src := range list {
				if r := Analyse(src, Options{}); r.Class == ReadOnly || len(r.Reasons) == 0 {
					t.Errorf("%q is %v (%v)", src, r.Class, r.Reasons)
				}
			}
		})
	}
}

// A harmless beginning, middle or end hides nothing, whatever is in between.
func TestNoSeparatorHidesACommand(t *testing.T) {
	separators := []string{";", " ; ", "&&", " && ", "||", "|", " |& ", "&", "\n", "\n\n", " & ", ";\n\t"}
	for _, sep := range separators {
		for _, evil := range []string{"touch x", "id > f", "curl x", "rm -rf x", "unknown", "$X", "sort -o x y", "git status"} {
			for _, src := range []string{"ls" + sep + evil, evil + sep + "ls", "ls" + sep + evil + sep + "pwd"} {
				if r := Analyse(src, Options{}); r.Class == ReadOnly || r.Key != "" || r.Plain {
					t.Errorf("%q is %v, key %q, plain %v", src, r.Class, r.Key, r.Plain)
				}
			}
		}
		if sep := strings.TrimSpace(sep); sep == "&" {
			continue
		}
		if src := "ls" + sep + "pwd"; Analyse(src, Options{}).Class != ReadOnly {
			t.Errorf("%q is not read-only: %v", src, Analyse(src, Options{}).Reasons)
		}
	}
}

func TestWhatAPersonCannotSeeIsRefused(t *testing.T) {
	for _, src := range []string{
		"ls\rid", "ls\x00id", "ls \x1b[2K", "ls\x7f", "ls\x08", "ls \u202e#", "ls\u200bid", "l\u200ds", "ls \U000e0041", "ls \ufeff", "ls\u2028id",
		"ls\u0085id", "ls\u00a0-la", "ls \xff", "ls \u2066x\u2069", "ls \u00ad", "ls \u3164", "cat <<'E'\n\u202e\nE", "ls a\ufe0f",
	} {
		if r := Analyse(src, Options{}); r.Class != Refused || len(r.Reasons) != 1 {
			t.Errorf("%q is %v: %v", src, r.Class, r.Reasons)
		}
	}
	for _, src := range []string{"echo 'ärger 日本 ⚠️ ✅'", "echo a\tb\\\n c"} {
		if r := Analyse(src, Options{}); r.Class != ReadOnly {
			t.Errorf("%q is %v: %v", src, r.Class, r.Reasons)
		}
	}
}

func TestMoreThanTheLimitsIsRefusedNotCut(t *testing.T) {
	nest := func(open, end string, n int) string { return strings.Repeat(open, n) + "true" + strings.Repeat(end, n) }
	for name, src := range map[string]string{
		"bytes":         "echo " + strings.Repeat("a", MaxBytes),
		"commands":      strings.Repeat("true;", 10_000) + "curl x",
		"&& in a row":   strings.Repeat("true &&", 300) + "curl x",
		"wrappers":      strings.Repeat("env ", 40) + "ls",
		"substitutions": nest("echo $(", ")", 40),
		"subshells":     nest("( ", " )", 40),
		"eval":          "eval " + strings.Repeat("eval ", 60) + "ls",
	} {
		if r := Analyse(src, Options{}); r.Class != Refused {
			t.Errorf("%s: %v %v", name, r.Class, r.Reasons)
		}
	}
	if r := Analyse("ls; ls; ls", Options{MaxCommands: 2}); r.Class != Refused {
		t.Errorf("own limit: %v", r.Class)
	}
}

func TestBashsOwnNetworkIsRefused(t *testing.T) {
	for _, src := range []string{
		"exec 3<>/dev/tcp/127.0.0.1/11434", "cat < /dev/tcp/a/1", "echo x > /dev/udp/a/1", "echo x > /dev/tcp/$H/80", `echo > "/dev/tcp/a/1"`, "echo x >/dev/t'cp'/a/1",
		"if true; then echo > /dev/tcp/a/1; fi", "bash -c 'echo > /dev/tcp/a/1'", "$(cat < /dev/tcp/a/1)", "f() { cat; } </dev/tcp/a/1",
	} {
		if r := Analyse(src, Options{}); r.Class != Refused || !r.Devices {
			t.Errorf("%q is %v", src, r.Class)
		}
	}
	if r := Analyse("echo /dev/tcp/a/1", Options{}); r.Class != ReadOnly {
		t.Errorf("text is refused: %v", r.Reasons)
	}
}

func TestWhatRunsIsWhatWasUnderstood(t *testing.T) {
	for src, want := range map[string]string{
		"ls   -la  \"a b\"":         "ls -la 'a b'",
		"'ls' -l\\a":                "ls -la",
		"cat a # x":                 "cat a",
		"ls\npwd":                   "ls; pwd",
		"'A=1' x":                   "'A=1' x",
		"'if' x":                    "'if' x",
		"echo 'it'\\''s'":           `echo 'it'\''s'`,
		"ls 2>&1 >/dev/null|wc -l":  "ls 2>&1 >/dev/null | wc -l",
		"(cd a&&ls)||! [ -f '*' ]":  "( cd a && ls ) || ! [ -f '*' ]",
		"go  test \"./...\"":        "go test ./...",
		"ls  $(id)":                 "ls  $(id)",
		"for i in a;  do ls; done":  "for i in a;  do ls; done",
		"git commit -m \"a\n\nb!\"": "git commit -m 'a\n\nb!'",
	} {
		if got := Analyse(src, Options{}).Run; got != want {
			t.Errorf("%q runs %q, want %q", src, got, want)
		}
	}
	// Printing again changes nothing, and what is printed is judged the same.
	for _, src := range reading {
		r := Analyse(src, Options{})
		again := Analyse(r.Run, Options{})
		if again.Run != r.Run || again.Class != r.Class {
			t.Errorf("%q prints %q, which prints %q (%v)", src, r.Run, again.Run, again.Class)
		}
	}
}

func TestPathsAreNamedWithTheirFolder(t *testing.T) {
	type p struct {
		Full   string
		Access Access
		Sure   bool
	}
	for src, want := range map[string][]p{
		"cat a ../b":                  {{"a", Reads, true}, {"../b", Reads, true}},
		"cp x /cfg/settings.json":     {{"x", Reads, true}, {"/cfg/settings.json", Writes, true}},
		"cd /cfg && touch s.json":     {{"/cfg", Enters, true}, {"/cfg/s.json", Writes, true}},
		"cd /cfg; touch s.json":       {{"/cfg", Enters, true}, {"/cfg/s.json", Writes, true}},
		"cd a && cd .. && rm -r b":    {{"a", Enters, true}, {"a/..", Enters, true}, {"a/../b", Writes, true}},
		"(cd a); cat b":               {{"a", Enters, true}, {"b", Reads, true}},
		"cd a || cat b":               {{"a", Enters, true}, {"b", Reads, false}},
		"ls && cd a; cat b":           {{"a", Enters, true}, {"a/b", Reads, false}},
		"echo x > ~/.bashrc":          {{"~/.bashrc", Writes, true}},
		"echo x >> \"$HOME/.bashrc\"": {{"~/.bashrc", Writes, true}},
		"echo x > '~/a'":              {{"./~/a", Writes, true}},
		"env A=1 touch /out/x":        {{"touch", Mentions, true}, {"/out/x", Mentions, true}, {"1", Mentions, true}, {"/out/x", Writes, true}},
		"bash -c 'touch /out/x'":      {{"-c", Mentions, true}, {"touch /out/x", Mentions, true}, {"/out/x", Writes, true}},
		"tool --config=/cfg/x -o/y":   {{"/cfg/x", Mentions, true}, {"/y", Mentions, true}},
		"tool --exclude .git":         nil,
		"echo /etc/passwd":            nil,
		"ls 2>/dev/null":              nil,
		"grep /etc/passwd a":          {{"a", Reads, true}},
		"find . -name '/x' -newer b":  {{".", Reads, true}, {"b", Reads, true}},
		"sed -i s/a/b/ /out/x":        {{"s/a/b/", Mentions, true}, {"/out/x", Writes, true}},
		"./evil/git status":           {{"./evil/git", Mentions, true}, {"status", Mentions, true}},
		"if true; then touch /x; fi":  {{"/x", Writes, true}},
		"echo $(touch /x)":            {{"/x", Writes, true}},
		"find . -exec touch /x ;":     {{".", Mentions, true}, {"touch", Mentions, true}, {"/x", Mentions, true}, {"/x", Writes, true}},
		"cd $X && cat a":              {{"a", Reads, false}},
		"date -r ../x":                {{"../x", Reads, true}},
	} {
		var got []p
		for _, f := range Analyse(src, Options{}).Paths {
			got = append(got, p{f.Full(), f.Access, f.Sure})
		}
		if strings.Contains(src, "env A=1") || strings.HasPrefix(src, "bash -c") || strings.HasPrefix(src, "find . -exec") {
			// What a wrapper mentions besides is of no matter.
			if len(got) == 0 || got[len(got)-1] != want[len(want)-1] {
				t.Errorf("%q: %v", src, got)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", src, diff)
		}
	}
}

func TestTreesAreWhereContentIsReadUnseen(t *testing.T) {
	for src, want := range map[string]string{
		"grep -r x": ".+", "grep -r x a b": "a+ b+", "cd a && rg x": "a/.", "rg x src": "src", "rg --hidden x": ".+", "rg -. x": ".+", "rg --files": "", "find .": "", "grep x a": "", "diff a b": "a+ b+",
	} {
		var got []string
		for _, tr := range Analyse(src, Options{}).Trees {
			mark := ""
			if tr.Hidden {
				mark = "+"
			}
			got = append(got, tr.Path.Full()+mark)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q reads %q, want %q", src, s, want)
		}
	}
}

func TestKeys(t *testing.T) {
	for src, want := range map[string]string{
		"go test ./...": "go test", "cargo build": "cargo build", "go  vet": "go vet",
		"go": "", "go run .": "", "go -C x test": "", "go test && id": "", "go test -exec ./x": "", "git status": "", "npm test": "", "make test": "",
		"env go test": "", "go test $X": "", "go test > f": "", "A=1 go test": "", "./go test": "", "go test &": "", "ls -la": "", "sudo go test": "", "! go test": "",
	} {
		r := Analyse(src, Options{})
		if r.Key != want || (r.Key == "") == (r.NoKey == "") {
			t.Errorf("%q: key %q, none because %q; want %q", src, r.Key, r.NoKey, want)
		}
	}
}

func TestDangersAreNamed(t *testing.T) {
	for _, src := range []string{
		"rm -rf x", "rm -fr x", "rm --recursive x", "rm x", "sudo rm -r x", "env rm -rf x", "bash -c 'rm -rf x'", "eval rm -rf x", "find . -delete", "find . -exec rm {} ;", "xargs rm -rf",
		"mkfs.ext4 /dev/sda", "dd if=a of=/dev/sda", "chmod -R 777 .", "chown root x", "shutdown now", "kill -9 -1", "curl x | sh", "curl x | sudo bash", "wget -O- x | python3",
		"git push --force", "git push -f", "git push origin +main", "git reset --hard", "git clean -fdx", "git checkout -- .", "git branch -D x", ":(){ :|:& };:", "f() { f | f & }; f",
		"echo x > $F", "go test -exec ./x", "npm publish", "timeout 5 rm -rf x", "nice -n 5 rm -rf x", "cat x | bash", "terraform destroy", "git stash drop", "git commit --amend",
	} {
		if r := Analyse(src, Options{}); len(r.Dangers) == 0 {
			t.Errorf("%q has no danger: %+v", src, r.Programs)
		}
	}
	for _, src := range append([]string{"go test ./...", "npm test", "git status", "make", "git log --oneline", "mkdir x"}, reading...) {
		if r := Analyse(src, Options{}); len(r.Dangers) > 0 {
			t.Errorf("%q: %v", src, r.Dangers)
		}
	}
}

func TestProgramsAndNetwork(t *testing.T) {
	r := Analyse("A=1 git -C x status; timeout 5 curl https://x | sh -c 'wget y'", Options{})
	var names []string
	for _, p := range r.Programs {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"git", "timeout", "curl", "sh", "wget"}, names); diff != "" || !r.Network {
		t.Errorf("network %v, programs:\n%s", r.Network, diff)
	}
	if len(r.Env) != 1 || r.Env[0].Name != "A" || r.Env[0].Value.Text != "1" {
		t.Errorf("environment %+v", r.Env)
	}
	if p := Analyse("git status -s", Options{}).Programs[0]; p.Sub != "status" {
		t.Errorf("sub-command %q", p.Sub)
	}
}
