package shell

import (
	"bytes"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// plain is output as a model should read it: no escape sequences, and of a line
// that was written over (a progress bar) only what it showed last.
func plain(output string) string {
	text := guard.ToText([]byte(output))
	if strings.ContainsRune(text, 0x1b) {
		text = ansi.Strip(text)
	}
	if strings.ContainsRune(text, '\r') {
		lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		for i, l := range lines {
			l = strings.TrimRight(l, "\r")
			lines[i] = l[strings.LastIndexByte(l, '\r')+1:]
		}
		text = strings.Join(lines, "\n")
	}
	return text
}

// maxPartial is how many bytes of a line without an end are held back.
const maxPartial = 4 << 10

// lineProgress passes output on in complete lines, until it is closed: a
// command that moved to the background goes on writing.
type lineProgress struct {
	report func(toolkit.Progress)

	mu     sync.Mutex
	held   []byte
	closed bool
}

func (l *lineProgress) write(chunk []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.held = append(l.held, chunk...)
	cut := bytes.LastIndexByte(l.held, '\n') + 1
	if cut == 0 && len(l.held) > maxPartial {
		cut = len(guard.TrimPartialRune(l.held))
	}
	if cut > 0 {
		l.report(toolkit.Progress{Text: plain(string(l.held[:cut]))})
		l.held = append(l.held[:0], l.held[cut:]...)
	}
}

// close passes on what is held back, and then nothing more.
func (l *lineProgress) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) > 0 {
		l.report(toolkit.Progress{Text: plain(string(l.held))})
	}
	l.held, l.closed = nil, true
}
