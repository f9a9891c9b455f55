package guard

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

const maxURLBytes = 8192

// blockedPorts are the "bad ports" of the Fetch standard: services whose
// protocol an HTTP request could be mistaken for.
var blockedPorts = map[uint16]bool{
	1: true, 7: true, 9: true, 11: true, 13: true, 15: true, 17: true, 19: true, 20: true, 21: true, 22: true, 23: true,
	25: true, 37: true, 42: true, 43: true, 53: true, 69: true, 77: true, 79: true, 87: true, 95: true, 101: true,
	102: true, 103: true, 104: true, 109: true, 110: true, 111: true, 113: true, 115: true, 117: true, 119: true,
	123: true, 135: true, 137: true, 139: true, 143: true, 161: true, 179: true, 389: true, 427: true, 465: true,
	512: true, 513: true, 514: true, 515: true, 526: true, 530: true, 531: true, 532: true, 540: true, 548: true,
	554: true, 556: true, 563: true, 587: true, 601: true, 636: true, 989: true, 990: true, 993: true, 995: true,
	1719: true, 1720: true, 1723: true, 2049: true, 3659: true, 4045: true, 4190: true, 5060: true, 5061: true,
	6000: true, 6379: true, 6566: true, 6665: true, 6666: true, 6667: true, 6668: true, 6669: true, 6679: true,
	6697: true, 10080: true,
}

// Target is a URL that passed the checks that need no network.
type Target struct {
	URL   string // canonical, with the ASCII host; what is shown and requested
	Host  string // lower case ASCII (IDNA), or an IP address
	Port  uint16
	TLS   bool
	Addrs []netip.Addr // what the name resolved to; empty before Check

	url *url.URL
}

// HostPort returns "host:port", the form of NetOptions.AllowHosts.
func (t Target) HostPort() string {
	return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
}

// parseTarget checks the form of a URL and normalises its host.
func parseTarget(op, raw string) (Target, error) {
	deny := func(rule Rule, format string, args ...any) (Target, error) {
		return Target{}, &Denied{Op: op, Path: raw, Rule: rule, Reason: fmt.Sprintf(format, args...)}
	}
	if len(raw) > maxURLBytes {
		return deny(RuleURL, "the URL has %d bytes, more than %d", len(raw), maxURLBytes)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return deny(RuleURL, "it is not a URL: %v", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return deny(RuleScheme, "only http and https are fetched, not %q", u.Scheme)
	}
	if u.User != nil {
		return deny(RuleURL, "it carries a user name or password, which also hides the real host")
	}
	if u.Opaque != "" || u.Host == "" {
		return deny(RuleURL, "it names no host")
	}
	host, reason := cleanHost(u.Hostname())
	if reason != "" {
		return deny(RuleURL, "%s", reason)
	}
	t := Target{Host: host, TLS: u.Scheme == "https", Port: 80}
	if t.TLS {
		t.Port = 443
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return deny(RuleURL, "%q is not a port", p)
		}
		t.Port = uint16(n)
	}
	if blockedPorts[t.Port] {
		return deny(RuleURL, "port %d belongs to another protocol", t.Port)
	}
	if metadataHosts[t.Host] {
		return deny(RuleMetadata, "%s is an instance metadata service", t.Host)
	}
	u.Host = t.HostPort()
	if (t.TLS && t.Port == 443) || (!t.TLS && t.Port == 80) {
		u.Host = t.Host
		if strings.Contains(t.Host, ":") {
			u.Host = "[" + t.Host + "]"
		}
	}
	u.Fragment, u.RawFragment = "", ""
	t.URL, t.url = u.String(), u
	return t, nil
}

// cleanHost returns the canonical form of a host, or why it is refused.
func cleanHost(host string) (clean, reason string) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", "an address with a zone is link-local"
		}
		return addr.String(), ""
	}
	if !utf8.ValidString(host) || strings.ContainsAny(host, ":%") {
		return "", fmt.Sprintf("%q is not a host name or IP address", host)
	}
	for _, r := range host {
		if r >= 0x80 && (r < 0xC0 || isOddDigit(r)) {
			return "", fmt.Sprintf("the host %q has digits or signs that turn into other characters", host)
		}
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil {
		return "", fmt.Sprintf("%q is not a host name: %v", host, err)
	}
	ascii = strings.ToLower(strings.TrimSuffix(ascii, "."))
	if again, err := idna.Lookup.ToASCII(ascii); err != nil || again != ascii {
		return "", fmt.Sprintf("%q is not a host name: its ASCII form %q is not stable", host, ascii)
	}
	if ascii == "" || len(ascii) > 253 {
		return "", fmt.Sprintf("%q is not a host name", host)
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if !validLabel(label) {
			return "", fmt.Sprintf("%q is not a host name: the part %q is not letters, digits and hyphens", host, label)
		}
	}
	// A last label that is a number makes systems read the host as an odd IPv4
	// form: 127.1, 2130706433, 0x7f.1 (WHATWG URL, "ends in a number").
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	if numeric(last) {
		return "", fmt.Sprintf("%q is an unusual way to write an IPv4 address: write it as a.b.c.d", host)
	}
	return ascii, ""
}

func validLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for i := range len(label) {
		c := label[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// isOddDigit reports characters that IDNA maps to ASCII digits, letters or dots,
// so that what is read is not what is contacted.
func isOddDigit(r rune) bool {
	if unicode.IsNumber(r) {
		return true
	}
	mapped := norm.NFKC.String(string(r))
	return mapped != string(r) && isASCII(mapped)
}
