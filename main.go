// Command chela is a terminal workstation for local language models. This file
// is its command line: flags, subcommands and wiring. What the commands do is
// in engine/headless, what the screen does in ui.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"charm.land/fang/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"chela/engine/headless"
	"chela/themes"
	"chela/toolkit/catalogue"
	"chela/toolkit/guard/sandbox"
	"chela/ui/safetext"
)

// version is set by the Makefile.
var version string

func main() {
	sandbox.Main() // a sandboxed command starts as this program
	os.Exit(run(context.Background()))
}

// run is main without the exit.
func run(ctx context.Context) int {
	c := &cli{}
	root := c.root()
	c.keepErrors(root)
	err := fang.Execute(ctx, root, fang.WithVersion(versionText()), fang.WithErrorHandler(func(io.Writer, fang.Styles, error) {}))
	if err == nil {
		err = c.err
	}
	c.terminal().PrintError(err)
	return headless.Code(err)
}

// keepErrors has commands leave their errors in c.err. From fang they would
// come back too, but on the way it asks the terminal for its background, to
// pick colours for a box: an escape sequence and a wait for each error.
func (c *cli) keepErrors(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		c.keepErrors(sub)
	}
	check, body := cmd.Args, cmd.RunE
	if body == nil {
		return // only a page of help
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		if check != nil {
			c.err = check(cmd, given)
		}
		if c.err == nil {
			c.err = body(cmd, given)
		}
		return nil
	}
}

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown version)"
}

// cli holds the flags that all commands share.
type cli struct {
	dir  string
	json bool
	err  error // of the command that ran
}

func (c *cli) setup() headless.Setup {
	return headless.Setup{Dir: c.dir, Tools: catalogue.New}
}

// terminal looks at what the standard streams are.
func (c *cli) terminal() headless.Terminal {
	out, width := term.IsTerminal(os.Stdout.Fd()), 0
	if out {
		if w, _, err := term.GetSize(os.Stdout.Fd()); err == nil {
			width = w
		}
	}
	return headless.Terminal{
		Out: os.Stdout, Err: os.Stderr, JSON: c.json, OutIsTerm: out, ErrIsTerm: term.IsTerminal(os.Stderr.Fd()),
		Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", Safe: safetext.Block, Width: width,
	}
}

// body runs the body of a command. The first ctrl+c (or SIGTERM, or the end of
// the terminal) cancels it and lets it record that; the second ends the program
// at once.
func (c *cli) body(f func(ctx context.Context, t headless.Terminal, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
		if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
			signals = append(signals, syscall.SIGHUP)
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), signals...)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		return f(ctx, c.terminal(), args)
	}
}

// args makes a wrong number of arguments a usage error that shows the usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := check(cmd, given); err != nil {
			return headless.Usagef("%w: usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// group makes a command that only holds others, and refuses unknown ones.
func group(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(subs...)
	if cmd.Args == nil {
		cmd.Args = unknownCommand
	}
	if cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	return cmd
}

func unknownCommand(cmd *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if cmd.SuggestionsMinimumDistance <= 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	if near := cmd.SuggestionsFor(given[0]); len(near) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + strings.Join(near, " or ") + "?"
	}
	return headless.Usagef("%q is no command of %s: %s", given[0], cmd.CommandPath(), hint)
}

// maxInput is the most that is read from standard input.
const maxInput = 4 << 20

// input returns an argument, or standard input if it is "-".
func input(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(os.Stdin, maxInput+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading standard input: %w", err)
	case len(b) > maxInput:
		return "", headless.Usagef("standard input is longer than %d MiB: give a file's name instead of its content", maxInput>>20)
	}
	return string(b), nil
}

// root builds the whole command line. Nothing slow happens here: the
// workstation shows its first frame before anything is opened.
func (c *cli) root() *cobra.Command {
	var o screenOptions
	root := &cobra.Command{
		Use:   "chela",
		Short: "A terminal workstation for local language models",
		Long: "chela works on the project in the current folder with a local language model.\n" +
			"The model reads, searches, edits and runs things through tools; you see every call and decide the risky ones.",
		Example: "  chela                                  # the workstation\n" +
			"  chela run \"what does main.go do?\"      # one answer, without the screen\n" +
			"  chela check exec '{\"command\":\"rm x\"}'  # what would be decided, nothing runs\n" +
			"  chela doctor                           # what works here",
		RunE: c.body(func(ctx context.Context, t headless.Terminal, _ []string) error { return c.workstation(ctx, t, o) }),
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return headless.Usagef("%w: see %s --help", err, cmd.CommandPath())
	})
	root.PersistentFlags().StringVarP(&c.dir, "dir", "C", "", "work in this folder instead of the current one")
	root.PersistentFlags().BoolVar(&c.json, "json", false, "print JSON on standard output")
	root.Flags().StringVar(&o.model, "model", "", "the model to use (pocket: the built-in one)")
	root.Flags().StringVar(&o.mode, "mode", "", "what runs without a question: "+modeNames())
	root.Flags().StringVar(&o.theme, "theme", "", "colours: "+strings.Join(themes.Names(), ", "))
	root.Flags().StringVar(&o.session, "session", "", "resume this session: an id, or last")
	return group(root,
		c.run(), c.tool(), c.check(), c.parse(), c.route(), c.models(), c.pull(), c.sessions(), c.rules(), c.trust(), c.history(), c.audit(), c.backup(), c.restore(), c.doctor(), exitCodes())
}

func (c *cli) run() *cobra.Command {
	var o headless.RunOptions
	cmd := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Answer one prompt without the screen",
		Long: "Has the model answer one prompt. The answer goes to standard output as it comes, a line for each call to standard error.\n" +
			"Without PROMPT, or with -, the prompt is read from standard input.\n" +
			"Nobody is asked: what would ask is denied. --mode standard or --mode full allow more. See chela help exit-codes.",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			prompt := "-"
			if len(given) == 1 {
				prompt = given[0]
			} else if term.IsTerminal(os.Stdin.Fd()) {
				return headless.Usagef("no prompt: chela run \"what you want done\", or pipe it in")
			}
			text, err := input(prompt) // before signals are caught: ctrl+c then ends the wait
			if err != nil {
				return err
			}
			return c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
				o.Setup, o.Prompt = c.setup(), text
				return headless.Run(ctx, t, o)
			})(cmd, given)
		},
	}
	cmd.Flags().StringVar(&o.Model, "model", "", "the model to use (pocket: the built-in one)")
	cmd.Flags().StringVar(&o.Mode, "mode", "", "what runs without a question, in this run only: "+modeNames())
	cmd.Flags().StringVar(&o.Tier, "tier", "", "which tools the model gets: essential, standard, full")
	cmd.Flags().StringVar(&o.Session, "session", "", "go on with this session: an id, or last")
	cmd.Flags().BoolVar(&o.Continue, "continue", false, "go on with the last session of the folder")
	return cmd
}

func (c *cli) tool() *cobra.Command {
	var l headless.ToolListOptions
	list := &cobra.Command{
		Use: "list", Short: "List the tools that a model gets", Args: args(cobra.NoArgs),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
			l.Setup = c.setup()
			return headless.ToolList(ctx, t, l)
		}),
	}
	list.Flags().StringVar(&l.Tier, "tier", "", "those of a tier: essential, standard, full")
	list.Flags().StringVar(&l.Model, "model", "", "those of a model")
	list.Flags().BoolVar(&l.All, "all", false, "all, with the reason why each is given or not")

	schema := &cobra.Command{
		Use: "schema NAME", Short: "Print what a tool takes, as JSON Schema", Args: args(cobra.ExactArgs(1)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.ToolSchema(ctx, t, c.setup(), given[0])
		}),
	}

	var r headless.CallOptions
	call := &cobra.Command{
		Use: "run NAME JSON", Short: "Run one call through the five steps", Args: args(cobra.ExactArgs(2)),
		Long: "Takes one call through the five steps, as a model's call would go: validated, judged, run, recorded.\n" +
			"JSON holds the arguments; - reads them from standard input. What would ask is denied; --mode allows more.",
		Example: "  chela tool run read_file '{\"path\": \"go.mod\"}'\n  chela tool run exec '{\"command\": \"go test ./...\"}' --mode full",
		RunE: c.call(func(ctx context.Context, t headless.Terminal, name, json string) error {
			r.Setup, r.Name, r.Args = c.setup(), name, json
			return headless.ToolRun(ctx, t, r)
		}),
	}
	call.Flags().StringVar(&r.Mode, "mode", "", "what runs without a question: "+modeNames())
	return group(&cobra.Command{Use: "tool", Short: "List, describe and run tools"}, list, schema, call)
}

// call is the body of a command that takes a tool's name and its arguments.
func (c *cli) call(f func(ctx context.Context, t headless.Terminal, name, json string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, given []string) error {
		json, err := input(given[1])
		if err != nil {
			return err
		}
		return c.body(func(ctx context.Context, t headless.Terminal, given []string) error { return f(ctx, t, given[0], json) })(cmd, given)
	}
}

func (c *cli) check() *cobra.Command {
	var o headless.CallOptions
	cmd := &cobra.Command{
		Use: "check NAME JSON", Short: "Say how a call would be decided, and run nothing", Args: args(cobra.ExactArgs(2)),
		RunE: c.call(func(ctx context.Context, t headless.Terminal, name, json string) error {
			o.Setup, o.Name, o.Args = c.setup(), name, json
			return headless.Check(ctx, t, o)
		}),
	}
	cmd.Flags().StringVar(&o.Mode, "mode", "", "the mode to judge in: "+modeNames())
	return cmd
}

func (c *cli) parse() *cobra.Command {
	var o headless.ParseOptions
	cmd := &cobra.Command{
		Use: "parse", Short: "Find the tool calls in a model's text, and run nothing", Args: args(cobra.NoArgs),
		Long: "Reads a model's answer from standard input and says which tool calls it holds: models often write them as text.\n" +
			"It is what a turn does with an answer that has no call of its own. See docs/models.md.",
		Example: "  echo '{\"name\": \"read_file\", \"arguments\": {\"path\": \"go.mod\"}}' | chela parse",
		RunE: func(cmd *cobra.Command, given []string) error {
			if term.IsTerminal(os.Stdin.Fd()) {
				return headless.Usagef("no text: pipe it in, as in chela parse < answer.txt")
			}
			text, err := input("-")
			if err != nil {
				return err
			}
			return c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
				o.Tools, o.Text = catalogue.New, text
				return headless.Parse(ctx, t, o)
			})(cmd, given)
		},
	}
	cmd.Flags().StringVar(&o.Tier, "tier", "", "the tools the model was given: essential (the default), standard, full")
	cmd.Flags().StringVar(&o.File, "tools", "", "a file with a JSON list of the tools it was given, in Ollama's form")
	cmd.Flags().StringVar(&o.Done, "done", "stop", "why the answer ended: stop, or length if it was cut off")
	return cmd
}

func (c *cli) route() *cobra.Command {
	return &cobra.Command{
		Use: "route MODEL", Short: "Say which tier and tools a model gets, and why", Args: args(cobra.ExactArgs(1)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.Route(ctx, t, c.setup(), given[0])
		}),
	}
}

func (c *cli) models() *cobra.Command {
	check := &cobra.Command{
		Use: "check MODEL", Short: "Grade a model by four small tasks, in a scratch folder", Args: args(cobra.ExactArgs(1)),
		Long: "Has the model make a call, answer without one, recover from an error and edit a file, with the real tools in a scratch folder.\n" +
			"It prints a grade from A to F and keeps what it learnt, so that the model is asked for calls in the way that works.",
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.ModelCheck(ctx, t, c.setup(), given[0])
		}),
	}
	return group(&cobra.Command{
		Use: "models", Short: "List the installed models",
		RunE: c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
			return headless.Models(ctx, t, c.setup())
		}),
	}, check)
}

func (c *cli) pull() *cobra.Command {
	return &cobra.Command{
		Use: "pull MODEL", Short: "Download a model", Args: args(cobra.ExactArgs(1)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.Pull(ctx, t, c.setup(), given[0])
		}),
	}
}

func (c *cli) sessions() *cobra.Command {
	var all bool
	listing := c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
		return headless.Sessions(ctx, t, c.setup(), all)
	})
	list := &cobra.Command{Use: "list", Short: "List sessions, the newest first", Args: args(cobra.NoArgs), RunE: listing}
	show := &cobra.Command{
		Use: "show ID", Short: "Print a session (last: the newest)", Args: args(cobra.ExactArgs(1)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.SessionShow(ctx, t, c.setup(), given[0])
		}),
	}
	remove := &cobra.Command{
		Use: "rm ID...", Short: "Delete sessions with everything in them", Args: args(cobra.MinimumNArgs(1)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.SessionRemove(ctx, t, c.setup(), given)
		}),
	}
	rename := &cobra.Command{
		Use: "rename ID TITLE", Short: "Give a session a title", Args: args(cobra.ExactArgs(2)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.SessionRename(ctx, t, c.setup(), given[0], given[1])
		}),
	}
	form := headless.AsMarkdown
	export := &cobra.Command{
		Use: "export ID", Short: "Write a whole session as Markdown, or as JSON lines", Args: args(cobra.ExactArgs(1)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.SessionExport(ctx, t, c.setup(), given[0], form)
		}),
	}
	export.Flags().StringVar(&form, "format", form, headless.AsMarkdown+" or "+headless.AsJSONL)
	cmd := &cobra.Command{Use: "sessions", Short: "List, show, export and delete sessions", RunE: listing}
	for _, holder := range []*cobra.Command{cmd, list} {
		holder.Flags().BoolVar(&all, "all", false, "those of all folders")
	}
	return group(cmd, list, show, rename, export, remove)
}

func (c *cli) rules() *cobra.Command {
	listing := c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
		return headless.Rules(ctx, t, c.setup())
	})
	list := &cobra.Command{Use: "list", Short: "List the rules in force", Args: args(cobra.NoArgs), RunE: listing}
	revoke := &cobra.Command{
		Use: "revoke ID", Short: "End a rule", Args: args(cobra.ExactArgs(1)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.RuleRevoke(ctx, t, c.setup(), given[0])
		}),
	}
	return group(&cobra.Command{Use: "rules", Short: "List and revoke the rules that answer for you", RunE: listing}, list, revoke)
}

func (c *cli) audit() *cobra.Command {
	var o headless.AuditOptions
	var known string
	listing := c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
		o.Setup = c.setup()
		return headless.AuditList(ctx, t, o)
	})
	list := &cobra.Command{Use: "list", Short: "List what was done and by whose leave, the newest last", Args: args(cobra.NoArgs), RunE: listing}
	export := &cobra.Command{
		Use: "export", Short: "Write all rows as CSV, or as JSON lines with --json", Args: args(cobra.NoArgs),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
			o.Setup = c.setup()
			return headless.AuditExport(ctx, t, o)
		}),
	}
	verify := &cobra.Command{
		Use: "verify", Short: "Check that nothing in the audit was changed or removed", Args: args(cobra.NoArgs),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
			return headless.AuditVerify(ctx, t, c.setup(), known)
		}),
	}
	verify.Flags().StringVar(&known, "known", "", "a hash noted earlier that must be in the chain")
	cmd := &cobra.Command{Use: "audit", Short: "List, verify and export the record of all calls", RunE: listing}
	for _, holder := range []*cobra.Command{cmd, list, export} {
		holder.Flags().StringVar(&o.Session, "session", "", "of one session: an id, the beginning of it, or last")
		holder.Flags().StringVar(&o.Tool, "tool", "", "of one tool")
		holder.Flags().StringVar(&o.Since, "since", "", "since then: 36h, 7d, 2026-03-04")
	}
	for _, holder := range []*cobra.Command{cmd, list} {
		holder.Flags().IntVar(&o.Limit, "limit", 100, "the last so many; 0: all")
	}
	return group(cmd, list, verify, export)
}

func (c *cli) history() *cobra.Command {
	var o headless.UndoOptions
	undo := &cobra.Command{
		Use: "undo CALL", Short: "Put back what files held before a call", Args: args(cobra.ExactArgs(1)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			o.Setup, o.Call = c.setup(), given[0]
			return headless.HistoryUndo(ctx, t, o)
		}),
	}
	undo.Flags().BoolVar(&o.Turn, "turn", false, "the whole turn of the call")
	undo.Flags().BoolVar(&o.Show, "show", false, "only show what would change")
	var all bool
	var limit int
	search := &cobra.Command{
		Use: "search [WORDS...]", Short: "Find messages and calls", Args: args(cobra.ArbitraryArgs),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.HistorySearch(ctx, t, c.setup(), strings.Join(given, " "), all, limit)
		}),
	}
	search.Flags().BoolVar(&all, "all", false, "in every folder")
	search.Flags().IntVar(&limit, "limit", 50, "most results")
	return group(&cobra.Command{Use: "history", Short: "What was said and done, and how to undo it"}, search, undo)
}

func (c *cli) backup() *cobra.Command {
	return &cobra.Command{
		Use: "backup [FILE]", Short: "Copy everything that is stored to a file", Args: args(cobra.MaximumNArgs(1)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.Backup(ctx, t, c.setup(), strings.Join(given, ""))
		}),
	}
}

func (c *cli) restore() *cobra.Command {
	return &cobra.Command{
		Use: "restore FILE", Short: "Put a backup in the place of what is stored, which is kept aside", Args: args(cobra.ExactArgs(1)),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, given []string) error {
			return headless.Restore(ctx, t, c.setup(), given[0])
		}),
	}
}

func (c *cli) trust() *cobra.Command {
	var o headless.TrustOptions
	cmd := &cobra.Command{
		Use: "trust", Short: "Show what this folder says to chela and the model, and trust it", Args: args(cobra.NoArgs),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
			o.Setup = c.setup()
			return headless.ShowTrust(ctx, t, o)
		}),
	}
	cmd.Flags().BoolVar(&o.Yes, "yes", false, "trust the folder with the files as they are")
	cmd.Flags().BoolVar(&o.Revoke, "revoke", false, "end its trust")
	return cmd
}

func (c *cli) doctor() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Say what works here, what does not and what to do", Args: args(cobra.NoArgs),
		RunE: c.body(func(ctx context.Context, t headless.Terminal, _ []string) error {
			return headless.Doctor(ctx, t, headless.DoctorOptions{Setup: c.setup(), Version: versionText()})
		}),
	}
}

func exitCodes() *cobra.Command {
	return &cobra.Command{
		Use: "exit-codes", Short: "What the exit codes mean",
		Long: fmt.Sprintf("%3d  done\n%3d  it could not be done; standard error says why\n%3d  the command line, or something named on it, is wrong\n"+
			"%3d  a call was denied because nobody could answer\n%3d  cancelled by ctrl+c",
			headless.OK, headless.Failed, headless.Usage, headless.Denied, headless.Cancelled),
	}
}

var errNoTerminal = errors.New("the workstation needs a terminal: use chela run \"prompt\" in scripts")
