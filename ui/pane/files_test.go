package pane

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela/ui/intent"
	"chela/ui/screentest"
)

func someTree() FileTree {
	return FileTree{
		Root: "chela", Branch: "main", Changed: 1,
		Dirs: map[string][]FileNode{
			"": {
				{Path: "go.mod"},
				{Path: "README.md"},
				{Path: "file10.txt", Mark: "?"},
				{Path: "file9.txt", Mark: "A"},
				{Path: "build", Dir: true, Ignored: true},
				{Path: "engine", Dir: true},
				{Path: "ui", Dir: true},
				{Path: "empty", Dir: true},
			},
			"engine":      {{Path: "engine/retry.go", Mark: "M"}, {Path: "engine/deep", Dir: true}, {Path: "engine/turn.go"}},
			"engine/deep": {{Path: "engine/deep/old.go", Mark: "D"}},
			"empty":       {},
		},
	}
}

func tree() *Files {
	f := NewFiles(screentest.Styles())
	f.SetFocused(true)
	f.SetTree(someTree())
	return f
}

func selectedPath(t *testing.T, f *Files) string {
	t.Helper()
	act, ok := f.Handle(intent.Copy).(CopyText)
	if !ok {
		t.Fatal("nothing is selected")
	}
	return act.Text
}

func TestFilesShowTheTree(t *testing.T) {
	for _, w := range []int{40, 60, 116} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			f := tree()
			f.Select("engine/deep/old.go")
			f.Select("empty")
			f.Handle(intent.Right)
			f.Select("engine/retry.go")
			golden.RequireEqual(t, []byte(f.Title()+"\n"+screentest.PlainFrame(t, f.Lines(w, 16), w, 16)))
		})
	}
}

func TestFilesFitEverySizeWhateverTheNames(t *testing.T) {
	f := tree()
	f.SetDir("ui", []FileNode{{Path: "ui/" + screentest.Hostile, Mark: screentest.Hostile}, {Path: "ui/" + strings.Repeat("w", 300), Dir: true, Mark: "M"}})
	f.Select("ui/" + screentest.Hostile)
	everySize(t, func(w, h int) []string {
		if f.Handle(intent.Down); w%7 == 0 {
			f.Handle(intent.Home)
		}
		return f.Lines(w, h)
	})
	f.SetTree(FileTree{Err: screentest.Hostile})
	for w := 20; w <= 140; w++ {
		screentest.PlainFrame(t, f.Lines(w, 3), w, 3)
	}
}

func TestUnfoldingAFolderThatWasNotReadAsksForIt(t *testing.T) {
	f := tree()
	f.Select("ui")
	if diff := cmp.Diff(Action(ReadDir{"ui"}), f.Handle(intent.Right)); diff != "" {
		t.Fatal(diff)
	}
	f.SetDir("ui", []FileNode{{Path: "ui/ui.go"}})
	if got := selectedPath(t, f); got != "ui" {
		t.Errorf("reading the folder moved the selection to %s", got)
	}
	f.Handle(intent.Right)
	if got := selectedPath(t, f); got != "ui/ui.go" {
		t.Errorf("right in an open folder goes to %s, not to its first entry", got)
	}
	f.Handle(intent.Left)
	f.Handle(intent.Left)
	if got := selectedPath(t, f); got != "ui" || len(f.Expanded()) != 0 {
		t.Errorf("left goes to %s with %v open", got, f.Expanded())
	}
	if act := f.Handle(intent.Mention); act != nil {
		t.Errorf("opening a folder that was read gives %v", act)
	}
}

func TestFilesKeepExpansionAndSelectionWhenReadAgain(t *testing.T) {
	f := tree()
	f.Select("engine/deep/old.go")
	f.SetTree(someTree())
	if got := selectedPath(t, f); got != "engine/deep/old.go" {
		t.Errorf("the selection went to %s", got)
	}
	if diff := cmp.Diff([]string{"engine", "engine/deep"}, f.Expanded()); diff != "" {
		t.Error(diff)
	}
	fresh := someTree()
	delete(fresh.Dirs, "engine/deep")
	f.SetTree(fresh)
	if got := selectedPath(t, f); got != "engine/deep" {
		t.Errorf("with the file gone the selection is %s, not its folder", got)
	}
}

func TestFilesActOnTheSelectedFile(t *testing.T) {
	f := tree()
	f.Select("engine/turn.go")
	for _, c := range []struct {
		intent intent.Intent
		want   Action
	}{
		{intent.Mention, InsertMention{"engine/turn.go"}},
		{intent.Preview, PreviewFile{"engine/turn.go"}},
		{intent.Copy, CopyText{"engine/turn.go", "the path"}},
		{intent.Search, FindFile{}},
		{intent.Refresh, ReadFiles{}},
	} {
		if diff := cmp.Diff(c.want, f.Handle(c.intent)); diff != "" {
			t.Errorf("%s: %s", c.intent, diff)
		}
	}
	f.Select("engine")
	if _, ok := f.Handle(intent.Preview).(Say); !ok {
		t.Error("a folder is previewed")
	}
}

func TestClickingSelectsThenShows(t *testing.T) {
	f := tree()
	f.Lines(40, 20)
	row := f.index("go.mod")
	if act := f.Click(row); act != nil {
		t.Errorf("the first click gives %v", act)
	}
	if diff := cmp.Diff(Action(PreviewFile{"go.mod"}), f.Click(row)); diff != "" {
		t.Error(diff)
	}
	f.Click(f.index("engine"))
	if diff := cmp.Diff([]string{"engine"}, f.Expanded()); diff != "" {
		t.Error(diff)
	}
	if f.Click(19) != nil {
		t.Error("a click below the last row does something")
	}
}

func TestAnEmptyTreeTakesAnyKey(t *testing.T) {
	f := NewFiles(screentest.Styles())
	for _, b := range intent.Table() {
		f.Handle(b.Intent)
	}
	if frame := screentest.PlainFrame(t, f.Lines(40, 3), 40, 3); !strings.Contains(frame, "The files appear here") {
		t.Errorf("%q", frame)
	}
}

func TestScrollingLeavesTheSelectionAlone(t *testing.T) {
	f := tree()
	f.Lines(40, 3)
	f.Scroll(3)
	frame := screentest.PlainFrame(t, f.Lines(40, 3), 40, 3)
	if strings.Contains(frame, "▌") {
		t.Errorf("the selection came along:\n%s", frame)
	}
	f.Handle(intent.Down)
	if frame := screentest.PlainFrame(t, f.Lines(40, 3), 40, 3); !strings.Contains(frame, "▌") {
		t.Errorf("moving does not bring the selection back:\n%s", frame)
	}
}

func TestNaturalOrderIsAnOrder(t *testing.T) {
	name := rapid.StringMatching(`[a-c0-9]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if naturally(a, b) < 0 != (naturally(b, a) > 0) {
			t.Fatalf("%q and %q: not antisymmetric", a, b)
		}
		if naturally(a, b) <= 0 && naturally(b, c) <= 0 && naturally(a, c) > 0 {
			t.Fatalf("%q, %q, %q: not transitive", a, b, c)
		}
	})
}

func TestTheFilesTitleKeepsTheCountWhateverTheBranch(t *testing.T) {
	f := tree()
	for _, c := range []struct {
		width   int
		branch  string
		changed int
		want    string
	}{
		{40, "main", 2, "Files · main · 2 changed"},
		{24, "main", 2, "Files · main · ±2"},
		{24, "feature/of-a-long-name", 12, "Files · featur… · ±12"},
		{15, "feature/of-a-long-name", 12, "Files · ±12"},
		{40, "", 1, "Files · 1 changed"},
		{40, "main", 0, "Files · main"},
	} {
		some := someTree()
		some.Branch, some.Changed = c.branch, c.changed
		f.SetTree(some)
		f.Lines(c.width, 10)
		if got := f.Title(); got != c.want {
			t.Errorf("%d cells: %q, want %q", c.width, got, c.want)
		}
	}
}
