package ollamatest

import "slices"

// Replace puts a model in the place of the installed one of the same name, as
// a newer pull, a load or an unload by another program does.
func (s *Server) Replace(m Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.models, func(old Model) bool { return old.Name == m.Name }); i >= 0 {
		s.models[i] = m
		return
	}
	s.models = append(s.models, m)
}
