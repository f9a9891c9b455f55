package git

import (
	"context"
	"slices"
	"strings"

	"chela/toolkit"
)

// CodeIdentity is the failure of a commit by nobody.
const CodeIdentity toolkit.Code = "IDENTITY_MISSING"

// personal is what the person's own settings say, of the account and of the
// machine: nobody but the person wrote those.
type personal struct {
	name, email string
	credentials []string // settings name=value of credential.*, in order
	ssh         string   // core.sshCommand
}

// person reads the person's settings. The name and address may also be the
// repository's; how to sign in never is.
func (r *repo) person(ctx context.Context) (personal, error) {
	out, _, err := r.do(ctx, invocation{
		args: []string{"config", "--show-scope", "-z", "--get-regexp", `^(user\.(name|email)|credential\..*|core\.sshcommand)$`},
		env:  quietly, // the person's own files count here, and only here
	})
	if refused(err, 1) { // none of these is set
		return personal{}, nil
	}
	if err != nil {
		return personal{}, err
	}
	return parsePersonal(string(out)), nil
}

func parsePersonal(out string) personal {
	var p personal
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope := fields[i]
		key, value, _ := strings.Cut(fields[i+1], "\n")
		own := scope == "global" || scope == "system"
		switch {
		case key == "user.name" && scope != "command":
			p.name = value
		case key == "user.email" && scope != "command":
			p.email = value
		case key == "core.sshcommand" && own:
			p.ssh = value
		case strings.HasPrefix(key, "credential.") && own && !strings.Contains(key, "="):
			p.credentials = append(p.credentials, key+"="+value)
		}
	}
	return p
}

// identity are the settings by which a commit gets its author, and the author in
// git's form.
func (r *repo) identity(ctx context.Context) (config []string, author string, err error) {
	p, err := r.person(ctx)
	if err != nil {
		return nil, "", err
	}
	if p.name == "" || p.email == "" {
		return nil, "", toolkit.Errorf(CodeIdentity, "git does not know who commits: user.name or user.email is not set.").
			WithHint("Ask the user to run: git config --global user.name NAME, and the same with user.email.")
	}
	return slices.Clip([]string{"user.name=" + p.name, "user.email=" + p.email}), p.name + " <" + p.email + ">", nil
}
