package generate

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"

	"rollgate.dev/differential/jsontree"
)

// update makes an UPDATE question: an object as it might be stored, sometimes with a flaw that new
// rules would refuse, and what somebody made of it.
func (c chance) update(q *jsontree.Object) {
	q.Add("operation", jsontree.Text("UPDATE"))
	old := c.stored()
	object := jsontree.Clone(old).(*jsontree.Object)
	if c.often(0.18) {
		q.Add("subresource", jsontree.Text("status"))
		c.changeStatus(object)
	}
	for range c.few() {
		switch c.IntN(7) {
		case 0, 1:
			c.grow(object)
		case 2:
			pick(c, flaws)(c, object)
		case 3:
			pick(c, situations)(c, object)
		case 4:
			c.changeIdentity(object)
		case 5:
			c.hurt(object)
		case 6:
			c.touch(object)
		}
	}
	q.Add("old_object", old)
	q.Add("object", object)
}

// stored makes an object that somebody might have got past an older server.
func (c chance) stored() *jsontree.Object {
	o := c.base()
	m := o.Child("metadata")
	if c.often(0.8) {
		m.Set("namespace", jsontree.Text("default"))
	}
	if c.often(0.7) {
		m.Set("uid", jsontree.Text("11111111-1111-1111-1111-111111111111"))
	}
	if c.often(0.7) {
		m.Set("resourceVersion", jsontree.Text("7"))
	}
	if c.often(0.7) {
		m.Set("generation", jsontree.Int(3))
	}
	if c.often(0.6) {
		m.Set("creationTimestamp", jsontree.Text("2026-01-01T00:00:00Z"))
	}
	if c.often(0.15) {
		m.Set("deletionTimestamp", jsontree.Text("2026-02-01T00:00:00Z"))
		m.Set("deletionGracePeriodSeconds", jsontree.Int(0))
		m.Set("finalizers", jsontree.MustParse(pick(c, []string{`["example.com/f"]`, `["foregroundDeletion"]`, `[]`})))
	}
	if c.often(0.2) {
		c.changeStatus(o)
	}
	for range c.IntN(4) {
		c.grow(o)
	}
	for c.often(0.4) {
		pick(c, flaws)(c, o)
	}
	return o
}

// changeStatus writes some status.
func (c chance) changeStatus(o *jsontree.Object) {
	c.bad = pick(c, []float64{0, 0, 0.1, 0.5})
	o.Set("status", c.value(reflect.TypeFor[appsv1.DeploymentStatus](), "Deployment.status", 0))
	if c.often(0.5) {
		o.Set("status", jsontree.MustParse(`{"observedGeneration":3,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3}`))
		key := pick(c, []string{"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas", "terminatingReplicas", "collisionCount"})
		o.Child("status").Set(key, jsontree.Int(pick(c, []int64{-1, 0, 1, 3, 4})))
	}
}

// changeIdentity changes metadata that an update may not, or that the server fills in.
func (c chance) changeIdentity(o *jsontree.Object) {
	m := o.Child("metadata")
	change := pick(c, [][2]string{
		{"uid", `"2"`}, {"uid", `""`}, {"resourceVersion", `"8"`}, {"resourceVersion", `""`}, {"resourceVersion", `"abc"`}, {"generation", `1`}, {"generation", `-1`}, {"name", `"other"`}, {"name", `""`}, {"name", `"a/b"`}, {"name", `".."`}, {"name", `"."`}, {"name", `"a%b"`}, {"name", `"A_b"`},
		{"namespace", `"other"`}, {"namespace", `""`}, {"creationTimestamp", `"2025-01-01T00:00:00Z"`}, {"creationTimestamp", `null`}, {"deletionTimestamp", `"2026-03-01T00:00:00Z"`}, {"deletionGracePeriodSeconds", `5`}, {"finalizers", `["example.com/f","example.com/g"]`}, {"finalizers", `["z.io/z","a.io/a","a.io/a"]`}, {"finalizers", `["orphan"]`},
		{"selfLink", `"/x"`}, {"generateName", `"x-"`}, {"labels", `{"a":"b"}`}, {"annotations", `{"a":"b"}`},
	})
	m.Set(change[0], jsontree.Raw(change[1]))
}

// touch changes something that is fine to change, or the selector.
func (c chance) touch(o *jsontree.Object) {
	spec := o.Child("spec")
	switch c.IntN(7) {
	case 0:
		spec.Set("replicas", jsontree.Int(5))
	case 1:
		firstContainer(o).Set("image", jsontree.Text("nginx:1.26"))
	case 2:
		spec.Set("selector", jsontree.MustParse(pick(c, []string{`{"matchLabels":{"app":"other"}}`, `{"matchLabels":{"app":"web"},"matchExpressions":[]}`, `null`, `{}`, `{"matchLabels":{"app":"a b"}}`, `{"matchExpressions":[{"key":"app","operator":"Exists"}]}`, `{"matchExpressions":[{"key":"app","operator":"In","values":["web"]}],"matchLabels":{}}`})))
	case 3:
		spec.Child("template").Child("metadata").Set("labels", jsontree.MustParse(`{"app":"web","x":"y"}`))
	case 4:
		o.Child("metadata").Set("annotations", jsontree.MustParse(`{"x":"y"}`))
	case 5:
		spec.Set("paused", jsontree.Bool(true))
	case 6:
		o.Set("status", jsontree.MustParse(`{"replicas":-1}`))
	}
}
