package desktop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"path"
	"strings"

	"chela/tiers"
	"chela/toolkit"
)

type captureArgs struct {
	Display int     `json:"display,omitempty" default:"0" alias:"monitor,screen"`
	Region  *region `json:"region,omitempty"`
	Format  string  `json:"format,omitempty" default:"png" enum:"png,jpg"`
	Output  string  `json:"output,omitempty" doc:"file to write" alias:"path,outputPath,file"`
}

// region is a part of the screen, in pixels.
type region struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width" min:"1"`
	Height int `json:"height" min:"1"`
}

// Captured is the data of screen_capture.
type Captured struct {
	Path   string `json:"path"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Size   int    `json:"size"` // bytes
	Format string `json:"format"`
}

// Capture takes a picture of the screen.
func Capture() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "screen_capture", Summary: "Take a picture of the screen.", Category: "notifications", Level: toolkit.Moderate, Tier: tiers.Full,
		Synonyms: "screenshot desktop grab image",
	}, planCapture, runCapture, toolkit.AvailableIf(func(_ context.Context, w *toolkit.Workspace) error {
		list := capturers(captureArgs{})
		if _, _, ok := first(w, list); !ok {
			return missing("a picture of the screen", list)
		}
		return nil
	}))
}

// capturers are the programs that print a PNG of the screen. All of them write
// to their output, so that the file itself is written through the guard.
func capturers(a captureArgs) []backend {
	r := a.Region
	switch system {
	case "darwin":
		argv := []string{"screencapture", "-x", "-t", "png", "-D", fmt.Sprint(a.Display + 1)}
		if r != nil {
			argv = append(argv, "-R", fmt.Sprintf("%d,%d,%d,%d", r.X, r.Y, r.Width, r.Height))
		}
		return []backend{{argv: append(argv, "/dev/stdout")}}
	case "windows":
		in, err := json.Marshal(map[string]any{"d": a.Display, "r": r})
		if err != nil {
			return nil
		}
		return []backend{{argv: powershell(`Add-Type -AssemblyName System.Windows.Forms,System.Drawing; $i=[Console]::In.ReadToEnd()|ConvertFrom-Json; ` +
			`$b=[Windows.Forms.Screen]::AllScreens[$i.d].Bounds; if($i.r){$b=New-Object Drawing.Rectangle ($b.X+$i.r.x),($b.Y+$i.r.y),$i.r.width,$i.r.height}; ` +
			`$m=New-Object Drawing.Bitmap $b.Width,$b.Height; [Drawing.Graphics]::FromImage($m).CopyFromScreen($b.Location,[Drawing.Point]::Empty,$b.Size); ` +
			`$s=New-Object IO.MemoryStream; $m.Save($s,[Drawing.Imaging.ImageFormat]::Png); $o=[Console]::OpenStandardOutput(); $s.WriteTo($o); $o.Flush()`), stdin: in}}
	}
	grim, maim, scrot, imp, gnome := []string{"grim"}, []string{"maim", "-f", "png"}, []string{"scrot"}, []string{"import", "-window", "root"}, []string{"gnome-screenshot"}
	if r != nil {
		x := fmt.Sprintf("%dx%d%+d%+d", r.Width, r.Height, r.X, r.Y)
		grim = append(grim, "-g", fmt.Sprintf("%d,%d %dx%d", r.X, r.Y, r.Width, r.Height))
		maim = append(maim, "-g", x)
		scrot = append(scrot, "-a", fmt.Sprintf("%d,%d,%d,%d", r.X, r.Y, r.Width, r.Height))
		imp = append(imp, "-crop", x, "+repage")
	}
	list := []backend{
		{argv: append(grim, "-t", "png", "-"), needs: wayland},
		{argv: maim, needs: x11},
		{argv: append(scrot, "-"), needs: x11},
		{argv: append(imp, "png:-"), needs: x11},
	}
	if r == nil {
		list = append(list, backend{argv: append(gnome, "-f", "/dev/stdout"), needs: anyDesktop})
	}
	return list
}

func planCapture(_ context.Context, w *toolkit.Workspace, a captureArgs) (toolkit.Plan, error) {
	if a.Display < 0 || a.Display > 0 && system == "linux" {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "display %d cannot be chosen here.", a.Display).WithHint("Leave it out, and use region for a part of the screen.")
	}
	b, p, ok := first(w, capturers(a))
	if !ok {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", missing("a picture of the screen", capturers(a)))
	}
	var effect toolkit.Effect
	var fact toolkit.Fact
	var err error
	if a.Output == "" {
		effect, fact, err = freeFile(w, "screenshots/screen", a.Format)
	} else if ext := strings.ToLower(path.Ext(a.Output)); ext != "."+a.Format && (ext != ".jpeg" || a.Format != "jpg") {
		err = toolkit.Errorf(toolkit.CodeInvalid, "output %q does not end in .%s.", a.Output, a.Format).WithHint("Name it so, or set format.")
	} else {
		t, fault := w.Files.Locate(a.Output)
		if err = fault; err == nil && t.Exists {
			err = toolkit.Errorf(toolkit.CodeInvalid, "%s is there already.", a.Output).WithHint("Name another file.")
		}
		effect, fact = toolkit.Effect{Kind: toolkit.Writes, Target: t.Path}, toolkit.Fact{Kind: "absent", Target: t.Path}
	}
	if err != nil {
		return toolkit.Plan{}, err
	}
	plan := b.plan(p, effect.Target)
	plan.Effects, plan.Facts = append(plan.Effects, effect), append(plan.Facts, fact)
	plan.Preview.Notes = append(plan.Preview.Notes, "saves the picture as "+effect.Target)
	return plan, nil
}

func runCapture(ctx context.Context, w *toolkit.Workspace, a captureArgs, plan toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	b, p, ok := first(w, capturers(a))
	if !ok || p.Path != plan.Effects[0].Target {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the program that was shown is there no more.")
	}
	out, err := run(ctx, w, b, p, CodeCapture)
	if err != nil {
		return toolkit.Result{}, err
	}
	c, err := png.DecodeConfig(bytes.NewReader(out))
	if err != nil {
		return toolkit.Result{}, toolkit.Errorf(CodeCapture, "%s gave no picture: %w.", b.argv[0], err)
	}
	if a.Format == "jpg" {
		if out, err = asJPEG(out); err != nil {
			return toolkit.Result{}, toolkit.Errorf(CodeCapture, "the picture of %s: %w.", b.argv[0], err)
		}
	}
	written, change, err := save(w, plan, out, CodeCapture)
	if err != nil {
		return toolkit.Result{}, err
	}
	d := Captured{written.Path, c.Width, c.Height, len(out), a.Format}
	return toolkit.Result{Text: fmt.Sprintf("saved %s (%d x %d, %d bytes)", d.Path, d.Width, d.Height, d.Size), Data: d, Changed: []toolkit.Change{change}}, nil
}

func asJPEG(data []byte) ([]byte, error) {
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 90})
	return b.Bytes(), err
}
