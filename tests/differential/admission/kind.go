package admission

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"

	"rollgate.dev/differential/generate"
	"rollgate.dev/differential/jsontree"
)

// Kind is the comparison of admission verdicts.
type Kind struct{}

// Name is `admission`.
func (Kind) Name() string { return "admission" }

// Question makes a random request about a Deployment.
func (Kind) Question(r *rand.Rand, id string) []byte { return generate.Question(r, id) }

// Truth is the API server's own verdict; none when the old object is one that no server would hold.
func (Kind) Truth(question []byte) []byte {
	var q request
	if err := json.Unmarshal(question, &q); err != nil {
		panic("the generator made a question that is no JSON: " + err.Error())
	}
	a := judge(q)
	if a.OracleError != "" {
		return nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		panic("the truth made an answer that is no JSON: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

// Differences compares verdicts.
func (Kind) Differences(_, truth, answer []byte) []string { return differences(truth, answer) }

// Facts names the refusals, decode errors, strict errors, warnings and defaults of a verdict.
func (Kind) Facts(question, truth []byte) []string { return facts(question, truth) }

// Essence leaves out of a refusal what its causes say already, and the object it is about.
func (Kind) Essence(truth []byte) []byte { return essence(truth) }

// Smaller leaves out parts of the objects, or of the text where it is no JSON.
func (Kind) Smaller(question []byte) [][]byte {
	n, err := jsontree.Parse(question)
	if err != nil {
		return nil
	}
	q := n.(*jsontree.Object)
	var out [][]byte
	for _, key := range []string{"object", "old_object"} {
		part, ok := q.Get(key).(*jsontree.Object)
		if !ok {
			continue
		}
		for _, small := range jsontree.Smaller(part) {
			c := jsontree.Clone(q).(*jsontree.Object)
			c.Set(key, small)
			out = append(out, jsontree.Render(c))
		}
	}
	if text, ok := q.Get("object_text").(jsontree.Raw); ok {
		out = append(out, smallerText(q, text)...)
	}
	return out
}

func smallerText(q *jsontree.Object, text jsontree.Raw) [][]byte {
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil
	}
	var texts []string
	if n, err := jsontree.Parse([]byte(s)); err == nil {
		for _, small := range jsontree.Smaller(n) {
			texts = append(texts, string(jsontree.Render(small)))
		}
	}
	for size := len(s) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(s) && len(s)/size < 200; at += size {
			texts = append(texts, s[:at]+s[at+size:])
		}
	}
	var out [][]byte
	for _, t := range texts {
		c := jsontree.Clone(q).(*jsontree.Object)
		c.Set("object_text", jsontree.Text(t))
		out = append(out, jsontree.Render(c))
	}
	return out
}
