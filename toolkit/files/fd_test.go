package files

import (
	"fmt"
	"os/exec"
	"testing"
	"time"
)

// BenchmarkSearchFilesAgainstFd finds 50 of 50,000 files by name, beside fd.
func BenchmarkSearchFilesAgainstFd(b *testing.B) {
	fd, err := exec.LookPath("fdfind") // as Debian calls it
	if err != nil {
		if fd, err = exec.LookPath("fd"); err != nil {
			b.Skip("fd is not installed")
		}
	}
	s := newSpace(b)
	for i := range 50_000 {
		name := "file"
		if i%1000 == 0 {
			name = "needle"
		}
		s.put(fmt.Sprintf("d%d/e%d/%s%d.go", i%40, i%25, name, i), "x\n")
	}
	s.must(SearchFiles(), args{"pattern": "**/needle*.go"}) // the folders are in memory now
	var ours, theirs time.Duration
	for b.Loop() {
		begin := time.Now()
		s.must(SearchFiles(), args{"pattern": "**/needle*.go"})
		ours += time.Since(begin)
		begin = time.Now()
		if err := exec.CommandContext(b.Context(), fd, "--hidden", "--glob", "needle*.go", s.w.Root).Run(); err != nil {
			b.Fatal(err)
		}
		theirs += time.Since(begin)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "times-fd")
}
