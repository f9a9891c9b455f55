package engine

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"

	"chela/toolkit/guard"
)

// openGuards makes the doors that all tools of this engine share.
func (e *Engine) openGuards() error {
	opts := e.cfg.Net
	// Tools never reach the model server: it could delete models or be asked
	// for anything without the judge seeing it.
	for _, h := range e.servers.Hosts() {
		opts.OwnServices = slices.Concat(opts.OwnServices, ownForms(h.Client().Host()))
	}
	n, err := guard.NewNet(opts)
	if err != nil {
		return fmt.Errorf("security.allowed_hosts in settings.yml: %w", err)
	}
	e.net = n
	e.proc = guard.NewRunner(e.files, guard.RunnerOptions{Confine: e.confine, Level: e.sandboxLevel})
	if e.Settings().Security.Sandbox == sandboxOn {
		e.proc = e.proc.InSandbox()
	}
	if e.cfg.Attended {
		e.goRun("looking for a sandbox", func(ctx context.Context) { e.Sandbox(ctx) }) // for SandboxStatus
	}
	var keys []guard.Secret
	for _, k := range e.tools.Secrets() {
		keys = append(keys, guard.Secret{Kind: "key", Value: k})
	}
	e.redactor = guard.NewRedactor(os.Environ(), keys)
	return nil
}

// ownForms lists the addresses under which the model server can be reached:
// its own, and if that is this machine, every usual form of it. A server known
// by name only has none; a private one is out of the tools' reach anyway.
func ownForms(host string) []string {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return nil // the client was given no address
	}
	ip, err := netip.ParseAddr(name)
	local := name == "localhost" || err == nil && ip.IsLoopback()
	var out []string
	if local {
		out = append(out, net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port))
	}
	if own := net.JoinHostPort(name, port); err == nil && !slices.Contains(out, own) {
		out = append(out, own)
	}
	return out
}
