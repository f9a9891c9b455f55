package guard

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCheckNamedJudgesWhereAPathLeads(t *testing.T) {
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, own := filepath.Join(tmp, "ws"), filepath.Join(tmp, "home", "own")
	for _, dir := range []string{filepath.Join(ws, "a", "b"), filepath.Join(tmp, "out")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"out": "../out", "deep": "a/b"} {
		if err := os.Symlink(target, filepath.Join(ws, link)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	f, err := OpenFS(ws, FSOptions{Protected: []string{own}, Home: filepath.Join(tmp, "home")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, c := range []struct {
		path   string
		writes bool
		want   Rule
	}{
		{"a/x", true, ""},
		{filepath.Join(ws, "a"), false, ""},
		{"deep/../x", false, ""},
		{"deep/../../x", false, ""},
		{"deep/../../../x", false, RuleOutside},
		{"a/../../x", false, RuleOutside},
		{"../ws/a", false, ""},
		{"out/x", false, RuleOutside},
		{"out/../home/own/x", false, RuleOwnState}, // does not exist yet
		{"~/own/settings.json", false, RuleOwnState},
		{"~/OWN/x", true, RuleOwnState},
		{"~", true, RuleOwnState},
		{"~", false, RuleOutside},
		{"/", true, RuleOwnState},
		{"/", false, RuleOutside},
		{"~/other", true, RuleOutside},
		{".git/config", false, RuleGit},
		{"a/.env", false, RuleSecret},
		{"HEAD", false, ""},
		{"a/HEAD", true, RuleGit},
	} {
		err := f.CheckNamed(c.path, c.writes)
		got := Rule("")
		if denied, ok := AsDenied(err); ok {
			got = denied.Rule
		} else if err != nil {
			t.Errorf("%s: %v is no refusal", c.path, err)
		}
		if got != c.want {
			t.Errorf("%s, writes %v: %v, want %q", c.path, c.writes, err, c.want)
		}
	}
}
