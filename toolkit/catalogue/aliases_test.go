package catalogue

import "testing"

// Other agents' tools taught models these names.
func TestParametersKnowTheirOtherNames(t *testing.T) {
	r := registry(t)
	for tool, names := range map[string]map[string]string{
		"read_file":      {"file_path": "path", "filePath": "path", "filename": "path", "uri": "path", "limit": "lines"},
		"write_file":     {"file_path": "path", "text": "content", "contents": "content", "create_dirs": "createDirs"},
		"edit_file":      {"file_path": "path", "old_str": "old_string", "new_str": "new_string", "oldText": "old_string", "newText": "new_string"},
		"exec":           {"cmd": "command", "cwd": "workdir", "script": "command"},
		"grep":           {"query": "pattern", "regex": "pattern", "include": "glob", "dir": "path", "max_results": "maxResults"},
		"search_files":   {"query": "pattern", "glob": "pattern", "path": "directory", "dir": "directory"},
		"directory_tree": {"dir": "path", "directory": "path", "max_depth": "depth"},
		"git_status":     {"dir": "path", "cwd": "path"},
		"web_fetch":      {"uri": "url", "link": "url", "data": "body", "extract_text": "extractText"},
		"complete_task":  {"result": "summary", "message": "summary", "next_steps": "nextSteps"},
	} {
		found, ok := r.Get(tool)
		if !ok {
			t.Errorf("there is no tool %s", tool)
			continue
		}
		for alias, want := range names {
			if got := found.Spec().Schema.Aliases[alias]; got != want {
				t.Errorf("%s: %q means %q, want %q", tool, alias, got, want)
			}
		}
	}
}
