package rollout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"rollgate.dev/differential/harness"
)

type object = map[string]any

const mergePatch = "application/merge-patch+json"

// reply is an answer, upstream's or rollgate's.
type reply struct {
	Writes []struct {
		Verb        string `json:"verb"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Name        string `json:"name"`
		PatchType   string `json:"patch_type"`
		Patch       object `json:"patch"`
		Object      object `json:"object"`
	} `json:"writes"`
	Events   []event  `json:"events"`
	After    *float64 `json:"requeue_after_seconds"`
	Error    string   `json:"error"`
	Diverges []string `json:"diverges"`
}

// state is a snapshot as the writes of an answer leave it.
type state struct {
	deployment object
	sets       map[string]object
	deleted    []string
}

func at(o object, path ...string) any {
	var v any = o
	for _, key := range path {
		inner, _ := v.(object)
		v = inner[key]
	}
	return v
}

func text(v any) string { s, _ := v.(string); return s }

func clone(o object) object { return decode[object](encode(o)) }

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func decode[T any](b []byte) T {
	v, err := tryDecode[T](b)
	if err != nil {
		panic(err)
	}
	return v
}

func tryDecode[T any](b []byte) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // 64-bit integers must not pass through a float
	err = d.Decode(&v)
	return v, err
}

// merge applies a JSON merge patch (RFC 7386).
func merge(target any, patch any) any {
	p, ok := patch.(object)
	if !ok {
		return patch
	}
	out := object{}
	if t, ok := target.(object); ok {
		maps.Copy(out, t)
	}
	for k, v := range p {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = merge(out[k], v)
		}
	}
	return out
}

// apply carries out an answer's writes.
func apply(question []byte, r reply) state {
	q := decode[struct {
		Deployment object   `json:"deployment"`
		Sets       []object `json:"replica_sets"`
	}](question)
	s := state{q.Deployment, map[string]object{}, nil}
	for _, set := range q.Sets {
		s.sets[text(at(set, "metadata", "name"))] = set
	}
	for _, w := range r.Writes {
		verb, written := w.Verb, w.Object
		held := s.sets[w.Name]
		if w.Resource == "deployments" {
			held = s.deployment
		}
		if verb == "patch" && w.PatchType == mergePatch {
			verb, written = "update", merge(held, w.Patch).(object)
		}
		switch {
		case w.Resource == "deployments" && verb == "update":
			s.updateDeployment(written, w.Subresource)
		case w.Resource != "replicasets":
		case verb == "create":
			if name := text(at(written, "metadata", "name")); s.sets[name] == nil {
				created := clone(written)
				created["status"] = object{}
				s.sets[name] = created
			}
		case verb == "update":
			name := text(at(written, "metadata", "name"))
			updated := clone(written)
			updated["status"] = s.sets[name]["status"]
			s.sets[name] = updated
		case verb == "patch":
			patchOwners(held, w.Patch)
		case verb == "delete":
			s.deleted = append(s.deleted, w.Name)
			delete(s.sets, w.Name)
		}
	}
	return s
}

func (s *state) updateDeployment(written object, subresource string) {
	d := clone(s.deployment)
	d["metadata"].(object)["annotations"] = at(written, "metadata", "annotations")
	if subresource == "status" {
		d["status"] = written["status"]
	} else {
		d["spec"] = written["spec"]
	}
	s.deployment = d
}

// patchOwners does what a strategic merge patch does to owner references: their key is the uid.
func patchOwners(set object, patch object) {
	meta := set["metadata"].(object)
	refs, _ := meta["ownerReferences"].([]any)
	patches, _ := at(patch, "metadata", "ownerReferences").([]any)
	for _, p := range patches {
		p := p.(object)
		refs = slices.DeleteFunc(slices.Clone(refs), func(r any) bool { return r.(object)["uid"] == p["uid"] })
		if p["$patch"] != "delete" {
			refs = append(refs, p)
		}
	}
	meta["ownerReferences"] = refs
}

// prune drops what is null or empty: absent, null and empty mean the same.
func prune(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for k, x := range v {
			if x = prune(x); x != nil {
				out[k] = x
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
		if len(v) > 0 {
			return v
		}
		return nil
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}

// outcome is what of an answer counts.
func outcome(question []byte, r reply) object {
	s := apply(question, r)
	sets := object{}
	for name, set := range s.sets {
		refs, _ := at(set, "metadata", "ownerReferences").([]any)
		owners := make([]any, len(refs))
		for i, ref := range refs {
			owners[i] = string(encode(ref))
		}
		slices.SortFunc(owners, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		sets[name] = object{
			"labels": at(set, "metadata", "labels"), "annotations": at(set, "metadata", "annotations"), "owners": owners,
			"replicas": fmt.Sprint(at(set, "spec", "replicas")), "minReadySeconds": at(set, "spec", "minReadySeconds"),
			"selector": at(set, "spec", "selector"), "template": at(set, "spec", "template"),
		}
	}
	slices.Sort(s.deleted)
	out := object{
		"deployment":   object{"annotations": at(s.deployment, "metadata", "annotations"), "spec": s.deployment["spec"], "status": s.deployment["status"]},
		"replica_sets": sets,
		"deleted":      fmt.Sprint(s.deleted),
		"events":       fmt.Sprint(r.Events),
		"failed":       fmt.Sprint(r.Error != ""),
	}
	if r.After != nil {
		out["requeue_after_seconds"] = fmt.Sprint(math.RoundToEven(*r.After))
	}
	return prune(out).(object)
}

func differences(question, truth, answer []byte) []string {
	want := decode[reply](truth)
	got, err := tryDecode[reply](answer)
	if err != nil {
		return []string{fmt.Sprintf("unreadable answer: %v", err)}
	}
	a, b := outcome(question, want), outcome(question, got)
	if slices.Equal(got.Diverges, []string{"stale-desired-replicas"}) && staleNotes(question) {
		forgetNotes(a)
		forgetNotes(b)
	} else if len(got.Diverges) > 0 {
		return []string{fmt.Sprintf("diverges: %v", got.Diverges)}
	}
	var out []string
	compare("", a, b, &out)
	return out
}

func compare(path string, want, got any, out *[]string) {
	a, isA := want.(object)
	b, isB := got.(object)
	if isA && isB {
		both := maps.Clone(a)
		maps.Copy(both, b)
		for _, k := range slices.Sorted(maps.Keys(both)) {
			compare(path+"."+k, a[k], b[k], out)
		}
	} else if !reflect.DeepEqual(want, got) {
		*out = append(*out, fmt.Sprintf("%s: expected %.300s got %.300s", path, encode(want), encode(got)))
	}
}

// staleNotes says whether the fault of the built-in controller that rollgate mends can show: the scaling
// check says "scaling", and the scaling path finds nothing to do, now or ever.
func staleNotes(question []byte) bool {
	s := decode[snapshot](question)
	want := *s.Deployment.Spec.Replicas
	active, stale, total := 0, false, int64(0)
	for _, set := range s.ReplicaSets {
		if *set.Spec.Replicas == 0 || len(set.OwnerReferences) > 0 && !slices.ContainsFunc(set.OwnerReferences, controls(s.Deployment.UID)) {
			continue
		}
		active++
		total += int64(*set.Spec.Replicas)
		if n, err := strconv.ParseUint(set.Annotations[prefix+"desired-replicas"], 10, 31); err == nil && int32(n) != want {
			stale = true
		}
	}
	recreate := s.Deployment.Spec.Strategy.Type == "Recreate"
	return stale && !s.Deployment.Spec.Paused && (active == 1 && total == int64(want) || active > 1 && (recreate || total >= int64(want)))
}

// forgetNotes drops what the mended fault shows in.
func forgetNotes(o object) {
	sets, _ := o["replica_sets"].(object)
	for _, set := range sets {
		delete(set.(object), "annotations") // with the notes go annotations that waited for a write
		delete(set.(object), "owners")      // of a set that is adopted and then written
	}
}

func facts(truth []byte) []string {
	r := decode[reply](truth)
	var out []string
	for _, w := range r.Writes {
		out = append(out, strings.Join([]string{"write", w.Verb, w.Resource, w.Subresource}, " "))
		conditions, _ := at(w.Object, "status", "conditions").([]any)
		for _, c := range conditions {
			c := c.(object)
			out = append(out, fmt.Sprint("condition ", c["type"], " ", c["status"], " ", c["reason"]))
		}
	}
	for _, e := range r.Events {
		out = append(out, "event "+e.Reason)
	}
	if r.Error != "" {
		out = append(out, "error "+harness.Shape(r.Error))
	}
	return out
}
