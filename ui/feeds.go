package ui

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"chela/toolkit"
	"chela/ui/pane"
	"chela/ui/safetext"
	"chela/ui/view"
)

// readerMost is how many articles the reader lists; typing narrows them.
const readerMost = 500

// feedsMsg is what the reader shows.
type feedsMsg struct {
	feeds    []toolkit.Feed
	articles []toolkit.Article
	total    int
	err      error
}

// showFeeds reads the feeds and their newest articles.
func (m *Model) showFeeds() tea.Cmd {
	lib, ctx := m.eng.Library(), m.ctx
	return func() tea.Msg {
		feeds, err := lib.Feeds(ctx)
		if err != nil {
			return feedsMsg{err: err}
		}
		list, total, err := lib.Articles(ctx, toolkit.ArticleFilter{Limit: readerMost})
		return feedsMsg{feeds, list, total, err}
	}
}

// reader lists the articles, the newest first, and what can be done with feeds.
func (m *Model) reader(msg feedsMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.say(firstSentence(msg.err.Error()))
	case len(msg.feeds) == 0:
		return m.say("no feeds yet: chela tool run feed_add adds one")
	}
	unread, failed := 0, ""
	for _, a := range msg.articles {
		if !a.Read {
			unread++
		}
	}
	for _, f := range msg.feeds {
		if f.Error != "" {
			failed = "; " + f.Name + " failed: " + f.Error
		}
	}
	choices := []view.Choice{{
		Text: "Fetch new articles", About: pane.Count(len(msg.feeds), "feed", "feeds") + failed, Action: perform{m.pollFeeds},
	}}
	for _, a := range msg.articles {
		mark := "● "
		if a.Read {
			mark = "  "
		}
		choices = append(choices, view.Choice{
			Text: mark + a.Title, About: a.FeedName + " · " + pane.Ago(m.opts.Now().Sub(a.Published)) + " ago",
			Action: perform{func() tea.Cmd { return m.readArticle(a) }},
		})
	}
	note := fmt.Sprintf("%d of %d articles, %d unread", len(msg.articles), msg.total, unread)
	m.push(view.NewMenu(m.st, "Feeds", "part of a title", choices).Wide(120).Hint(note))
	return nil
}

// readArticle shows one article and notes that it was read.
func (m *Model) readArticle(a toolkit.Article) tea.Cmd {
	body := a.Summary
	if body == "" {
		body = "The feed has no text for this article."
	}
	text := fmt.Sprintf("%s\n%s · %s\n\n%s", a.URL, a.FeedName, a.Published.Local().Format("2006-01-02 15:04"), body)
	m.push(view.NewPage(m.st, safetext.Title(a.Title), strings.Split(safetext.Block(text), "\n"), text, false))
	lib, ctx := m.eng.Library(), m.ctx
	return func() tea.Msg {
		if err := lib.MarkRead(ctx, []toolkit.Article{a}); err != nil {
			return failedMsg{err}
		}
		return nil
	}
}

// pollFeeds fetches what is new as any call does: it is seen on the timeline,
// and asked about where the mode says so.
func (m *Model) pollFeeds() tea.Cmd {
	session, ctx := m.session, m.ctx
	return tea.Batch(m.say("fetching the feeds that are due"), func() tea.Msg {
		out, err := session.Call(ctx, "feed_poll", json.RawMessage(`{}`))
		switch {
		case err != nil:
			return failedMsg{err}
		case !out.OK:
			return doneMsg{firstSentence(out.Text)}
		}
		return polledMsg{out.Result.Text}
	})
}

// polledMsg says that a poll is over.
type polledMsg struct{ text string }
