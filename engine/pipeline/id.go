package pipeline

import (
	"strings"

	"github.com/google/uuid"
)

// NewID returns a new random id: 32 lower-case hexadecimal digits, so that a
// double click selects it whole. Sessions, messages, calls, approvals and rules
// are named by it.
func NewID() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }
