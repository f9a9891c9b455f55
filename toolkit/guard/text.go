package guard

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// binaryWindow is how far IsBinary looks, the window that git and grep use.
const binaryWindow = 8 << 10

// IsBinary reports whether data looks binary: a NUL byte in its first 8 KiB.
func IsBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), binaryWindow)], 0) >= 0
}

// ToText returns data as valid UTF-8, each run of invalid bytes as U+FFFD.
func ToText(data []byte) string {
	return strings.ToValidUTF8(string(data), "\uFFFD")
}

// TrimPartialRune drops an incomplete UTF-8 sequence from the end of data.
func TrimPartialRune(data []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		b := data[len(data)-back]
		if utf8.RuneStart(b) {
			if !utf8.FullRune(data[len(data)-back:]) {
				return data[:len(data)-back]
			}
			break
		}
	}
	return data
}
