package pocket

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxBody is the largest request that is read, in bytes. Ollama has no limit;
// the model's window is 4096 bytes, the rest is history that is left out.
const maxBody = 64 << 20

// statusError is an error with the HTTP status that it is answered with.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

func badRequest(format string, args ...any) error {
	return &statusError{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

// decode reads one JSON value from the request's body. As in Ollama, fields
// that are not known are ignored.
func decode[T any](w http.ResponseWriter, r *http.Request) (T, error) {
	var v T
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&v)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, io.EOF):
		return v, badRequest("missing request body")
	case errors.As(err, &tooLarge):
		return v, &statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("the request body is larger than %d bytes: send fewer or shorter messages", tooLarge.Limit)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return v, badRequest("invalid JSON in the request body: it ends too early")
	}
	return v, badRequest("invalid JSON in the request body: %w", err)
}

// reply writes the answers of one request: a line of JSON each, or one object.
type reply struct {
	w       http.ResponseWriter
	started bool
}

// one sends v as the whole answer.
func (r *reply) one(v any) error {
	return r.object(http.StatusOK, v)
}

func (r *reply) object(status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	r.started = true
	r.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	r.w.WriteHeader(status)
	_, err = r.w.Write(b)
	return err
}

// line sends v as one line of a stream, at once.
func (r *reply) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	if !r.started {
		r.started = true
		r.w.Header().Set("Content-Type", "application/x-ndjson")
	}
	if _, err := r.w.Write(append(b, '\n')); err != nil {
		return err
	}
	if err := http.NewResponseController(r.w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// fail reports err with its status, or as the last line of a stream that has
// begun.
func (r *reply) fail(err error) {
	body := map[string]string{"error": err.Error()}
	if r.started {
		_ = r.line(body) // the client has gone if this fails
		return
	}
	status := http.StatusInternalServerError
	var s *statusError
	if errors.As(err, &s) {
		status = s.status
	}
	_ = r.object(status, body)
}
