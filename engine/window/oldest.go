package window

import "slices"

// summarise picks the oldest turns, and then the running turn's first steps,
// until the low mark is reached. It picks nothing if that frees too little.
func (f *fitting) summarise() ([]int, int) {
	if f.used <= f.low {
		return nil, 0
	}
	base := SummaryTokens(f.Window)
	var out []int
	gone, kept, fresh := 0, 0, false
	flush := func(end int) {
		for _, i := range out[end:] {
			gone += f.cost[i]
			switch f.Items[i].Kind {
			case UserText:
				kept += f.cost[i]
			case Summary:
				kept += min(max(f.Items[i].Kept, 0), f.cost[i])
			default:
				fresh = true
			}
		}
	}
	for _, u := range f.units() {
		if f.used-gone+base+kept <= f.low && fresh {
			break
		}
		end := len(out)
		out = append(out, u...)
		flush(end)
	}
	gain := gone - kept - base
	if !fresh || gain < max(f.Window*leastGain/100, 1) {
		return nil, 0
	}
	f.used -= gain
	slices.Sort(out)
	return out, base + kept
}

// units are what is summarised together, the oldest first: an earlier summary
// with the oldest turn, each further turn, each early step of the running one.
func (f *fitting) units() [][]int {
	var out [][]int
	var unit []int
	turn := -1
	for i, it := range f.Items {
		if it.Turn == f.running && it.Kind != Summary {
			break
		}
		if it.Turn != turn && it.Kind != Summary && turn > 0 {
			out, unit = append(out, unit), nil
		}
		if it.Kind != Summary {
			turn = it.Turn
		}
		unit = append(unit, i)
	}
	for i, it := range f.Items {
		if i >= f.cut || it.Turn != f.running || it.Kind == UserText || it.Kind == Summary {
			continue
		}
		starts := it.Kind != ToolResult && i > 0 && f.Items[i-1].Kind == ToolResult
		if len(unit) > 0 && (starts || f.Items[unit[0]].Turn != f.running && turn > 0) {
			out, unit, turn = append(out, unit), nil, -1
		}
		unit = append(unit, i)
	}
	if len(unit) > 0 {
		out = append(out, unit)
	}
	return out
}
