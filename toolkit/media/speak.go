package media

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

type speakArgs struct {
	Text   string  `json:"text" min:"1" max:"4096" alias:"message,content,input"`
	Voice  string  `json:"voice,omitempty"`
	Speed  float64 `json:"speed,omitempty" default:"1.0" min:"0.25" max:"4" alias:"rate"`
	Format string  `json:"format,omitempty" default:"wav" enum:"wav,mp3,opus"`
	Output string  `json:"outputPath,omitempty" doc:"file to save to" alias:"output_path,output,path"`
	Play   bool    `json:"play,omitempty" default:"true"`
}

// Spoken is the data of tts_speak.
type Spoken struct {
	AudioPath string  `json:"audioPath"` // empty: nothing was saved
	Engine    string  `json:"engine"`
	Voice     string  `json:"voice"`
	Format    string  `json:"format"`
	Duration  float64 `json:"durationEstimate"` // seconds
	Played    bool    `json:"played"`
}

// Speak speaks a text with a program of the system.
func Speak() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "tts_speak", Summary: "Speak text aloud, or save it as audio.", Category: "media", Level: toolkit.Safe, Tier: tiers.Full,
		Synonyms: "say voice read aloud speech audio text-to-speech",
	}, planSpeak, runSpeak, toolkit.AvailableIf(func(_ context.Context, w *toolkit.Workspace) error {
		_, _, err := speaker(w, "")
		return err
	}))
}

// voiceEngine is one program that speaks. Its text comes on its input, or as the
// last argument behind "--".
type voiceEngine struct {
	name   string
	play   func(voice string, speed float64) []string // arguments; nil: it cannot play
	save   func(voice string, speed float64) []string // writes WAV to its output; nil: it cannot
	asArgs bool                                       // the text is an argument
	needs  bool                                       // it does not work without a voice
}

// wordsPerMinute is the speed that engines call normal.
const wordsPerMinute = 175

func words(speed float64) string {
	return fmt.Sprint(min(max(int(wordsPerMinute*speed), 80), 450))
}

// withVoice adds the option that names a voice, if one is wanted.
func withVoice(args []string, option, voice string) []string {
	if voice != "" {
		args = append(args, option, voice)
	}
	return args
}

// voiceEngines are tried in this order, unless the settings name one.
var voiceEngines = []voiceEngine{
	{name: "piper", needs: true, save: func(v string, s float64) []string {
		return []string{"--model", v, "--length_scale", fmt.Sprintf("%.2f", 1/s), "--output_file", "-"}
	}},
	{name: "espeak-ng", play: func(v string, s float64) []string {
		return withVoice([]string{"--stdin", "-s", words(s)}, "-v", v)
	}, save: func(v string, s float64) []string {
		return withVoice([]string{"--stdin", "--stdout", "-s", words(s)}, "-v", v)
	}},
	{name: "say", play: func(v string, s float64) []string {
		return withVoice([]string{"-f", "-", "-r", words(s)}, "-v", v)
	}},
	{name: "spd-say", asArgs: true, play: func(v string, s float64) []string {
		return withVoice([]string{"--wait", "-r", fmt.Sprint(min(max(int(math.Round(50*math.Log2(s))), -100), 100))}, "-y", v)
	}},
}

// players play WAV from their input.
var players = [][]string{{"pw-play", "-"}, {"aplay", "-q", "-"}, {"ffplay", "-v", "error", "-nodisp", "-autoexit", "-i", "pipe:0"}}

// voiceName is what engines call voices. Only the settings may name a file.
var voiceName = regexp.MustCompile(`^[\p{L}\p{N}_(][\p{L}\p{N} _.+()@-]{0,99}$`)

// speaker returns the engine that speaks, and the voice.
func speaker(w *toolkit.Workspace, voice string) (voiceEngine, string, error) {
	if w.Proc == nil {
		return voiceEngine{}, "", errors.New("no programs can be run here")
	}
	set := ""
	if w.Config != nil {
		set = w.Config.Speech.Program
		if voice == "" {
			voice = w.Config.Speech.Voice
		}
	}
	var names []string
	for _, e := range voiceEngines {
		names = append(names, e.name)
		if set != "" && set != e.name || e.needs && voice == "" {
			continue
		}
		if _, err := w.Proc.LookPath(e.name); err == nil {
			return e, voice, nil
		}
	}
	if set != "" && !slices.Contains(names, set) {
		return voiceEngine{}, "", fmt.Errorf("speech.program in settings.yml is %q; it can be %s", set, strings.Join(names, ", "))
	}
	return voiceEngine{}, "", errors.New("no program that speaks is installed (piper with speech.voice set, espeak-ng, say or spd-say)")
}

// speech is a call as it will be done: what is run, in order.
type speech struct {
	engine voiceEngine
	voice  string
	steps  []step
}

// step is one program. Its input is the text, or what the step before it gave.
type step struct {
	argv  []string
	text  bool // its input is the text
	keeps bool // its output is audio
	saves bool // and is what is saved
}

func planSteps(w *toolkit.Workspace, a speakArgs) (speech, error) {
	if !a.Play && a.Output == "" {
		return speech{}, toolkit.Errorf(toolkit.CodeInvalid, "play is false and outputPath is absent, so there is nothing to do.").WithHint("Set one of them.")
	}
	if a.Voice != "" && !voiceName.MatchString(a.Voice) {
		return speech{}, toolkit.Errorf(toolkit.CodeInvalid, "voice %q is no name of a voice.", a.Voice)
	}
	e, voice, err := speaker(w, a.Voice)
	if err != nil {
		return speech{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", err)
	}
	s := speech{engine: e, voice: voice}
	if a.Output != "" && e.save == nil {
		return s, toolkit.Errorf(CodeSpeech, "%s only speaks; it cannot save.", e.name).WithHint("Leave outputPath out.")
	}
	if a.Output != "" || e.play == nil {
		s.steps = append(s.steps, step{argv: append([]string{e.name}, e.save(voice, a.Speed)...), text: true, keeps: true, saves: a.Format == "wav"})
	}
	if a.Play && e.play != nil {
		spoken := step{argv: append([]string{e.name}, e.play(voice, a.Speed)...), text: true}
		if e.asArgs {
			spoken.argv, spoken.text = append(spoken.argv, "--", a.Text), false
		}
		s.steps = append(s.steps, spoken)
	} else if a.Play {
		p := slices.IndexFunc(players, func(p []string) bool { _, err := w.Proc.LookPath(p[0]); return err == nil })
		if p < 0 {
			return s, toolkit.Errorf(CodeSpeech, "nothing that plays audio is installed (pw-play, aplay or ffplay).").WithHint("Set outputPath, and play to false.")
		}
		s.steps = append(s.steps, step{argv: players[p]})
	}
	if a.Output != "" && a.Format != "wav" {
		if _, err := w.Proc.LookPath("ffmpeg"); err != nil {
			return s, toolkit.Errorf(CodeSpeech, "%s needs ffmpeg, which is not installed.", a.Format).WithHint("Use format wav.")
		}
		s.steps = append(s.steps, step{argv: []string{"ffmpeg", "-v", "error", "-i", "pipe:0", "-f", a.Format, "pipe:1"}, keeps: true, saves: true})
	}
	return s, nil
}

func planSpeak(_ context.Context, w *toolkit.Workspace, a speakArgs) (toolkit.Plan, error) {
	s, err := planSteps(w, a)
	if err != nil {
		return toolkit.Plan{}, err
	}
	p := toolkit.Plan{Summary: fmt.Sprintf("%s: %q", s.engine.name, a.Text)}.AtLevel(toolkit.Safe)
	var lines []string
	for i, st := range s.steps {
		prog, err := w.Proc.LookPath(st.argv[0])
		if err != nil {
			return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", err)
		}
		p.Effects = append(p.Effects, toolkit.Effect{Kind: toolkit.Runs, Target: prog.Path})
		if i == 0 {
			p.Preview.Program = prog.Path
		}
		lines = append(lines, strings.Join(st.argv, " "))
	}
	p.Preview.Kind, p.Preview.Command = toolkit.PreviewCommand, strings.Join(lines, "\n")
	p.Preview.Notes = []string{"the text goes to its input: " + a.Text}
	if a.Output != "" {
		file, effect, fact, err := newFile(w, a.Output)
		if err != nil {
			return toolkit.Plan{}, err
		}
		if want := "." + a.Format; !strings.EqualFold(path.Ext(file), want) {
			return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "outputPath %q does not end in %s, which is what it will be.", a.Output, want).WithHint("Name it so, or set format.")
		}
		p.Effects, p.Facts = append(p.Effects, effect), append(p.Facts, fact)
		p = p.AtLevel(toolkit.Moderate) // it writes
	}
	return p, nil
}

// maxAudio is how much audio a text can become: an hour of 22 kHz, 16 bits.
const maxAudio = 160 << 20

func runSpeak(ctx context.Context, w *toolkit.Workspace, a speakArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	s, err := planSteps(w, a)
	if err != nil {
		return toolkit.Result{}, err
	}
	var lines []string
	for _, st := range s.steps {
		lines = append(lines, strings.Join(st.argv, " "))
	}
	if strings.Join(lines, "\n") != p.Preview.Command {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "other programs would run than those that were shown.").WithHint("Make the call again.")
	}
	var audio, saved []byte
	for _, st := range s.steps {
		in := audio
		if st.text {
			in = []byte(a.Text)
		}
		exit, err := w.Proc.Run(ctx, guard.Command{Argv: st.argv, Stdin: in, MaxOutput: 2 * maxAudio, OutputLimit: maxAudio})
		if err != nil {
			return toolkit.Result{}, toolkit.Errorf(CodeSpeech, "%s could not be started: %w.", st.argv[0], err)
		}
		if ctx.Err() != nil {
			return toolkit.Result{}, ctx.Err()
		}
		if exit.Reason != guard.Exited || exit.Code != 0 {
			return toolkit.Result{}, toolkit.Errorf(CodeSpeech, "%s failed (%s, code %d): %s.", st.argv[0], exit.Reason, exit.Code, short(exit.Stderr.String()))
		}
		if !st.keeps {
			continue
		}
		out := append(slices.Clone(exit.Stdout.Head), exit.Stdout.Tail...)
		if len(out) == 0 {
			return toolkit.Result{}, toolkit.Errorf(CodeSpeech, "%s gave no audio: %s.", st.argv[0], short(exit.Stderr.String()))
		}
		if st.saves {
			saved = out
		}
		if st.text {
			audio = sizedWAV(out)
			if st.saves {
				saved = audio
			}
		}
	}
	d := Spoken{Engine: s.engine.name, Voice: s.voice, Format: a.Format, Duration: estimate(a.Text, a.Speed), Played: a.Play}
	r := toolkit.Result{Text: fmt.Sprintf("spoke %d characters with %s", utf8.RuneCountInString(a.Text), d.Engine)}
	if !a.Play {
		r.Text = d.Engine + " made the audio"
	}
	if a.Output != "" {
		written, change, err := create(w, p, saved)
		if err != nil {
			return toolkit.Result{}, err
		}
		d.AudioPath, r.Changed = written.Path, []toolkit.Change{change}
		r.Text += fmt.Sprintf(", saved as %s (%d bytes)", written.Path, written.Bytes)
	}
	r.Data = d
	return r, nil
}

// estimate is how long a text takes, in seconds: some 15 characters a second.
func estimate(text string, speed float64) float64 {
	return math.Round(float64(utf8.RuneCountInString(text))/15/speed*10) / 10
}

// sizedWAV writes the true sizes into a WAV that was streamed, whose writer could
// not know them. What is no plain WAV stays as it is.
func sizedWAV(b []byte) []byte {
	if len(b) < 44 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" || string(b[36:40]) != "data" {
		return b
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	binary.LittleEndian.PutUint32(b[40:], uint32(len(b)-44))
	return b
}

// short is the beginning of what a program said, on one line.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:199]) + "…"
	}
	if s == "" {
		return "it says nothing"
	}
	return strings.TrimRight(s, ".")
}
