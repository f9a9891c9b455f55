package feeds

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/html/charset"
)

// maxOPML is how large a list of feeds may be, in bytes.
const maxOPML = 1 << 20

// listed is one feed of a list.
type listed struct{ name, url, category string }

type outline struct {
	Text     string    `xml:"text,attr"`
	Title    string    `xml:"title,attr"`
	URL      string    `xml:"xmlUrl,attr"`
	Outlines []outline `xml:"outline"`
}

// parseOPML reads a list of feeds as other readers write it. The folder that a
// feed is in is its category. What has no web address is left out.
func parseOPML(data []byte) ([]listed, error) {
	var doc struct {
		XMLName  xml.Name
		Outlines []outline `xml:"body>outline"`
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	d.CharsetReader = charset.NewReaderLabel
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("it is no OPML: %w", err)
	}
	if !strings.EqualFold(doc.XMLName.Local, "opml") {
		return nil, fmt.Errorf("it is no OPML: it begins with <%s>", doc.XMLName.Local)
	}
	var out []listed
	var walk func(list []outline, category string, depth int)
	walk = func(list []outline, category string, depth int) {
		for _, o := range list {
			name := o.Title
			if name == "" {
				name = o.Text
			}
			if u, err := url.Parse(strings.TrimSpace(o.URL)); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
				out = append(out, listed{clip(plain(name), maxTitle), u.String(), category})
			}
			if depth < 8 {
				inner := category
				if o.URL == "" && name != "" {
					inner = strings.ToLower(clip(plain(name), 40))
				}
				walk(o.Outlines, inner, depth+1)
			}
		}
	}
	walk(doc.Outlines, "", 0)
	return out, nil
}
