package pocket

import (
	"bytes"
	"testing"
)

func TestHyperparametersComeFromTheFile(t *testing.T) {
	t.Parallel()
	f, err := openFile()
	if err != nil {
		t.Fatal(err)
	}
	want := hyper{layers: 4, dim: 192, heads: 4, headDim: 48, ffn: 384, vocab: 264, context: 4096, eps: 1e-5, ropeBase: 10000}
	if f.hyper != want {
		t.Errorf("%+v, want %+v", f.hyper, want)
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	t.Parallel()
	f, err := openFile()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loadWeights(f, ggufBytes[:len(ggufBytes)-1000]); err == nil {
		t.Error("a file that ends early was loaded")
	}
	if _, err := f.tensor(ggufBytes, "output.weight", 7); err == nil {
		t.Error("a tensor of the wrong size was read")
	}
	if _, err := f.tensor(ggufBytes, "missing.weight", 7); err == nil {
		t.Error("a missing tensor was read")
	}
	if _, err := floats(nil, 99, "x"); err == nil {
		t.Error("an unknown tensor type was read")
	}
	for name, b := range map[string][]byte{
		"no file":               nil,
		"not GGUF":              []byte("PK\x03\x04 something else"),
		"ends in the header":    ggufBytes[:100],
		"another architecture":  bytes.Replace(ggufBytes[:8192], []byte("\x05\x00\x00\x00\x00\x00\x00\x00llama"), []byte("\x05\x00\x00\x00\x00\x00\x00\x00mamba"), 1),
		"ends in the tensors":   ggufBytes[:8192],
		"metadata were renamed": bytes.Replace(ggufBytes, []byte("llama.vocab_size"), []byte("llama.vocab_sizE"), 1),
	} {
		t.Run(name, func(t *testing.T) {
			f, err := parseFile(b)
			if err != nil {
				return
			}
			if _, err := loadWeights(f, b); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

func TestModelfilesThatCannotBeUsedAreErrors(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":             "",
		"no template":       "FROM x\nPARAMETER top_k 1\n",
		"broken template":   "FROM x\nTEMPLATE {{ if }}\n",
		"unknown parameter": "FROM x\nTEMPLATE {{ .Prompt }}\nPARAMETER nonsense 1\n",
	} {
		if _, err := parseModelfile(text); err == nil {
			t.Errorf("%s: it was accepted", name)
		}
	}
}
