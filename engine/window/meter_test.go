package window_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"chela/engine/window"
)

// The weights against a real tokenizer: an estimate that nothing was learnt
// for is within a third.
func TestEstimateIsNearARealTokenizer(t *testing.T) {
	enc, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("fit.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"Go":       string(source),
		"JSON":     strings.Repeat(`{"name":"read_file","arguments":{"path":"engine/turn.go","offset":120,"lines":40}}`+"\n", 20),
		"listing":  strings.Repeat("-rw-r--r-- 1 root root 18372 Nov 30 12:15 design.md\n", 20),
		"Chinese":  strings.Repeat("请先阅读这个文件，然后修复解析器中的错误，最后运行所有测试。", 10),
		"Japanese": strings.Repeat("このファイルを読んで、パーサーの誤りを直してください。", 10),
		"German":   strings.Repeat("Lies zuerst die Datei, behebe dann den Fehler im Übersetzer und führe alle Prüfungen aus. ", 10),
		"Russian":  strings.Repeat("Сначала прочитай файл, затем исправь ошибку в анализаторе. ", 10),
	} {
		ids, _, err := enc.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		got, want := float64((window.Meter{}).Text(text)), float64(len(ids))
		if got < want*0.67 || got > want*1.6 {
			t.Errorf("%s: estimated %.0f tokens, really %.0f", name, got, want)
		}
	}
}

func sized(units float64, messages int) window.Size {
	return window.Size{Units: units, Messages: messages}
}

func TestMeterLearns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := rapid.Float64Range(2.2, 5.4).Draw(t, "units a token")
		var m window.Meter
		for range 30 {
			units, n := rapid.Float64Range(2000, 60000).Draw(t, "units"), rapid.IntRange(1, 40).Draw(t, "messages")
			m.Observe(sized(units, n), int(units/truth)+n*6)
		}
		s := sized(20000, 5)
		want := 20000/truth + 30
		if got := float64(m.Estimate(s)); got < want*0.93 || got > want*1.07 {
			t.Fatalf("estimated %.0f tokens after learning, really %.0f (%+v)", got, want, m)
		}
	})
}

func TestMeterIsRobust(t *testing.T) {
	settled := window.Meter{}
	for range 10 {
		settled.Observe(sized(8000, 4), 2024)
	}
	for name, c := range map[string]struct {
		sent  window.Size
		count int
	}{
		"a truncated prompt":       {sized(40000, 10), 4096},
		"no count":                 {sized(40000, 10), 0},
		"a short prompt":           {sized(100, 1), 150},
		"mostly images":            {window.Size{Units: 400, Messages: 1, Images: 4}, 1200},
		"a count beyond reason":    {sized(4000, 1), 100000},
		"images at their own cost": {window.Size{Units: 8000, Messages: 4, Images: 2}, 2024 + 2*window.PerImage},
	} {
		t.Run(name, func(t *testing.T) {
			m := settled
			m.Observe(c.sent, c.count)
			if d := m.Ratio - settled.Ratio; d > 0.05 || d < -0.05 {
				t.Errorf("one observation moved the ratio from %.2f to %.2f", settled.Ratio, m.Ratio)
			}
		})
	}
	var back window.Meter
	kept, err := json.Marshal(settled)
	if err != nil || json.Unmarshal(kept, &back) != nil || back != settled {
		t.Errorf("a meter does not survive being stored: %s", kept)
	}
	damaged := window.Meter{Ratio: -1, Samples: 9}
	if damaged.Text("hello") != (window.Meter{}).Text("hello") {
		t.Error("a damaged meter is not taken for a new one")
	}
}

func TestTruncated(t *testing.T) {
	learnt := window.Meter{Ratio: 4, Samples: 5}
	for name, c := range map[string]struct {
		meter             window.Meter
		estimate, counted int
		want              bool
	}{
		"9928 sent, 4096 read":      {window.Meter{}, 9928, 4096, true},
		"15750 sent, 2051 read":     {window.Meter{}, 15750, 2051, true},
		"a guess that was too high": {window.Meter{}, 5000, 3300, false},
		"the same once it is known": {learnt, 5000, 3300, true},
		"more than estimated":       {learnt, 5000, 6000, false},
		"no count":                  {learnt, 5000, 0, false},
		"a small prompt":            {learnt, 300, 100, false},
	} {
		if got := c.meter.Truncated(c.estimate, c.counted); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
