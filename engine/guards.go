package engine

import (
	"fmt"
	"os"
	"strings"

	"chela/toolkit/guard"
)

// openGuards makes the doors that all tools of this engine share.
func (e *Engine) openGuards() error {
	opts := e.cfg.Net
	// Tools never reach the model server: it could delete models or be asked
	// for anything without the judge seeing it.
	if host := e.cfg.Server.Host(); strings.Contains(host, ":") {
		opts.OwnServices = append(opts.OwnServices, loopbackForms(host)...)
	}
	n, err := guard.NewNet(opts)
	if err != nil {
		return fmt.Errorf("security.allowed_hosts in settings.yml: %w", err)
	}
	e.net = n
	e.proc = guard.NewRunner(e.files, guard.RunnerOptions{})
	e.redactor = guard.NewRedactor(os.Environ(), nil)
	return nil
}

// loopbackForms lists the addresses under which a local server can be reached.
func loopbackForms(host string) []string {
	name, port, ok := strings.Cut(host, ":")
	if !ok || strings.Contains(port, ":") {
		return nil
	}
	switch name {
	case "localhost", "127.0.0.1", "0.0.0.0":
		return []string{"127.0.0.1:" + port, "[::1]:" + port}
	}
	return nil
}
