package harness

import "slices"

// Case is a question with upstream's answer.
type Case struct{ Question, Truth []byte }

// Select chooses cases that together show every fact of all, few and small ones: again and again
// the one that shows most that is new for its length.
func Select(k Kind, all []Case) []Case {
	facts := make([][]string, len(all))
	for i, c := range all {
		facts[i] = k.Facts(c.Question, c.Truth)
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	seen := map[string]bool{}
	gain := func(i int) float64 {
		n := 0
		for _, f := range facts[i] {
			if !seen[f] {
				n++
			}
		}
		return float64(n) / float64(len(all[i].Question)+len(k.Essence(all[i].Truth)))
	}
	gains := make([]float64, len(all))
	for i := range gains {
		gains[i] = gain(i)
	}
	slices.SortFunc(order, func(a, b int) int { return compareGains(gains[a], gains[b]) })
	var out []Case
	// A gain only ever falls, so the first one in line that still has its gain is the best.
	for len(order) > 0 {
		i := order[0]
		if now := gain(i); now < gains[i] {
			gains[i] = now
			order = order[1:]
			if now > 0 {
				at, _ := slices.BinarySearchFunc(order, now, func(j int, g float64) int { return compareGains(gains[j], g) })
				order = slices.Insert(order, at, i)
			}
			continue
		}
		order = order[1:]
		if gains[i] == 0 {
			break
		}
		out = append(out, all[i])
		for _, f := range facts[i] {
			seen[f] = true
		}
	}
	return out
}

// compareGains puts the bigger gain first.
func compareGains(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// Reduce makes a case smaller while it goes on showing the given facts, and none that it did not
// show. After a step that served it goes on with the next one, for the steps before it failed a
// moment ago; it ends when a whole round served nothing.
func Reduce(k Kind, c Case, keep []string) Case {
	may := k.Facts(c.Question, c.Truth)
	for served := true; served; {
		served = false
		steps := k.Smaller(c.Question)
		for i := 0; i < len(steps); i++ {
			q := steps[i]
			if len(q) >= len(c.Question) {
				continue
			}
			truth := k.Truth(q)
			if truth == nil {
				continue
			}
			if facts := k.Facts(q, truth); within(keep, facts) && within(facts, may) {
				c, served = Case{q, truth}, true
				steps = k.Smaller(q)
				i--
			}
		}
	}
	return c
}

// within says whether all of some facts are among others.
func within(some, others []string) bool {
	return !slices.ContainsFunc(some, func(f string) bool { return !slices.Contains(others, f) })
}
