package ui

import (
	"testing"

	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/engine/settings"
	"chela/tiers"
)

func TestWhatAToolDrawsIsShownToThePerson(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "big:70b", Parameters: 70e9})
	d := start(t, setup{
		server: srv.Host(), w: 160, h: 40, model: "big:70b",
		config: func(s *settings.Settings) {
			s.Security.Mode = pipeline.Unlimited
			s.Tiers.Models = map[string]tiers.Tier{"big:70b": tiers.Full}
			s.Tools.Promote = []string{"canvas_render"}
		},
	})
	srv.Reply().Call("canvas_render", `{"type":"table","title":"Sizes","content":"name,size\nalpha,10\nbeta\u001b[31m,20\n"}`)
	srv.Reply().Text("There.")
	d.submit("draw it")
	d.shows("✓ canvas_re", "There.", "alpha    10")
	d.press("alt+2")
	d.press("enter")
	d.shows("Call · canvas_render", "alpha    10", "what the model got")
}
