// Package intent names everything a person can do on the screen, and holds the
// one table that binds keys to it.
//
// A key press becomes an [Intent] by the table and the scopes that are active;
// panes and views handle intents, never keys. Help, footer, palette and
// docs/keys.md are all made from the same table, so they cannot disagree with
// what a key does.
package intent

// Intent is one thing a person can do.
type Intent string

// Everywhere.
const (
	Quit        Intent = "quit"
	Interrupt   Intent = "interrupt" // ctrl+c: clear, then cancel, then quit
	Back        Intent = "back"      // esc: close, then cancel the turn on the second press
	Help        Intent = "help"
	Palette     Intent = "palette"
	NextPane    Intent = "pane.next"
	PrevPane    Intent = "pane.prev"
	GoComposer  Intent = "pane.composer"
	GoChat      Intent = "pane.conversation"
	GoTimeline  Intent = "pane.timeline"
	GoApprovals Intent = "pane.approvals"
	GoFiles     Intent = "pane.files"
	ZoomIn      Intent = "zoom.in"
	ZoomOut     Intent = "zoom.out"
	CycleMode   Intent = "mode.cycle"
	Mouse       Intent = "mouse.toggle"
	Redraw      Intent = "redraw"
	Suspend     Intent = "suspend"
)

// Sessions and models.
const (
	PickModel    Intent = "model.pick"
	CheckModel   Intent = "model.check"
	PickMode     Intent = "mode.pick"
	PickTier     Intent = "tier.pick"
	PickTheme    Intent = "theme.pick"
	PickSession  Intent = "sessions"
	NewSession   Intent = "session.new"
	ShowTools    Intent = "tools"
	ToggleTool   Intent = "tools.session"
	PromoteTool  Intent = "tools.promote"
	DemoteTool   Intent = "tools.demote"
	StartServer  Intent = "server.start"
	PullModel    Intent = "model.pull"
	StopPull     Intent = "model.pull.stop"
	CancelTurn   Intent = "turn.cancel"
	ListRules    Intent = "rules"
	ShowHistory  Intent = "history"
	GoSession    Intent = "history.session"
	TrustFolder  Intent = "trust"
	ShowWork     Intent = "work"
	ShowJobs     Intent = "processes"
	ShowFeeds    Intent = "feeds"
	ShowWelcome  Intent = "welcome"
	DenyAllCalls Intent = "approvals.deny-all"
)

// The message being written.
const (
	Send       Intent = "send"
	Newline    Intent = "newline"
	RecallPrev Intent = "recall.prev" // the last queued prompt, then earlier ones
	RecallNext Intent = "recall.next"
	DropQueued Intent = "queue.drop"
)

// Moving in what is read.
const (
	Up       Intent = "up"
	Down     Intent = "down"
	Left     Intent = "left"
	Right    Intent = "right"
	PageUp   Intent = "page.up"
	PageDown Intent = "page.down"
	Home     Intent = "home"
	End      Intent = "end"
	Open     Intent = "open"
	Copy     Intent = "copy"
	Search   Intent = "search"
	NextHit  Intent = "next"
	PrevHit  Intent = "prev"
	Fold     Intent = "fold"
	Refresh  Intent = "refresh"
	Preview  Intent = "preview"
	Mention  Intent = "mention.path"
	Filter   Intent = "filter"
	Undo     Intent = "undo"
	UndoTurn Intent = "undo.turn"
)

// Deciding a call.
const (
	Approve        Intent = "approve.once"
	ApproveSession Intent = "approve.session"
	ApproveRule    Intent = "approve.rule"
	ApproveNote    Intent = "approve.note"
	Deny           Intent = "deny"
	DenyReason     Intent = "deny.reason"
	NextItem       Intent = "item.next"
	PrevItem       Intent = "item.prev"
	NextTab        Intent = "tab.next"
	Layout         Intent = "layout"
)

// Decides reports whether the intent lets a call run or stops it. Such a key
// counts only when the queue was focused and the item visible long enough.
func (i Intent) Decides() bool {
	switch i {
	case Approve, ApproveSession, ApproveRule, ApproveNote, Deny, DenyReason, DenyAllCalls:
		return true
	}
	return false
}

// Allows reports whether the intent lets a call run.
func (i Intent) Allows() bool {
	switch i {
	case Approve, ApproveSession, ApproveRule, ApproveNote:
		return true
	}
	return false
}
