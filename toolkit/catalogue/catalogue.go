// Package catalogue builds the registry of every built-in tool.
//
// It guarantees the order of the public catalogue, which is the order in every
// prompt, and (by its tests) that each tool has the name, category, level,
// tier and parameters which the catalogue states, that no tool reaches files,
// programs or the network except through toolkit/guard, and that the token
// counts in toolkit/tokens.json are those of the schemas.
package catalogue

import (
	"chela/toolkit"
	"chela/toolkit/channels"
	"chela/toolkit/code"
	"chela/toolkit/desktop"
	"chela/toolkit/feeds"
	"chela/toolkit/files"
	"chela/toolkit/git"
	"chela/toolkit/media"
	"chela/toolkit/meta"
	"chela/toolkit/shell"
	"chela/toolkit/system"
	"chela/toolkit/tasks"
	"chela/toolkit/web"
)

//go:generate go test -run TestTokenCounts -update .
//go:generate go test -run TestTheToolManualIsCurrent -update .

// New returns the registry of all built-in tools.
func New() (*toolkit.Registry, error) {
	return toolkit.NewRegistry(
		files.ReadFile(),
		files.WriteFile(),
		files.EditFile(),
		shell.Exec(),
		files.Grep(),
		files.SearchFiles(),
		files.DirectoryTree(),
		git.StatusTool(),
		web.Fetch(),
		tasks.CompleteTask(),
		git.DiffTool(),
		git.LogTool(),
		git.CommitTool(),
		git.BranchTool(),
		code.TestRun(),
		code.TypecheckTool(),
		code.LintTool(),
		code.InfoTool(),
		web.Search(),
		tasks.TodoWrite(),
		shell.ExecStatus(),
		meta.SearchTools(),
		files.PatchApply(),
		files.MultiPatch(),
		files.PathInfo(),
		media.Analyze(),
		shell.ExecKill(),
		shell.REPLExecute(),
		code.BuildTool(),
		code.FormatTool(),
		git.StashTool(),
		git.RemoteTool(),
		git.PullRequestTool(),
		web.Understand(),
		tasks.CreatePlan(),
		tasks.CompletePlanStep(),
		desktop.Notify(),
		desktop.ReadClipboard(),
		desktop.WriteClipboard(),
		desktop.Capture(),
		channels.Slack(),
		channels.Discord(),
		channels.Telegram(),
		media.Speak(),
		media.Generate(),
		media.Canvas(),
		feeds.List(),
		feeds.Add(),
		feeds.Poll(),
		feeds.DigestTool(),
		system.Env(),
		system.SystemInfo(),
		system.ProcessList(),
		system.Which(),
	)
}
