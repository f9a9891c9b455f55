package headless

import (
	"context"
	"fmt"
	"strings"
	"time"

	"chela/engine/pipeline"
	"chela/store"
)

// Sessions lists the sessions of the folder, or of all folders, the newest
// first.
func Sessions(ctx context.Context, t Terminal, s Setup, all bool) error {
	return with(ctx, s, t, func(a *App) error {
		folder := a.Engine.Workspace()
		if all {
			folder = ""
		}
		list, err := a.Store.Sessions(ctx, folder, 0)
		if err != nil {
			return err
		}
		if t.JSON {
			if list == nil {
				list = []store.Session{}
			}
			return t.print(list)
		}
		if len(list) == 0 {
			t.note("no sessions in %s yet (chela sessions --all shows those of other folders)", a.Engine.Workspace())
			return nil
		}
		tb := &table{}
		tb.add("ID", "LAST USED", "TURNS", "MODEL", "TITLE")
		for _, v := range list {
			title := t.line(v.Title)
			if all {
				title = t.line(v.Workspace + ": " + v.Title)
			}
			tb.add(short(v.ID), v.Updated.Format(time.DateTime), fmt.Sprint(v.Turns), t.line(v.Model), title)
		}
		return tb.write(t, true)
	})
}

// SessionShow prints a session: its messages with the calls they made. With
// JSON also plans, decisions and approvals.
func SessionShow(ctx context.Context, t Terminal, s Setup, id string) error {
	return with(ctx, s, t, func(a *App) error {
		v, err := FindSession(ctx, a.Store, a.Engine.Workspace(), id)
		if err != nil {
			return err
		}
		messages, err := a.Store.Messages(ctx, v.ID)
		if err != nil {
			return err
		}
		calls, err := a.Store.Calls(ctx, v.ID)
		if err != nil {
			return err
		}
		approvals, err := a.Store.Approvals(ctx, v.ID)
		if err != nil {
			return err
		}
		if t.JSON {
			return t.print(struct {
				Session   store.Session    `json:"session"`
				Messages  []store.Message  `json:"messages"`
				Calls     []store.Call     `json:"calls"`
				Approvals []store.Approval `json:"approvals"`
			}{v, nonNil(messages), nonNil(calls), nonNil(approvals)})
		}
		return transcript(t, v, messages, calls)
	})
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func transcript(t Terminal, v store.Session, messages []store.Message, calls []store.Call) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", t.bold(t.line(v.Title)), t.dim(fmt.Sprintf("%s · %s · %s mode · %s", v.ID, t.line(v.Model), v.Mode, t.line(v.Workspace)), t.OutIsTerm))
	made := map[string]bool{}
	byID := map[string]store.Call{}
	for _, c := range calls {
		byID[c.ID] = c
	}
	for _, m := range messages {
		if m.Role == store.RoleTool {
			continue // told with the call
		}
		if m.Content != "" {
			fmt.Fprintf(&b, "%s\n%s\n\n", t.bold(m.Role), t.safe(m.Content))
		}
		for _, id := range m.Calls {
			if c, ok := byID[id]; ok {
				made[id] = true
				b.WriteString(callLine(t, c))
			}
		}
		if len(m.Calls) > 0 {
			b.WriteByte('\n')
		}
	}
	for _, c := range calls { // a person's own
		if !made[c.ID] {
			b.WriteString(callLine(t, c))
		}
	}
	return t.write(t.Out, []byte(strings.TrimRight(b.String(), "\n")))
}

func callLine(t Terminal, c store.Call) string {
	what := c.Summary
	if what == "" {
		what = c.Emitted
	}
	return t.dim(fmt.Sprintf("%-9s %s %s", c.State, t.line(c.Tool), t.line(what)), t.OutIsTerm) + "\n"
}

// SessionRename gives a session a title, as one line. One that another program
// has open is renamed there, with /rename.
func SessionRename(ctx context.Context, t Terminal, s Setup, id, title string) error {
	title = strings.Join(strings.Fields(title), " ")
	if title == "" {
		return Usagef("the title is empty: give some words")
	}
	return with(ctx, s, t, func(a *App) error {
		v, err := FindSession(ctx, a.Store, a.Engine.Workspace(), id)
		if err != nil {
			return err
		}
		release, err := a.Store.Lock(v.ID)
		if err != nil {
			return fmt.Errorf("renaming: %w: use /rename there", err)
		}
		defer release()
		if v, err = a.Store.Session(ctx, v.ID); err != nil { // as it is under the lock
			return err
		}
		v.Title = title
		if err := a.Store.PutSession(ctx, v); err != nil {
			return err
		}
		if t.JSON {
			return t.print(v)
		}
		return t.write(t.Out, []byte(fmt.Sprintf("renamed %s to %s", short(v.ID), t.line(v.Title))))
	})
}

// SessionRemove deletes sessions with everything in them. One that another
// program has open is not deleted.
func SessionRemove(ctx context.Context, t Terminal, s Setup, ids []string) error {
	return with(ctx, s, t, func(a *App) error {
		removed := []string{}
		for _, id := range ids {
			v, err := FindSession(ctx, a.Store, a.Engine.Workspace(), id)
			if err != nil {
				return err
			}
			release, err := a.Store.Lock(v.ID)
			if err != nil {
				return fmt.Errorf("deleting: %w: close it there first", err)
			}
			err = a.Store.DeleteSession(ctx, v.ID)
			release()
			if err != nil {
				return err
			}
			removed = append(removed, v.ID)
			if !t.JSON {
				if err := t.write(t.Out, []byte(fmt.Sprintf("deleted %s %s", short(v.ID), t.line(v.Title)))); err != nil {
					return err
				}
			}
		}
		if t.JSON {
			return t.print(map[string][]string{"removed": removed})
		}
		return nil
	})
}

// listedRule is one rule in JSON: as stored, and in words.
type listedRule struct {
	store.Rule
	Text string `json:"text"`
}

// Rules lists the rules in force, the oldest first.
func Rules(ctx context.Context, t Terminal, s Setup) error {
	return with(ctx, s, t, func(a *App) error {
		rules, err := a.Engine.Rules(ctx, "")
		if err != nil {
			return err
		}
		list := []listedRule{}
		for _, r := range rules {
			list = append(list, listedRule{r, pipeline.Describe(r)})
		}
		if t.JSON {
			return t.print(list)
		}
		if len(list) == 0 {
			t.note("no rules yet: they are made in the approval queue of the workstation")
			return nil
		}
		tb := &table{}
		tb.add("ID", "SINCE", "RULE", "WHERE")
		for _, r := range list {
			where := r.Workspace
			if where == "" {
				where = "everywhere"
			}
			tb.add(short(r.ID), r.Created.Format(time.DateOnly), t.line(r.Text), t.line(where))
		}
		return tb.write(t, true)
	})
}

// RuleRevoke ends a rule, named by its id or the unique beginning of it.
func RuleRevoke(ctx context.Context, t Terminal, s Setup, id string) error {
	return with(ctx, s, t, func(a *App) error {
		rules, err := a.Engine.Rules(ctx, "")
		if err != nil {
			return err
		}
		var found []store.Rule
		for _, r := range rules {
			if r.ID == id || len(id) >= 4 && strings.HasPrefix(r.ID, id) {
				found = append(found, r)
			}
		}
		switch len(found) {
		case 0:
			return Usagef("there is no rule %q: chela rules lists those in force", id)
		case 1:
		default:
			return Usagef("several rules begin with %q: give more of the id", id)
		}
		r := found[0]
		if err := a.Engine.RevokeRule(ctx, r.ID); err != nil {
			return err
		}
		if t.JSON {
			return t.print(map[string]string{"revoked": r.ID})
		}
		return t.write(t.Out, []byte("revoked: "+t.line(pipeline.Describe(r))))
	})
}
