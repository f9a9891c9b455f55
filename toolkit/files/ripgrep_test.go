package files

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// BenchmarkGrepAgainstRipgrep searches 50,000 files with the tool and with
// ripgrep in turn and reports the ratio of the times. ripgrep's time includes
// starting it, which is about two milliseconds.
func BenchmarkGrepAgainstRipgrep(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("ripgrep is not installed")
	}
	s := newSpace(b)
	body := strings.Repeat("func handler(w http.ResponseWriter, r *http.Request) error {\n\treturn nil\n}\n", 20)
	for i := range 50_000 {
		text := body
		if i%1000 == 0 {
			text += "needle_in_the_haystack\n"
		}
		s.put(fmt.Sprintf("d%d/e%d/f%d.go", i%40, i%25, i), text)
	}
	pattern := "needle_in_[a-z]+_haystack"
	s.must(Grep(), args{"pattern": pattern}) // the files are in memory now
	var ours, theirs time.Duration
	for b.Loop() {
		begin := time.Now()
		s.must(Grep(), args{"pattern": pattern})
		ours += time.Since(begin)
		begin = time.Now()
		if err := exec.CommandContext(b.Context(), rg, "-n", "-i", pattern, s.w.Root).Run(); err != nil {
			b.Fatal(err)
		}
		theirs += time.Since(begin)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "times-ripgrep")
}
