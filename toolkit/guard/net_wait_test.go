package guard

import (
	"net/http"
	"testing"
	"time"
)

func TestAnswerThatTakesLongIsWaitedForOnlyWhenAsked(t *testing.T) {
	slow := make(chan struct{})
	n, _ := webNet(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-slow:
		case <-r.Context().Done():
		}
	}, NetOptions{HeaderTimeout: 20 * time.Millisecond, Timeout: 20 * time.Millisecond})
	if _, err := n.Fetch(t.Context(), Request{URL: "http://site.example/"}); err == nil {
		t.Error("an answer that does not come is waited for")
	}
	time.AfterFunc(60*time.Millisecond, func() { close(slow) })
	if p, err := n.Fetch(t.Context(), Request{URL: "http://site.example/", Wait: time.Minute}); err != nil || p.Status != http.StatusOK {
		t.Errorf("got %v", err)
	}
}
