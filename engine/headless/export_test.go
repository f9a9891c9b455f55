package headless

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine/ollamatest"
	"chela/store"
)

// told is a bench with one session: a question, a call whose output holds a code
// fence, and an answer.
func told(t *testing.T) *bench {
	b := newBench(t, ollamatest.Model{Name: modelName})
	b.file("notes.md", "```\ncode\n```\n")
	b.srv.Reply().Call("read_file", `{"path":"notes.md"}`)
	b.srv.Reply().Text("It is a fence.")
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "what is in the notes?"}), OK)
	b.out.Reset()
	return b
}

func TestASessionIsExportedToRead(t *testing.T) {
	b := told(t)
	b.exit(SessionExport(t.Context(), b.term(), b.setup(), "last", AsMarkdown), OK)
	says(t, "export", b.out.String(), "# what is in the notes?\n", "## You\n", "### `read_file` done", "allow by mode",
		"```json\n{\"path\":\"notes.md\"}\n```", "\n````\n", "It is a fence.")
}

func TestASessionIsExportedWholeAsLines(t *testing.T) {
	b := told(t)
	b.exit(SessionExport(t.Context(), b.term(), b.setup(), "last", AsJSONL), OK)
	var kinds []string
	for _, l := range strings.Split(strings.TrimSpace(b.out.String()), "\n") {
		var one struct {
			Kind string         `json:"kind"`
			Of   map[string]any `json:"of"`
		}
		if err := json.Unmarshal([]byte(l), &one); err != nil || one.Of["id"] == "" {
			t.Fatalf("%q: %v", l, err)
		}
		kinds = append(kinds, one.Kind)
	}
	if got := strings.Join(kinds, " "); got != "session message message call message message" {
		t.Errorf("the lines are %s", got)
	}
	b.exit(SessionExport(t.Context(), b.term(), b.setup(), "last", "pdf"), Usage)
}

func TestASessionIsRenamedUnlessItIsOpenElsewhere(t *testing.T) {
	b := told(t)
	id := b.sessions()[0].ID
	b.exit(SessionRename(t.Context(), b.term(), b.setup(), id, " two\nlines "), OK)
	if got := b.sessions()[0]; got.Title != "two lines" || got.Turns != 1 {
		t.Errorf("now it is %+v", got)
	}
	b.exit(SessionRename(t.Context(), b.term(), b.setup(), id, " \n"), Usage)
	st := b.store()
	release, err := st.Lock(id)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	b.exit(SessionRename(t.Context(), b.term(), b.setup(), id, "mine"), Failed)
}

func TestBackupAndRestore(t *testing.T) {
	b := told(t)
	to := filepath.Join(t.TempDir(), "kept.db")
	b.exit(Backup(t.Context(), b.json(), b.setup(), to), OK)
	if got := decode[struct{ Bytes int64 }](t, b.out.Bytes()); got.Bytes == 0 {
		t.Errorf("it says %s", b.out.String())
	}
	b.exit(Backup(t.Context(), b.json(), b.setup(), to), Usage)
	b.exit(SessionRemove(t.Context(), b.term(), b.setup(), []string{"last"}), OK)
	b.out.Reset()
	b.exit(Restore(t.Context(), b.json(), b.setup(), to), OK)
	aside := decode[struct{ Aside string }](t, b.out.Bytes()).Aside
	if got := b.sessions(); len(got) != 1 || got[0].Title != "what is in the notes?" {
		t.Errorf("restored %+v", got)
	}
	st, err := store.Open(t.Context(), aside)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if list, err := st.Sessions(t.Context(), "", 0); err != nil || len(list) != 0 {
		t.Errorf("the one put aside has %v, %v", list, err)
	}
	b.exit(Restore(t.Context(), b.json(), b.setup(), filepath.Join(b.dir, "absent")), Usage)
}
