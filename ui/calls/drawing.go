package calls

import (
	"encoding/json"

	"chela/store"
	"chela/toolkit/media"
)

// Drawing is what the call drew for the person, as text to be made harmless;
// empty if it drew nothing. The model gets only its beginning.
func (c *Call) Drawing() string {
	if c.Tool != "canvas_render" || c.State != store.CallDone {
		return ""
	}
	var d media.Drawn
	if json.Unmarshal(c.Data, &d) != nil {
		return ""
	}
	return d.Preview
}
