//go:build !linux && !darwin

package securitytest

import "errors"

func makeFIFO(string) error { return errors.New("there are no FIFOs here") }

func makeNode(string, string, uint32, uint32) error {
	return errors.New("there are no device files here")
}
