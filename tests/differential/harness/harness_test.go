package harness

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// digits is a kind whose question is a text of digits after its id, and whose answer repeats it. The program under test cannot
// say 7.
type digits struct{}

func (digits) Name() string { return "digits" }
func (digits) Question(r *rand.Rand, id string) []byte {
	return fmt.Appendf(nil, `{"id":%q,"say":"%d"}`, id, r.IntN(1000))
}
func (digits) Truth(question []byte) []byte { return question }
func (digits) Differences(_, truth, answer []byte) []string {
	if bytes.Equal(truth, answer) {
		return nil
	}
	return []string{"says something else"}
}
func (digits) Facts(_, truth []byte) []string { return strings.Split(string(truth), "") }
func (digits) Essence(truth []byte) []byte    { return truth }
func (digits) Smaller(question []byte) [][]byte {
	start := bytes.Index(question, []byte(`"say":"`)) + len(`"say":"`)
	var out [][]byte
	for i := start; i < len(question)-2; i++ {
		out = append(out, slices.Concat(question[:i], question[i+1:]))
	}
	return out
}

func program(t *testing.T) Subject {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nsed 's/\\(\"say\":.*\\)7/\\18/'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return Subject{path}
}

func TestRunFindsDisagreementsAndShrinksThem(t *testing.T) {
	var found []Asked
	compared, err := Run(digits{}, program(t), 1, 1200, func(a Asked) { found = append(found, a) })
	if err != nil || compared != 1200 {
		t.Fatalf("compared %d: %v", compared, err)
	}
	if len(found) < 200 || len(found) > 450 {
		t.Fatalf("%d of 1200 numbers below 1000 have a 7", len(found))
	}
	small := Shrink(digits{}, program(t), found[0])
	if !bytes.Contains(small.Question, []byte(`"say":"7"`)) {
		t.Errorf("not as small as it gets: %s", small.Question)
	}
}

func TestSelectShowsEveryFactWithFewCases(t *testing.T) {
	cases := []Case{{[]byte("q"), []byte("ab")}, {[]byte("q"), []byte("a")}, {[]byte("q"), []byte("b")}, {[]byte("q"), []byte("c")}}
	chosen := Select(digits{}, cases)
	if len(chosen) != 2 {
		t.Errorf("chose %d", len(chosen))
	}
}

func TestShapeLeavesOutWhatDiffers(t *testing.T) {
	for text, want := range map[string]string{
		`Invalid value: "a\"b": must be 1 to 63`: `Invalid value: "…": must be N to N`,
		`Invalid value: {"a":"b"}: no`:           `Invalid value: {…}: no`,
		`must be equal to cpu limit of 1500m`:    `must be equal to … limit of …`,
	} {
		if got := Shape(text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
	if got := Field("a[0].b[x/y].c"); got != "a[].b[].c" {
		t.Error(got)
	}
}
