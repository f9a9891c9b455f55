package toolkit

// Terminal is the terminal that chela itself runs in, which may be on another
// machine than chela. The screen provides it. Both methods only send: no
// terminal says whether it did as it was told.
type Terminal interface {
	// Notify shows a notification, as OSC 9 or OSC 777 and the bell do. Title and
	// body may hold anything; the screen makes them harmless.
	Notify(title, body string) error
	// Copy puts text on the clipboard, as OSC 52 does.
	Copy(text string) error
}
