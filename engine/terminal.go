package engine

import (
	"chela/engine/event"
	"chela/toolkit"
)

// terminal hands a session's notices and copies to the screen through the event
// stream: [toolkit.Terminal].
type terminal struct {
	engine  *Engine
	session string
}

// terminal is the one that the screen of a session is drawn on; nil without a
// screen.
func (e *Engine) terminal(session string) toolkit.Terminal {
	if !e.cfg.Attended {
		return nil
	}
	return terminal{e, session}
}

// Notify asks the screen to show a notification.
func (t terminal) Notify(title, body string) error {
	t.engine.stream.Publish(t.session, 0, event.TerminalNotice{Title: title, Body: body})
	return nil
}

// Copy asks the screen to put text on the terminal's clipboard.
func (t terminal) Copy(text string) error {
	t.engine.stream.Publish(t.session, 0, event.TerminalCopy{Text: text})
	return nil
}
