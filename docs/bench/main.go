// Command bench measures chela against the numbers it promises and writes
// docs/benchmarks.md. Whole-program figures are taken on the real binary in a
// pseudo-terminal; the others come from Go benchmarks that report the figure
// themselves.
//
//	go run ./docs/bench BINARY docs/benchmarks.md
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// row is one line of the table.
type row struct {
	what, bar, got, how string
	ok                  bool
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "empty" {
		if err := runEmpty(); err != nil {
			os.Exit(1)
		}
		return
	}
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: bench BINARY FILE.md")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	var rows []row
	for _, measure := range []func(context.Context, string) ([]row, error){binarySize, startAndIdle, longSession, goBenchmarks, crashes, grepping} {
		r, err := measure(ctx, binary)
		if err != nil {
			return err
		}
		for _, x := range r {
			fmt.Printf("%-62s %-22s %s\n", x.what, x.got, x.bar)
		}
		rows = append(rows, r...)
	}
	return os.WriteFile(out, []byte(report(rows)), 0o644)
}

func report(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nMade by `make bench` on %s, %s/%s, %d cores, %s. One run on a shared machine: the ratios say more than the times.\n\n",
		time.Now().Format("2006-01-02"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	b.WriteString("| What | Bar | Measured | Met | How |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		met := "yes"
		if !r.ok {
			met = "**no**"
		}
		if r.bar == "" {
			met = "-"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.what, r.bar, r.got, met, r.how)
	}
	b.WriteString("\nFor comparison, measured on this kind of machine: Crush, an agent built with the same toolkit, needs 164 ms to its first frame and 96 MiB at idle, with a binary of 129 MB.\n")
	return b.String()
}
