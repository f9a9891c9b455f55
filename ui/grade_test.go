package ui

import "testing"

func TestAModelIsGradedFromThePicker(t *testing.T) {
	d := start(t, setup{w: 140, h: 40})
	d.press("ctrl+t")
	d.shows("built in · a demonstration")
	d.press("ctrl+g")
	d.shows("Grading pocket")
	d.shows("Grade of pocket", "mode from now on")
	d.press("esc")
	d.press("ctrl+t")
	d.shows("grade ")
	d.press("esc")
	d.press("ctrl+p")
	d.press("ctrl+g")
	d.shows("only models have a grade")
}
