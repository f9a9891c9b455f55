package engine

import "time"

// SetGreetTimeout changes how long a server may take to greet, and returns how
// to set it back.
func SetGreetTimeout(d time.Duration) (restore func()) {
	old := greetTimeout
	greetTimeout = d
	return func() { greetTimeout = old }
}
