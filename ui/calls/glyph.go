package calls

import (
	"charm.land/lipgloss/v2"

	"chela/store"
	"chela/themes"
)

// Glyph returns the sign of a state and the style it is drawn in. Each sign is
// one cell wide, and the word beside it (see [Word]) says the same, so colour
// alone never carries it.
func Glyph(s store.CallState, st *themes.Styles) (string, lipgloss.Style) {
	switch s {
	case store.CallDone:
		return "✓", st.OK
	case store.CallFailed, store.CallInterrupted:
		return "✗", st.Bad
	case store.CallDenied:
		return "■", st.Bad
	case store.CallWaiting:
		return "‖", st.Warn
	case store.CallRunning:
		return "◌", st.Accent
	case store.CallCancelled:
		return "■", st.Subtle
	}
	return "○", st.Subtle
}

// Word is the state in one word.
func Word(s store.CallState) string {
	switch s {
	case store.CallDone:
		return "done"
	case store.CallFailed:
		return "failed"
	case store.CallInterrupted:
		return "interrupted"
	case store.CallDenied:
		return "denied"
	case store.CallWaiting:
		return "waits"
	case store.CallRunning:
		return "runs"
	case store.CallCancelled:
		return "cancelled"
	}
	return "next"
}
