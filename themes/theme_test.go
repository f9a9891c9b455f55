package themes_test

import (
	"image/color"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"chela/themes"
)

// luminance and contrast are the definitions of WCAG 2.2.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	lin := func(v uint32) float64 {
		f := float64(v) / 0xffff
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestTextIsReadableOnUsualBackgrounds(t *testing.T) {
	tests := []struct {
		theme       themes.Theme
		backgrounds []string
	}{
		{themes.Dark(), []string{"#000000", "#1e1e2e", "#282c34", "#002b36"}},
		{themes.Light(), []string{"#ffffff", "#fdf6e3", "#f5f5f5", "#eee8d5"}},
	}
	for _, tt := range tests {
		th := tt.theme
		text := map[string]color.Color{
			"accent": th.Accent, "fg": th.Fg, "subtle": th.Subtle, "faint": th.Faint,
			"ok": th.OK, "warn": th.Warn, "bad": th.Bad,
			"diff add": th.DiffAdd, "diff del": th.DiffDel,
			"code text": th.Code.Text, "keyword": th.Code.Keyword, "type": th.Code.Type,
			"function": th.Code.Function, "string": th.Code.String, "number": th.Code.Number,
			"comment": th.Code.Comment, "operator": th.Code.Operator,
		}
		for _, bg := range tt.backgrounds {
			for name, c := range text {
				if got := contrast(c, lipgloss.Color(bg)); got < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f, want 4.5", th.Name, name, bg, got)
				}
			}
		}
		for name, pair := range map[string][2]color.Color{
			"selection":  {th.SelectionFg, th.SelectionBg},
			"match":      {th.MatchFg, th.MatchBg},
			"added word": {th.DiffAddOnTint, th.DiffAddTint},
			"cut word":   {th.DiffDelOnTint, th.DiffDelTint},
		} {
			if got := contrast(pair[0], pair[1]); got < 4.5 {
				t.Errorf("%s: %s has a contrast of %.2f, want 4.5", th.Name, name, got)
			}
		}
	}
}

func TestEveryTokenOfEveryThemeIsSet(t *testing.T) {
	for _, name := range themes.Names() {
		if name == themes.NameAuto {
			continue
		}
		th, ok := themes.ByName(name)
		if !ok || th.Name != name {
			t.Fatalf("ByName(%q) = %q, %v", name, th.Name, ok)
		}
		var check func(v reflect.Value, path string)
		check = func(v reflect.Value, path string) {
			for i := range v.NumField() {
				f, field := v.Field(i), path+"."+v.Type().Field(i).Name
				switch {
				case f.Kind() == reflect.Interface && f.IsNil():
					t.Errorf("%s: %s is not set", name, field)
				case f.Kind() == reflect.Struct:
					check(f, field)
				}
			}
		}
		check(reflect.ValueOf(th), "Theme")
	}
}

func TestPickFollowsTheNameThenTheBackground(t *testing.T) {
	tests := []struct {
		name string
		dark bool
		want string
	}{
		{"", true, "dark"},
		{"", false, "light"},
		{"auto", false, "light"},
		{"no such theme", true, "dark"},
		{"light", true, "light"},
		{"ansi", false, "ansi"},
		{"none", true, "none"},
	}
	for _, tt := range tests {
		if got := themes.Pick(tt.name, tt.dark).Name; got != tt.want {
			t.Errorf("Pick(%q, %v) = %q, want %q", tt.name, tt.dark, got, tt.want)
		}
	}
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

func TestNoColorStylesUseAttributesOnly(t *testing.T) {
	s := reflect.ValueOf(themes.NewStyles(themes.NoColor()))
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		for i := range v.NumField() {
			switch f := v.Field(i).Interface().(type) {
			case lipgloss.Style:
				out := f.Render("x")
				for _, m := range sgr.FindAllStringSubmatch(out, -1) {
					for p := range strings.SplitSeq(m[1], ";") {
						if n, _ := strconv.Atoi(p); n >= 30 {
							t.Errorf("%s renders %q, which sets a colour", v.Type().Field(i).Name, out)
						}
					}
				}
			case themes.Highlight:
				walk(v.Field(i))
			}
		}
	}
	walk(s)
}

func TestWithoutColoursStatesStillDiffer(t *testing.T) {
	s := themes.NewStyles(themes.NoColor())
	pairs := map[string][2]lipgloss.Style{
		"selected and not":     {s.Selection, s.Text},
		"match and text":       {s.Match, s.Text},
		"changed word":         {s.DiffAddWord, s.DiffAdd},
		"focused title":        {s.TitleFocused, s.Title},
		"faint and text":       {s.Faint, s.Text},
		"key and what it does": {s.Key, s.KeyHint},
	}
	for name, p := range pairs {
		if p[0].Render("x") == p[1].Render("x") {
			t.Errorf("%s look the same", name)
		}
	}
}

func TestStylesKeepTheSizeOfText(t *testing.T) {
	for _, name := range themes.Names() {
		s := reflect.ValueOf(themes.NewStyles(themes.Pick(name, true)))
		for i := range s.NumField() {
			if st, ok := s.Field(i).Interface().(lipgloss.Style); ok {
				if w := lipgloss.Width(st.Render("abc")); w != 3 {
					t.Errorf("%s: %s makes abc %d cells wide", name, s.Type().Field(i).Name, w)
				}
			}
		}
	}
}
