package vet

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"chela/engine/pipeline"
)

// writeTool is the tool that can empty a file by what it was not given.
// edit_file with an empty new_string deletes a piece, which is its use.
const writeTool = "write_file"

// wantsEmpty are words of somebody who means to empty a file.
var wantsEmpty = regexp.MustCompile(`(?i)\b(empty|empties|emptied|emptying|clear|truncat\w*|blank)\b`)

// emptied guards a file with content against a call whose content is empty:
// parsers of tags lose a content that holds tags of its own. proven says that
// the raw text has just this call.
func (v *vet) emptied(proven bool, f *Finding) {
	spec := v.spec(f.Tool)
	if f.Tool != writeTool || spec == nil {
		return
	}
	args, _, fault := pipeline.Repair(spec, f.Args)
	if fault != nil {
		return // it will not run
	}
	var w struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		Append  bool   `json:"append"`
	}
	if json.Unmarshal(args, &w) != nil || w.Append || strings.TrimSpace(w.Content) != "" || proven {
		return
	}
	if v.NonEmpty != nil && !v.NonEmpty(w.Path) {
		return
	}
	if v.Raw == "" && wantsEmpty.MatchString(v.Text+" "+v.Thinking) {
		f.doubt("it empties %s", w.Path)
		return
	}
	f.Verdict = Refuse
	f.Reason = fmt.Sprintf("it would empty %s, and the content seems to have been lost on the way", w.Path)
	path, err := json.Marshal(w.Path)
	if err != nil {
		path = []byte(`"notes.txt"`) // strings always marshal
	}
	f.Message = fmt.Sprintf("error: write_file: %q is empty, and %s has content that would be lost.\n", "content", w.Path) +
		fmt.Sprintf("Right: write_file {\"path\":%s,\"content\":\"the whole text\"}\n", path) +
		"Next: call write_file again with the whole text, or edit_file to change a part. To empty the file on purpose, say so before the call."
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
