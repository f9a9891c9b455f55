package command

import (
	"slices"
	"strings"
)

// dangers records what deserves a warning. It is advice to a person on top of
// the class, never a reason to let something run: the list is not complete and
// cannot be.
func (a *analysis) dangers(p Program) {
	if p.Name == "" {
		return
	}
	name := baseName(p.Name)
	switch {
	case strings.HasPrefix(name, "mkfs"), simpleDangers[name] != "":
		why := simpleDangers[name]
		if why == "" {
			why = "makes a new file system"
		}
		a.danger("%s %s", name, why)
	}
	switch name {
	case "rm":
		recursive, force := p.hasOption('r', "--recursive") || p.hasOption('R'), p.hasOption('f', "--force")
		switch {
		case recursive:
			a.danger("rm deletes whole folders")
		case force:
			a.danger("rm deletes without asking")
		default:
			a.danger("rm deletes files")
		}
	case "dd":
		for _, w := range p.Words[1:] {
			if target, ok := strings.CutPrefix(w.Text, "of="); ok {
				a.danger("dd overwrites %s", target)
			}
		}
	case "chmod":
		if p.hasOption('R', "--recursive") {
			a.danger("chmod changes the rights of whole folders")
		}
	case "find":
		for _, w := range p.Words[1:] {
			switch w.Text {
			case "-delete", "-exec", "-execdir", "-ok", "-okdir":
				a.danger("find %s acts on every file it finds", w.Text)
			}
		}
	case "kill":
		if slices.ContainsFunc(p.Words[1:], func(w Word) bool { return w.Text == "-1" }) {
			a.danger("kill ends every process it can reach")
		}
	case "git":
		a.gitDangers(p)
	case "npm", "pnpm", "yarn", "cargo", "gem", "twine", "poetry":
		if p.Sub == "publish" || p.Sub == "unpublish" {
			a.danger("%s %s changes what others install", name, p.Sub)
		}
	case "terraform", "kubectl", "helm":
		if p.Sub == "apply" || p.Sub == "destroy" || p.Sub == "delete" || p.Sub == "uninstall" {
			a.danger("%s %s changes running systems", name, p.Sub)
		}
	case "docker", "podman":
		if p.Sub == "rm" || p.Sub == "rmi" || p.Sub == "prune" || p.Sub == "system" || p.Sub == "volume" {
			a.danger("%s %s deletes", name, p.Sub)
		}
	case "go":
		for _, w := range p.Words[1:] {
			flag, _, _ := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
			if strings.HasPrefix(w.Text, "-") && (flag == "exec" || flag == "toolexec" || flag == "vettool" || flag == "overlay") {
				a.danger("go runs the program that -%s names", flag)
			}
		}
	case "sort", "uniq", "shuf", "iconv":
		if p.hasOption('o', "--output") {
			a.danger("%s overwrites the file that -o names", name)
		}
	}
}

// simpleDangers are programs that are worth a warning however they are used.
var simpleDangers = map[string]string{
	"shred": "destroys files", "wipefs": "destroys a file system", "fdisk": "changes a disk's partitions", "parted": "changes a disk's partitions",
	"chown": "changes owners", "chgrp": "changes groups", "shutdown": "ends the machine", "reboot": "restarts the machine",
	"halt": "ends the machine", "poweroff": "ends the machine", "killall": "ends processes by name", "pkill": "ends processes by name",
	"crontab": "changes what runs by the clock", "passwd": "changes passwords", "useradd": "changes users", "usermod": "changes users",
	"visudo": "changes who may do what", "iptables": "changes the firewall", "nft": "changes the firewall", "mount": "mounts file systems",
	"umount": "unmounts file systems", "sudo": "runs as another user", "su": "runs as another user", "doas": "runs as another user",
	"truncate": "cuts files", "systemctl": "changes services", "at": "runs something later",
}

func (a *analysis) gitDangers(p Program) {
	word := func(text string) bool {
		return slices.ContainsFunc(p.Words[1:], func(w Word) bool { return w.Text == text })
	}
	switch {
	case word("push"):
		forced := p.hasOption('f', "--force", "--force-with-lease", "--mirror", "--delete") || p.hasOption('d') ||
			slices.ContainsFunc(p.Words[1:], func(w Word) bool { return strings.HasPrefix(w.Text, "+") || strings.HasPrefix(w.Text, ":") })
		if forced {
			a.danger("git push overwrites or deletes what others see")
		} else {
			a.danger("git push publishes")
		}
	case word("reset") && p.hasOption(0, "--hard", "--merge", "--keep"):
		a.danger("git reset throws changes away")
	case word("clean") && p.hasOption('f', "--force"):
		a.danger("git clean deletes files that are in no commit")
	case word("checkout") && (word("--") || word(".") || p.hasOption('f', "--force")), word("restore"), word("switch") && p.hasOption('f', "--force", "--discard-changes"):
		a.danger("git may throw changes away")
	case word("branch") && (p.hasOption('D') || p.hasOption('d', "--delete")), word("tag") && p.hasOption('d', "--delete"):
		a.danger("git deletes a branch or tag")
	case word("stash") && (word("drop") || word("clear")), word("filter-branch"), word("filter-repo"), word("reflog") && word("expire"), word("gc") && p.hasOption(0, "--prune"):
		a.danger("git destroys what could be had back")
	case word("rebase"), word("commit") && p.hasOption(0, "--amend"):
		a.danger("git rewrites commits")
	case word("config"):
		a.danger("git config changes which programs git runs")
	}
}

// pipeDanger warns of a download that is run.
func (a *analysis) pipeDanger(from, to []Program) {
	if len(to) == 0 {
		return
	}
	last := baseName(to[0].Name)
	for i := 1; i < len(to) && (wrappers[last] || last == "sudo"); i++ {
		last = baseName(to[i].Name)
	}
	if !interpreters[last] || last == "awk" || last == "sed" {
		return
	}
	for _, p := range from {
		if networkPrograms[baseName(p.Name)] {
			a.danger("it runs what %s fetches, unseen", baseName(p.Name))
			return
		}
	}
	a.danger("it runs what is piped into %s", last)
}
