package git

import (
	"strings"

	"chela/toolkit"
)

// maxRef bounds the name of a commit, branch or range; git's own limit on a
// file name is 255 bytes a part.
const maxRef = 1024

// CheckRef refuses what a caller gave as a commit, branch or range when git
// could read it as an option or as several arguments. A name that passes goes
// behind --end-of-options all the same, and paths behind --.
func CheckRef(ref string) error {
	why := ""
	switch {
	case ref == "":
		why = "is empty"
	case len(ref) > maxRef:
		why = "is too long"
	case strings.HasPrefix(ref, "-"):
		why = "starts with a dash, like an option"
	case strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xfffd }):
		why = "has a blank or control character"
	default:
		return nil
	}
	return toolkit.Errorf(toolkit.CodeInvalid, "the commit %q %s.", ref, why).WithHint("Give a commit, branch or range, like HEAD~1 or main..topic.")
}
