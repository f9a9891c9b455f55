package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryFormOfTheModelServersAddressIsOutOfReach(t *testing.T) {
	for host, want := range map[string][]string{
		"127.0.0.1:11434":  {"127.0.0.1:11434", "[::1]:11434"},
		"[::1]:11434":      {"127.0.0.1:11434", "[::1]:11434"},
		"localhost:1":      {"127.0.0.1:1", "[::1]:1"},
		"127.0.0.9:1":      {"127.0.0.1:1", "[::1]:1", "127.0.0.9:1"},
		"192.168.1.5:1234": {"192.168.1.5:1234"},
		"gpu:11434":        nil,
		"in-process":       nil,
	} {
		if diff := cmp.Diff(want, ownForms(host)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", host, diff)
		}
	}
}
