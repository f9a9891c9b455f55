package guard

import (
	"fmt"
	"sync"
)

// Captured is what was kept of a stream: its head and its tail.
type Captured struct {
	Head    []byte
	Tail    []byte // empty if Head is everything
	Total   int64  // bytes that the stream had
	Dropped int64  // bytes between Head and Tail that were not kept
}

// String returns head and tail, with the gap counted between them.
func (c Captured) String() string {
	if c.Dropped == 0 {
		return string(c.Head) + string(c.Tail)
	}
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", c.Head, c.Dropped, c.Tail)
}

// ring keeps the first and the last bytes of a stream in bounded memory.
type ring struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // circular once full
	next  int    // where the next tail byte goes
	max   int    // bytes of head, and bytes of tail
	total int64
}

func newRing(limit int) *ring { return &ring{max: max(limit/2, 1)} }

func (r *ring) write(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total += int64(len(p))
	if room := r.max - len(r.head); room > 0 {
		n := min(room, len(p))
		r.head = append(r.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > r.max {
		p = p[len(p)-r.max:]
	}
	for len(p) > 0 {
		if len(r.tail) < r.max {
			n := min(r.max-len(r.tail), len(p))
			r.tail = append(r.tail, p[:n]...)
			p = p[n:]
			continue
		}
		n := copy(r.tail[r.next:], p)
		r.next = (r.next + n) % r.max
		p = p[n:]
	}
}

func (r *ring) captured() Captured {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.snapshot()
}

func (r *ring) snapshot() Captured {
	c := Captured{Head: append([]byte(nil), r.head...), Total: r.total}
	c.Tail = append(append(c.Tail, r.tail[r.next:]...), r.tail[:r.next]...)
	c.Dropped = r.total - int64(len(c.Head)) - int64(len(c.Tail))
	return c
}

// from returns what is kept at and after an absolute offset, the offset to ask
// for next, and how many bytes in between are lost.
func (r *ring) from(offset int64) (data []byte, next, lost int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.snapshot()
	offset = min(max(offset, 0), c.Total)
	tailStart := c.Total - int64(len(c.Tail))
	if offset < int64(len(c.Head)) {
		data = append(data, c.Head[offset:]...)
		offset = int64(len(c.Head))
	}
	if offset < tailStart {
		lost, offset = tailStart-offset, tailStart
	}
	if offset < c.Total {
		data = append(data, c.Tail[offset-tailStart:]...)
	}
	return data, c.Total, lost
}
