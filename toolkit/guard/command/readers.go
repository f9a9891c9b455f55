package command

import "strings"

// readers are the programs that are known to only read, with the check of how
// they are used. It is filled once; each entry says what its list leaves out.
var readers = map[string]func([]string) (usage, string){}

func init() {
	for name, s := range specs {
		readers[name] = s.reader(name)
	}
	for name, f := range forms {
		readers[name] = f
	}
}

const anyNumber = -1

var specs = map[string]spec{
	// ls: everything it can do is reading names. Not -L and -H, which with -R
	// leave the tree by links.
	"ls": {
		flags: "aAlhRtrS1dFinogpsUXcufCmqQxGNbBkv", operands: paths, max: anyNumber,
		long: "all almost-all human-readable recursive reverse directory classify? color? sort= time= time-style= group-directories-first full-time inode size no-group numeric-uid-gid si hide= ignore=",
	},
	// cat, tac, nl, rev: no options with effects exist.
	"cat": {flags: "AbeEnstTuv", operands: paths, max: anyNumber, long: "number number-nonblank show-all show-ends show-tabs show-nonprinting squeeze-blank"},
	"tac": {operands: paths, max: anyNumber},
	"nl":  {flags: "p", values: "bdfhilnsvw", operands: paths, max: anyNumber},
	"rev": {operands: paths, max: anyNumber},
	// head, tail: not -f, -F, --retry, --pid: they do not end.
	"head": {flags: "qvz", values: "nc", digits: true, operands: paths, max: anyNumber, long: "lines= bytes= quiet silent verbose"},
	"tail": {flags: "qvz", values: "nc", digits: true, operands: paths, max: anyNumber, long: "lines= bytes= quiet silent verbose"},
	// wc, du: not --files0-from, which reads names from a file. du also not -L
	// and -D, which leave the tree by links.
	"wc": {flags: "lwcmL", operands: paths, max: anyNumber, long: "lines words bytes chars max-line-length"},
	"du": {
		flags: "shackmbxS0l", values: "d", operands: paths, max: anyNumber,
		long: "max-depth= human-readable summarize all total apparent-size si one-file-system exclude= time?",
	},
	"df": {flags: "hHkTiaPlm", operands: paths, max: anyNumber, long: "human-readable total inodes print-type local si"},
	// grep: not -f (patterns from a file), -R (follows links), -d and -D.
	"grep": {
		flags: "EFGPivwxclLnhHoqsaIrTZzbUy", values: "emABC", digits: true, operands: pattern, max: anyNumber, check: checkGrep,
		long: "regexp= extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp count files-with-matches files-without-match line-number no-filename with-filename only-matching quiet silent no-messages text recursive max-count= after-context= before-context= context= color? colour? include= exclude= exclude-dir= null byte-offset initial-tab",
	},
	// rg: not --pre and --hostname-bin (run programs), -z (runs unpackers), -f,
	// -L (follows links), --debug.
	"rg": {
		flags: "nNiSswxvclFoHIUPp0q.", values: "egtTABCmjdMr", operands: pattern, max: anyNumber, check: checkRipgrep,
		long: "line-number no-line-number ignore-case smart-case case-sensitive word-regexp line-regexp invert-match count count-matches files-with-matches files-without-match fixed-strings only-matching with-filename no-filename multiline multiline-dotall pcre2 pretty null quiet hidden files type-list json heading no-heading column trim vimgrep stats no-messages crlf passthru no-config regexp= glob= iglob= type= type-not= after-context= before-context= context= max-count= threads= max-depth= maxdepth= max-columns= color= colors= sort= sortr= replace= max-filesize= no-ignore no-ignore-vcs no-ignore-parent",
	},
	// sort: not -o (writes), -T and -S (temporary files), --compress-program
	// (runs), --files0-from, --random-source.
	"sort": {
		flags: "bdfghiMnrVucCsz", values: "kt", operands: paths, max: anyNumber,
		long: "reverse numeric-sort unique key= field-separator= ignore-case human-numeric-sort version-sort general-numeric-sort month-sort stable check? ignore-leading-blanks dictionary-order zero-terminated",
	},
	// uniq: a second operand is the file it writes.
	"uniq": {flags: "cduiDz", values: "fsw", operands: paths, max: 1, long: "count repeated unique ignore-case all-repeated? skip-fields= skip-chars= check-chars= zero-terminated"},
	"cut":  {flags: "snz", values: "bcfd", operands: paths, max: anyNumber, long: "bytes= characters= fields= delimiter= only-delimited output-delimiter= complement zero-terminated"},
	"tr":   {flags: "cCdst", min: 1, max: 2, long: "complement delete squeeze-repeats truncate-set1"},
	"fold": {flags: "bs", values: "w", operands: paths, max: anyNumber, long: "width= spaces bytes"},
	// comm, paste, diff, cmp: diff not -r, which reads whole trees, and nothing
	// that reads more operands from files.
	"comm":  {flags: "123iz", operands: paths, min: 2, max: 2, long: "check-order nocheck-order output-delimiter= total"},
	"paste": {flags: "sz", values: "d", operands: paths, min: 1, max: anyNumber, long: "delimiters= serial"},
	"diff": {
		flags: "uyqsbwBiNaEctpdTe", values: "UCW", operands: paths, min: 2, max: 2,
		long: "unified? context? side-by-side brief report-identical-files ignore-space-change ignore-all-space ignore-blank-lines ignore-case new-file text color? width= minimal normal suppress-common-lines expand-tabs show-c-function",
		check: func(_ options, u *usage) string {
			u.tree, u.hidden = true, true // of two folders it compares the files
			return ""
		},
	},
	"cmp": {flags: "slb", values: "in", operands: paths, min: 1, max: 2, long: "silent quiet verbose print-bytes bytes="},
	// file: not -C (compiles), -m and -f (files with magic and names), -z and -Z
	// (run unpackers), -s (reads devices).
	"file": {flags: "bikhNnLEr0", operands: paths, min: 1, max: anyNumber, long: "brief mime mime-type mime-encoding keep-going extension no-dereference dereference"},
	"stat": {flags: "Lft", values: "c", operands: paths, min: 1, max: anyNumber, long: "format= printf= dereference file-system terse"},
	// sums: not -c, which reads a list of names.
	"md5sum":    {flags: "btz", operands: paths, max: anyNumber, long: "tag binary text"},
	"sha1sum":   {flags: "btz", operands: paths, max: anyNumber, long: "tag binary text"},
	"sha256sum": {flags: "btz", operands: paths, max: anyNumber, long: "tag binary text"},
	"sha512sum": {flags: "btz", operands: paths, max: anyNumber, long: "tag binary text"},
	// tree: not -o and -R (write), -l (follows links), --fromfile.
	"tree": {flags: "adfispughDFrtCnNqQAJ", values: "LPI", operands: paths, max: anyNumber, long: "dirsfirst noreport prune filelimit= du si inodes device matchdirs ignore-case"},
	// Names only, or text only.
	"basename": {flags: "az", values: "s", min: 1, max: anyNumber, long: "multiple suffix= zero"},
	"dirname":  {flags: "z", min: 1, max: anyNumber, long: "zero"},
	"realpath": {flags: "emLPsqz", operands: paths, min: 1, max: anyNumber, long: "canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero"},
	"readlink": {flags: "femnqsvz", operands: paths, min: 1, max: anyNumber, long: "canonicalize canonicalize-existing canonicalize-missing no-newline"},
	"seq":      {flags: "w", values: "fs", min: 1, max: 3, long: "equal-width format= separator="},
	"which":    {flags: "a", min: 1, max: anyNumber, check: namesOnly},
	"whoami":   {},
	"id":       {flags: "ugnGrz", max: 1, long: "user group groups name real zero"},
	"groups":   {max: 1},
	"uname":    {flags: "asnrvmpio", long: "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system"},
	"nproc":    {long: "all ignore="},
	"arch":     {},
	// hostname: an operand would set it, -F too.
	"hostname": {},
	// date: -s and an operand without + set the clock; -f reads a file.
	"date": {
		flags: "uR", values: "dr", max: 1, long: "date= reference= utc universal iso-8601? rfc-3339= rfc-email", check: func(o options, u *usage) string {
			if len(o.operands) == 1 && !strings.HasPrefix(o.operands[0], "+") {
				return "date with that operand sets the clock"
			}
			u.reads = append(append([]string(nil), o.given["r"]...), o.given["reference"]...)
			return ""
		},
	},
	// jq: not -f, -L, --slurpfile, --rawfile (files), and no modules, which are
	// read from wherever the program says.
	"jq": {
		flags: "ceirnsSaCMjRh", operands: pattern, max: anyNumber,
		long: "compact-output raw-output null-input slurp sort-keys color-output monochrome-output join-output raw-input exit-status tab indent= ascii-output",
		check: func(o options, _ *usage) string {
			for _, word := range []string{"import", "include", "modulemeta", "env", "ENV"} {
				if len(o.operands) > 0 && strings.Contains(o.operands[0], word) {
					return "the jq program says " + word + ", which reads from elsewhere"
				}
			}
			return ""
		},
	},
	// The shell's own. echo and : take anything as text.
	"pwd":   {flags: "LP", builtin: true},
	"true":  {max: anyNumber, builtin: true},
	"false": {max: anyNumber, builtin: true},
	"type":  {flags: "aptPf", min: 1, max: anyNumber, builtin: true, check: namesOnly},
	"cd": {flags: "LP", operands: paths, min: 1, max: 1, builtin: true, check: func(o options, u *usage) string {
		u.access = Enters
		if o.operands[0] == "-" || o.operands[0] == "" {
			return "cd goes to where the shell was before"
		}
		return ""
	}},
}

func checkGrep(o options, u *usage) string {
	if o.has("r", "recursive") {
		u.tree, u.hidden = true, true
	}
	return ""
}

func checkRipgrep(o options, u *usage) string {
	if o.has("files", "type-list") {
		u.recursive = true
		return ""
	}
	u.tree, u.hidden = true, o.has("hidden", ".")
	return ""
}

// namesOnly refuses names of programs given by a path.
func namesOnly(o options, _ *usage) string {
	for _, n := range o.operands {
		if strings.Contains(n, "/") {
			return n + " is named by a path"
		}
	}
	return ""
}
