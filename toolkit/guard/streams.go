package guard

import (
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/creack/pty"
)

// streams are the parent's and the child's ends of a command's output.
type streams struct {
	read  []*os.File // stdout and stderr, or one terminal
	child []*os.File
	input *os.File // of an interactive command; closed by its process
}

// openStreams connects the command's output. The pipes are our own rather than
// exec.Cmd's, so that waiting for the process does not wait for the pipes.
func openStreams(cmd *exec.Cmd, c Command) (*streams, error) {
	if c.Interactive {
		return openDialogue(cmd)
	}
	if c.PTY {
		master, slave, err := pty.Open()
		if err != nil {
			return nil, fmt.Errorf("no terminal could be made for it: %w", err)
		}
		// The size is a courtesy; a program that cares asks for it.
		_ = pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80})
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		return &streams{read: []*os.File{master}, child: []*os.File{slave}}, nil
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("no pipe could be made for it: %w", err)
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		_, _ = outR.Close(), outW.Close()
		return nil, fmt.Errorf("no pipe could be made for it: %w", err)
	}
	cmd.Stdout, cmd.Stderr = outW, errW
	return &streams{read: []*os.File{outR, errR}, child: []*os.File{outW, errW}}, nil
}

// openDialogue gives the command an input that stays open and one output.
func openDialogue(cmd *exec.Cmd) (*streams, error) {
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("no pipe could be made for it: %w", err)
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		_, _ = outR.Close(), outW.Close()
		return nil, fmt.Errorf("no pipe could be made for it: %w", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, outW
	return &streams{read: []*os.File{outR}, child: []*os.File{outW, inR}, input: inW}, nil
}

func (s *streams) readers() []*os.File { return s.read }

// closeChild closes the ends that the child has now.
func (s *streams) closeChild() {
	for _, f := range s.child {
		_ = f.Close()
	}
	s.child = nil
}

// expire makes pending reads return.
func (s *streams) expire() {
	for _, f := range s.read {
		if f.SetReadDeadline(time.Now()) != nil {
			_ = f.Close() // not every system has deadlines for it
		}
	}
}

func (s *streams) close() {
	s.closeChild()
	for _, f := range s.read {
		_ = f.Close()
	}
	if s.input != nil {
		_ = s.input.Close() // a second close does nothing
	}
}
