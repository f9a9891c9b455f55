package toolkit

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// tokens.json holds the o200k token count of each built-in tool's schema. It
// is generated (go generate ./toolkit/catalogue) and a test there fails when
// it is stale. Counting while running would need the tokenizer's tables: 40 MB
// of memory for numbers that never change.
//
//go:embed tokens.json
var tokensJSON []byte

var counted = sync.OnceValue(func() map[string]int {
	m := map[string]int{}
	if err := json.Unmarshal(tokensJSON, &m); err != nil {
		panic("toolkit/tokens.json: " + err.Error()) // a broken build
	}
	return m
})

// Tokens is what the tool's schema costs in a request, in o200k tokens. For a
// tool that is not built in it is estimated at 3.6 bytes a token.
func (s *Spec) Tokens() int {
	if n, ok := counted()[s.Name]; ok {
		return n
	}
	return len(s.Wire())*10/36 + 1
}
