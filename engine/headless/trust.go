package headless

import (
	"context"
	"fmt"

	"chela/engine/trust"
)

// TrustOptions are those of `chela trust`.
type TrustOptions struct {
	Setup
	Yes    bool // trust the folder as it is
	Revoke bool
}

// trustShown is how a folder stands, in JSON.
type trustShown struct {
	Folder   string      `json:"folder"`
	State    string      `json:"state"`
	Files    []trustFile `json:"files"`
	Changed  []string    `json:"changed,omitempty"`
	Skipped  []string    `json:"skipped,omitempty"`
	Problems []string    `json:"problems,omitempty"`
}

type trustFile struct {
	Path string `json:"path"`
	Size int    `json:"size"`
	Hash string `json:"sha256"`
}

// ShowTrust says how the project folder stands, and trusts it or ends its trust
// when told to.
func ShowTrust(ctx context.Context, t Terminal, o TrustOptions) error {
	if o.Yes && o.Revoke {
		return Usagef("--yes and --revoke exclude each other")
	}
	return with(ctx, o.Setup, t, func(a *App) error {
		if o.Yes || o.Revoke {
			if err := a.Engine.SetTrust(ctx, o.Yes, a.Engine.Trust().Files); err != nil {
				return err
			}
		}
		tr := a.Engine.Trust()
		shown := trustShown{Folder: a.Engine.Workspace(), State: tr.State.String(), Files: []trustFile{}, Changed: tr.Changed, Skipped: tr.Skipped}
		for _, f := range tr.Files {
			shown.Files = append(shown.Files, trustFile{f.Path, len(f.Data), f.Hash})
		}
		for _, p := range tr.Problems {
			shown.Problems = append(shown.Problems, p.Error())
		}
		if t.JSON {
			return t.print(shown)
		}
		if err := t.write(t.Out, []byte(trustText(shown, tr.State))); err != nil {
			return err
		}
		for _, s := range append(shown.Skipped, shown.Problems...) {
			t.note("%s", s)
		}
		return nil
	})
}

func trustText(s trustShown, state trust.State) string {
	text := ""
	for _, f := range s.Files {
		text += fmt.Sprintf("%-34s %6d bytes  %.12s\n", f.Path, f.Size, f.Hash)
	}
	switch state {
	case trust.Nothing:
		return "Nothing here speaks to chela or to the model: there is nothing to trust."
	case trust.Trusted:
		return text + "Trusted: these files are used. chela trust --revoke ends that."
	case trust.Changed:
		return text + fmt.Sprintf("Changed since you trusted it (%v): nothing of it is used. Look at the files, then chela trust --yes.", s.Changed)
	}
	return text + "Not trusted: nothing of it is used. Look at the files, then chela trust --yes."
}
