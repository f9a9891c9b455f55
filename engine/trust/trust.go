// Package trust remembers which project folders a person trusts, and what was
// in them then.
//
// A project may hold files that speak to chela or to the model: AGENTS.md, and
// settings in .chela. They are somebody else's until the person says otherwise,
// and the folder's next commit may change them. Guarantees:
//
//   - Nothing of such a file is used before the person trusted this folder with
//     exactly this content: trust is bound to a hash of each file, and a file
//     that changed, came or went makes the folder untrusted again.
//   - What is asked about and what is used are the same bytes: they are read
//     once.
//   - The register is in the config folder, where no tool can write.
//
// A Register is safe for concurrent use.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"chela/toolkit/guard"
)

// Settings is the project's own settings file.
const Settings = ".chela/settings.yml"

// Names are the files that count, in the order in which they are shown. Of
// notes for the model the first that is there is used.
var Names = []string{Settings, "AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"}

// maxFile bounds one of them, in bytes.
const maxFile = 256 << 10

// File is one such file, as it was read.
type File struct {
	Path string
	Data []byte
	Hash string // hex SHA-256
}

// Look reads what a folder holds. A file that cannot be read as it should be
// (it is a link to elsewhere, too large, no file) counts as not there, and is
// named in skipped.
func Look(files *guard.FS) (found []File, skipped []string) {
	for _, name := range Names {
		data, _, err := files.ReadAll(name, maxFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			skipped = append(skipped, fmt.Sprintf("%s: %v", name, err))
		default:
			sum := sha256.Sum256(data)
			found = append(found, File{name, data, hex.EncodeToString(sum[:])})
		}
	}
	return found, skipped
}

// State is how a folder stands.
type State int

// The states.
const (
	Nothing State = iota // it holds no file that needs trust
	Unknown              // the person was not asked yet
	Trusted              // it is as it was when the person trusted it
	Changed              // it was trusted and is different now
)

// String returns the state as JSON spells it.
func (s State) String() string { return [...]string{"nothing", "untrusted", "trusted", "changed"}[s] }

// Register is the folders that are trusted.
type Register struct {
	path string
	mu   sync.Mutex
}

// New returns the register of a file, which need not be there yet.
func New(path string) *Register { return &Register{path: path} }

// folder is what was trusted.
type folder struct {
	Since time.Time         `json:"since"`
	Files map[string]string `json:"files"` // path to hash
}

// maxRegister bounds the file.
const maxRegister = 4 << 20

func (r *Register) read() (map[string]folder, error) {
	f, err := os.Open(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]folder{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the trusted folders: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > maxRegister {
		return nil, fmt.Errorf("reading the trusted folders: %s is too large: move it away", r.path)
	}
	out := map[string]folder{}
	if err := json.NewDecoder(f).Decode(&out); err != nil {
		return nil, fmt.Errorf("reading the trusted folders: %s: %w: move it away, and trust your folders again", r.path, err)
	}
	return out, nil
}

// State says how a folder stands with what it holds now. changed are the files
// that are different. A register that cannot be read trusts nothing.
func (r *Register) State(dir string, files []File) (s State, changed []string, err error) {
	if len(files) == 0 {
		return Nothing, nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all, err := r.read()
	if err != nil {
		return Unknown, nil, err
	}
	known, ok := all[dir]
	if !ok {
		return Unknown, nil, nil
	}
	now := map[string]string{}
	for _, f := range files {
		now[f.Path] = f.Hash
		if known.Files[f.Path] != f.Hash {
			changed = append(changed, f.Path)
		}
	}
	for p := range known.Files {
		if _, ok := now[p]; !ok {
			changed = append(changed, p)
		}
	}
	if len(changed) > 0 {
		slices.Sort(changed)
		return Changed, changed, nil
	}
	return Trusted, nil, nil
}

// Trust notes that the person trusts a folder with these files.
func (r *Register) Trust(dir string, files []File, now time.Time) error {
	return r.change(func(all map[string]folder) {
		f := folder{Since: now.UTC(), Files: map[string]string{}}
		for _, file := range files {
			f.Files[file.Path] = file.Hash
		}
		all[dir] = f
	})
}

// Revoke ends a folder's trust.
func (r *Register) Revoke(dir string) error {
	return r.change(func(all map[string]folder) { delete(all, dir) })
}

func (r *Register) change(f func(map[string]folder)) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, err := r.read()
	if err != nil {
		return err
	}
	f(all)
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the trusted folders: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return fmt.Errorf("writing the trusted folders: %w (set CHELA_CONFIG_DIR to a folder you can write)", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(r.path), ".trust-*")
	if err != nil {
		return fmt.Errorf("writing the trusted folders: %w", err)
	}
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), r.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing the trusted folders: %w", err), os.Remove(tmp.Name()))
	}
	return nil
}
