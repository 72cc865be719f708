package rollout

import (
	"encoding/json"
	"math/rand/v2"
	"strings"

	"rollgate.dev/differential/jsontree"
)

// Kind is the comparison of what one sync of a Deployment does.
type Kind struct{}

// Name is `rollout`.
func (Kind) Name() string { return "rollout" }

// Question makes a random snapshot, often one that some syncs have led to.
func (Kind) Question(r *rand.Rand, id string) []byte {
	s := chance{r}.world(id)
	if r.IntN(2) == 0 {
		s = chance{r}.later(s)
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic("the generator made a snapshot that is no JSON: " + err.Error())
	}
	return b
}

// Truth is what the built-in controller does; none where it panics, or about objects that no server holds.
func (Kind) Truth(question []byte) []byte {
	var s snapshot
	if json.Unmarshal(question, &s) != nil || !s.sound() {
		return nil
	}
	b, err := Truth(question)
	var a answer
	if err != nil || json.Unmarshal(b, &struct{ Error *string }{&a.Error}) != nil || strings.HasPrefix(a.Error, "panic") {
		return nil
	}
	return b
}

// Differences compares the states that are left behind.
func (Kind) Differences(question, truth, answer []byte) []string {
	return differences(question, truth, answer)
}

// Facts names the writes, events and conditions of a sync.
func (Kind) Facts(_, truth []byte) []string { return facts(truth) }

// Essence keeps the whole answer.
func (Kind) Essence(truth []byte) []byte { return truth }

// Smaller leaves out parts of the objects.
func (Kind) Smaller(question []byte) [][]byte {
	n, err := jsontree.Parse(question)
	if err != nil {
		return nil
	}
	q := n.(*jsontree.Object)
	var out [][]byte
	for _, key := range []string{"pods", "replica_sets", "deployment"} {
		part := q.Get(key)
		if part == nil || part == jsontree.Null {
			continue
		}
		for _, small := range jsontree.Smaller(part) {
			c := jsontree.Clone(q).(*jsontree.Object)
			c.Set(key, small)
			out = append(out, jsontree.Render(c))
		}
	}
	return out
}

// sound says whether names and numbers are there that every stored object has.
func (s snapshot) sound() bool {
	d := s.Deployment
	if d == nil || d.Name == "" || d.Namespace == "" || d.UID == "" || d.Spec.Replicas == nil {
		return false
	}
	if u := d.Spec.Strategy.RollingUpdate; u == nil && d.Spec.Strategy.Type == "RollingUpdate" || u != nil && (u.MaxSurge == nil || u.MaxUnavailable == nil) {
		return false
	}
	names := map[string]bool{}
	for _, set := range s.ReplicaSets {
		if set.Name == "" || names[set.Name] || set.Namespace != d.Namespace || set.UID == "" || set.Spec.Replicas == nil {
			return false
		}
		names[set.Name] = true
	}
	return true
}
