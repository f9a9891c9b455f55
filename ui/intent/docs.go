package intent

import (
	"fmt"
	"strings"
)

// scopeTitles are the headings of docs/keys.md, in order.
var scopeTitles = []struct {
	scope Scope
	title string
}{
	{Global, "Everywhere"},
	{Panes, "In every pane that is read"},
	{Composer, "Message"},
	{Conversation, "Conversation"},
	{Timeline, "Timeline"},
	{Approvals, "Approvals"},
	{Review, "Review of a waiting call"},
	{CallPage, "Page of a call"},
	{Files, "Files"},
	{History, "History"},
	{Tools, "Tools of the model"},
	{Menu, "Menus and pickers"},
	{Ask, "Questions"},
	{Page, "Pages of text"},
}

// Markdown is docs/keys.md: every binding of the table. A test fails when the
// file is not current.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Keys\n\nMade from the table in `ui/intent/keys.go`; the same table gives the help, the footer and the palette.\n" +
		"The most specific place wins: a key that means something in a pane is not looked up further down the list.\n" +
		"Keys that allow a call count only in the approval queue or the review, after the call was visible for 400 ms.\n")
	for _, t := range scopeTitles {
		fmt.Fprintf(&b, "\n## %s\n\n| Keys | What it does |\n|---|---|\n", t.title)
		for _, k := range table {
			if k.Scope != t.scope {
				continue
			}
			quoted := make([]string, len(k.Keys))
			for i, name := range k.Keys {
				quoted[i] = "`" + strings.ReplaceAll(name, "|", `\|`) + "`"
			}
			fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(quoted, " "), k.About)
		}
	}
	return b.String()
}
