package toolkit

// CanonicalName is the name that a model's spelling stands for: prefixes such
// as functions. and indexes such as :0 dropped, case and dashes folded, and the
// habits of [Registry.Resolve] applied. It need not be the name of a tool.
// Spellings of the same tool have the same canonical name.
func CanonicalName(name string) string {
	key := normalise(name)
	if target, ok := aliases[key]; ok {
		return target
	}
	return key
}
