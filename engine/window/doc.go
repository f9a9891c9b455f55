// Package window governs a model's context: how large a window is asked for,
// what a conversation costs in it, and what gives way when it fills.
//
//   - [Choose] picks num_ctx once, in steps, from facts about model and server.
//   - [Meter] estimates tokens and learns from what the server counts.
//   - [Fit] says which old tool results to fold and what to summarise.
//   - [Fold] and [Digest] write what stands in their place, without a model.
//   - [Chain] and [Prefill] tell whether the server's prompt cache can have held.
//
// Guarantees: everything is a pure function of its arguments or a plain value;
// no I/O, no clock, no goroutines. The same input gives the same bytes, since
// what is written here becomes part of the prefix that the server caches. What
// the person wrote is never dropped. Values are not safe for concurrent use
// while a method changes them.
package window
