package pane

import (
	"fmt"
	"strings"
	"testing"

	"chela/ui/screentest"
)

func TestTheChosenSuggestionIsAlwaysListed(t *testing.T) {
	h := &Completion{open: true}
	for i := range 2*maxShown + 1 {
		h.shown = append(h.shown, Suggestion{Text: fmt.Sprintf("/c%d", i)})
	}
	for _, rows := range []int{3, maxShown, 100} {
		for i := range h.shown {
			lines := h.Lines(30, rows, screentest.Styles())
			frame := screentest.PlainFrame(t, lines, 30, maxShown)
			if !strings.Contains(frame, "▌"+h.shown[i].Text) || strings.Count(frame, "▌") != 1 || len(lines) != min(rows, maxShown) {
				t.Errorf("suggestion %d is chosen, %d are listed:\n%s", i, len(lines), frame)
			}
			h.move(1)
		}
	}
}
