package feeds

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html"

	"chela/toolkit"
)

// read is what a feed says.
type read struct {
	title    string
	articles []toolkit.Article
}

// parse reads a feed of any form. Dates that are missing or lie ahead are now's.
func parse(data []byte, address string, now time.Time) (r read, err error) {
	defer func() {
		// The parser is a library that reads what anybody may have written.
		if v := recover(); v != nil {
			r, err = read{}, fmt.Errorf("the feed cannot be read: %v", v)
		}
	}()
	f, err := gofeed.NewParser().Parse(bytes.NewReader(data))
	if err != nil {
		return read{}, fmt.Errorf("it is no feed: %w", err)
	}
	r.title = clip(plain(f.Title), maxTitle)
	base, err := url.Parse(address)
	if err != nil {
		base = &url.URL{}
	}
	seen := map[string]bool{}
	for _, item := range f.Items[:min(len(f.Items), maxEntries)] {
		a := article(item, base, now)
		if a.Title == "" && a.URL == "" || seen[a.ID] {
			continue
		}
		seen[a.ID] = true
		r.articles = append(r.articles, a)
	}
	return r, nil
}

func article(item *gofeed.Item, base *url.URL, now time.Time) toolkit.Article {
	a := toolkit.Article{Title: clip(plain(item.Title), maxTitle), URL: resolve(base, item.Link), Published: now}
	for _, at := range []*time.Time{item.UpdatedParsed, item.PublishedParsed} {
		if at != nil && at.Before(now) && at.Year() > 1970 {
			a.Published = *at
		}
	}
	text := item.Description
	if text == "" {
		text = item.Content
	}
	a.Summary = clip(plain(text), maxSummary)
	key := item.GUID
	if key == "" {
		if key = a.URL; key == "" {
			key = a.Title + "\n" + a.Summary
		}
	}
	sum := sha256.Sum256([]byte(key))
	a.ID = hex.EncodeToString(sum[:8])
	return a
}

// resolve makes an address absolute; "" if it is no web address.
func resolve(base *url.URL, ref string) string {
	u, err := base.Parse(strings.TrimSpace(ref))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

// maxMarkup bounds how much of an entry's markup is read, in bytes.
const maxMarkup = 64 << 10

// plain is the text of a piece of HTML, on one line.
func plain(s string) string {
	if len(s) > maxMarkup {
		s = s[:maxMarkup]
	}
	z := html.NewTokenizer(strings.NewReader(s))
	var b strings.Builder
	skip := ""
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return strings.Join(strings.Fields(strings.ToValidUTF8(b.String(), "")), " ")
		}
		if kind == html.TextToken {
			if skip == "" {
				b.Write(z.Text())
			}
			continue
		}
		tag, _ := z.TagName()
		name := string(tag)
		switch {
		case kind == html.StartTagToken && (name == "script" || name == "style"):
			skip = name
		case kind == html.EndTagToken && name == skip:
			skip = ""
		}
		if !inline[name] {
			b.WriteByte(' ')
		}
	}
}

// inline are the elements that do not end a word.
var inline = map[string]bool{
	"a": true, "abbr": true, "b": true, "code": true, "em": true, "i": true, "kbd": true, "mark": true, "q": true, "s": true,
	"small": true, "span": true, "strong": true, "sub": true, "sup": true, "tt": true, "u": true, "var": true,
}

// clip cuts a text at so many characters.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return s
}

// discover returns the feeds that a page says it has, in its order, without
// those of its comments when there are others.
func discover(page []byte, address string) []string {
	base, err := url.Parse(address)
	if err != nil {
		return nil
	}
	var found, comments []string
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		t := z.Token()
		if t.Data != "link" && t.Data != "a" {
			continue
		}
		attr := map[string]string{}
		for _, a := range t.Attr {
			attr[a.Key] = a.Val
		}
		if !strings.Contains(" "+strings.ToLower(attr["rel"])+" ", " alternate ") {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(strings.SplitN(attr["type"], ";", 2)[0])) {
		case "application/rss+xml", "application/atom+xml", "application/feed+json":
		default:
			continue
		}
		u := resolve(base, attr["href"])
		switch {
		case u == "":
		case strings.Contains(strings.ToLower(u+attr["title"]), "comment"):
			comments = append(comments, u)
		default:
			found = append(found, u)
		}
	}
	if len(found) == 0 {
		found = comments
	}
	return found[:min(len(found), 10)]
}
