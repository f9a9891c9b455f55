package guard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Resolver turns a name into addresses; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// DialFunc connects to an address that has been judged already.
type DialFunc func(ctx context.Context, network string, addr netip.AddrPort) (net.Conn, error)

// connectTimeout bounds one connection attempt.
const connectTimeout = 10 * time.Second

// pinned is the context key of the addresses to use for one host and port.
type pinned struct{ hostPort string }

// resolve returns the addresses of a host, all judged: one bad address among
// several refuses the name, since the next attempt could take it.
func (n *Net) resolve(ctx context.Context, op string, t Target) ([]netip.Addr, error) {
	var addrs []netip.Addr
	if a, err := netip.ParseAddr(t.Host); err == nil {
		addrs = []netip.Addr{a}
	} else if pins, ok := ctx.Value(pinned{t.HostPort()}).([]netip.Addr); ok {
		addrs = slices.Clone(pins)
	} else {
		addrs, err = n.resolver.LookupNetIP(ctx, "ip", t.Host)
		if err != nil {
			return nil, fmt.Errorf("%s %s: the name %s could not be resolved: %w", op, t.URL, t.Host, err)
		}
		if len(addrs) == 0 {
			return nil, fmt.Errorf("%s %s: the name %s has no address", op, t.URL, t.Host)
		}
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
		if err := n.judge(op, t.URL, t.HostPort(), netip.AddrPortFrom(addrs[i], t.Port)); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// judge decides about one address that is about to be dialled for hostPort.
func (n *Net) judge(op, shown, hostPort string, addr netip.AddrPort) error {
	rule, reason := judgeAddr(addr.Addr())
	if rule == RuleMetadata {
		return &Denied{Op: op, Path: shown, Rule: rule, Reason: reason}
	}
	if n.isOwn(addr) {
		return &Denied{Op: op, Path: shown, Rule: RuleOwnServer, Reason: fmt.Sprintf("%s is a service that chela itself uses", addr)}
	}
	if rule == "" || n.allowed[hostPort] {
		return nil
	}
	return &Denied{
		Op: op, Path: shown, Rule: rule,
		Reason: fmt.Sprintf("%s; a person can allow %s in the settings", reason, hostPort),
	}
}

// isOwn compares with chela's own services. All names of this machine are one
// machine, so on loopback only the port counts.
func (n *Net) isOwn(addr netip.AddrPort) bool {
	a := addr.Addr().Unmap()
	return slices.ContainsFunc(n.own, func(o netip.AddrPort) bool {
		if o.Port() != addr.Port() {
			return false
		}
		local := func(x netip.Addr) bool { return x.IsLoopback() || x.IsUnspecified() }
		return o.Addr() == a || (local(o.Addr()) && local(a))
	})
}

// DialContext connects to "host:port" under the same rules as Fetch: for a
// proxy or protocol that brings its own HTTP. The address is judged again in the
// dialer, on the socket that is about to connect.
func (n *Net) DialContext(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, fmt.Errorf("dial %q: %w", hostPort, err)
	}
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, &Denied{Op: "dial", Path: hostPort, Rule: RuleScheme, Reason: "only TCP connections are made, not " + network}
	}
	clean, reason := cleanHost(host)
	num, perr := strconv.ParseUint(port, 10, 16)
	switch {
	case reason != "":
		return nil, &Denied{Op: "dial", Path: hostPort, Rule: RuleURL, Reason: reason}
	case perr != nil || num == 0:
		return nil, &Denied{Op: "dial", Path: hostPort, Rule: RuleURL, Reason: fmt.Sprintf("%q is not a port", port)}
	case metadataHosts[clean]:
		return nil, &Denied{Op: "dial", Path: hostPort, Rule: RuleMetadata, Reason: clean + " is an instance metadata service"}
	case blockedPorts[uint16(num)]:
		return nil, &Denied{Op: "dial", Path: hostPort, Rule: RuleURL, Reason: fmt.Sprintf("port %s belongs to another protocol", port)}
	}
	t := Target{Host: clean, Port: uint16(num)}
	t.URL = t.HostPort()
	addrs, err := n.resolve(ctx, "dial", t)
	if err != nil {
		return nil, err
	}
	var first error
	for _, a := range addrs {
		conn, err := n.dialJudged(ctx, t, netip.AddrPortFrom(a, t.Port))
		if err == nil {
			return conn, nil
		}
		if _, denied := AsDenied(err); denied || ctx.Err() != nil {
			return nil, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func (n *Net) dialJudged(ctx context.Context, t Target, addr netip.AddrPort) (net.Conn, error) {
	if n.opts.TestDial != nil {
		if err := n.judge("dial", t.URL, t.HostPort(), addr); err != nil {
			return nil, err
		}
		return n.opts.TestDial(ctx, "tcp", addr)
	}
	d := net.Dialer{
		Timeout: connectTimeout,
		Control: func(_, address string, _ syscall.RawConn) error {
			actual, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("dial %s: the address %q cannot be judged: %w", t.URL, address, err)
			}
			return n.judge("dial", t.URL, t.HostPort(), actual)
		},
	}
	return d.DialContext(ctx, "tcp", addr.String())
}
