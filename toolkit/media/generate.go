package media

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/service"
)

type generateArgs struct {
	Prompt  string `json:"prompt" min:"1" max:"4000" alias:"description,text"`
	Size    string `json:"size,omitempty" default:"1024x1024"`
	Quality string `json:"quality,omitempty" default:"standard" enum:"standard,hd"`
	Style   string `json:"style,omitempty" default:"vivid" enum:"vivid,natural"`
	Model   string `json:"model,omitempty"`
}

// Generated is the data of openai_image_gen.
type Generated struct {
	Path    string `json:"path"`
	URL     string `json:"url"` // where the service had it; empty: it was in the answer
	Revised string `json:"revised_prompt"`
	Model   string `json:"model"`
	Size    string `json:"size"` // as it is, in pixels
}

// drawing is how long a picture may take: minutes, on a computer without a GPU.
const drawing = 5 * time.Minute

// Generate has a configured server draw a picture and saves it.
func Generate() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "openai_image_gen", Summary: "Draw an image with the configured server and save it.", Category: "media",
		Level: toolkit.Moderate, Tier: tiers.Full, Synonyms: "picture create generate paint stable diffusion dall-e",
	}, planGenerate, runGenerate, toolkit.AvailableIf(func(_ context.Context, w *toolkit.Workspace) error {
		switch {
		case w.Net == nil:
			return errors.New("the network is switched off")
		case w.Config == nil || w.Config.Images.BaseURL == "":
			return errors.New("no server for images is set (images.base_url in settings.yml, such as http://127.0.0.1:11434/v1)")
		}
		return nil
	}))
}

var (
	size   = regexp.MustCompile(`^(?:auto|[1-9]\d{1,3}x[1-9]\d{1,3})$`)
	noName = regexp.MustCompile(`[^a-z0-9]+`)
)

// drawRequest is the request, in OpenAI's form. Its models differ in what they
// take; other servers ignore what they do not know.
func drawRequest(w *toolkit.Workspace, a generateArgs) (address string, body map[string]any, err error) {
	if w.Net == nil {
		return "", nil, toolkit.Errorf(toolkit.CodeUnavailable, "the network is switched off.")
	}
	if w.Config == nil || w.Config.Images.BaseURL == "" {
		return "", nil, toolkit.Errorf(service.CodeKey, "no server for images is set.").WithHint("Say so: the person has to set images.base_url.")
	}
	if !size.MatchString(a.Size) {
		return "", nil, toolkit.Errorf(toolkit.CodeInvalid, "size %q is not one.", a.Size).WithHint(`Write width and height in pixels, such as "1024x1024".`)
	}
	model := a.Model
	if model == "" {
		model = w.Config.Images.Model
	}
	body = map[string]any{"prompt": a.Prompt, "n": 1, "size": a.Size}
	if model != "" {
		body["model"] = model
	}
	switch {
	case strings.HasPrefix(model, "gpt-image"): // always base64; other words for quality
		body["quality"] = map[string]string{"standard": "medium", "hd": "high"}[a.Quality]
	case strings.HasPrefix(model, "dall-e-3"):
		body["quality"], body["style"], body["response_format"] = a.Quality, a.Style, "b64_json"
	default:
		body["response_format"] = "b64_json"
	}
	return strings.TrimRight(w.Config.Images.BaseURL, "/") + "/images/generations", body, nil
}

func planGenerate(ctx context.Context, w *toolkit.Workspace, a generateArgs) (toolkit.Plan, error) {
	address, body, err := drawRequest(w, a)
	if err != nil {
		return toolkit.Plan{}, err
	}
	t, err := w.Net.Check(ctx, address)
	if err != nil {
		return toolkit.Plan{}, err
	}
	text, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		return toolkit.Plan{}, fmt.Errorf("asking for an image: %w", err)
	}
	path, effect, fact, err := freeName(w, a.Prompt)
	if err != nil {
		return toolkit.Plan{}, err
	}
	p := toolkit.Plan{
		Summary: path,
		Effects: []toolkit.Effect{{Kind: toolkit.Dials, Target: t.HostPort()}, effect},
		Facts:   []toolkit.Fact{fact},
		Preview: toolkit.Preview{Kind: toolkit.PreviewURL, Method: http.MethodPost, URL: t.URL, Body: string(text), Notes: []string{"saves the picture as " + path}},
	}
	for _, ad := range t.Addrs {
		p.Preview.Address = append(p.Preview.Address, ad.String())
	}
	return p, nil
}

// freeName names a new file after what is drawn.
func freeName(w *toolkit.Workspace, prompt string) (string, toolkit.Effect, toolkit.Fact, error) {
	base := strings.Trim(noName.ReplaceAllString(strings.ToLower(prompt), "-"), "-")
	if base = strings.Trim(base[:min(len(base), 40)], "-"); base == "" {
		base = "image"
	}
	for n := 1; ; n++ {
		path := "images/" + base + ".png"
		if n > 1 {
			path = fmt.Sprintf("images/%s-%d.png", base, n)
		}
		t, err := w.Files.Locate(path)
		if err != nil {
			return "", toolkit.Effect{}, toolkit.Fact{}, explain(path, err)
		}
		if !t.Exists || n == 1000 {
			return newFile(w, path)
		}
	}
}

func runGenerate(ctx context.Context, w *toolkit.Workspace, a generateArgs, p toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
	address, body, err := drawRequest(w, a)
	if err != nil {
		return toolkit.Result{}, err
	}
	progress(toolkit.Progress{Text: "the server draws\n"})
	key := w.Config.Images.Key
	r := service.Request{Name: "the image server", URL: address, Body: body, Secret: key, Wait: drawing, Max: 2 * maxPicture}
	if key != "" {
		r.Header = http.Header{"Authorization": {"Bearer " + key}}
	}
	var out struct {
		Data []struct {
			B64     string `json:"b64_json"`
			URL     string `json:"url"`
			Revised string `json:"revised_prompt"`
		} `json:"data"`
	}
	if err := service.Call(ctx, w.Net, r, &out); err != nil {
		return toolkit.Result{}, err
	}
	if len(out.Data) == 0 || out.Data[0].B64 == "" && out.Data[0].URL == "" {
		return toolkit.Result{}, toolkit.Errorf(CodeNoImage, "the image server answered without an image.")
	}
	d := out.Data[0]
	if strings.HasPrefix(d.URL, "data:") {
		_, d.B64, _ = strings.Cut(d.URL, ",")
		d.URL = ""
	}
	var data []byte
	if d.B64 != "" {
		if data, err = base64.StdEncoding.DecodeString(d.B64); err != nil {
			return toolkit.Result{}, toolkit.Errorf(CodeImage, "the image server's answer is no base64: %w.", err)
		}
	} else if data, err = download(ctx, w, d.URL); err != nil {
		return toolkit.Result{}, err
	}
	data, c, err := asPNG("what the image server sent", data)
	if err != nil {
		return toolkit.Result{}, toolkit.Errorf(CodeImage, "%w.", err)
	}
	written, change, err := create(w, p, data)
	if err != nil {
		return toolkit.Result{}, err
	}
	model, _ := body["model"].(string)
	g := Generated{Path: written.Path, URL: withoutQuery(d.URL), Revised: d.Revised, Model: model, Size: fmt.Sprintf("%dx%d", c.Width, c.Height)}
	text := fmt.Sprintf("saved %s (%s, %d bytes)", g.Path, g.Size, written.Bytes)
	if g.Revised != "" {
		text += "\nThe server drew: " + g.Revised
	}
	return toolkit.Result{Text: text, Data: g, Changed: []toolkit.Change{change}}, nil
}

// withoutQuery drops what gives access to an address.
func withoutQuery(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
}

// download fetches a picture that a service keeps, without the service's key.
func download(ctx context.Context, w *toolkit.Workspace, address string) ([]byte, error) {
	if _, err := url.Parse(address); err != nil {
		return nil, toolkit.Errorf(CodeNoImage, "the image server answered with an address that is none.")
	}
	page, err := w.Net.Fetch(ctx, guard.Request{URL: address, MaxBody: maxPicture})
	switch {
	case err != nil:
		if _, denied := guard.AsDenied(err); denied || ctx.Err() != nil {
			return nil, err
		}
		return nil, toolkit.Errorf(CodeImage, "the image cannot be fetched: %w.", err)
	case page.Status != http.StatusOK || page.Truncated:
		return nil, toolkit.Errorf(CodeImage, "the image cannot be fetched: %s answered %d, %d bytes.", withoutQuery(address), page.Status, len(page.Body))
	}
	return page.Body, nil
}
