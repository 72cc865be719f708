package harness

import (
	"regexp"
	"slices"
	"strings"
)

// tries bounds the work of one shrinking; a handful of rounds is usual.
const tries = 60

// Shrink makes the question of a disagreement as small as it gets while the truth and the program
// still part in the same way.
func Shrink(k Kind, s Subject, a Asked) Asked {
	want := Shape(a.Differences[0])
	for range tries {
		smaller, ok := step(k, s, a, want)
		if !ok {
			break
		}
		a = smaller
	}
	return a
}

// step looks for a smaller question that parts in the wanted way. All candidates go to the program
// in few runs, for starting it costs more than its answers.
func step(k Kind, s Subject, a Asked, want string) (Asked, bool) {
	for some := range slices.Chunk(k.Smaller(a.Question), batch) {
		answers, _ := s.Answers(k.Name(), some)
		for i, q := range some {
			if len(q) >= len(a.Question) {
				continue
			}
			b := Asked{Question: q, Answer: answers[i], Truth: k.Truth(q)}
			if b.Truth == nil {
				continue
			}
			b.Differences = compare(k, b)
			if len(b.Differences) > 0 && Shape(b.Differences[0]) == want && !unstable(k, b) {
				return b, true
			}
		}
	}
	return a, false
}

var (
	quoted  = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	indexes = regexp.MustCompile(`\[[^\[\]]*\]`)
	trees   = regexp.MustCompile(`value: [\[{].*[\]}]`)
	labels  = regexp.MustCompile(`(not supported|unsupported pod version|not support subscript|pod\.spec\.resourceClaims): .*`)
	amounts = regexp.MustCompile(`\S* (limits?|requests) of \S+|\S+ is not positive .*`)
	owners  = regexp.MustCompile(`in references for .*`)
	numbers = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)
)

// Shape is a text without what differs from object to object: names, indexes and numbers.
func Shape(text string) string {
	text = labels.ReplaceAllString(text, "$1: …")
	text = owners.ReplaceAllString(text, "in references for …")
	text = amounts.ReplaceAllString(text, "… $1 of …")
	text = trees.ReplaceAllString(text, "value: {…}")
	text = quoted.ReplaceAllString(text, `"…"`)
	text = numbers.ReplaceAllString(text, "N")
	return strings.TrimSpace(text)
}

// Field is a field path without indexes and keys.
func Field(path string) string { return indexes.ReplaceAllString(path, "[]") }
