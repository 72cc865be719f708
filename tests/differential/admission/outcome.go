package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// cause is one entry of a refusal.
type cause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

func (c cause) String() string { return fmt.Sprintf("%s %s: %s", c.Reason, c.Field, c.Message) }

// outcome is what of an answer counts.
type outcome struct {
	Allowed      bool     `json:"allowed"`
	DecodeError  string   `json:"decode_error"`
	StrictErrors []string `json:"strict_errors"`
	Warnings     []string `json:"warnings"`
	Status       struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Code    int    `json:"code"`
		Details struct {
			Causes []cause `json:"causes"`
		} `json:"details"`
	} `json:"status"`
	Defaulted  any `json:"defaulted"`
	StoredSpec any `json:"stored_spec"`
}

func readOutcome(answer []byte) (o outcome, err error) {
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber() // 64-bit integers must not pass through a float
	err = d.Decode(&o)
	return o, err
}

func (o outcome) causes() []string {
	var out []string
	for _, c := range o.Status.Details.Causes {
		out = append(out, c.String())
	}
	return out
}

// differences says where two answers mean something else. The order of causes, strict errors and
// warnings does not count, for upstream's own depends on the order of Go's maps; and absent, null
// and empty are one in objects.
func differences(truth, answer []byte) []string {
	want, err := readOutcome(truth)
	if err != nil {
		return []string{fmt.Sprintf("unreadable truth: %v", err)}
	}
	got, err := readOutcome(answer)
	if err != nil {
		return []string{fmt.Sprintf("unreadable answer: %v", err)}
	}
	var out []string
	out = append(out, textDifference("decode error", want.DecodeError, got.DecodeError)...)
	if len(out) > 0 && (want.DecodeError == "" || got.DecodeError == "") {
		return out // all the rest follows from it
	}
	out = append(out, setDifference("cause", want.causes(), got.causes())...)
	out = append(out, setDifference("strict error", want.StrictErrors, got.StrictErrors)...)
	out = append(out, setDifference("warning", want.Warnings, got.Warnings)...)
	out = append(out, textDifference("allowed", fmt.Sprint(want.Allowed), fmt.Sprint(got.Allowed))...)
	out = append(out, textDifference("reason", want.Status.Reason, got.Status.Reason)...)
	out = append(out, textDifference("code", fmt.Sprint(want.Status.Code), fmt.Sprint(got.Status.Code))...)
	if len(want.Status.Details.Causes) < 2 {
		out = append(out, textDifference("message", want.Status.Message, got.Status.Message)...)
	}
	out = append(out, treeDifference("defaulted", prune(want.Defaulted), prune(got.Defaulted))...)
	out = append(out, treeDifference("stored_spec", prune(want.StoredSpec), prune(got.StoredSpec))...)
	return out
}

func textDifference(what, want, got string) []string {
	if want == got {
		return nil
	}
	return []string{fmt.Sprintf("%s: want %s, got %s", what, want, got)}
}

// setDifference compares as multisets.
func setDifference(what string, want, got []string) []string {
	count := map[string]int{}
	for _, s := range want {
		count[s]++
	}
	for _, s := range got {
		count[s]--
	}
	var missing, extra []string
	for _, s := range slices.Sorted(maps.Keys(count)) {
		if count[s] > 0 {
			missing = append(missing, fmt.Sprintf("missing %s %s", what, s))
		} else if count[s] < 0 {
			extra = append(extra, fmt.Sprintf("extra %s %s", what, s))
		}
	}
	return append(missing, extra...)
}

func treeDifference(path string, want, got any) []string {
	w, okw := want.(map[string]any)
	g, okg := got.(map[string]any)
	if okw && okg {
		keys := maps.Clone(w)
		maps.Copy(keys, g)
		var out []string
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			out = append(out, treeDifference(path+"."+k, w[k], g[k])...)
		}
		return out
	}
	wl, okw := want.([]any)
	gl, okg := got.([]any)
	if okw && okg && len(wl) == len(gl) {
		var out []string
		for i := range wl {
			out = append(out, treeDifference(fmt.Sprintf("%s[%d]", path, i), wl[i], gl[i])...)
		}
		return out
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if bytes.Equal(a, b) {
		return nil
	}
	return []string{fmt.Sprintf("%s: want %.300s, got %.300s", path, a, b)}
}

// prune leaves out what is null or empty in objects.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if x = prune(x); !empty(x) {
				out[k] = x
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = prune(x)
		}
		return out
	}
	return v
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
