package channels

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"path"
	"slices"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/service"
)

// attachment is a file of the workspace that is sent along.
type attachment struct {
	field string // of the form
	path  string
	most  int64 // bytes that the service takes
}

// boundary parts the fields of a form. It is fixed, so that a plan is the same
// each time, and longer than anything a file holds by chance; a file that holds
// it all the same is refused.
const boundary = "chela-0d2f6b1c94e84f6aa7d5b3e1c86f0a42"

// upload reads the file and makes the form. What is shown names the file's hash
// for its content.
func (a *attachment) upload(w *toolkit.Workspace, rest map[string]any) (up *service.Upload, shown string, err error) {
	data, info, err := w.Files.ReadAll(a.path, a.most)
	if err != nil {
		return nil, "", fmt.Errorf("sending %s: %w", a.path, err)
	}
	if bytes.Contains(data, []byte(boundary)) {
		return nil, "", toolkit.Errorf(toolkit.CodeInvalid, "%s holds the mark that ends a file in a form.", a.path)
	}
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	if err := form.SetBoundary(boundary); err != nil {
		return nil, "", fmt.Errorf("sending %s: %w", a.path, err)
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		text, ok := rest[name].(string)
		if !ok {
			v, err := json.Marshal(rest[name])
			if err != nil {
				return nil, "", fmt.Errorf("sending %s: %w", a.path, err)
			}
			text = string(v)
		}
		if err := form.WriteField(name, text); err != nil {
			return nil, "", fmt.Errorf("sending %s: %w", a.path, err)
		}
	}
	part, err := form.CreateFormFile(a.field, path.Base(info.Path))
	if err == nil {
		_, err = part.Write(data)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return nil, "", fmt.Errorf("sending %s: %w", a.path, err)
	}
	told := maps.Clone(rest)
	told[a.field] = fmt.Sprintf("the file %s, %d bytes, sha256 %s", info.Path, len(data), guard.Hash(data))
	text, err := json.MarshalIndent(told, "", "  ")
	return &service.Upload{Type: form.FormDataContentType(), Data: b.Bytes()}, string(text), err
}
