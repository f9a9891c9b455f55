package media

import (
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

const evil = `$(touch pwned) "; touch pwned; -w x`

func TestTextReachesTheProgramUnread(t *testing.T) {
	w, bin := bench(t)
	tooltest.Program(t, bin, "espeak-ng", "")
	p, r, err := tooltest.Do(t, Speak(), w, a{"text": evil, "voice": "en-gb", "speed": 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := tooltest.Read(t, bin, "espeak-ng.in"); got != evil {
		t.Errorf("its input: %q", got)
	}
	if got := tooltest.Read(t, bin, "espeak-ng.args"); got != "--stdin\n-s\n350\n-v\nen-gb\n" {
		t.Errorf("its arguments: %q", got)
	}
	d, ok := r.Data.(Spoken)
	if !ok || !d.Played || d.Engine != "espeak-ng" || d.AudioPath != "" || p.Level != toolkit.Safe || p.Preview.Program != bin+"/espeak-ng" {
		t.Errorf("%+v, %+v", r.Data, p)
	}
	if estimate(evil, 2) >= estimate(evil, 1) {
		t.Error("faster is not shorter")
	}
}

func TestSpdSayGetsItsTextBehindTheOptions(t *testing.T) {
	w, bin := bench(t)
	tooltest.Program(t, bin, "spd-say", "")
	if _, _, err := tooltest.Do(t, Speak(), w, a{"text": "--help", "speed": 4}); err != nil {
		t.Fatal(err)
	}
	if got := tooltest.Read(t, bin, "spd-say.args"); got != "--wait\n-r\n100\n--\n--help\n" {
		t.Errorf("its arguments: %q", got)
	}
	if _, _, err := tooltest.Do(t, Speak(), w, a{"text": "x", "outputPath": "a.wav"}); toolkit.AsError(err).Code != CodeSpeech {
		t.Errorf("it cannot save: %v", err)
	}
}

// streamed is a WAV whose sizes the writer did not know, as a shell script prints it.
const streamed = `printf 'RIFF\377\377\377\377WAVEfmt 0123456789012345678901data\377\377\377\377'; printf 'ABCDEFGH'`

func TestAudioIsSavedThroughTheGuard(t *testing.T) {
	w, bin := bench(t)
	tooltest.Program(t, bin, "espeak-ng", streamed)
	tooltest.Program(t, bin, "ffmpeg", "printf MP3")
	_, _, err := tooltest.Do(t, Speak(), w, a{"text": "hi", "outputPath": "out/a.wav", "play": false})
	if err != nil {
		t.Fatal(err)
	}
	got := tooltest.Read(t, w.Root, "out/a.wav")
	if !strings.HasPrefix(got, "RIFF") || !strings.HasSuffix(got, "ABCDEFGH") {
		t.Errorf("saved %q", got)
	}
	p, r, err := tooltest.Do(t, Speak(), w, a{"text": "hi", "outputPath": "a.mp3", "format": "mp3"})
	if err != nil || tooltest.Read(t, w.Root, "a.mp3") != "MP3" || p.Level != toolkit.Moderate || target(p) != "a.mp3" {
		t.Errorf("%v, %+v", err, p)
	}
	if d, ok := r.Data.(Spoken); !ok || d.AudioPath != "a.mp3" || !d.Played || len(r.Changed) != 1 {
		t.Errorf("%+v", r)
	}
	if in := tooltest.Read(t, bin, "ffmpeg.in"); in != got {
		t.Errorf("ffmpeg got %q", in)
	}
	for path, code := range map[string]toolkit.Code{"a.mp3": toolkit.CodeInvalid, "b.ogg": toolkit.CodeInvalid} {
		if _, _, err := tooltest.Do(t, Speak(), w, a{"text": "hi", "outputPath": path, "format": "mp3"}); toolkit.AsError(err).Code != code {
			t.Errorf("%s: %v", path, err)
		}
	}
	_, _, err = tooltest.Do(t, Speak(), w, a{"text": "hi", "outputPath": "../a.wav"})
	if _, denied := guard.AsDenied(err); !denied {
		t.Errorf("outside: %v", err)
	}
}

func TestSizesOfAStreamedWAVAreWritten(t *testing.T) {
	b := []byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x000123456789abcdefdata\xff\xff\xff\xffABCD")
	if got := sizedWAV(b); got[4] != 40 || got[40] != 4 {
		t.Errorf("%v", got)
	}
	if got := sizedWAV([]byte("other")); string(got) != "other" {
		t.Errorf("%q", got)
	}
}

func TestPiperNeedsAVoiceAndAPlayer(t *testing.T) {
	w, bin := bench(t)
	tooltest.Program(t, bin, "piper", streamed)
	if Speak().Available(t.Context(), w) == nil {
		t.Error("offered without a voice")
	}
	w.Config.Speech = toolkit.SpeechConfig{Program: "piper", Voice: "/voices/en.onnx"}
	if _, _, err := tooltest.Do(t, Speak(), w, a{"text": "hi"}); toolkit.AsError(err).Code != CodeSpeech {
		t.Errorf("without a player: %v", err)
	}
	tooltest.Program(t, bin, "aplay", "")
	if _, _, err := tooltest.Do(t, Speak(), w, a{"text": "hi"}); err != nil {
		t.Fatal(err)
	}
	if got := tooltest.Read(t, bin, "piper.args"); got != "--model\n/voices/en.onnx\n--length_scale\n1.00\n--output_file\n-\n" {
		t.Errorf("its arguments: %q", got)
	}
	if in := tooltest.Read(t, bin, "aplay.in"); !strings.HasSuffix(in, "ABCDEFGH") {
		t.Errorf("played %q", in)
	}
	if _, _, err := tooltest.Do(t, Speak(), w, a{"text": "hi", "voice": "../x.onnx"}); toolkit.AsError(err).Code != toolkit.CodeInvalid {
		t.Errorf("a path for a voice: %v", err)
	}
}

func TestFailuresOfSpeechAreSaid(t *testing.T) {
	w, bin := bench(t)
	if err := Speak().Available(t.Context(), w); err == nil || !strings.Contains(err.Error(), "espeak-ng") {
		t.Errorf("got %v", err)
	}
	tooltest.Program(t, bin, "espeak-ng", "echo no sound card >&2; exit 3")
	_, _, err := tooltest.Do(t, Speak(), w, a{"text": "hi"})
	if e := toolkit.AsError(err); e.Code != CodeSpeech || !strings.Contains(e.Message, "code 3") || !strings.Contains(e.Message, "no sound card") {
		t.Errorf("got %+v", e)
	}
	if _, _, err := tooltest.Do(t, Speak(), w, a{"text": "hi", "play": false}); toolkit.AsError(err).Code != toolkit.CodeInvalid {
		t.Errorf("nothing to do: %v", err)
	}
}
