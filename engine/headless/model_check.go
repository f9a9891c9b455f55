package headless

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"chela/engine"
	"chela/engine/ollama"
	"chela/engine/settings"
)

// ModelCheck has a model do four small tasks and prints its grade. Each step is
// a line on Err while it goes on.
func ModelCheck(ctx context.Context, t Terminal, s Setup, model string) error {
	return with(ctx, s, t, func(a *App) error {
		c, err := a.Engine.CheckModel(ctx, strings.TrimSpace(model), func(line string) { t.note("%s", line) })
		var oe *ollama.Error
		switch {
		case err != nil && ctx.Err() != nil:
			return &Error{Cancelled, errors.New("cancelled: nothing of the check is kept")}
		case errors.As(err, &oe) && oe.Kind == ollama.ModelMissing:
			return &Error{Usage, err}
		case err != nil:
			return err
		case t.JSON:
			return t.print(c)
		}
		return writeCheck(t, c)
	})
}

func writeCheck(t Terminal, c engine.Check) error {
	tb := &table{}
	tb.add("TASK", "RIGHT", "TIME", "")
	for _, k := range c.Tasks {
		right := "yes"
		if !k.OK {
			right = "no"
		}
		tb.add(k.Name, right, k.Took.Round(10*time.Millisecond).String(), t.line(k.Why))
	}
	if err := tb.write(t, true); err != nil {
		return err
	}
	return t.write(t.Out, []byte(fmt.Sprintf("\n%s: grade %s: %s.\nCalls are asked for in %s mode; %s.", t.line(c.Model), c.Grade, t.line(c.Words), c.CallMode, c.Thinking)))
}

// looksOnly makes a command that only looks use the store if there is one, and
// create none.
func (s Setup) looksOnly() Setup {
	s.NoStore = true
	if dirs, err := settings.FindDirs(); err == nil {
		_, err := os.Stat(dirs.Database())
		s.NoStore = errors.Is(err, fs.ErrNotExist)
	}
	return s
}

// gradeOf is the grade of a model's last check; "" if there was none. What
// cannot be read is no grade.
func (a *App) gradeOf(ctx context.Context, m ollama.Model) string {
	p, err := a.Engine.Profile(ctx, m.Name)
	if err != nil || p.Check == nil {
		return ""
	}
	return p.Check.Grade
}
