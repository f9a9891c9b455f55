package shell

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

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

// A command may print far more than anybody reads while it runs. So many bytes
// are shown at once, and then so many a second; the rest is counted. The result
// keeps more.
const (
	liveBurst = 64 << 10
	liveRate  = 32 << 10
)

// maxPartial is how many bytes of a line without an end are held back.
const maxPartial = 4 << 10

// lineProgress passes output on in complete lines, until it is closed: a
// command that moved to the background goes on writing.
type lineProgress struct {
	report func(toolkit.Progress)
	now    func() time.Time // nil: time.Now

	mu      sync.Mutex
	held    []byte
	closed  bool
	spent   float64 // bytes shown that the rate has not yet made up for
	at      time.Time
	dropped int // bytes not shown since the last that were
}

// show passes on complete lines, if there were not too many of late. The caller
// holds mu.
func (l *lineProgress) show(text []byte, last bool) {
	now := time.Now()
	if l.now != nil {
		now = l.now()
	}
	l.spent = max(0, l.spent-now.Sub(l.at).Seconds()*liveRate)
	l.at = now
	if l.spent > 0 && l.spent+float64(len(text)) > liveBurst {
		l.dropped += len(text)
		text = nil
	}
	l.spent += float64(len(text))
	note := ""
	if l.dropped > 0 && (last || len(text) > 0) {
		note = fmt.Sprintf("[%d bytes of output not shown]\n", l.dropped)
		l.dropped = 0
	}
	if note != "" || len(text) > 0 {
		l.report(toolkit.Progress{Text: note + plain(string(text))})
	}
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
		l.show(l.held[:cut], false)
		l.held = append(l.held[:0], l.held[cut:]...)
	}
}

// close passes on what is held back, and then nothing more.
func (l *lineProgress) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.show(l.held, true)
	}
	l.held, l.closed = nil, true
}
