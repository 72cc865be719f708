package harness

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
)

// batch is how many questions one run of the program under test gets: enough to hide the cost of
// starting it, few enough that a crash loses little.
const batch = 500

// Asked is a question with its two answers.
type Asked struct {
	Question, Truth, Answer []byte
	Differences             []string
}

// Run compares n questions of one seed, on all cores, and hands every disagreement to found, one
// call at a time. It gives the number of questions compared.
//
// Some of upstream's answers depend on the order in which Go walks a map; a question on which the
// truth does not agree with itself says nothing and is not counted.
func Run(k Kind, s Subject, seed uint64, n int, found func(Asked)) (int, error) {
	var (
		wait     sync.WaitGroup
		lock     sync.Mutex
		failed   error
		compared int
	)
	starts := make(chan int)
	for range runtime.NumCPU() {
		wait.Go(func() {
			for start := range starts {
				asked, count, err := runBatch(k, s, questions(k, seed, start, min(batch, n-start)))
				lock.Lock()
				compared += count
				if err != nil && failed == nil {
					failed = err
				}
				for _, a := range asked {
					found(a)
				}
				lock.Unlock()
			}
		})
	}
	for start := 0; start < n; start += batch {
		starts <- start
	}
	close(starts)
	wait.Wait()
	return compared, failed
}

// questions makes the questions numbered from start on. Each depends on the seed and its own number
// only, so that one of them can be asked again alone.
func questions(k Kind, seed uint64, start, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		number := start + i
		out[i] = k.Question(rand.New(rand.NewPCG(seed, uint64(number))), fmt.Sprintf("%d-%d", seed, number))
	}
	return out
}

func runBatch(k Kind, s Subject, questions [][]byte) ([]Asked, int, error) {
	var truths, usable [][]byte
	for _, q := range questions {
		if truth := k.Truth(q); truth != nil {
			truths, usable = append(truths, truth), append(usable, q)
		}
	}
	questions = usable
	answers, err := s.Answers(k.Name(), questions)
	var out []Asked
	count := 0
	for i, q := range questions {
		a := Asked{Question: q, Truth: truths[i], Answer: answers[i]}
		a.Differences = compare(k, a)
		if len(a.Differences) > 0 && unstable(k, a) {
			continue
		}
		count++
		if len(a.Differences) > 0 {
			out = append(out, a)
		}
	}
	return out, count, err
}

func compare(k Kind, a Asked) []string {
	if a.Answer == nil {
		return []string{"no answer"}
	}
	if ID(a.Question) != ID(a.Answer) {
		return []string{"an answer to another question"}
	}
	return k.Differences(a.Question, a.Truth, a.Answer)
}

// unstable says whether the truth changes its mind when it is asked again.
func unstable(k Kind, a Asked) bool {
	for range 8 {
		if len(k.Differences(a.Question, a.Truth, k.Truth(a.Question))) > 0 {
			return true
		}
	}
	return false
}
