package shell

import (
	"strings"
	"testing"
	"time"

	"chela/toolkit"
)

func TestLiveOutputIsBoundedAndSaysWhatIsMissing(t *testing.T) {
	now := time.Unix(1000, 0)
	var shown strings.Builder
	l := &lineProgress{now: func() time.Time { return now }, report: func(p toolkit.Progress) { shown.WriteString(p.Text) }}
	line := []byte(strings.Repeat("y", 1023) + "\n")
	for range 1000 {
		l.write(line)
	}
	if n := shown.Len(); n > liveBurst || n < liveBurst/2 {
		t.Errorf("%d bytes at once", n)
	}
	now = now.Add(time.Second)
	shown.Reset()
	for range 1000 {
		l.write(line)
	}
	if n := shown.Len(); n > liveRate+100 || n < liveRate/2 {
		t.Errorf("%d bytes a second later", n)
	}
	if !strings.HasPrefix(shown.String(), "[958464 bytes of output not shown]\n") {
		t.Errorf("begins %q", shown.String()[:40])
	}
	shown.Reset()
	l.close()
	if shown.String() != "[991232 bytes of output not shown]\n" {
		t.Errorf("ends %q", shown.String())
	}
	l.close()
	l.write(line)
	if strings.Count(shown.String(), "\n") != 1 {
		t.Errorf("after the end: %q", shown.String())
	}
}
