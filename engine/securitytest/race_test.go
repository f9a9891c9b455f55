//go:build race

package securitytest

// underRace is set where the race detector makes everything some ten times
// slower. It looks for other faults than the floor's, and one origin shows them.
const underRace = true
