package intent

import (
	"slices"
	"strings"
)

// Scope is where a binding holds. The most specific active scope is asked
// first.
type Scope string

// The scopes.
const (
	Global       Scope = "everywhere"
	Panes        Scope = "panes"   // any pane that is read, not written in
	Composer     Scope = "message" // the message being written
	Conversation Scope = "conversation"
	Timeline     Scope = "timeline"
	Approvals    Scope = "approvals"
	Files        Scope = "files"
	Review       Scope = "review"   // one call, whole, to be decided
	CallPage     Scope = "call"     // one call, whole, to be read
	Menu         Scope = "menu"     // palette and pickers: a list with a filter
	Ask          Scope = "question" // one line of text is asked for
	Page         Scope = "page"     // a text to read: help, file preview
	History      Scope = "history"  // what was said and done, found while it is typed
	Tools        Scope = "tools"    // what the model gets, and what each costs
)

// Binding binds keys to an intent in a scope.
type Binding struct {
	Scope  Scope
	Keys   []string // as Bubble Tea spells them; the first is the one shown
	Intent Intent
	Verb   string // two or three words, for footer and help
	About  string // one sentence, for help, palette and docs
	Footer bool   // shown in the footer of its scope
}

// The conventions: enter opens, esc goes back, the same letter is the same verb
// in every pane. The keys that decide are not in the review's footer: the
// review shows them itself, where there is always room for them.
var table = []Binding{
	{Global, []string{"ctrl+c"}, Interrupt, "stop", "Clears the message; with none, stops the turn; then, pressed twice, quits.", false},
	{Global, []string{"esc"}, Back, "back", "Closes what is open; with nothing open, pressed twice, stops the turn.", false},
	{Global, []string{"ctrl+p"}, Palette, "palette", "Finds everything that can be done.", true},
	{Global, []string{"f1"}, Help, "help", "Shows the keys that work here.", false},
	{Global, []string{"tab"}, NextPane, "pane", "Moves the focus to the next pane.", true},
	{Global, []string{"alt+tab", "ctrl+shift+tab"}, PrevPane, "previous pane", "Moves the focus to the pane before.", false},
	{Global, []string{"alt+0"}, GoComposer, "message", "Goes to the message.", false},
	{Global, []string{"alt+1"}, GoChat, "conversation", "Goes to the conversation.", false},
	{Global, []string{"alt+2"}, GoTimeline, "timeline", "Goes to the timeline.", false},
	{Global, []string{"alt+3"}, GoApprovals, "approvals", "Goes to the approval queue.", false},
	{Global, []string{"alt+4"}, GoFiles, "files", "Goes to the files.", false},
	{Global, []string{"shift+tab"}, CycleMode, "mode", "Switches between ask and standard mode.", false},
	{Global, []string{"ctrl+t"}, PickModel, "model", "Picks the model.", false},
	{Global, []string{"ctrl+s"}, PickSession, "sessions", "Lists the sessions of this project.", false},
	{Global, []string{"ctrl+f"}, ShowHistory, "find", "Finds everything that was said and done in this project.", false},
	{Global, []string{"ctrl+l"}, Redraw, "redraw", "Draws the whole screen again.", false},
	{Global, []string{"ctrl+z"}, Suspend, "suspend", "Goes back to the shell; fg returns.", false},

	{Panes, []string{"?"}, Help, "help", "Shows the keys that work here.", true},
	{Panes, []string{"i", "0"}, GoComposer, "write", "Goes to the message.", false},
	{Panes, []string{"1"}, GoChat, "conversation", "Goes to the conversation.", false},
	{Panes, []string{"2"}, GoTimeline, "timeline", "Goes to the timeline.", false},
	{Panes, []string{"3"}, GoApprovals, "approvals", "Goes to the approval queue.", false},
	{Panes, []string{"4"}, GoFiles, "files", "Goes to the files.", false},
	{Panes, []string{"j", "down"}, Down, "down", "Moves down.", false},
	{Panes, []string{"k", "up"}, Up, "up", "Moves up.", false},
	{Panes, []string{"ctrl+d", "pgdown", "space"}, PageDown, "page down", "Moves down by a page.", false},
	{Panes, []string{"ctrl+u", "pgup", "ctrl+b"}, PageUp, "page up", "Moves up by a page.", false},
	{Panes, []string{"g", "home"}, Home, "start", "Goes to the start.", false},
	{Panes, []string{"G", "end"}, End, "end", "Goes to the end, and follows what comes.", false},
	{Panes, []string{"+"}, ZoomIn, "larger", "Makes the focused pane larger: half, then the whole screen.", false},
	{Panes, []string{"_", "-"}, ZoomOut, "smaller", "Makes the focused pane smaller again.", false},
	{Panes, []string{"T"}, ShowTools, "tools", "Lists what the model gets and what each tool costs.", false},
	{Panes, []string{"y"}, Copy, "copy", "Copies what is selected.", true},

	{Composer, []string{"enter"}, Send, "send", "Sends the message; while the model works, puts it into the queue.", true},
	{Composer, []string{"ctrl+j", "shift+enter", "alt+enter"}, Newline, "new line", "Starts a new line.", true},
	{Composer, []string{"up"}, RecallPrev, "earlier", "On the first line: takes back the last queued prompt, then earlier ones.", false},
	{Composer, []string{"down"}, RecallNext, "later", "On the last line: goes back to later prompts.", false},
	{Composer, []string{"ctrl+x"}, DropQueued, "drop queued", "Drops the prompt that was queued last.", false},
	{Composer, []string{"pgup"}, PageUp, "read up", "Scrolls the conversation up.", false},
	{Composer, []string{"pgdown"}, PageDown, "read down", "Scrolls the conversation down.", false},

	{Conversation, []string{"enter"}, Open, "open call", "Opens the selected call, or folds and unfolds thinking.", true},
	{Conversation, []string{"o"}, Fold, "thinking", "Shows or hides the thinking of the selected message.", true},

	{Timeline, []string{"enter"}, Open, "open", "Opens the call: arguments, output, diff, decision.", true},
	{Timeline, []string{"u"}, Undo, "undo", "Puts the files back to what they held before this call, after showing what changes.", true},
	{Timeline, []string{"U"}, UndoTurn, "undo the turn", "Puts back all that the turn of this call changed, after showing it.", false},
	{Timeline, []string{"f"}, Filter, "failed only", "Shows only calls that failed or were denied, then all again.", true},

	{Approvals, []string{"enter"}, Open, "review", "Opens the call: the whole diff, command or address.", true},
	{Approvals, []string{"a"}, Approve, "once", "Lets this call run.", true},
	{Approvals, []string{"s"}, ApproveSession, "session", "Lets it run, and the like for this session; the exact rule is shown first.", false},
	{Approvals, []string{"r"}, ApproveRule, "rule", "Makes a rule out of it; the exact rule is shown first.", true},
	{Approvals, []string{"c"}, ApproveNote, "once, with a note", "Lets it run and gives the model a note with the result.", false},
	{Approvals, []string{"d"}, Deny, "deny", "Denies this call.", true},
	{Approvals, []string{"D"}, DenyReason, "deny, why", "Denies it with a reason that the model reads.", false},

	{Files, []string{"enter"}, Mention, "put @path", "Puts the file into the message; opens and closes a folder.", true},
	{Files, []string{"p", "o"}, Preview, "preview", "Shows the file.", true},
	{Files, []string{"/"}, Search, "find", "Finds a file by parts of its name.", true},
	{Files, []string{"l", "right"}, Right, "unfold", "Opens the folder.", false},
	{Files, []string{"h", "left"}, Left, "fold", "Closes the folder, or goes to its parent.", false},
	{Files, []string{"R"}, Refresh, "read again", "Reads the folder and git's marks again.", false},

	{Review, []string{"a"}, Approve, "once", "Lets this call run.", false},
	{Review, []string{"s"}, ApproveSession, "session", "Lets it run, and the like for this session; the exact rule is shown first.", false},
	{Review, []string{"r"}, ApproveRule, "rule", "Makes a rule out of it; the exact rule is shown first.", false},
	{Review, []string{"c"}, ApproveNote, "with a note", "Lets it run and gives the model a note with the result.", false},
	{Review, []string{"d"}, Deny, "deny", "Denies this call.", false},
	{Review, []string{"D"}, DenyReason, "deny, why", "Denies it with a reason that the model reads.", false},
	{Review, []string{"]", "right"}, NextItem, "next waiting", "Shows the next call that waits.", false},
	{Review, []string{"[", "left"}, PrevItem, "previous waiting", "Shows the call before.", false},
	{Review, []string{"tab"}, NextTab, "next tab", "Preview, arguments, policy.", true},
	{Review, []string{"u"}, Layout, "unified/split", "Draws the diff in one column or two.", true},
	{Review, []string{"n"}, NextHit, "next hunk", "Goes to the next hunk.", true},
	{Review, []string{"N"}, PrevHit, "previous hunk", "Goes to the hunk before.", false},

	{CallPage, []string{"tab"}, NextTab, "next tab", "Output, arguments, change, steps.", true},
	{CallPage, []string{"]", "right"}, NextItem, "next call", "Shows the next call.", true},
	{CallPage, []string{"[", "left"}, PrevItem, "previous call", "Shows the call before.", false},
	{CallPage, []string{"esc", "q"}, Back, "close", "Closes the page.", true},
	{CallPage, []string{"u"}, Undo, "undo", "Puts the files back to what they held before this call, after showing what changes.", true},
	{CallPage, []string{"U"}, UndoTurn, "undo the turn", "Puts back all that the turn of this call changed, after showing it.", false},
	{CallPage, []string{"v"}, Layout, "unified/split", "Draws the diff in one column or two.", false},
	{CallPage, []string{"n"}, NextHit, "next hunk", "Goes to the next hunk.", false},
	{CallPage, []string{"N"}, PrevHit, "previous hunk", "Goes to the hunk before.", false},

	{Page, []string{"esc", "q"}, Back, "close", "Closes the page.", true},

	{History, []string{"enter"}, Open, "open", "Opens the call that is marked, or the message.", true},
	{History, []string{"ctrl+o"}, GoSession, "its session", "Resumes the session of what is marked.", true},
	{History, []string{"up", "ctrl+k"}, Up, "up", "Moves up.", false},
	{History, []string{"down", "ctrl+j"}, Down, "down", "Moves down.", false},
	{History, []string{"pgup"}, PageUp, "page up", "Moves up by a page.", false},
	{History, []string{"pgdown"}, PageDown, "page down", "Moves down by a page.", false},
	{History, []string{"esc"}, Back, "close", "Closes the history.", true},

	{Tools, []string{"space"}, ToggleTool, "this session", "Gives the model the tool for this session, or takes it away again.", true},
	{Tools, []string{"P"}, PromoteTool, "promote in settings", "Puts the tool into tools.promote of settings.yml, or out of it.", true},
	{Tools, []string{"D"}, DemoteTool, "demote", "Puts the tool into tools.demote of settings.yml, or out of it.", true},
	{Tools, []string{"enter"}, Open, "describe", "Shows what the tool does and takes.", true},
	{Tools, []string{"/"}, Search, "search", "Finds a tool by parts of its name.", true},
	{Tools, []string{"esc", "q"}, Back, "close", "Closes the list.", false},

	{Menu, []string{"enter"}, Open, "choose", "Chooses the marked line.", true},
	{Menu, []string{"esc"}, Back, "close", "Closes the list; nothing changes.", true},
	{Menu, []string{"ctrl+g"}, CheckModel, "grade", "In the list of models: gives the marked one four small tasks and a grade.", false},
	{Menu, []string{"up", "ctrl+k"}, Up, "up", "Moves up.", false},
	{Menu, []string{"down", "ctrl+j"}, Down, "down", "Moves down.", false},
	{Menu, []string{"pgup"}, PageUp, "page up", "Moves up by a page.", false},
	{Menu, []string{"pgdown"}, PageDown, "page down", "Moves down by a page.", false},

	{Ask, []string{"enter"}, Open, "confirm", "Takes what is written.", true},
	{Ask, []string{"esc"}, Back, "cancel", "Closes the question; nothing happens.", true},
}

// Table returns all bindings in order. The slice must not be changed.
func Table() []Binding { return table }

// Resolve finds the intent of a key. scopes go from the most specific to
// [Global]; the first that binds the key wins.
func Resolve(key string, scopes []Scope) (Binding, bool) {
	for _, scope := range scopes {
		for _, b := range table {
			if b.Scope == scope && slices.Contains(b.Keys, key) {
				return b, true
			}
		}
	}
	return Binding{}, false
}

// ForScopes returns the bindings that hold under these scopes, each intent
// once, in the order of the scopes. Keys that a more specific scope takes are
// left out.
func ForScopes(scopes []Scope) []Binding {
	var out []Binding
	taken := map[string]bool{}
	seen := map[Intent]bool{}
	for _, scope := range scopes {
		for _, b := range table {
			if b.Scope != scope {
				continue
			}
			b.Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(k string) bool { return taken[k] })
			if len(b.Keys) > 0 && !seen[b.Intent] {
				out = append(out, b)
				seen[b.Intent] = true
			}
		}
		for _, b := range table {
			if b.Scope == scope {
				for _, k := range b.Keys {
					taken[k] = true
				}
			}
		}
	}
	return out
}

// KeyOf returns the shown key of an intent under these scopes, or "".
func KeyOf(i Intent, scopes []Scope) string {
	for _, b := range ForScopes(scopes) {
		if b.Intent == i {
			return Show(b.Keys[0])
		}
	}
	return ""
}

// Show spells a key as the screen does: ^P, ⏎, shift+tab.
func Show(key string) string {
	switch key {
	case "enter":
		return "⏎"
	case "pgdown":
		return "PgDn"
	case "pgup":
		return "PgUp"
	case "f1":
		return "F1"
	}
	if rest, ok := strings.CutPrefix(key, "ctrl+"); ok && len(rest) == 1 {
		return "^" + strings.ToUpper(rest)
	}
	return key
}
