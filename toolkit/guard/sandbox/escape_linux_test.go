package sandbox

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"chela/toolkit/guard"
)

func TestNothingOutsideIsWritten(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		if err := os.Symlink(filepath.Join(w.dir, "out"), filepath.Join(w.ws, "link")); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			"echo x > ../out/new", "echo x >> ../out/file", "echo x > link/new", "rm ../out/file", "mv ../out/file ../out/other",
			"mkdir ../out/dir", "chmod 777 ../out/file", "touch ../out/file", "ln -s /etc ../out/etc", "truncate -s0 ../out/file",
			"echo x > /var/tmp/chela-escaped", "echo x > /etc/chela-escaped", "echo x > ../home/.bashrc", "mknod dev b 254 0",
			"echo 1 > /proc/sys/vm/drop_caches", "true >> /proc/sys/kernel/core_pattern", "true >> /proc/sysrq-trigger", "true >> /proc/self/oom_score_adj",
			"true >> /sys/kernel/uevent_helper", "test -e /dev/vda -o -e /dev/sda -o -e /dev/mem -o -e /dev/kmsg", "find / -xdev -type b 2>/dev/null | grep .",
			"echo x > /proc/$PPID/root" + w.dir + "/out/new", "mount -t tmpfs none sub",
			"umount /tmp", "unshare -U true", "chroot / true",
		} {
			w.denied(text)
		}
		if got := w.read("out/file"); got != "outside\n" {
			t.Errorf("out/file holds %q", got)
		}
		names, err := filepath.Glob(filepath.Join(w.dir, "out/*"))
		if err != nil || len(names) != 2 {
			t.Errorf("outside there is %v, %v", names, err)
		}
		w.works("echo x > new && mkdir -p d/e && mv new d/e/ && ln d/e/new hard && echo y > /tmp/t && cat /tmp/t && echo z > $XDG_CACHE_HOME/c && test -w $TMPDIR")
		if got := w.read("my project/d/e/new"); got != "x\n" {
			t.Errorf("what it wrote is %q", got)
		}
		if got := w.read("cache/c"); got != "z\n" {
			t.Errorf("the cache holds %q", got)
		}
	})
}

func TestAHardLinkOutOfTheWorkspaceCannotBeMade(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		w.denied("ln ../out/file hard")
		w.denied("ln -L ../out/file hard")
		w.denied("mv ../out/file .")
	})
}

func TestSecretsAreNotSeen(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		put(t, filepath.Join(w.ws, ".env"), "TOKEN="+secretText)
		put(t, filepath.Join(w.ws, "sub/.env.local"), "TOKEN="+secretText)
		put(t, filepath.Join(w.ws, ".env.example"), "TOKEN=")
		for _, name := range []string{"~/.ssh/id_ed25519", "~/.netrc", "~/data/chela.db", ".env", "sub/.env.local"} {
			if exit := w.sh("cat " + name); exit.Code == 0 || strings.Contains(exit.Output.String(), secretText) {
				t.Errorf("cat %s: exit %d, %s", name, exit.Code, exit.Output.String())
			}
		}
		w.works("cat .env.example")
		if out := w.works("ls -A ~/.ssh ~/data | grep -v : ; true"); strings.TrimSpace(out) != "" {
			t.Errorf("hidden folders show %q", out)
		}
		w.denied("echo x > ~/data/chela.db")
		w.denied("echo x > ~/.ssh/authorized_keys")
		w.denied("mkdir -p ~/config && echo x > ~/config/settings.yml")
		if got := w.read("home/data/chela.db"); got != secretText+"\n" {
			t.Errorf("the hidden file holds %q", got)
		}
		t.Setenv("CANARY", secretText) // of this process, not of what it starts
		if out := w.works("cat /proc/*/environ | tr '\\0' '\\n'; env"); strings.Contains(out, secretText) {
			t.Error("the environment of a process outside was read")
		}
	})
}

// TestOwnFoldersInsideTheWorkspaceStayOutOfReach has the whole home as the
// workspace, where chela's folders do not all exist yet.
func TestOwnFoldersInsideTheWorkspaceStayOutOfReach(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b, func(p *Policy) {
			p.Workspace = p.Home
			p.Hidden = append(p.Hidden, filepath.Join(p.Home, ".config/chela"))
		})
		w.denied("cat data/chela.db")
		w.denied("cat .ssh/id_ed25519")
		w.denied("echo x > .config/chela/settings.yml")
		w.denied("cd .config && mv chela other")
		w.denied("mv .config other")
		w.denied("rm -rf .config")
		w.denied("mv data other")
		w.denied("rmdir data")
		w.works("echo x > .config/other && mkdir .config/app")
		entries, err := os.ReadDir(filepath.Join(w.dir, "home/.config/chela"))
		if err != nil || len(entries) != 0 {
			t.Errorf("chela's folder holds %v, %v; want it made and empty", entries, err)
		}
	})
}

func TestGitStaysAsItIs(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		put(t, filepath.Join(w.ws, "vendor/lib/.git/config"), "[core]\n")
		put(t, filepath.Join(w.ws, "bare/HEAD"), "ref: refs/heads/main\n")
		put(t, filepath.Join(w.ws, "bare/config"), "[core]\n")
		put(t, filepath.Join(w.ws, "bare/objects/x"), "")
		put(t, filepath.Join(w.ws, "bare/refs/x"), "")
		put(t, filepath.Join(w.ws, "tree/.git"), "gitdir: ../elsewhere/tree\n")
		put(t, filepath.Join(w.ws, "elsewhere/tree/config.worktree"), "[core]\n")
		put(t, filepath.Join(w.ws, "elsewhere/tree/commondir"), "../common\n")
		put(t, filepath.Join(w.ws, "elsewhere/common/config"), "[core]\n")
		for _, text := range []string{
			"echo x >> .git/config", "echo x > .git/hooks/pre-commit", "rm -rf .git", "mv .git other", "mkdir .git/x", "chmod 777 .git",
			"chmod +x .git/hooks/post-commit.sample", "ln -sf /tmp .git", "echo x >> vendor/lib/.git/config", "mv vendor/lib other",
			"mv vendor other", "echo x >> bare/config", "mv bare other", "echo x >> tree/.git", "rm tree/.git", "mv tree other",
			"echo x >> elsewhere/tree/config.worktree", "echo x >> elsewhere/common/config", "mv elsewhere other",
		} {
			w.denied(text)
		}
		w.works("echo x > vendor/lib/code.c && rm vendor/lib/code.c && cat .git/config")
		if got := w.read("my project/.git/config"); got != "[core]\n" {
			t.Errorf(".git/config holds %q", got)
		}
	})
}

func TestThereIsNoNetwork(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer tcp.Close()
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer udp.Close()
		for _, at := range []string{filepath.Join(w.dir, "docker.sock"), filepath.Join(w.ws, "own.sock")} {
			ln, err := net.Listen("unix", at)
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			if o := w.try(trial{Unix: at, TCP: tcp.Addr().String()}); !o.NoUnix || !o.NoTCP || !o.NoFamily && w.support.Seccomp {
				t.Errorf("with a socket at %s: %+v", at, o)
			}
		}
		w.sh("echo escaped > /dev/udp/127.0.0.1/" + port(udp.LocalAddr()))
		// The first datagram to arrive must be this one.
		from, err := net.Dial("udp", udp.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		if _, err := from.Write([]byte("own")); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 64)
		if n, _, err := udp.ReadFrom(buf); err != nil || string(buf[:n]) != "own" {
			t.Errorf("received %q, %v", buf[:n], err)
		}
		for _, name := range []string{"/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private"} {
			w.denied("test -e " + name)
		}
		// The loopback of its own is up: what nobody listens to refuses.
		if exit := w.sh("echo > /dev/tcp/127.0.0.1/1"); !strings.Contains(exit.Stderr.String(), "refused") {
			t.Errorf("its own loopback: %s", exit.Stderr.String())
		}
	})
}

func TestAPolicyCanGiveTheNetwork(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b, func(p *Policy) { p.Network = true })
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer tcp.Close()
		sock := filepath.Join(w.dir, "docker.sock")
		ln, err := net.Listen("unix", sock)
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		if o := w.try(trial{Unix: sock, TCP: tcp.Addr().String()}); o.NoTCP || !o.NoUnix {
			t.Errorf("with the network: %+v", o)
		}
	})
}

func port(a net.Addr) string {
	_, p, _ := net.SplitHostPort(a.String())
	return p
}

// try runs a trial of the probe in the world's sandbox.
func (w *world) try(tr trial) outcome {
	w.t.Helper()
	tr.Inside, tr.Outside, tr.PID, tr.Size = w.ws, filepath.Join(w.dir, "out"), os.Getpid(), 1<<40
	args, err := spec{Stage: stageProbe, Probe: &tr}.args(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	exit, err := w.run.Run(w.t.Context(), guard.Command{Argv: append([]string{"/proc/self/exe"}, args...)})
	if err != nil {
		w.t.Fatal(err)
	}
	var o outcome
	if err := json.Unmarshal([]byte(exit.Stdout.String()), &o); err != nil {
		w.t.Fatalf("%v: %s", err, exit.Output.String())
	}
	return o
}

func TestProcessesOutsideAreNeitherSeenNorKilled(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		foreign, err := w.plain.Start(t.Context(), guard.Command{Argv: []string{"sleep", "98765"}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := foreign.Kill(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}()
		if out := w.works("cat /proc/[0-9]*/cmdline | tr '\\0' ' '; true"); strings.Contains(out, "98765") {
			t.Errorf("it sees %q", out)
		}
		pid := strconv.Itoa(foreign.PID())
		w.denied("test -e /proc/" + pid + "/root/etc")
		w.denied("kill -9 " + pid)
		w.sh("kill -9 -1") // everything that it can reach, itself among it
		w.sh("kill -9 1; kill -TERM 1")
		if !foreign.Running() {
			t.Error("the process outside was ended")
		}
		if out := w.works("grep -E 'Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs' /proc/self/status"); strings.Count(out, "0000000000000000") != 4 || !strings.Contains(out, "NoNewPrivs:\t1") {
			t.Errorf("its privileges: %s", out)
		}
	})
}
