//go:build !race

package eval

// share is the part of the tasks that the longest test takes: one of so many.
// All of them are run by make eval.
const (
	share = 2
	brief = false
)
