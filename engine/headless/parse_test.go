package headless

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit/catalogue"
)

type parseResult struct {
	Calls []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Origin    string          `json:"origin"`
		Family    string          `json:"family"`
		Raw       string          `json:"raw"`
	} `json:"calls"`
	Text     string    `json:"text"`
	Thinking string    `json:"thinking"`
	Notes    *[]string `json:"notes"`
}

func (b *bench) parse(o ParseOptions) parseResult {
	b.t.Helper()
	o.Tools = catalogue.New
	if err := Parse(b.t.Context(), b.json(), o); err != nil {
		b.t.Fatal(err)
	}
	r := decode[parseResult](b.t, b.out.Bytes())
	if r.Calls == nil || r.Notes == nil {
		b.t.Fatalf("a list is null: %s", b.out.String())
	}
	return r
}

func TestParseSaysWhatATextHolds(t *testing.T) {
	b := offline(t)
	r := b.parse(ParseOptions{Text: "I will.\n{\"name\":\"Write\",\"arguments\":{\"file_path\":\"a\",\"content\":\"<b>\"}}"})
	if len(r.Calls) != 1 || r.Calls[0].Name != "write_file" || r.Calls[0].Origin != "rescued" || r.Calls[0].Family != "json" || r.Text != "I will." {
		t.Errorf("%+v", r)
	}
	if got := string(r.Calls[0].Arguments); got != `{"path":"a","content":"\u003cb\u003e"}` && got != `{"path":"a","content":"<b>"}` {
		t.Errorf("arguments: %s", got)
	}
	r = b.parse(ParseOptions{Text: r.Calls[0].Raw, Done: "length"})
	if len(r.Calls) != 0 || len(*r.Notes) != 1 {
		t.Errorf("of an answer that was cut off: %+v", r)
	}
	r = b.parse(ParseOptions{Text: "<think>hm</think>It is 42."})
	if len(r.Calls) != 0 || r.Text != "It is 42." || r.Thinking != "hm" {
		t.Errorf("%+v", r)
	}
}

func TestParseTakesTheToolsOfAFile(t *testing.T) {
	b := offline(t)
	name := filepath.Join(b.dir, "tools.json")
	b.file("tools.json", `[
		{"type":"function","function":{"name":"read_file","description":"Read.","parameters":{"type":"object","required":["file_path"],
			"properties":{"file_path":{"type":"string"},"limit":{"type":["integer","null"]},"mode":{}}}}},
		{"name":"get_weather","parameters":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}},
		{"name":"now"}]`)
	text := `[TOOL_CALLS][{"name":"get_weather","arguments":{"city":"Paris"}},{"name":"cat","arguments":{"path":"x","lines":"4","mode":1}},{"name":"now","arguments":{}},{"name":"exec","arguments":{"command":"ls"}}]`
	var got []string
	for _, c := range b.parse(ParseOptions{Text: text, File: name}).Calls {
		got = append(got, c.Name+string(c.Arguments))
	}
	want := []string{`get_weather{"city":"Paris"}`, `read_file{"file_path":"x","limit":4,"mode":1}`, `now{}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What is known to read only may come from an answer that was cut off; what
	// is not known may do anything.
	r := b.parse(ParseOptions{Text: text, File: name, Done: "length"})
	if len(r.Calls) != 1 || r.Calls[0].Name != "read_file" {
		t.Errorf("of an answer that was cut off: %+v", r.Calls)
	}
}

func TestParseForPeople(t *testing.T) {
	b := offline(t)
	o := ParseOptions{Tools: catalogue.New, Text: "See\x1b[31m.\n<tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\\u001b\"}}</tool_call>"}
	if err := Parse(t.Context(), b.screen(), o); err != nil {
		t.Fatal(err)
	}
	says(t, "out", b.out.String(), "exec  hermes  {\"command\":\"ls", "See<ESC>[31m.")
	if err := Parse(t.Context(), b.screen(), ParseOptions{Tools: catalogue.New, Text: "> `{}`"}); err != nil {
		t.Fatal(err)
	}
	says(t, "err", b.err.String(), "no call in this text", "block quote")
}

func TestParseRefusesAWrongCommandLine(t *testing.T) {
	b := offline(t)
	for name, c := range map[string]struct {
		o    ParseOptions
		file string
		want string
	}{
		"done":          {o: ParseOptions{Done: "later"}, want: "use stop or length"},
		"tier":          {o: ParseOptions{Tier: "huge"}, want: "essential, standard or full"},
		"both":          {o: ParseOptions{Tier: "full", File: "x"}, want: "exclude each other"},
		"no file":       {o: ParseOptions{File: filepath.Join(b.dir, "none")}, want: "name a file"},
		"a folder":      {o: ParseOptions{File: b.dir}, want: "is no file"},
		"no list":       {file: `{"name":"x"}`, want: "a JSON list of tools"},
		"an empty list": {file: `[]`, want: "the list is empty"},
		"no name":       {file: `[{"name":"x"},{"type":"function"}]`, want: "item 2: a tool has no name"},
		"a bad schema":  {file: `[{"name":"x","parameters":{"type":"string"}}]`, want: `the parameters of tool "x"`},
	} {
		if c.file != "" {
			c.o.File = filepath.Join(b.dir, "tools.json")
			if err := os.WriteFile(c.o.File, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c.o.Tools = catalogue.New
		err := Parse(t.Context(), b.json(), c.o)
		if Code(err) != Usage {
			t.Errorf("%s: exit %d (%v)", name, Code(err), err)
			continue
		}
		says(t, name, err.Error(), c.want)
		if b.out.Len() > 0 {
			t.Errorf("%s: printed %s", name, b.out.String())
		}
	}
}
