package pipeline

import (
	"encoding/json"

	"chela/toolkit"
)

// Repair does to arguments what step 2 of a call does: it repairs them where
// the intent is beyond doubt, and checks them. The arguments come back as a
// JSON object with its keys in schema order, with a note for each repair. The
// error has the code toolkit.CodeMissing when a required argument is not there,
// and toolkit.CodeInvalid for every other fault.
func Repair(spec *toolkit.Spec, raw json.RawMessage) (json.RawMessage, []string, *toolkit.Error) {
	return validate(spec, raw)
}
