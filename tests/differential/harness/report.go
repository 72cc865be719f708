package harness

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// Report collects disagreements by their shape and keeps the smallest question of each.
type Report struct {
	Total  int
	groups map[string]*group
}

type group struct {
	count   int
	example Asked
}

// Add takes one disagreement.
func (r *Report) Add(a Asked) {
	if r.groups == nil {
		r.groups = map[string]*group{}
	}
	r.Total++
	key := Shape(a.Differences[0])
	g := r.groups[key]
	if g == nil {
		g = &group{example: a}
		r.groups[key] = g
	}
	g.count++
	if len(a.Question) < len(g.example.Question) {
		g.example = a
	}
}

// Write prints the groups, the most frequent first, up to a number of them, each with its example
// shrunk.
func (r *Report) Write(w io.Writer, k Kind, s Subject, limit int) {
	keys := slices.SortedFunc(maps.Keys(r.groups), func(a, b string) int { return r.groups[b].count - r.groups[a].count })
	for i, key := range keys {
		if i == limit {
			fmt.Fprintf(w, "… and %d more groups\n", len(keys)-limit)
			return
		}
		g := r.groups[key]
		small := Shrink(k, s, g.example)
		fmt.Fprintf(w, "%d × %s\n", g.count, g.example.Differences[0])
		for _, d := range small.Differences[:min(6, len(small.Differences))] {
			fmt.Fprintf(w, "    %s\n", d)
		}
		fmt.Fprintf(w, "  question %s\n  truth    %s\n  answer   %s\n\n", firstBytes(small.Question, 3000),
			firstBytes(small.Truth, 1500), firstBytes(small.Answer, 1500))
	}
}
