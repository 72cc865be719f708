package generate

import (
	"math/rand/v2"
	"strings"
)

// chance is the source of all choices, and how often they should be bad ones.
type chance struct {
	*rand.Rand
	bad float64
}

// often says yes with a probability.
func (c chance) often(p float64) bool { return c.Float64() < p }

// pick takes one of some things, each as likely.
func pick[T any](c chance, from []T) T { return from[c.IntN(len(from))] }

// weighted takes an index by weight.
func (c chance) weighted(weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	at := c.Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// few is a small number, most often 1.
func (c chance) few() int {
	n := 1
	for n < 5 && c.often(0.3) {
		n++
	}
	return n
}

// odd are pieces that upset somebody who reads text.
var odd = []string{
	"", " ", "  ", ".", "..", "-", "--", "_", "/", "//", "\\", ":", "=", "@", "%", "$", "*", "?", "A", "É", "ü", "日", "\u200b", "\u2028",
	"\U0001f600", "\x00", "\a", "\b", "\t", "\n", "\v", "\f", "\r", "\x1b", "\x7f", "\u0085", "\u00a0", "\u00ad", "\ufeff", "\ufffd", "\ue000",
	"\"", "'", "`", "<", ">", "&", "|", "<b>&amp;", "{}", "[0]", "(x)", "0", "1", "#", ";", ",", "+", "~", "!", "\u0130", "\u212a", "\U000e0001",
}

// lengths are where limits lie, and one beyond.
var lengths = []int{15, 16, 58, 63, 64, 65, 104, 105, 128, 129, 253, 254, 255, 256, 257, 571, 572, 2048, 4095, 4096}

// spoil makes a text slightly, or thoroughly, wrong.
func (c chance) spoil(s string) string {
	at := 0
	if len(s) > 0 {
		at = c.IntN(len([]rune(s)) + 1)
	}
	runes := []rune(s)
	head, tail := string(runes[:at]), string(runes[at:])
	switch c.IntN(14) {
	case 0, 1, 2:
		return head + pick(c, odd) + tail
	case 3:
		return pick(c, odd) + s
	case 4:
		return s + pick(c, odd)
	case 5:
		return strings.ToUpper(s)
	case 6:
		return ""
	case 7:
		return pick(c, odd)
	case 8:
		return head
	case 9:
		return tail
	case 10:
		return lengthen(s, pick(c, lengths))
	case 11:
		return head + "." + tail
	case 12:
		return head + pick(c, odd) + pick(c, odd) + tail
	}
	return s + s
}

// lengthen repeats a text up to a number of bytes, ending in a letter.
func lengthen(s string, n int) string {
	if s == "" {
		s = "a"
	}
	if n > 1000 {
		n = 300 // texts of that size are made where a limit is that high
	}
	long := strings.Repeat(s, n/len(s)+1)[:n-1]
	return strings.ToValidUTF8(long, "") + "z"
}
