package securitytest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine/pipeline"
)

// testCase is one line of security.jsonl.
type testCase struct {
	ID        string          `json:"id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Setup     []op            `json:"setup"`
	Mode      pipeline.Mode   `json:"mode"`
	Expect    string          `json:"expect"` // deny, ask, allow, error
	Why       string          `json:"why"`
}

// op is one step of a case's setup, or what must hold after it. Which fields
// count depends on Op; an unknown field or name fails the test.
type op struct {
	Op string `json:"op"`

	// file, dir, script, symlink, hardlink, fifo, mknod, sparse, git_init
	Path    string            `json:"path"`
	Content string            `json:"content"`
	Target  string            `json:"target"`
	Size    int64             `json:"size"`
	Files   map[string]string `json:"files"`
	Commit  bool              `json:"commit"`
	Config  map[string]string `json:"config"`
	Type    string            `json:"type"`  // of mknod: c or b
	Major   uint32            `json:"major"` // of mknod
	Minor   uint32            `json:"minor"`

	Set map[string]string `json:"set"` // env

	// rule
	Effect string   `json:"effect"`
	Match  []string `json:"match"`

	// rule, approved, call_before
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Scope     string          `json:"scope"`
	Expect    string          `json:"expect"`

	Ops []op `json:"ops"` // approve_then

	Value string `json:"value"` // origin

	// require
	Root    bool `json:"root"`
	Sandbox bool `json:"sandbox"`

	Minutes int `json:"minutes"` // advance

	// ui
	Keys            []string `json:"keys"`
	AtMS            []int    `json:"at_ms"`
	BeforeScrollEnd bool     `json:"before_scroll_end"`

	// fake_net, dns_sequence
	Close   bool                         `json:"close"`
	Hosts   map[string][]string          `json:"hosts"`
	Serve   map[string]map[string]answer `json:"serve"`
	Host    string                       `json:"host"`
	Answers [][]string                   `json:"answers"`

	// assert_after
	Absent         []string `json:"absent"`
	Exists         []string `json:"exists"`
	Unchanged      []string `json:"unchanged"`
	OutputLacks    []string `json:"output_lacks"`
	OutputHas      []string `json:"output_has"`
	StateDirLacks  []string `json:"state_dir_lacks"`
	ScreenHas      []string `json:"screen_has"`
	MaxMS          int64    `json:"max_ms"`
	MaxRSSMiB      int64    `json:"max_rss_mib"`
	MaxOutputBytes int      `json:"max_output_bytes"`
	NoProcess      []string `json:"no_process"`
	DialsBlocked   []string `json:"dials_blocked"`
}

// answer is what the fake network serves at a path.
type answer struct {
	Status    int    `json:"status"`
	Body      string `json:"body"`
	Location  string `json:"location"`
	GzipZeros int64  `json:"gzip_zeros"`
}

// decodeCase reads one line, with the places put in. Unknown fields are errors.
func decodeCase(line []byte, p places) (testCase, error) {
	var c testCase
	dec := json.NewDecoder(bytes.NewReader(p.expand(line)))
	dec.DisallowUnknownFields()
	err := dec.Decode(&c)
	return c, err
}

// lines returns the cases as they are written, by id.
func lines(t *testing.T) (ids []string, byID map[string][]byte) {
	t.Helper()
	data, err := os.ReadFile("testdata/security.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	byID = map[string][]byte{}
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		c, err := decodeCase(sc.Bytes(), places{})
		if err != nil || c.ID == "" || byID[c.ID] != nil {
			t.Fatalf("case %q: %v", sc.Bytes(), err)
		}
		ids = append(ids, c.ID)
		byID[c.ID] = bytes.Clone(sc.Bytes())
	}
	return ids, byID
}

// places are the folders of a case. The zero value is nowhere.
type places struct{ tmp, ws, cfg, state string }

// newPlaces makes a workspace with two siblings.
func newPlaces(t *testing.T) places {
	t.Helper()
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := places{tmp: tmp, ws: filepath.Join(tmp, "ws"), cfg: filepath.Join(tmp, "cfg"), state: filepath.Join(tmp, "state")}
	for _, dir := range []string{p.ws, filepath.Join(tmp, "ws2"), filepath.Join(tmp, "out"), p.cfg, p.state} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p places) expand(line []byte) []byte {
	return []byte(strings.NewReplacer("{{TMP}}", p.tmp, "{{WS}}", p.ws, "{{CFG}}", p.cfg).Replace(string(line)))
}

// at is a path of a case: absolute, or below the workspace.
func (p places) at(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.ws, name)
}
