package themes_test

import (
	"reflect"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"chela/themes"
)

func TestPenDrawsLikeItsStyle(t *testing.T) {
	for _, name := range themes.Names() {
		v := reflect.ValueOf(themes.NewStyles(themes.Pick(name, true)))
		for i := range v.NumField() {
			st, ok := v.Field(i).Interface().(lipgloss.Style)
			if !ok {
				continue
			}
			pen := themes.NewPen(st)
			var b strings.Builder
			pen.Write(&b, "word")
			// Lip Gloss itself draws underlined text letter by letter.
			if want := strings.Replace(st.Render("x"), "x", "word", 1); pen.Draw("word") != want || b.String() != want {
				t.Errorf("%s %s: Draw %q, Write %q, style %q", name, v.Type().Field(i).Name, pen.Draw("word"), b.String(), want)
			}
			if pen.Draw("") != "" {
				t.Errorf("%s: an empty text is drawn as %q", name, pen.Draw(""))
			}
		}
	}
}
