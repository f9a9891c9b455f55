package headless

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"chela/store"
)

// Backup copies everything that is stored to a new file, while other programs
// use it. An empty name is one of today in the current folder.
func Backup(ctx context.Context, t Terminal, s Setup, to string) error {
	return with(ctx, s, t, func(a *App) error {
		if to == "" {
			to = "chela-" + time.Now().Format("20060102-150405") + ".db"
		}
		to, err := filepath.Abs(to)
		if err != nil {
			return err
		}
		if err := a.Store.Backup(ctx, to); err != nil {
			if errors.Is(err, store.ErrExists) {
				return &Error{Usage, err}
			}
			return err
		}
		info, err := os.Stat(to)
		if err != nil {
			return err
		}
		if t.JSON {
			return t.print(struct {
				File  string `json:"file"`
				Bytes int64  `json:"bytes"`
			}{to, info.Size()})
		}
		return t.write(t.Out, []byte(fmt.Sprintf("backed up to %s (%d KiB)", t.line(to), (info.Size()+1023)/1024)))
	})
}

// Restore puts a backup in the place of what is stored, which is kept under
// another name.
func Restore(ctx context.Context, t Terminal, s Setup, from string) error {
	s.NoStore = true
	return with(ctx, s, t, func(a *App) error {
		if _, err := os.Stat(from); err != nil {
			return &Error{Usage, fmt.Errorf("restoring: %w", err)}
		}
		aside, err := store.Restore(ctx, from, a.Dirs.Database())
		if err != nil {
			return err
		}
		if t.JSON {
			return t.print(struct {
				Restored string `json:"restored"`
				Aside    string `json:"aside,omitempty"`
			}{from, aside})
		}
		text := "restored " + t.line(from)
		if aside != "" {
			text += "\nwhat was there is kept: " + t.line(aside)
		}
		return t.write(t.Out, []byte(text))
	})
}
