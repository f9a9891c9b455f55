package command

// wrappers run a program named in their arguments.
var wrappers = set(`env nice nohup timeout stdbuf setsid ionice chrt taskset command builtin exec xargs parallel sudo doas su runuser
	ssh time watch chroot unshare nsenter flock strace ltrace gdb script expect busybox toybox docker podman nerdctl kubectl
	systemd-run firejail bwrap proot fakeroot unbuffer faketime caffeinate dbus-run-session entr`)

// interpreters run what they are given as text or file, shells among them.
var interpreters = set(`bash sh dash zsh fish ksh csh tcsh ash mksh rbash eval source . python python2 python3 pypy pypy3 ipython node
	nodejs deno bun tsx ts-node ruby irb perl perl5 php lua luajit awk gawk mawk nawk sed Rscript R julia osascript pwsh powershell
	tclsh wish guile racket sqlite3 psql mysql vim vi nvim ex ed emacs m4 bc dc java jshell groovy scala elixir iex erl ghci runghc swift`)

// shellBuiltins are done by the shell itself. Those not among the readers
// change it, or evaluate their arguments.
var shellBuiltins = set(`. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable
	eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray
	readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait`)

// writers change files that are named as operands.
var writers = set(`touch rm rmdir mkdir cp mv ln tee truncate install chmod chown chgrp shred unlink mkfifo mknod split csplit dd rsync
	patch unzip tar gzip gunzip xz bzip2 zip`)

// networkPrograms talk to other machines.
var networkPrograms = set(`curl wget ssh scp sftp rsync nc ncat netcat socat telnet ftp aria2c http https xh dig nslookup host ping
	gh glab hub aws gcloud az kubectl helm docker podman npm npx pnpm yarn bun pip pip3 pipx uv uvx gem bundle composer apt apt-get dnf
	yum apk pacman brew go cargo mail sendmail rclone s3cmd terraform ansible`)

var gitNetwork = set("clone fetch pull push ls-remote remote submodule archive send-email")

// subCommands have a word after their name that says what they do.
var subCommands = set(`git go npm pnpm yarn bun cargo docker podman kubectl helm make gh glab terraform systemctl apt apt-get dnf yum brew
	pip pip3 uv poetry dotnet mvn gradle swift zig mix rustup gem bundle composer aws gcloud az`)

// keyed are the programs that may be remembered by their first two words, with
// those words: they build and check the project in ways that their other
// arguments do not turn into something else. Not among them: shells, wrappers,
// interpreters, package managers, git, and what reaches other machines.
var keyed = map[string]map[string]bool{
	"go":        set("build test vet fmt list doc version"),
	"cargo":     set("build check test clippy fmt doc tree metadata bench"),
	"dotnet":    set("build test format"),
	"mvn":       set("compile test verify package"),
	"gradle":    set("build test check assemble"),
	"swift":     set("build test"),
	"zig":       set("build test fmt"),
	"mix":       set("compile test format"),
	"terraform": set("fmt validate"),
	"helm":      set("lint template"),
}

// textPrograms take their arguments as text, whatever they look like.
var textPrograms = set("echo printf : true false basename dirname which type seq tr expr")
