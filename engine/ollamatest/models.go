package ollamatest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"chela/tiers"
)

// Model is one installed model. Only the name is needed.
type Model struct {
	Name         string
	Parameters   int64    // 0: 8 billion
	Context      int      // tokens it was trained for; 0: 32768
	Family       string   // empty: qwen3
	Quantization string   // empty: Q4_K_M
	Capabilities []string // nil: completion and tools
	Size         int64    // bytes on disk; 0: half a byte a parameter
	Modified     time.Time
	Remote       string         // the host of a cloud model
	Info         map[string]any // further facts of model_info, such as the size of the KV cache
	LoadFault    string         // what loading it answers instead; empty: it loads

	Loaded bool
	Window int   // tokens in force while loaded
	VRAM   int64 // bytes of Size in GPU memory while loaded
}

// full fills what the test left open.
func (m Model) full() Model {
	if m.Parameters == 0 {
		m.Parameters = 8e9
	}
	if m.Context == 0 {
		m.Context = 32768
	}
	if m.Family == "" {
		m.Family = "qwen3"
	}
	if m.Quantization == "" {
		m.Quantization = "Q4_K_M"
	}
	if m.Capabilities == nil {
		m.Capabilities = []string{"completion", "tools"}
	}
	if m.Size == 0 {
		m.Size = m.Parameters / 2
	}
	return m
}

func (m Model) details() api.ModelDetails {
	return api.ModelDetails{
		Format: "gguf", Family: m.Family, Families: []string{m.Family}, QuantizationLevel: m.Quantization, ParameterSize: tiers.FormatSize(m.Parameters),
	}
}

func (m Model) digest() string { return fmt.Sprintf("%064x", []byte(m.Name)) }

func (s *Server) installed() []Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Model, len(s.models))
	for i, m := range s.models {
		out[i] = m.full()
	}
	return out
}

func (s *Server) tags(w http.ResponseWriter, _ *http.Request) {
	resp := api.ListResponse{Models: []api.ListModelResponse{}}
	for _, m := range s.installed() {
		resp.Models = append(resp.Models, api.ListModelResponse{
			Name: m.Name, Model: m.Name, ModifiedAt: m.Modified, Size: m.Size, Digest: m.digest(), Details: m.details(), RemoteHost: m.Remote,
		})
	}
	answer(w, resp)
}

func (s *Server) ps(w http.ResponseWriter, _ *http.Request) {
	resp := api.ProcessResponse{Models: []api.ProcessModelResponse{}}
	for _, m := range s.installed() {
		if m.Loaded {
			resp.Models = append(resp.Models, api.ProcessModelResponse{
				Name: m.Name, Model: m.Name, Size: m.Size, SizeVRAM: m.VRAM, Digest: m.digest(), Details: m.details(), ContextLength: m.Window,
			})
		}
	}
	answer(w, resp)
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	var req api.ShowRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	m, ok := s.find(req.Model)
	if !ok {
		fail(w, http.StatusNotFound, fmt.Sprintf("model '%s' not found", req.Model))
		return
	}
	m = m.full()
	resp := api.ShowResponse{
		Details: m.details(), ModifiedAt: m.Modified, RemoteHost: m.Remote,
		ModelInfo: map[string]any{
			"general.architecture": m.Family, "general.parameter_count": m.Parameters, m.Family + ".context_length": m.Context,
		},
	}
	maps.Copy(resp.ModelInfo, m.Info)
	for _, c := range m.Capabilities {
		resp.Capabilities = append(resp.Capabilities, model.Capability(c))
	}
	answer(w, resp)
}

// load notes that a model is in memory, with the window that was asked for, and
// returns why it is not.
func (s *Server) load(req api.ChatRequest) (fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.models {
		m := &s.models[i]
		if m.Name != req.Model && m.Name != req.Model+":latest" {
			continue
		}
		if m.LoadFault != "" {
			return m.LoadFault
		}
		m.Loaded = true
		if n, ok := req.Options["num_ctx"].(float64); ok {
			m.Window = int(n)
		}
	}
	return ""
}

// next takes the next reply of the script, or asks the test's own model.
func (s *Server) next(req api.ChatRequest) *Reply {
	s.mu.Lock()
	if len(s.replies) > 0 {
		next := s.replies[0]
		s.replies = s.replies[1:]
		s.mu.Unlock()
		return next
	}
	model := s.model
	s.mu.Unlock()
	if model == nil {
		return nil
	}
	return model(req)
}

// count is about the tokens of a request: its messages and tools at four bytes
// each.
func count(req api.ChatRequest) int {
	n := 0
	for _, part := range []any{req.Messages, req.Tools} {
		b, err := json.Marshal(part)
		if err != nil {
			panic(fmt.Sprintf("ollamatest: %v", err)) // it came as JSON
		}
		n += len(b)
	}
	return n / 4
}

// chat answers with the next reply. A request without messages only loads the
// model, and takes none.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	var req api.ChatRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if _, ok := s.find(req.Model); !ok {
		fail(w, http.StatusNotFound, fmt.Sprintf("model '%s' not found", req.Model))
		return
	}
	if fault := s.load(req); fault != "" {
		fail(w, http.StatusInternalServerError, fault)
		return
	}
	if len(req.Messages) == 0 {
		answer(w, api.ChatResponse{Model: req.Model, Message: api.Message{Role: "assistant"}, Done: true, DoneReason: "load"})
		return
	}
	next := s.next(req)
	if next == nil {
		s.t.Errorf("ollamatest: a chat with %s was not scripted; its last message: %q", req.Model, req.Messages[len(req.Messages)-1].Content)
		fail(w, http.StatusInternalServerError, "no reply is scripted")
		return
	}
	next.serve(&out{r.Context(), s.done, w, req.Model, req.Logprobs, count(req)})
}
