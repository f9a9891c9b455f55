// Package view holds what opens over the panes: the review of a waiting call,
// the page of one call, menus (palette and pickers), pages of text, and
// one-line questions.
//
// A view is a plain struct that belongs to the screen's goroutine. It handles
// intents, takes typed text where it has a field, and returns what should
// happen elsewhere as an action for the root to carry out (the actions of
// package pane, and those of this one).
package view

import (
	tea "charm.land/bubbletea/v2"

	"chela/ui/intent"
	"chela/ui/pane"
)

// View is something open over the panes. The root draws the border.
type View interface {
	// Scope says which keys hold.
	Scope() intent.Scope
	// Title and Note stand in the top edge, left and right.
	Title() string
	Note() string
	// Size is what the view wants, border included, of a screen of w by h.
	Size(w, h int) (int, int)
	// Lines draws the inside, at most w by h cells.
	Lines(w, h int) []string
	// Handle carries out an intent. ok is false when it means nothing here.
	Handle(i intent.Intent) (act pane.Action, ok bool)
	// Disabled says why an intent cannot act now, or "".
	Disabled(i intent.Intent) string
}

// Typist is a view with a field for text. Keys that are no intent of its scope
// go there.
type Typist interface {
	View
	Type(msg tea.Msg) (pane.Action, tea.Cmd)
	// Cursor is where the terminal's cursor belongs, inside the lines drawn.
	Cursor() (x, y int, ok bool)
}

// Close is the action of closing the view on top.
type Close struct{}

// Full is the size of a view that takes the whole screen but the status line.
func Full(w, h int) (int, int) { return w, h }

// Centered is the size of a view of about these cells, never larger than the
// screen leaves.
func Centered(w, h, wantW, wantH int) (int, int) {
	return min(wantW, w-2*min(2, w/20)), min(wantH, h)
}
