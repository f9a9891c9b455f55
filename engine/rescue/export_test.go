package rescue

// Overdrawn reads a text and says by how many bytes its budget was overdrawn.
func Overdrawn(text string, o Options) int {
	s := newScanner(text, o)
	s.run()
	return max(-s.work, 0)
}
