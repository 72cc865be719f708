package admission

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollgate.dev/differential/harness"
)

// facts names every rule that a verdict shows.
func facts(question, answer []byte) []string {
	o, err := readOutcome(answer)
	if err != nil {
		return nil
	}
	var out []string
	for _, c := range o.Status.Details.Causes {
		out = append(out, fmt.Sprintf("cause %s %s: %s", c.Reason, harness.Field(c.Field), harness.Shape(c.Message)))
	}
	if len(o.Status.Details.Causes) == 0 && o.Status.Reason != "" {
		out = append(out, fmt.Sprintf("status %d %s: %s", o.Status.Code, o.Status.Reason, harness.Shape(o.Status.Message)))
	}
	if o.DecodeError != "" {
		out = append(out, "decode error "+harness.Shape(o.DecodeError))
	}
	for _, s := range o.StrictErrors {
		out = append(out, "strict error "+harness.Shape(s))
	}
	for _, s := range o.Warnings {
		out = append(out, "warning "+harness.Shape(harness.Field(s)))
	}
	if o.Allowed {
		out = append(out, objectFacts(question, o)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// objectFacts names what became of an accepted object: the fields that were filled in, written
// differently, or dropped.
func objectFacts(question []byte, o outcome) []string {
	var q request
	var object any
	_ = json.Unmarshal(question, &q)      // it was answered, so it is JSON;
	_ = json.Unmarshal(q.Object, &object) // a body of text has no facts here
	operation := strings.ToLower(q.Operation + q.Subresource)
	sent, defaulted, stored := map[string]string{}, map[string]string{}, map[string]string{}
	leaves(object, "", sent)
	leaves(prune(o.Defaulted), "", defaulted)
	leaves(prune(o.StoredSpec), ".spec", stored)
	var out []string
	for _, path := range slices.Sorted(maps.Keys(defaulted)) {
		was, ok := sent[path]
		switch field := harness.Field(path); {
		case !ok:
			out = append(out, "default "+field)
		case was != defaulted[path]:
			out = append(out, "rewrite "+field)
		}
		if _, kept := stored[path]; !kept && o.StoredSpec != nil && strings.HasPrefix(path, ".spec") {
			out = append(out, "drop "+operation+" "+harness.Field(path))
		}
	}
	return append(out, "accepted "+operation)
}

// leaves lists the scalars of a tree by their paths.
func leaves(v any, path string, into map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			leaves(x, path+"."+k, into)
		}
	case []any:
		for i, x := range v {
			leaves(x, fmt.Sprintf("%s[%d]", path, i), into)
		}
	default:
		into[path] = fmt.Sprint(v)
	}
}

// essence leaves out of a refusal the message that its causes repeat, and the object.
func essence(truth []byte) []byte {
	var a map[string]any
	if err := json.Unmarshal(truth, &a); err != nil {
		return truth
	}
	if status, ok := a["status"].(map[string]any); ok {
		delete(a, "defaulted")
		delete(status, "metadata")
		delete(status, "status")
		if details, ok := status["details"].(map[string]any); ok {
			causes, _ := details["causes"].([]any)
			if len(causes) > 1 {
				delete(status, "message")
			}
			status["details"] = map[string]any{"causes": causes}
		}
	}
	b, err := json.Marshal(a)
	if err != nil {
		return truth
	}
	return b
}
