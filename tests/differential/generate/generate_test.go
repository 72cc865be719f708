package generate

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
)

func TestQuestionsAreJSONAndFollowFromTheirSeed(t *testing.T) {
	for i := range uint64(500) {
		q := Question(rand.New(rand.NewPCG(1, i)), "x")
		if !json.Valid(q) || bytes.Contains(q, []byte("\n")) {
			t.Fatalf("question %d is not one line of JSON: %s", i, q)
		}
		if !bytes.Equal(q, Question(rand.New(rand.NewPCG(1, i)), "x")) {
			t.Fatalf("question %d is another one the second time", i)
		}
	}
}
