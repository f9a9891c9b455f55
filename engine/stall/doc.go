// Package stall notices when a model does not get on: the same call again,
// calls in a circle, text that repeats, an answer that is empty, only announces,
// claims what was not done, or gives up.
//
// A [Guard] watches one turn. It is asked before and after each call, and about
// each answer without calls; a [Stream] watches an answer while it arrives. Each
// [Verdict] names its state and says what to do: go on, answer the call instead
// of running it, send the model a nudge, ask again, or stop.
//
// Guarantees: nudges are capped, for each state and for the turn; a stop always
// carries an error and a hint for the person, so that nothing ends silently; a
// normal answer is left alone, and in doubt it counts as normal. Nothing here
// does I/O, reads a clock or starts a goroutine; memory is bounded whatever is
// fed in. Values are for one goroutine.
//
// A nudge is a message to the model that is not shown to the person. Once sent
// it stays in what the model is sent, or the prefix that its server caches would
// break.
package stall
