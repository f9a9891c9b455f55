package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// bench runs one Go benchmark and returns the metrics it reports, by unit.
func bench(ctx context.Context, pkg, name, benchtime string) (map[string]float64, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+name+"$", "-benchtime", benchtime, pkg)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w\n%s", name, pkg, err, out)
	}
	m := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], name) {
			continue
		}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				m[f[i+1]] = v
			}
		}
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("%s in %s reported nothing:\n%s", name, pkg, out)
	}
	return m, nil
}

func goBenchmarks(ctx context.Context, _ string) ([]row, error) {
	keys, err := bench(ctx, "./ui", "BenchmarkKeystrokeWhileStreaming", "3000x")
	if err != nil {
		return nil, err
	}
	steps, err := bench(ctx, "./engine/pipeline", "BenchmarkSafeCall", "2000x")
	if err != nil {
		return nil, err
	}
	stream, err := bench(ctx, "./ui/markdown", "BenchmarkStreamAgainstWhole", "1x")
	if err != nil {
		return nil, err
	}
	p99, over, ratio := keys["p99-ms"], steps["ns/op"]/1e6, stream["times-cheaper"]
	return []row{
		{"Keystroke to frame while 100 tokens/s stream into a 10,000-message session, 200x50", "p99 under 8 ms", fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", keys["p50-ms"], p99), "`BenchmarkKeystrokeWhileStreaming` in ui", p99 < 8},
		{"The five steps of a safe call, store writes included", "under 2 ms", fmt.Sprintf("%.2f ms", over), "`BenchmarkSafeCall` in engine/pipeline", over < 2},
		{"Streaming a 16 KB Markdown answer, against rendering it whole each time", "at least 50 times cheaper", fmt.Sprintf("%.0f times", ratio), "`BenchmarkStreamAgainstWhole` in ui/markdown", ratio >= 50},
	}, nil
}

// crashes runs the kill test two hundred times.
func crashes(ctx context.Context, _ string) ([]row, error) {
	begin := time.Now()
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-run", "TestKilledAtAnyMomentNothingFinishedIsLost", "./store")
	cmd.Env = append(os.Environ(), "CHELA_TEST_KILLS=200")
	out, err := cmd.CombinedOutput()
	got := fmt.Sprintf("0 lost in 200 (%.0f s)", time.Since(begin).Seconds())
	if err != nil {
		got = "failed: " + strings.TrimSpace(string(out))
	}
	return []row{{"kill -9 at any moment, 200 times", "0 finished messages or calls lost", got, "`CHELA_TEST_KILLS=200 go test ./store`", err == nil}}, nil
}

// grepping compares the grep tool with ripgrep on 50,000 files.
func grepping(ctx context.Context, _ string) ([]row, error) {
	if _, err := exec.LookPath("rg"); err != nil {
		return []row{{"grep over 50,000 files", "no slower than 1.5 times ripgrep", "ripgrep is not installed", "", true}}, nil
	}
	m, err := bench(ctx, "./toolkit/files", "BenchmarkGrepAgainstRipgrep", "3x")
	if err != nil {
		return nil, err
	}
	rows := []row{{"grep over 50,000 files", "no slower than 1.5 times ripgrep", fmt.Sprintf("%.2f times ripgrep", m["times-ripgrep"]), "`BenchmarkGrepAgainstRipgrep` in toolkit/files", m["times-ripgrep"] <= 1.5}}
	if m, err = bench(ctx, "./toolkit/files", "BenchmarkSearchFilesAgainstFd", "3x"); err != nil {
		return nil, err
	}
	if times, ok := m["times-fd"]; ok {
		rows = append(rows, row{"search_files over 50,000 files", "", fmt.Sprintf("%.2f times fd", times), "`BenchmarkSearchFilesAgainstFd` in toolkit/files", true})
	}
	return rows, nil
}
