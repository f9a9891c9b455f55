package catalogue

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit/channels"
	"chela/toolkit/code"
	"chela/toolkit/desktop"
	"chela/toolkit/feeds"
	"chela/toolkit/files"
	"chela/toolkit/git"
	"chela/toolkit/media"
	"chela/toolkit/meta"
	"chela/toolkit/shell"
	"chela/toolkit/system"
	"chela/toolkit/tasks"
	"chela/toolkit/web"
)

// returned are the types of the tools' data.
var returned = map[string]any{
	"read_file": files.Read{}, "write_file": files.Written{}, "edit_file": files.Edited{}, "grep": files.Matches{},
	"search_files": files.Found{}, "directory_tree": files.Tree{}, "exec": shell.Executed{}, "exec_status": shell.Status{}, "exec_kill": shell.Stopped{}, "repl_execute": shell.Evaluated{}, "patch_apply": files.Patched{}, "multi_patch": files.Patches{}, "path_info": files.PathFacts{}, "git_status": git.Listing{},
	"git_diff": git.Diffed{}, "git_log": git.Logged{}, "git_commit": git.Committed{}, "git_branch": git.Branches{},
	"git_stash": git.Stashed{}, "git_remote": git.Transferred{}, "github_pr": git.Requested{},
	"web_fetch": web.Fetched{}, "complete_task": tasks.Completed{}, "search_available_tools": meta.Found{},
	"web_search": web.Searched{}, "link_understand": web.Understood{},
	"env": system.Variables{}, "system_info": system.Info{}, "process_list": system.Running{}, "which": system.Located{},
	"test_run": code.Tested{}, "typecheck": code.Typechecked{}, "lint": code.Linted{}, "project_info": code.Info{},
	"build": code.Built{}, "format": code.Formatted{},
	"image_analyze": media.Analysed{}, "tts_speak": media.Spoken{}, "openai_image_gen": media.Generated{}, "canvas_render": media.Drawn{},
	"notify": desktop.Notified{}, "clipboard_read": desktop.Pasted{}, "clipboard_write": desktop.Copied{}, "screen_capture": desktop.Captured{},
	"slack_actions": channels.Acted{}, "discord_actions": channels.Acted{}, "telegram_actions": channels.Acted{},
	"feed_list": feeds.Listed{}, "feed_add": feeds.Added{}, "feed_poll": feeds.Polled{}, "feed_digest": feeds.Digest{},
	"todo_write": tasks.Todos{}, "create_plan": tasks.Planned{}, "complete_plan_step": tasks.Stepped{},
}

var itemFields = regexp.MustCompile(`^(\w+)(?:\[\{(.*)\}\]|\{(.*)\})$`)

func TestDataHasTheFieldsOfTheContract(t *testing.T) {
	text, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Name    string   `json:"name"`
		Returns []string `json:"returns"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	promised := map[string][]string{}
	for _, c := range list {
		promised[c.Name] = c.Returns
	}
	for _, tool := range registry(t).All() {
		name := tool.Spec().Name
		value, ok := returned[name]
		if !ok {
			t.Errorf("the data of %s is not listed in this test", name)
			continue
		}
		typ := reflect.TypeOf(value)
		var want []string
		for _, r := range promised[name] {
			if m := itemFields.FindStringSubmatch(r); m != nil {
				want = append(want, m[1])
				f := fieldNamed(typ, m[1])
				if f.Kind() != reflect.Struct {
					f = f.Elem()
				}
				if diff := cmp.Diff(sorted(strings.Split(m[2]+m[3], ",")), sorted(jsonNames(f))); diff != "" {
					t.Errorf("%s, items of %s (-contract +data):\n%s", name, m[1], diff)
				}
				continue
			}
			want = append(want, r)
		}
		if diff := cmp.Diff(sorted(want), sorted(jsonNames(typ))); diff != "" {
			t.Errorf("%s (-contract +data):\n%s", name, diff)
		}
	}
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

// jsonNames are the keys of a struct in JSON, those of embedded ones included.
func jsonNames(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			e := f.Type
			if e.Kind() == reflect.Pointer {
				e = e.Elem()
			}
			out = append(out, jsonNames(e)...)
		case name != "-":
			out = append(out, name)
		}
	}
	return out
}

func fieldNamed(t reflect.Type, name string) reflect.Type {
	for f := range t.Fields() {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f.Type
		}
	}
	return reflect.TypeFor[[]struct{}]()
}
