package ollama

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// ErrNotInstalled is returned when there is no ollama program to start.
var ErrNotInstalled = errors.New("ollama is not installed: see https://ollama.com/download")

// Installed returns the path of the ollama program, or "".
func Installed() string {
	p, err := exec.LookPath("ollama")
	if err != nil {
		return ""
	}
	return p
}

// pollEvery is how often a starting server is asked whether it is up.
const pollEvery = 200 * time.Millisecond

// Serve starts an installed Ollama server and waits until it answers, at most
// as long as the context allows. The server goes on after chela ends, as one
// started by hand would. If one answers already, nothing is started. A server
// on another machine cannot be started from here.
func Serve(ctx context.Context, c *Client) error {
	if _, err := c.Version(ctx); err == nil {
		return nil
	}
	if !c.Local() {
		return fmt.Errorf("%s is another machine: start Ollama there, or unset OLLAMA_HOST (ollama.host in settings.yml) to use this one", c.Host())
	}
	program := Installed()
	if program == "" {
		return ErrNotInstalled
	}
	cmd := exec.Command(program, "serve")
	// It must listen where the client looks, which settings may have chosen.
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+c.Host())
	if home, err := os.UserHomeDir(); err == nil {
		cmd.Dir = home // not in the project, whose folder it would keep busy
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s serve does not answer at %s yet: %w; it may still come up", program, c.Host(), ctx.Err()), cmd.Process.Release())
		case <-tick.C:
			if err := ended(cmd.Process); err != nil {
				return fmt.Errorf("%s serve ended at once: %w; run it by hand to see why", program, err)
			}
			if _, err := c.Version(ctx); err == nil {
				return cmd.Process.Release()
			}
		}
	}
}
