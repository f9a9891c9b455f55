package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Limits on arguments as emitted. Deeper or larger ones are refused before
// anything looks at them; no real call comes near.
const (
	maxArgBytes = 4 << 20
	maxArgDepth = 64
)

// decodeArgs reads arguments into ordered-insensitive Go values with exact
// numbers. Duplicate keys are errors: two readers could see two calls.
func decodeArgs(raw json.RawMessage) (any, error) {
	if len(raw) > maxArgBytes {
		return nil, fmt.Errorf("arguments are %d bytes long, more than %d", len(raw), maxArgBytes)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := value(dec, 0)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("arguments end too early: the JSON is cut off")
		}
		return nil, fmt.Errorf("arguments are not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("arguments go on after the JSON object")
	}
	return v, nil
}

func value(dec *json.Decoder, depth int) (any, error) {
	if depth > maxArgDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxArgDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		m := map[string]any{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name := key.(string) // the decoder only yields strings here
			if _, twice := m[name]; twice {
				return nil, fmt.Errorf("%q is given twice", name)
			}
			if m[name], err = value(dec, depth+1); err != nil {
				return nil, err
			}
		}
		_, err := dec.Token()
		return m, err
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := value(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	}
	return tok, nil
}
