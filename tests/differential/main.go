// Command differential compares rollgate with Kubernetes' own code.
//
//	differential [test] -kind admission -rollgate PATH -n 2000 -seed 1
//	    asks both the same random questions, prints where they part, each kind of disagreement
//	    with its smallest example, and exits 1 if there was any.
//	differential ask -kind admission < QUESTIONS > ANSWERS
//	    answers questions (one line of JSON each) with upstream's own code.
//	differential cover -kind admission -n 2000 -seed 1 [-recorded CASES]
//	    counts the rules that the random questions bring out; names those of the recorded cases,
//	    one {"question":…,"answer":…} a line, that they do not.
//	differential select -kind admission -n 2000 -seed 1 [-recorded CASES] > CASES
//	    chooses cases that show every rule at least once.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"rollgate.dev/differential/admission"
	"rollgate.dev/differential/harness"
	"rollgate.dev/differential/rollout"
)

// kinds are the sorts of question that can be compared.
var kinds = []harness.Kind{admission.Kind{}, rollout.Kind{}}

type options struct {
	kind     harness.Kind
	subject  harness.Subject
	n        int
	seed     uint64
	groups   int
	recorded string
}

func main() {
	klog.SetLogger(logr.Discard()) // upstream logs what it finds odd about a question
	verb, args := "test", os.Args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	o, err := parse(args)
	if err == nil {
		switch verb {
		case "test":
			err = test(o)
		case "ask":
			err = ask(o)
		case "cover":
			err = cover(o)
		case "select":
			err = choose(o)
		default:
			err = fmt.Errorf("no such command: %s", verb)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("differential", flag.ContinueOnError)
	kind := flags.String("kind", "admission", "the sort of question")
	flags.StringVar(&o.subject.Path, "rollgate", "rollgate", "the program to compare")
	flags.IntVar(&o.n, "n", 2000, "how many questions")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().Unix()), "what the questions are made from; printed, so that a run can be repeated")
	flags.IntVar(&o.groups, "groups", 20, "how many kinds of disagreement to shrink and print")
	flags.StringVar(&o.recorded, "recorded", "", "recorded cases to compare the coverage with")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for _, k := range kinds {
		if k.Name() == *kind {
			o.kind = k
			return o, nil
		}
	}
	return o, fmt.Errorf("no such kind: %s", *kind)
}

func test(o options) error {
	var report harness.Report
	start := time.Now()
	compared, err := harness.Run(o.kind, o.subject, o.seed, o.n, report.Add)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	report.Write(os.Stdout, o.kind, o.subject, o.groups)
	fmt.Printf("%s, seed %d: %d of %d answers agree (%d questions left out, %.0f s)\n",
		o.kind.Name(), o.seed, compared-report.Total, compared, o.n-compared, time.Since(start).Seconds())
	if report.Total > 0 || compared == 0 || err != nil {
		return fmt.Errorf("%d disagreements", report.Total)
	}
	return nil
}

func ask(o options) error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		answer := o.kind.Truth(in.Bytes())
		if answer == nil {
			return fmt.Errorf("question %s makes no sense", harness.ID(in.Bytes()))
		}
		if _, err := fmt.Fprintf(out, "%s\n", answer); err != nil {
			return err
		}
	}
	return in.Err()
}

func cover(o options) error {
	seen := map[string]int{}
	unusable := 0
	for i := range o.n {
		q := o.kind.Question(rand.New(rand.NewPCG(o.seed, uint64(i))), "")
		truth := o.kind.Truth(q)
		if truth == nil {
			unusable++
		}
		for _, f := range o.kind.Facts(q, truth) {
			seen[f]++
		}
	}
	fmt.Printf("%d questions, %d of them unusable, bring out %s\n", o.n, unusable, tally(seen))
	cases, err := recordedCases(o.recorded)
	if err != nil || len(cases) == 0 {
		return err
	}
	recorded, missing := map[string]int{}, map[string]int{}
	for _, c := range cases {
		for _, f := range o.kind.Facts(c.Question, c.Truth) {
			recorded[f]++
			if seen[f] == 0 {
				missing[f]++
			}
		}
	}
	for _, f := range slices.Sorted(maps.Keys(missing)) {
		fmt.Println("not brought out:", f)
	}
	fmt.Printf("the recorded cases show %s; %d of them not brought out\n", tally(recorded), len(missing))
	return nil
}

// recordedCases reads {"question":…,"answer":…} lines; no path, no cases.
func recordedCases(path string) ([]harness.Case, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []harness.Case
	lines := json.NewDecoder(file)
	for lines.More() {
		var c struct{ Question, Answer json.RawMessage }
		if err := lines.Decode(&c); err != nil {
			return nil, err
		}
		out = append(out, harness.Case{Question: c.Question, Truth: c.Answer})
	}
	return out, nil
}

// tally counts facts by their first word.
func tally(seen map[string]int) string {
	count := map[string]int{}
	for f := range seen {
		word, _, _ := strings.Cut(f, " ")
		count[word]++
	}
	return fmt.Sprintf("%d facts %v", len(seen), count)
}
