//go:build race

package eval

// share is the part of the tasks that the longest test takes, and brief cuts the
// others too: with the race detector each takes ten times as long, and a few
// show what there is to see.
const (
	share = 6
	brief = true
)
