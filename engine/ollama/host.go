package ollama

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"unicode"
)

// defaultHost is where Ollama listens unless told otherwise.
const defaultHost = "127.0.0.1:11434"

// address reads a server address; empty means OLLAMA_HOST, then Ollama's
// default.
func address(host string) (*url.URL, error) {
	if host != "" {
		return parseHost("ollama host", host)
	}
	host = strings.Trim(strings.TrimSpace(os.Getenv("OLLAMA_HOST")), `"'`)
	if host == "" {
		host = defaultHost
	}
	return parseHost("OLLAMA_HOST", host)
}

// parseHost reads an address by the rules of Ollama's own programs: without a
// scheme the port is 11434 unless given; http:// and https:// stand for their
// own ports, 80 and 443. Unlike there, a port that is none is an error and not
// quietly another port. what names the setting in errors.
func parseHost(what, given string) (*url.URL, error) {
	bad := func(why string) error {
		return fmt.Errorf("%s %q is not an address: %s. Write host:port, [ipv6]:port or http://host:port", what, given, why)
	}
	scheme, rest, ok := strings.Cut(strings.TrimSpace(given), "://")
	port := "11434"
	switch {
	case !ok:
		scheme, rest = "http", scheme
		if rest == "ollama.com" {
			scheme, port = "https", "443"
		}
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	default:
		return nil, bad(fmt.Sprintf("scheme %q is not http or https", scheme))
	}
	hostport, path, _ := strings.Cut(rest, "/")
	name := hostport
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		name, port = h, p
	} else if ip, err := netip.ParseAddr(strings.Trim(hostport, "[]")); err == nil {
		name = ip.String() // a bare IPv6 address
	}
	if name == "" && ok {
		return nil, bad("the host is missing")
	}
	if name == "" {
		name = "127.0.0.1" // ":8080"
	}
	ip, err := netip.ParseAddr(name)
	if err != nil && strings.ContainsFunc(name, notInHostName) || err == nil && strings.ContainsFunc(ip.Zone(), notInHostName) {
		return nil, bad(fmt.Sprintf("%q is no host name", name))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, bad(fmt.Sprintf("port %q is not a number from 1 to 65535", port))
	}
	if err == nil && ip.IsUnspecified() {
		name = "127.0.0.1" // a server listens there; a client must dial a real address
	}
	return &url.URL{Scheme: scheme, Host: net.JoinHostPort(name, port), Path: path}, nil
}

func notInHostName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._", r)
}

// Local reports whether the server is on this machine: a loopback address.
func (c *Client) Local() bool {
	name, _, err := net.SplitHostPort(c.host)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}
