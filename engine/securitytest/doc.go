// Package securitytest holds no code but tests: hostile calls against the whole
// engine, with real tools, a real file system, real git and a network that ends
// below the policy check.
//
// It guarantees, as long as its tests pass: each case of
// testdata/security.jsonl is decided as it says there and leaves nothing behind
// that it must not; whoever asks, no tool of the catalogue, present or to come,
// can be given a path, address or command that gets past the floor; and a secret
// that chela knows of is found in none of the places where output goes.
package securitytest
