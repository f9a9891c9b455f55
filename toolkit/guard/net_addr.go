package guard

import (
	"fmt"
	"net/netip"
)

// metadataAddrs serve credentials to whoever can reach them from a cloud
// machine: AWS, Azure, Google and most others; AWS containers; AWS over IPv6;
// Alibaba; Azure's host agent; Oracle.
var metadataAddrs = map[netip.Addr]bool{
	netip.MustParseAddr("169.254.169.254"): true,
	netip.MustParseAddr("169.254.170.2"):   true,
	netip.MustParseAddr("169.254.170.23"):  true,
	netip.MustParseAddr("fd00:ec2::254"):   true,
	netip.MustParseAddr("fd00:ec2::23"):    true,
	netip.MustParseAddr("fd20:ce::254"):    true,
	netip.MustParseAddr("100.100.100.200"): true,
	netip.MustParseAddr("168.63.129.16"):   true,
	netip.MustParseAddr("192.0.0.192"):     true,
}

// metadataHosts are the names of such services.
var metadataHosts = map[string]bool{
	"metadata.google.internal": true, "metadata.goog": true, "metadata": true,
	"instance-data": true, "instance-data.ec2.internal": true, "metadata.azure.internal": true,
	"metadata.tencentyun.com": true, "metadata.platformequinix.com": true,
}

type addrRange struct {
	prefix netip.Prefix
	what   string
}

func ranges(list ...string) []addrRange {
	var out []addrRange
	for i := 0; i < len(list); i += 2 {
		out = append(out, addrRange{netip.MustParsePrefix(list[i]), list[i+1]})
	}
	return out
}

// The special-purpose registries of IANA (RFC 6890 and later entries).
var (
	notPublic4 = ranges(
		"0.0.0.0/8", "this host", "10.0.0.0/8", "a private network", "100.64.0.0/10", "a carrier's private network",
		"127.0.0.0/8", "this machine", "169.254.0.0/16", "link-local", "172.16.0.0/12", "a private network",
		"192.0.0.0/24", "protocol assignments", "192.0.2.0/24", "documentation", "192.88.99.0/24", "6to4 relay",
		"192.168.0.0/16", "a private network", "198.18.0.0/15", "benchmarking", "198.51.100.0/24", "documentation",
		"203.0.113.0/24", "documentation", "224.0.0.0/4", "multicast", "240.0.0.0/4", "reserved")
	// Of IPv6 only 2000::/3 is handed out for the public; these are holes in it.
	notPublic6 = ranges(
		"2001::/32", "Teredo, which embeds another address", "2001::/23", "protocol assignments",
		"2001:db8::/32", "documentation", "2002::/16", "6to4, which embeds another address",
		"3fff::/20", "documentation")
	global6 = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
)

// judgeAddr says why an address must not be dialled, or "". It unwraps IPv4 in
// IPv6 first, since systems connect to the address inside.
func judgeAddr(a netip.Addr) (Rule, string) {
	if a.Zone() != "" {
		return RuleAddress, "the address has a zone, so it is link-local"
	}
	a = a.Unmap()
	if inner, ok := embedded4(a); ok {
		if metadataAddrs[inner] {
			return RuleMetadata, fmt.Sprintf("%s embeds %s, an instance metadata service", a, inner)
		}
	}
	if metadataAddrs[a] {
		return RuleMetadata, fmt.Sprintf("%s is an instance metadata service", a)
	}
	if a.Is4() {
		for _, r := range notPublic4 {
			if r.prefix.Contains(a) {
				return RuleAddress, fmt.Sprintf("%s is not public: %s", a, r.what)
			}
		}
		return "", ""
	}
	if nat64.Contains(a) {
		inner, _ := embedded4(a)
		if rule, reason := judgeAddr(inner); rule != "" {
			return rule, fmt.Sprintf("%s embeds an address: %s", a, reason)
		}
		return "", ""
	}
	if !global6.Contains(a) {
		return RuleAddress, fmt.Sprintf("%s is not a public IPv6 address", a)
	}
	for _, r := range notPublic6 {
		if r.prefix.Contains(a) {
			return RuleAddress, fmt.Sprintf("%s is not public: %s", a, r.what)
		}
	}
	return "", ""
}

// embedded4 returns the IPv4 address inside a NAT64, 6to4, Teredo or
// IPv4-compatible address.
func embedded4(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() || a.Is4In6() {
		return netip.Addr{}, false
	}
	b := a.As16()
	at := func(i int) (netip.Addr, bool) {
		return netip.AddrFrom4([4]byte{b[i], b[i+1], b[i+2], b[i+3]}), true
	}
	switch {
	case nat64.Contains(a), b[0] == 0 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b:
		return at(12)
	case b[0] == 0x20 && b[1] == 0x02:
		return at(2)
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0: // Teredo keeps it inverted
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	case [12]byte(b[:12]) == [12]byte{}:
		return at(12)
	}
	return netip.Addr{}, false
}
