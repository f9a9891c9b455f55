package eval

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAll(t *testing.T) {
	for _, task := range Tasks() {
		r, err := Execute(t.Context(), &task, Setup{})
		if err != nil {
			t.Errorf("%s: %v", task.Name, err)
			continue
		}
		t.Logf("%-45s ok=%v steps=%d resc=%d rep=%d nudge=%d modes=%d comp=%d", task.Name, r.Fault == nil, r.Steps, r.Rescues, r.Repairs, r.Nudges, r.Modes, r.Compactions)
		if r.Fault != nil {
			t.Errorf("   %v | %v", r.Fault, r.Error)
		}
	}
}
