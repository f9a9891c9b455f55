package event

// TerminalNotice asks the screen to have its terminal notify the person. Title
// and body may hold anything: the screen makes them harmless.
type TerminalNotice struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// Type is the stable word of --json.
func (TerminalNotice) Type() string { return "terminal_notice" }

// TerminalCopy asks the screen to put text on its terminal's clipboard.
type TerminalCopy struct {
	Text string `json:"text"`
}

// Type is the stable word of --json.
func (TerminalCopy) Type() string { return "terminal_copy" }
