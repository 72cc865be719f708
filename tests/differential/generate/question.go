// Package generate makes random questions about Deployments.
//
// A question begins as a small valid manifest. Then it grows (fields of every type, with values
// that suit them), gets into a situation (a handful of fields that only matter together), and is
// hurt (wrong types, nulls, unknown keys, nasty texts, numbers at limits). What fields there are it
// reads off the Go types themselves. Start reading at Question.
package generate

import (
	"math/rand/v2"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"rollgate.dev/differential/jsontree"
)

var deploymentType = reflect.TypeFor[appsv1.Deployment]()

// Question makes one line of JSON: a create, an update, or a write of the status.
func Question(r *rand.Rand, id string) []byte {
	c := chance{r, 0}
	q := &jsontree.Object{}
	q.Add("id", jsontree.Text(id))
	if c.often(0.3) {
		c.update(q)
	} else {
		q.Add("operation", jsontree.Text("CREATE"))
		if c.often(0.05) {
			q.Add("namespace", jsontree.Text(pick(c, []string{"other", "", "default", "kube-system"})))
		}
		q.Add("object", c.manifest())
	}
	if c.often(0.12) {
		o := q.Get("object")
		for i, m := range q.Members {
			if m.Key == "object" {
				q.Members[i] = jsontree.Member{Key: "object_text", Value: jsontree.Text(c.body(o))}
			}
		}
	}
	return jsontree.Render(q)
}

// manifest makes a Deployment for a create.
func (c chance) manifest() *jsontree.Object {
	o := c.base()
	for range c.IntN(7) {
		c.grow(o)
	}
	if c.often(0.35) {
		pick(c, situations)(c, o)
	}
	if c.often(0.5) {
		for range c.few() {
			c.hurt(o)
		}
	}
	return o
}

// base makes a valid manifest as people write them.
func (c chance) base() *jsontree.Object {
	name := pick(c, []string{"web", "api", "worker"})
	o := jsontree.MustParse(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},
		"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
		"spec":{"containers":[{"name":"app","image":"nginx:1.25"}]}}}}`).(*jsontree.Object)
	o.Child("metadata").Set("name", jsontree.Text(name))
	if c.often(0.5) {
		o.Child("metadata").Set("namespace", jsontree.Text("default"))
	}
	pod := podOf(o)
	if c.often(0.3) {
		pod.Array("initContainers").Items = []jsontree.Node{jsontree.MustParse(pick(c, []string{
			`{"name":"init","image":"busybox","command":["true"]}`, `{"name":"init","image":"busybox","restartPolicy":"Always"}`}))}
	}
	if c.often(0.2) {
		l := pod.Array("containers")
		l.Items = append(l.Items, jsontree.MustParse(`{"name":"side","image":"envoy"}`))
	}
	if c.often(0.3) {
		pod.Set("volumes", jsontree.MustParse(`[{"name":"data","emptyDir":{}},{"name":"cfg","configMap":{"name":"cfg"}}]`))
		if c.often(0.6) {
			firstContainer(o).Set("volumeMounts", jsontree.MustParse(`[{"name":"data","mountPath":"/data"}]`))
		}
	}
	if c.often(0.2) {
		firstContainer(o).Set("ports", jsontree.MustParse(`[{"name":"http","containerPort":8080}]`))
	}
	if c.often(0.15) {
		firstContainer(o).Set("resources", jsontree.MustParse(`{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"1","memory":"128Mi"}}`))
	}
	return o
}

func podOf(o *jsontree.Object) *jsontree.Object {
	return o.Child("spec").Child("template").Child("spec")
}

// firstContainer gives the first regular container, making one when there is none.
func firstContainer(o *jsontree.Object) *jsontree.Object {
	l := podOf(o).Array("containers")
	if len(l.Items) > 0 {
		if c, ok := l.Items[0].(*jsontree.Object); ok {
			return c
		}
	}
	c := &jsontree.Object{}
	l.Items = append([]jsontree.Node{c}, l.Items...)
	return c
}

// badness is how wrong new values are: mostly good ones, sometimes some bad ones, seldom all bad.
var badness = []float64{0, 0, 0, 0.03, 0.1, 0.3, 0.8}

var busy = map[reflect.Type]float64{
	reflect.TypeFor[corev1.PodSpec]():            6,
	reflect.TypeFor[corev1.Container]():          3,
	reflect.TypeFor[appsv1.DeploymentSpec]():     1.5,
	reflect.TypeFor[corev1.PodSecurityContext](): 2,
	reflect.TypeFor[corev1.SecurityContext]():    2,
	deploymentType: 0.2,
}

// grow sets one more field, or one anew, of some object.
func (c chance) grow(o *jsontree.Object) {
	c.bad = pick(c, badness)
	_, sites := survey(o, deploymentType)
	weights := make([]float64, len(sites))
	for i, s := range sites {
		weights[i] = 1
		if w, ok := busy[s.kind]; ok {
			weights[i] = w
		}
	}
	s := sites[c.weighted(weights)]
	all := fields(s.kind)
	weights = make([]float64, len(all))
	for i, f := range all {
		weights[i] = f.weight
		if f.name == "Deployment.status" || f.kind == reflect.TypeFor[[]corev1.EphemeralContainer]() {
			weights[i] /= 4
		}
	}
	f := all[c.weighted(weights)]
	v := c.value(f.kind, f.name, 0)
	old, isList := s.object.Get(f.key).(*jsontree.List)
	if more, ok := v.(*jsontree.List); ok && isList && c.often(0.7) {
		old.Items = append(old.Items, more.Items...)
		return
	}
	s.object.Set(f.key, v)
}
