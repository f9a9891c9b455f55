package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"chela/engine/event"
	"chela/engine/settings"
	"chela/engine/trust"
	"chela/toolkit/guard"
)

// Trust is how the project folder stands: whether what it says to chela and to
// the model is used.
type Trust struct {
	State    trust.State
	Files    []trust.File       // what needs trust, as it was read
	Changed  []string           // of state Changed: the files that are different
	Skipped  []string           // files that cannot be read as they should be, and why
	Problems []settings.Problem // of the project's own settings, while they are used
	Notes    string             // the file that the model is given; empty: none
}

// maxNotes bounds what of a project's notes the model is given, in bytes: about
// a thousand tokens. Small models lose the task in long instructions.
const maxNotes = 4 << 10

// look reads what the folder says, and decides by what the person trusted
// before. What is used later is what was read now. Where it cannot be known what
// was trusted, nothing is.
func (e *Engine) look(files *guard.FS) {
	t := Trust{}
	t.Files, t.Skipped = trust.Look(files)
	var err error
	if t.State, t.Changed, err = e.register.State(e.cfg.Workspace, t.Files); err != nil {
		t.Skipped = append(t.Skipped, err.Error())
	}
	e.mu.Lock()
	in := e.own
	e.mu.Unlock()
	notes := ""
	if t.State == trust.Trusted {
		for _, f := range t.Files {
			switch {
			case f.Path == trust.Settings:
				in, t.Problems = settings.Tighten(in, filepath.Join(e.cfg.Workspace, f.Path), f.Data)
			case t.Notes == "":
				t.Notes, notes = f.Path, notesText(f)
			}
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.trust, e.notes = t, notes
	e.inForce.Store(&in)
}

// notesText is what of a file of notes the model is given.
func notesText(f trust.File) string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(f.Data), "�"))
	if len(text) > maxNotes {
		text = strings.ToValidUTF8(text[:maxNotes], "")
		text = text[:max(strings.LastIndexByte(text, '\n'), 0)] + fmt.Sprintf("\n(the rest of %s is left out; read_file shows it)", f.Path)
	}
	return text
}

// Trust says how the project folder stands. The result must not be changed.
func (e *Engine) Trust() Trust {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.trust
}

// SetTrust trusts the folder as it was last read, or ends its trust. It is in
// force at once: for the tools and the mode's limits of running sessions, and
// for what the model is told from its next answer on. seen are the files that
// the person was shown; if the folder holds others by now, nothing is trusted.
func (e *Engine) SetTrust(ctx context.Context, on bool, seen []trust.File) error {
	e.placing.Lock()
	defer e.placing.Unlock()
	files, _ := trust.Look(e.files)
	if on && !slices.EqualFunc(files, seen, func(a, b trust.File) bool { return a.Path == b.Path && a.Hash == b.Hash }) {
		return fmt.Errorf("the files of %s changed since they were shown: look at them again", e.cfg.Workspace)
	}
	var err error
	if on {
		err = e.register.Trust(e.cfg.Workspace, files, e.cfg.Now())
	} else {
		err = e.register.Revoke(e.cfg.Workspace)
	}
	if err != nil {
		return err
	}
	e.look(e.files)
	for _, p := range e.Trust().Problems {
		e.stream.Publish("", 0, event.Notice{Level: "warn", Text: p.Error()})
	}
	e.rerouteAll(ctx)
	return e.tightenModes(ctx)
}

// tightenModes brings running sessions down to the mode that is the most now.
func (e *Engine) tightenModes(ctx context.Context) error {
	most := e.Settings().Security.Mode
	if most >= e.own.Security.Mode {
		return nil // the project states none
	}
	for _, s := range e.open() {
		if s.Mode() > most {
			if err := s.SetMode(ctx, most); err != nil {
				return err
			}
		}
	}
	return nil
}
