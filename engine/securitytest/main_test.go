package securitytest

import (
	"testing"

	"go.uber.org/goleak"

	"chela/toolkit/guard/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()                                                                               // when the sandbox starts this program again, it does not return
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")) // a clock that stops by itself, some time after the last match
}
