package pocket

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/format"
	"github.com/ollama/ollama/types/model"
)

// displayName is the name that lists show: Ollama's never leave the tag out.
const displayName = ModelName + ":latest"

// digest identifies the embedded file: learnt facts about a model are kept by
// its digest.
var digest = sync.OnceValue(func() string {
	sum := sha256.Sum256(ggufBytes)
	return hex.EncodeToString(sum[:])
})

// modified is the day on which the embedded file was exported; the file itself
// has no date.
var modified = time.Date(2026, time.November, 30, 0, 0, 0, 0, time.UTC)

func (f *modelFile) details() api.ModelDetails {
	kv := f.ggml.KV()
	return api.ModelDetails{
		Format:            f.ggml.Name(),
		Family:            kv.Architecture(),
		Families:          []string{kv.Architecture()},
		ParameterSize:     format.HumanNumber(kv.ParameterCount()),
		QuantizationLevel: kv.FileType().String(),
	}
}

func (s *Server) version(out *reply, _ *http.Request) error {
	return out.one(map[string]string{"version": APIVersion})
}

func (s *Server) tags(out *reply, _ *http.Request) error {
	f, err := openFile()
	if err != nil {
		return err
	}
	return out.one(api.ListResponse{Models: []api.ListModelResponse{{
		Name: displayName, Model: displayName, ModifiedAt: modified,
		Size: int64(len(ggufBytes)), Digest: digest(), Details: f.details(),
	}}})
}

func (s *Server) ps(out *reply, _ *http.Request) error {
	res := api.ProcessResponse{Models: []api.ProcessModelResponse{}}
	if st := s.residence.now(); st.loaded {
		f, err := openFile()
		if err != nil {
			return err
		}
		// SizeVRAM is zero: the model runs on the processor.
		res.Models = append(res.Models, api.ProcessModelResponse{
			Name: displayName, Model: displayName, Size: st.bytes, Digest: digest(),
			Details: f.details(), ExpiresAt: st.expires.UTC(), ContextLength: st.window,
		})
	}
	return out.one(res)
}

func (s *Server) show(out *reply, r *http.Request) error {
	req, err := decode[api.ShowRequest](out.w, r)
	if err != nil {
		return err
	}
	//lint:ignore SA1019 older clients still send name
	name := cmp.Or(req.Model, req.Name)
	if name == "" {
		return badRequest("model is required")
	}
	if _, found := known(name); !found {
		return errUnknownModel(name)
	}
	p, err := prepare(nil)
	if err != nil {
		return err
	}
	info := map[string]any(maps.Clone(p.file.ggml.KV()))
	delete(info, "general.name") // Ollama leaves it out
	for k, v := range info {
		// Arrays (the vocabulary) come as pointers; Ollama sends null for them
		// unless asked.
		if reflect.TypeOf(v).Kind() == reflect.Pointer && !req.Verbose {
			info[k] = nil
		}
	}
	tensors := []api.Tensor{}
	for _, t := range p.file.ggml.Tensors().Items() {
		tensors = append(tensors, api.Tensor{Name: t.Name, Type: t.Type(), Shape: t.Shape})
	}
	return out.one(api.ShowResponse{
		License:      "MIT",
		System:       req.System,
		Modelfile:    modelfileText,
		Parameters:   p.mf.listParameters(),
		Template:     p.mf.template.String(),
		Details:      p.file.details(),
		ModelInfo:    info,
		Tensors:      tensors,
		Capabilities: []model.Capability{model.CapabilityCompletion, model.CapabilityTools},
		ModifiedAt:   modified,
	})
}

// pull answers POST /api/pull: the built-in model needs none, and there is no
// place for another.
func (s *Server) pull(out *reply, r *http.Request) error {
	req, err := decode[api.PullRequest](out.w, r)
	if err != nil {
		return err
	}
	//lint:ignore SA1019 older clients still send name
	name := cmp.Or(req.Model, req.Name)
	return badRequest("cannot pull %q: the pocket server has only its built-in model %q; install and start Ollama to use others", name, ModelName)
}
