package generate

import (
	"math"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"rollgate.dev/differential/jsontree"
)

var (
	quantityType    = reflect.TypeFor[resource.Quantity]()
	intOrStringType = reflect.TypeFor[intstr.IntOrString]()
	timeType        = reflect.TypeFor[metav1.Time]()
	fieldsType      = reflect.TypeFor[metav1.FieldsV1]()
)

// field is one key of a JSON object.
type field struct {
	key      string
	name     string // `Struct.key`, with the Go struct that declares it; what the pools are looked up by
	kind     reflect.Type
	required bool    // not omitempty: a useful object has it
	weight   float64 // how much there is below it
}

var (
	fieldsLock sync.Mutex
	fieldsOf   = map[reflect.Type][]field{}
)

// fields lists the keys of a struct, those of embedded structs included.
func fields(t reflect.Type) []field {
	fieldsLock.Lock()
	defer fieldsLock.Unlock()
	return lookFields(t)
}

func lookFields(t reflect.Type) []field {
	if known, ok := fieldsOf[t]; ok {
		return known
	}
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case key == "" && (f.Anonymous || strings.Contains(options, "inline")):
			out = append(out, lookFields(f.Type)...)
		case key != "" && key != "-":
			out = append(out, field{
				key: key, name: t.Name() + "." + key, kind: f.Type,
				required: !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero"),
				weight:   math.Pow(leaves(f.Type, 0), 0.4),
			})
		}
	}
	fieldsOf[t] = out
	return out
}

// leaves counts the scalar fields below a type.
func leaves(t reflect.Type, depth int) float64 {
	t = bare(t)
	if t.Kind() != reflect.Struct || opaque(t) || depth > 12 {
		return 1
	}
	sum := 1.0
	for i := range t.NumField() {
		sum += leaves(t.Field(i).Type, depth+1)
	}
	return sum
}

// bare is the type without pointers, lists and maps around it.
func bare(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// opaque says whether a struct is written as something else than its fields.
func opaque(t reflect.Type) bool {
	return t == quantityType || t == intOrStringType || t == timeType || t == fieldsType
}

func pointee(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// place is one value in a tree, with what should stand there and the means to change it.
type place struct {
	parent jsontree.Node // *Object or *List
	index  int
	name   string // `Struct.key` of the field that holds it, also for what is inside its list or map
	kind   reflect.Type
}

func (p place) value() jsontree.Node {
	if o, ok := p.parent.(*jsontree.Object); ok {
		return o.Members[p.index].Value
	}
	return p.parent.(*jsontree.List).Items[p.index]
}

func (p place) set(v jsontree.Node) {
	if o, ok := p.parent.(*jsontree.Object); ok {
		o.Members[p.index].Value = v
		return
	}
	p.parent.(*jsontree.List).Items[p.index] = v
}

func (p place) remove() {
	switch n := p.parent.(type) {
	case *jsontree.Object:
		n.Members = append(n.Members[:p.index:p.index], n.Members[p.index+1:]...)
	case *jsontree.List:
		n.Items = append(n.Items[:p.index:p.index], n.Items[p.index+1:]...)
	}
}

// site is an object in a tree with its struct type.
type site struct {
	object *jsontree.Object
	kind   reflect.Type
}

// survey lists every value of a tree that has a type, and every object of a struct type.
func survey(root *jsontree.Object, t reflect.Type) (places []place, sites []site) {
	var walk func(n jsontree.Node, t reflect.Type, name string)
	walk = func(n jsontree.Node, t reflect.Type, name string) {
		t = pointee(t)
		switch n := n.(type) {
		case *jsontree.Object:
			if t.Kind() == reflect.Map {
				for i, m := range n.Members {
					places = append(places, place{n, i, name, t.Elem()})
					walk(m.Value, t.Elem(), name)
				}
				return
			}
			if t.Kind() != reflect.Struct || opaque(t) {
				return
			}
			sites = append(sites, site{n, t})
			for i, m := range n.Members {
				for _, f := range fields(t) {
					if f.key == m.Key {
						places = append(places, place{n, i, f.name, f.kind})
						walk(m.Value, f.kind, f.name)
					}
				}
			}
		case *jsontree.List:
			if t.Kind() != reflect.Slice {
				return
			}
			for i, v := range n.Items {
				places = append(places, place{n, i, name, t.Elem()})
				walk(v, t.Elem(), name)
			}
		}
	}
	walk(root, t, "")
	return places, sites
}
