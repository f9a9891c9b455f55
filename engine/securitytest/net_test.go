package securitytest

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"chela/toolkit/guard"
)

// fakeNet is the network below the policy check: a resolver that knows the
// case's names, and a dialler that notes what gets that far. It never reaches a
// real address.
type fakeNet struct {
	mu     sync.Mutex
	hosts  map[string][]string
	series map[string][][]string // answers of one look-up after another; the last stays
	serve  map[string]map[string]answer
	dialed []netip.AddrPort
	open   sync.WaitGroup
}

// LookupNetIP answers as guard.Resolver.
func (f *fakeNet) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	texts := f.hosts[host]
	if s := f.series[host]; len(s) > 0 {
		texts = s[0]
		if len(s) > 1 {
			f.series[host] = s[1:]
		}
	}
	if len(texts) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var out []netip.Addr
	for _, t := range texts {
		a, err := netip.ParseAddr(t)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// dial is the guard.DialFunc: it is called when all checks have passed.
func (f *fakeNet) dial(_ context.Context, _ string, addr netip.AddrPort) (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dialed = append(f.dialed, addr)
	pages, ok := f.serve[addr.String()]
	if !ok {
		return nil, fmt.Errorf("nothing answers at %s", addr)
	}
	near, far := net.Pipe()
	f.open.Go(func() { serveOne(far, pages) })
	return near, nil
}

// serveOne answers one request and closes the connection.
func serveOne(conn net.Conn, pages map[string]answer) {
	defer conn.Close()
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	a, ok := pages[req.URL.Path]
	if !ok {
		a = answer{Status: http.StatusNotFound}
	}
	fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nConnection: close\r\n", a.Status, http.StatusText(a.Status))
	if a.Location != "" {
		fmt.Fprintf(conn, "Location: %s\r\n", a.Location)
	}
	if a.GzipZeros == 0 {
		fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(a.Body), a.Body)
		return
	}
	_, _ = io.WriteString(conn, "Content-Encoding: gzip\r\n\r\n") // the client may have gone
	z := gzip.NewWriter(conn)
	_, _ = io.CopyN(z, zeros{}, a.GzipZeros) // the client goes as soon as it has enough
	_ = z.Close()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// options are those of the engine's network door.
func (f *fakeNet) options() guard.NetOptions {
	return guard.NetOptions{Resolver: f, TestDial: f.dial}
}

// within reports the dials that reached one of the prefixes.
func (f *fakeNet) within(prefixes []string) []netip.AddrPort {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []netip.AddrPort
	for _, d := range f.dialed {
		for _, p := range prefixes {
			if netip.MustParsePrefix(p).Contains(d.Addr().Unmap()) {
				out = append(out, d)
			}
		}
	}
	return out
}
