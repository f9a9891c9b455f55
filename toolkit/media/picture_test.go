package media

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

type eye struct {
	asked toolkit.Question
	blind error
}

func (e *eye) Ask(_ context.Context, q toolkit.Question) (string, error) {
	e.asked = q
	return "a dot", nil
}
func (e *eye) Sees(context.Context) (string, error)     { return "llava", e.blind }
func (e *eye) Loaded(context.Context) ([]string, error) { return nil, nil }

func TestAPictureIsLookedAt(t *testing.T) {
	w, _ := bench(t)
	e := &eye{}
	w.Ask = e
	small := picture(t, 8, 6)
	put(t, w, "a.png", small)
	p, r, err := tooltest.Do(t, Analyze(), w, a{"path": "a.png", "prompt": "what?"})
	if err != nil {
		t.Fatal(err)
	}
	want := Analysed{"a.png", "image/png", len(small), 8, 6, "a dot", "llava"}
	if r.Data != any(want) || r.Text != "a dot" || e.asked.Prompt != "what?" || !bytes.Equal(e.asked.Images[0], small) {
		t.Errorf("%+v, asked %q", r.Data, e.asked.Prompt)
	}
	if len(p.Effects) != 1 || p.Effects[0] != (toolkit.Effect{Kind: toolkit.Reads, Target: "a.png"}) {
		t.Errorf("effects: %v", p.Effects)
	}
	put(t, w, "big.png", picture(t, 4000, 1000))
	if _, _, err := tooltest.Do(t, Analyze(), w, a{"path": "big.png"}); err != nil {
		t.Fatal(err)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(e.asked.Images[0]))
	if err != nil || format != "jpeg" || c.Width != maxSide || c.Height != maxSide/4 {
		t.Errorf("a large picture became %s %d x %d, %v", format, c.Width, c.Height, err)
	}
}

func TestWhatIsNoPictureIsRefused(t *testing.T) {
	w, _ := bench(t)
	w.Ask = &eye{}
	bomb := picture(t, 1, 1)
	copy(bomb[16:24], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 x 65536; the checksum is wrong as well
	put(t, w, "bomb.png", bomb)
	put(t, w, "a.txt", []byte("hello"))
	put(t, w, "a.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`))
	put(t, w, ".env", picture(t, 1, 1))
	gif := []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00")
	put(t, w, "huge.gif", gif)
	for path, code := range map[string]toolkit.Code{"a.txt": CodeFormat, "a.svg": CodeFormat, "none.png": CodeNoFile, ".": CodeNotAFile, "huge.gif": CodeTooLarge, "bomb.png": CodeFormat} {
		if _, _, err := tooltest.Do(t, Analyze(), w, a{"path": path}); toolkit.AsError(err).Code != code {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{".env", "../x.png", "/etc/passwd"} {
		_, _, err := tooltest.Do(t, Analyze(), w, a{"path": path})
		if _, denied := guard.AsDenied(err); !denied {
			t.Errorf("%s: %v", path, err)
		}
	}
	w.Ask = &eye{blind: errors.New("no model sees")}
	if Analyze().Available(t.Context(), w) == nil {
		t.Error("offered without a model that sees")
	}
}

// drawer answers as an image server does.
func drawer(t *testing.T, answer func(body map[string]any) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if r.Header.Get("Authorization") != "" {
				t.Error("the key went with the image")
			}
			_, _ = w.Write(picture(t, 3, 3))
			return
		}
		if r.URL.Path != "/v1/images/generations" || r.Header.Get("Authorization") != "Bearer sesame-key" {
			t.Errorf("asked %s as %q", r.URL, r.Header.Get("Authorization"))
		}
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, answer(body))
	}
}

func TestAPictureIsDrawnAndSaved(t *testing.T) {
	w, _ := bench(t)
	var jpg bytes.Buffer
	if err := jpeg.Encode(&jpg, image.NewGray(image.Rect(0, 0, 5, 4)), nil); err != nil {
		t.Fatal(err)
	}
	var sent map[string]any
	online(t, w, drawer(t, func(body map[string]any) string {
		sent = body
		return `{"data":[{"b64_json":"` + base64.StdEncoding.EncodeToString(jpg.Bytes()) + `","revised_prompt":"a red crab"}]}`
	}))
	w.Config.Images = toolkit.ImagesConfig{BaseURL: "http://draw.example/v1/", Key: "sesame-key", Model: "dall-e-3"}
	p, r, err := tooltest.Do(t, Generate(), w, a{"prompt": "A crab!"})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Generated{"images/a-crab.png", "", "a red crab", "dall-e-3", "5x4"}); r.Data != any(want) {
		t.Errorf("%+v", r.Data)
	}
	if _, format, err := image.DecodeConfig(strings.NewReader(tooltest.Read(t, w.Root, "images/a-crab.png"))); err != nil || format != "png" {
		t.Errorf("saved a %s, %v", format, err)
	}
	if sent["style"] != "vivid" || sent["response_format"] != "b64_json" || !strings.Contains(p.Preview.Body, "A crab!") || target(p) != "images/a-crab.png" || p.Preview.URL != "http://draw.example/v1/images/generations" {
		t.Errorf("sent %v, plan %+v", sent, p)
	}
	if p, _, err = tooltest.Do(t, Generate(), w, a{"prompt": "A crab!"}); err != nil || target(p) != "images/a-crab-2.png" {
		t.Errorf("again: %s, %v", target(p), err)
	}
	tool := Generate()
	plan, err := tool.Plan(t.Context(), w, json.RawMessage(`{"prompt":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	put(t, w, "images/x.png", []byte("mine"))
	if _, err := tool.Run(t.Context(), w, plan, nil); toolkit.AsError(err).Code != toolkit.CodeChanged || tooltest.Read(t, w.Root, "images/x.png") != "mine" {
		t.Errorf("a file that appeared: %v", err)
	}
}

func TestAPictureByAddressIsFetchedWithoutTheKey(t *testing.T) {
	w, _ := bench(t)
	answer := `{"data":[{"url":"http://files.example/a.png?sig=1"}]}`
	online(t, w, drawer(t, func(map[string]any) string { return answer }))
	w.Config.Images = toolkit.ImagesConfig{BaseURL: "http://draw.example/v1", Key: "sesame-key"}
	_, r, err := tooltest.Do(t, Generate(), w, a{"prompt": "dot"})
	if g, ok := r.Data.(Generated); err != nil || !ok || g.URL != "http://files.example/a.png" || g.Size != "3x3" {
		t.Errorf("%v, %+v", err, r.Data)
	}
	for text, want := range map[string]string{
		`{"data":[]}`:                                 "without an image",
		`{"data":[{"b64_json":"%%"}]}`:                "no base64",
		`{"data":[{"b64_json":"aGVsbG8="}]}`:          "no picture",
		`{"data":[{"url":"http://127.0.0.1/a.png"}]}`: "refused",
	} {
		answer = text
		if _, _, err := tooltest.Do(t, Generate(), w, a{"prompt": "dot"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, _, err := tooltest.Do(t, Generate(), w, a{"prompt": "dot", "size": "big"}); toolkit.AsError(err).Code != toolkit.CodeInvalid {
		t.Errorf("a size: %v", err)
	}
	w.Config.Images.BaseURL = ""
	if Generate().Available(t.Context(), w) == nil {
		t.Error("offered without a server")
	}
}
