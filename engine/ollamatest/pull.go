package ollamatest

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/ollama/ollama/api"
)

// Pull is the scripted download of one model. Its methods add what is sent
// next and return the download itself. Unless it fails, it ends with success
// and the model is installed.
type Pull struct {
	mu    sync.Mutex
	steps []step
	model Model
	end   func(*out) bool // nil: success
}

// Pull scripts the download of a model. Models without a script are not in the
// registry.
func (s *Server) Pull(m Model) *Pull {
	p := &Pull{model: m}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls[m.Name] = p
	return p
}

func (p *Pull) add(f step) *Pull {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps = append(p.steps, f)
	return p
}

// Status sends a stage without numbers ("pulling manifest").
func (p *Pull) Status(text string) *Pull {
	return p.add(func(o *out) bool { return o.line(api.ProgressResponse{Status: text}) })
}

// Layer sends how far one layer is, in bytes.
func (p *Pull) Layer(digest string, completed, total int64) *Pull {
	return p.add(func(o *out) bool {
		return o.line(api.ProgressResponse{Status: "pulling " + digest, Digest: digest, Completed: completed, Total: total})
	})
}

// Gate holds the download until the gate is opened.
func (p *Pull) Gate(g *Gate) *Pull {
	return p.add(func(o *out) bool { return g.wait(o.ctx, o.done) })
}

// Fail ends the download with an error line.
func (p *Pull) Fail(text string) *Pull {
	return p.ends(func(o *out) bool { return o.line(map[string]string{"error": text}) })
}

// Cut breaks the connection off.
func (p *Pull) Cut() *Pull { return p.ends((*out).cut) }

func (p *Pull) ends(f func(*out) bool) *Pull {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end = f
	return p
}

func (s *Server) pull(w http.ResponseWriter, r *http.Request) {
	var req api.PullRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	s.mu.Lock()
	p := s.pulls[req.Model]
	s.mu.Unlock()
	o := &out{ctx: r.Context(), done: s.done, w: w, model: req.Model}
	if p == nil {
		o.line(api.ProgressResponse{Status: "pulling manifest"})
		o.line(map[string]string{"error": "pull model manifest: file does not exist"})
		return
	}
	p.mu.Lock()
	steps, end := p.steps, p.end
	p.mu.Unlock()
	for _, f := range steps {
		if !f(o) {
			return
		}
	}
	if end != nil {
		end(o)
		return
	}
	s.mu.Lock()
	s.models = append(s.models, p.model)
	s.mu.Unlock()
	o.line(api.ProgressResponse{Status: "success"})
}
