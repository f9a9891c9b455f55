package git

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// endpoint is where a remote is.
type endpoint struct {
	scheme string // https, http, ssh or file
	url    string // as the repository has it
	shown  string // without a password
	target string // host:port, or the path in the workspace
	pin    string // for http.curloptResolve: the addresses that were judged
}

// networkTimeout ends a transfer that does not come to an end.
const networkTimeout = 3 * time.Minute

var (
	helperURL  = regexp.MustCompile(`^[A-Za-z0-9_.+-]+::`)
	scpURL     = regexp.MustCompile(`^(?:[^/:@]+@)?(\[[0-9a-fA-F:.]+\]|[^/:@]+):(.*)$`)
	remoteName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)
)

// endpoint finds out where a remote is, without connecting, and refuses what the
// floor does: other transports than https, ssh and a bare repository inside the
// workspace, and hosts that tools must not reach.
func (r *repo) endpoint(ctx context.Context, w *toolkit.Workspace, remote string, push bool) (endpoint, error) {
	if !remoteName.MatchString(remote) || len(remote) > 255 {
		return endpoint{}, toolkit.Errorf(toolkit.CodeInvalid, "%q is no name of a remote.", remote).WithHint("Give a name such as origin, not an address.")
	}
	if bent, err := r.bent(); err != nil || len(bent) > 0 {
		if err == nil {
			err = &Unsafe{"its settings change where or how git connects: " + strings.Join(bent, ", ")}
		}
		return endpoint{}, err
	}
	out, err := r.git(ctx, "remote")
	if err != nil {
		return endpoint{}, err
	}
	if list := strings.Fields(string(out)); !slices.Contains(list, remote) {
		e := toolkit.Errorf(toolkit.CodeInvalid, "there is no remote %q.", remote)
		if len(list) == 0 {
			return endpoint{}, e.WithHint("The repository has no remotes.")
		}
		return endpoint{}, e.WithHint("There is %s.", names(list))
	}
	args := []string{"remote", "get-url", "--all"}
	if push {
		args = append(args, "--push")
	}
	if out, err = r.git(ctx, append(args, remote)...); err != nil {
		return endpoint{}, err
	}
	urls := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(urls) != 1 {
		return endpoint{}, toolkit.Errorf(toolkit.CodeInvalid, "the remote %q has %d addresses.", remote, len(urls)).WithHint("Ask the user to do it by hand.")
	}
	return r.judge(ctx, w, urls[0])
}

// bent lists settings of the repository that lead a connection elsewhere, or
// weaken it, and that cannot all be switched off.
func (r *repo) bent() ([]string, error) {
	files, err := r.run.GitConfig(r.dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		list, err := parseConfig(string(f.Data))
		if err != nil {
			return nil, &Unsafe{fmt.Sprintf("%s is not understood: %v", f.Path, err)}
		}
		for _, s := range list {
			if s.bends() && !slices.Contains(out, s.name()) {
				out = append(out, s.name())
			}
		}
	}
	return out, nil
}

func (s setting) bends() bool {
	switch s.section {
	case "url", "include", "includeif", "ssh", "protocol":
		return true
	case "http", "https":
		return !slices.Contains([]string{"postbuffer", "version", "lowspeedlimit", "lowspeedtime", "maxrequests", "minsessions"}, s.key)
	case "remote":
		return strings.HasPrefix(s.key, "proxy") || s.key == "vcs"
	case "core":
		return s.key == "gitproxy"
	case "fetch", "transfer":
		return strings.HasPrefix(s.key, "bundle")
	}
	return false
}

func refuseURL(shown, why string, args ...any) error {
	return &guard.Denied{Op: "connect to", Path: shown, Rule: guard.RuleScheme, Reason: fmt.Sprintf(why, args...)}
}

func (r *repo) judge(ctx context.Context, w *toolkit.Workspace, raw string) (endpoint, error) {
	e := &endpoint{url: raw, shown: raw}
	err := e.judge(ctx, w, r)
	return *e, err
}

func (e *endpoint) judge(ctx context.Context, w *toolkit.Workspace, r *repo) error {
	raw := e.url
	if helperURL.MatchString(raw) {
		return refuseURL(raw, "it would run a program of its own to connect")
	}
	if strings.Contains(raw, "://") {
		u, err := url.Parse(raw)
		if err != nil {
			return refuseURL("(unreadable)", "it is no address")
		}
		u.User = nil
		e.shown = u.String()
		switch u.Scheme {
		case "http", "https":
			e.scheme = u.Scheme
			return e.resolve(ctx, w, u.Scheme, u.Host)
		case "ssh":
			e.scheme = "ssh"
			return e.resolve(ctx, w, "https", sshHost(u))
		case "file":
			if u.Host != "" && u.Host != "localhost" {
				return refuseURL(e.shown, "it names a file of another machine")
			}
			return r.local(w, e, filepath.FromSlash(u.Path))
		}
		return refuseURL(e.shown, "only https, ssh and repositories inside the workspace are used, not %q", u.Scheme)
	}
	if m := scpURL.FindStringSubmatch(raw); m != nil {
		e.scheme = "ssh"
		return e.resolve(ctx, w, "https", m[1])
	}
	return r.local(w, e, filepath.FromSlash(raw))
}

// sshHost is the host without its port: a port of ssh is none of those that the
// network guard allows, and the host is what is judged.
func sshHost(u *url.URL) string {
	if strings.Contains(u.Hostname(), ":") {
		return "[" + u.Hostname() + "]"
	}
	return u.Hostname()
}

// resolve has the network guard judge the host.
func (e *endpoint) resolve(ctx context.Context, w *toolkit.Workspace, scheme, host string) error {
	if w.Net == nil {
		return toolkit.Errorf(toolkit.CodeUnavailable, "the network is switched off.")
	}
	t, err := w.Net.Check(ctx, scheme+"://"+host+"/")
	if err != nil {
		return err
	}
	e.target = t.HostPort()
	if e.scheme == "ssh" {
		e.target = net.JoinHostPort(t.Host, "22")
		return nil
	}
	addrs := make([]string, 0, len(t.Addrs))
	for _, a := range t.Addrs {
		if a.Is6() {
			addrs = append(addrs, "["+a.String()+"]")
		} else {
			addrs = append(addrs, a.String())
		}
	}
	e.pin = t.Host + ":" + strconv.Itoa(int(t.Port)) + ":" + strings.Join(addrs, ",")
	return nil
}

// local accepts a bare repository inside the workspace, and nothing else on this
// machine.
func (r *repo) local(w *toolkit.Workspace, e *endpoint, name string) error {
	e.scheme = "file"
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.top, name)
	}
	parent := filepath.Dir(name)
	if err := w.Files.CheckNamed(parent, false); err != nil {
		return err
	}
	entries, more, err := w.Files.ReadDir(parent, 10_000)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(entries, func(d guard.DirEntry) bool { return d.Name == filepath.Base(name) })
	denied, shaped := guard.AsDenied(w.Files.CheckNamed(filepath.Join(name, "HEAD"), false))
	if i < 0 || more || !entries[i].Mode.IsDir() || !shaped || denied.Rule != guard.RuleGit {
		return refuseURL(e.shown, "on this machine only bare repositories inside the workspace are used")
	}
	rel, err := filepath.Rel(r.run.Dir(), name)
	if err != nil || !filepath.IsLocal(rel) {
		return refuseURL(e.shown, "it is outside the workspace")
	}
	e.target = filepath.ToSlash(rel)
	return nil
}

// effect is what a transfer touches.
func (e endpoint) effect() toolkit.Effect {
	if e.scheme == "file" {
		return toolkit.Effect{Kind: toolkit.Writes, Target: e.target}
	}
	return toolkit.Effect{Kind: toolkit.Dials, Target: e.target}
}

// factRemote is the address of a remote.
const factRemote = "git-remote"

func (e endpoint) fact(remote string) toolkit.Fact {
	return toolkit.Fact{Kind: factRemote, Target: remote, Value: digest([]byte(e.url)) + " " + e.pin}
}

// transfer runs a git that connects, to this endpoint only. The person's own
// credentials sign in; nobody is asked for any.
func (r *repo) transfer(ctx context.Context, e endpoint, args ...string) (stdout []byte, stderr string, err error) {
	who, err := r.person(ctx)
	if err != nil {
		return nil, "", err
	}
	ssh := who.ssh
	if ssh == "" {
		ssh = "ssh"
	}
	config := append([]string{
		"core.sshCommand=" + ssh + " -o BatchMode=yes -o ConnectTimeout=20",
		"http.proxy=", "http.followRedirects=false", "http.sslVerify=true", "http.lowSpeedLimit=100", "http.lowSpeedTime=60",
		"push.followTags=false", "push.gpgSign=false", "push.pushOption=", "fetch.prune=false", "fetch.recurseSubmodules=false", "transfer.bundleURI=false",
	}, who.credentials...)
	if e.pin != "" {
		config = append(config, "http.curloptResolve="+e.pin)
	}
	also := []string{"GIT_ALLOW_PROTOCOL=" + e.scheme}
	if agent := os.Getenv("SSH_AUTH_SOCK"); agent != "" && e.scheme == "ssh" {
		also = append(also, "SSH_AUTH_SOCK="+agent) // the person's keys sign in
	}
	return r.do(ctx, invocation{args: args, config: config, also: also, timeout: networkTimeout})
}

// packPrograms name the other side's program, which a repository's settings
// could otherwise choose; a local one runs no hooks and changes no work tree.
func (e endpoint) packPrograms(kind string) string {
	if e.scheme != "file" {
		return "--" + kind + "=git-" + kind
	}
	return "--" + kind + "=git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand=false" +
		" -c receive.denyCurrentBranch=refuse -c receive.autogc=false " + kind
}
