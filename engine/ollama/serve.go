package ollama

import (
	"context"
	"errors"
	"fmt"
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
// started by hand would. If one answers already, nothing is started.
func Serve(ctx context.Context, c *Client) error {
	if _, err := c.Version(ctx); err == nil {
		return nil
	}
	program := Installed()
	if program == "" {
		return ErrNotInstalled
	}
	cmd := exec.Command(program, "serve")
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}
	died := make(chan error, 1)
	go func() { died <- cmd.Wait() }()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-died:
			return fmt.Errorf("%s serve ended at once: %w; run it by hand to see why", program, errors.Join(err))
		case <-ctx.Done():
			return fmt.Errorf("%s serve does not answer at %s yet: %w", program, c.Host(), ctx.Err())
		case <-tick.C:
			if _, err := c.Version(ctx); err == nil {
				return nil
			}
		}
	}
}
