//go:build !race

package securitytest

// underRace is set where the race detector slows everything down.
const underRace = false
