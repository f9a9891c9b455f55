package media

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// point is one value of a chart.
type point struct {
	label string
	value float64
}

// The bounds of a chart.
const (
	maxPoints   = 60
	chartWidth  = 40 // columns of the longest bar
	chartHeight = 10 // rows of a line
	maxLabel    = 24 // columns
)

// numberOf reads a number as people write it: with thousands and a unit.
func numberOf(s string) (float64, bool) {
	s = strings.TrimRight(strings.ReplaceAll(strings.TrimSpace(s), ",", ""), "%")
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// pointsOf reads a JSON object of numbers, a list of numbers, the usual
// {labels, values}, or rows whose first column is a label and whose last is a
// number.
func pointsOf(text string) []point {
	var out []point
	add := func(label string, v float64) {
		if len(out) < maxPoints {
			out = append(out, point{ansi.Truncate(strings.Join(strings.Fields(label), " "), maxLabel, "…"), v})
		}
	}
	text = strings.TrimSpace(text)
	var series struct {
		Labels   []string  `json:"labels"`
		Values   []float64 `json:"values"`
		Data     []float64 `json:"data"`
		Datasets []struct {
			Data []float64 `json:"data"`
		} `json:"datasets"`
	}
	if json.Unmarshal([]byte(text), &series) == nil && len(series.Labels) > 0 {
		values := append(series.Values, series.Data...)
		if len(values) == 0 && len(series.Datasets) > 0 {
			values = series.Datasets[0].Data
		}
		for i, v := range values[:min(len(values), len(series.Labels))] {
			add(series.Labels[i], v)
		}
		return out
	}
	var plain []float64
	if json.Unmarshal([]byte(text), &plain) == nil {
		for i, v := range plain {
			add(fmt.Sprint(i+1), v)
		}
		return out
	}
	if decodeOrdered(text, func(k string, v any) {
		if n, ok := v.(float64); ok {
			add(k, n)
		}
	}) {
		return out
	}
	rows := tableOf(text)
	if rows == nil {
		for line := range strings.Lines(text) {
			if label, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
				rows = append(rows, []string{label, value})
			} else if label, value, ok := strings.Cut(strings.TrimSpace(line), ","); ok {
				rows = append(rows, []string{label, value})
			}
		}
	}
	for _, r := range rows {
		if len(r) >= 2 {
			if v, ok := numberOf(r[len(r)-1]); ok {
				add(r[0], v)
			}
		}
	}
	return out
}

// drawBars draws one bar a line, from zero; what is below zero is hatched.
func drawBars(points []point) string {
	width, most := 0, 0.0
	for _, p := range points {
		width, most = max(width, ansi.StringWidth(p.label)), max(most, math.Abs(p.value))
	}
	var b strings.Builder
	for _, p := range points {
		n := 0
		if most > 0 {
			n = int(math.Round(math.Abs(p.value) / most * chartWidth))
		}
		bar := "█"
		if p.value < 0 {
			bar = "░"
		}
		fmt.Fprintf(&b, "%s%s %s %s\n", p.label, strings.Repeat(" ", width-ansi.StringWidth(p.label)), strings.Repeat(bar, n), strconv.FormatFloat(p.value, 'g', 6, 64))
	}
	return strings.TrimRight(b.String(), "\n")
}

// drawLine draws values as dots over a common scale, one column each.
func drawLine(points []point) string {
	low, high := points[0].value, points[0].value
	for _, p := range points {
		low, high = min(low, p.value), max(high, p.value)
	}
	grid := make([][]rune, chartHeight)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", len(points)))
	}
	for x, p := range points {
		y := 0 // halves, since the span of two numbers may be none
		if high/2 > low/2 {
			y = int(math.Round((p.value/2 - low/2) / (high/2 - low/2) * (chartHeight - 1)))
		}
		grid[chartHeight-1-y][x] = '•'
	}
	top, bottom := strconv.FormatFloat(high, 'g', 6, 64), strconv.FormatFloat(low, 'g', 6, 64)
	width := max(len(top), len(bottom))
	var b strings.Builder
	for i, row := range grid {
		label := ""
		switch i {
		case 0:
			label = top
		case chartHeight - 1:
			label = bottom
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%*s │%s", width, label, string(row)), " ") + "\n")
	}
	fmt.Fprintf(&b, "%*s └%s\n%*s  %s … %s", width, "", strings.Repeat("─", len(points)), width, "", points[0].label, points[len(points)-1].label)
	return b.String()
}
