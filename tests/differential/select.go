package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"

	"rollgate.dev/differential/harness"
)

// choose prints a small selection of the recorded and of n random cases that shows every rule which
// any of them shows, as {"question":…,"answer":…} a line.
func choose(o options) error {
	all, err := recordedCases(o.recorded)
	if err != nil {
		return err
	}
	for i := range o.n {
		q := o.kind.Question(rand.New(rand.NewPCG(o.seed, uint64(i))), fmt.Sprintf("%d-%d", o.seed, i))
		if truth := o.kind.Truth(q); truth != nil && len(q) < 4000 {
			all = append(all, harness.Case{Question: q, Truth: truth})
		}
	}
	chosen := reduceAll(o.kind, harness.Select(o.kind, all))
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, c := range chosen {
		fmt.Fprintf(out, "{\"question\":%s,\"answer\":%s}\n", c.Question, o.kind.Essence(c.Truth))
	}
	fmt.Fprintf(os.Stderr, "%d of %d cases chosen\n", len(chosen), len(all))
	return nil
}

// reduceAll makes every chosen case as small as it gets while showing the facts that no case before
// it shows.
func reduceAll(k harness.Kind, chosen []harness.Case) []harness.Case {
	seen := map[string]bool{}
	keep := make([][]string, len(chosen))
	for i, c := range chosen {
		for _, f := range k.Facts(c.Question, c.Truth) {
			if !seen[f] {
				keep[i] = append(keep[i], f)
				seen[f] = true
			}
		}
	}
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.NumCPU() {
		wait.Go(func() {
			for i := range next {
				chosen[i] = harness.Reduce(k, chosen[i], keep[i])
			}
		})
	}
	for i := range chosen {
		next <- i
	}
	close(next)
	wait.Wait()
	return chosen
}
