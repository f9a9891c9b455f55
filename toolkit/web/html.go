package web

import (
	"bytes"
	"net/url"
	"strings"

	readability "codeberg.org/readeck/go-readability/v2"
	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/net/html"
)

// articleShare is the least part of a page's text that an extracted article
// must have to stand for the page: listings and front pages have none.
const articleShare = 0.25

// Limits of what is converted: hostile pages make seconds of work out of few
// bytes, and no model reads more.
const (
	maxHTML  = 2 << 20 // bytes of a page that are parsed
	maxNodes = 60_000  // of a tree; a larger one is reduced to its bare text
)

// readHTML turns a page into Markdown: its article if it is mostly one, else
// the whole page. It never fails; what cannot be parsed comes back as it is.
// part says that only the beginning of the page was read.
func readHTML(page, address string) (title, text string, part bool) {
	if len(page) > maxHTML {
		page, part = page[:maxHTML], true
	}
	base, err := url.Parse(address)
	if err != nil {
		base = &url.URL{}
	}
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", page, part
	}
	if count(doc, maxNodes) >= maxNodes {
		drop(doc)
		return "", bareText(doc), part
	}
	title, article := extract(doc, base)
	drop(doc)
	whole := markdown(doc, base)
	if len(article) > 0 && float64(len(article)) >= articleShare*float64(len(whole)) {
		return title, article, part
	}
	return title, whole, part
}

// count returns the number of nodes of a tree, or most if there are more.
func count(n *html.Node, most int) int {
	total := 0
	for range n.Descendants() {
		if total++; total >= most {
			return most
		}
	}
	return total
}

// bareText is the text of a tree, a line for each piece.
func bareText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type != html.TextNode {
			continue
		}
		if line := strings.Join(strings.Fields(d.Data), " "); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// extract returns the article of a page, if there is one. The library walks
// hostile input; a panic in it must not end the program.
func extract(doc *html.Node, base *url.URL) (title, text string) {
	defer func() {
		if recover() != nil {
			title, text = "", ""
		}
	}()
	article, err := readability.FromDocument(doc, base)
	if err != nil {
		return "", ""
	}
	title = strings.Join(strings.Fields(article.Title()), " ")
	if article.Node == nil {
		return title, ""
	}
	drop(article.Node)
	return title, markdown(article.Node, base)
}

// markdown converts a tree; "" if it cannot.
func markdown(n *html.Node, base *url.URL) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	out, err := htmltomarkdown.ConvertNode(n, converter.WithDomain(base.Scheme+"://"+base.Host))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(out))
}

// unread are the elements whose content nobody reads.
var unread = map[string]bool{
	"script": true, "style": true, "noscript": true, "template": true, "iframe": true, "object": true, "embed": true,
	"svg": true, "canvas": true, "head": true,
}

// drop removes what a reader of the page does not see: scripts, hidden
// elements, comments, and pictures that are data.
func drop(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if c.Type == html.CommentNode || (c.Type == html.ElementNode && (unread[c.Data] || hidden(c))) {
			n.RemoveChild(c)
		} else {
			drop(c)
		}
		c = next
	}
}

// hidden reports whether an element says of itself that it is not shown.
// Instructions to models are often put into such elements.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "style":
			s := strings.ReplaceAll(strings.ToLower(a.Val), " ", "")
			if strings.Contains(s, "display:none") || strings.Contains(s, "visibility:hidden") {
				return true
			}
		case "src":
			if n.Data == "img" && strings.HasPrefix(a.Val, "data:") {
				return true
			}
		}
	}
	return false
}
