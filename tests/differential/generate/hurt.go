package generate

import (
	"encoding/json"
	"reflect"
	"strings"

	"rollgate.dev/differential/jsontree"
)

// hurt changes one value of a manifest for the worse.
func (c chance) hurt(o *jsontree.Object) {
	places, sites := survey(o, deploymentType)
	if len(places) == 0 || len(sites) == 0 {
		return
	}
	p := places[c.IntN(len(places))]
	s := sites[c.IntN(len(sites))]
	switch c.IntN(18) {
	case 0, 16:
		p.set(c.wrongType(p.kind))
	case 17:
		f := pick(c, fields(s.kind))
		s.object.Set(f.key, c.wrongType(f.kind))
	case 1:
		c.stranger(s)
	case 2:
		p.set(jsontree.Null)
	case 3, 4:
		p.remove()
	case 5:
		c.repeat(p)
	case 6:
		p.set(c.hollow(p.kind))
	case 7, 8:
		c.bad = 1
		p.set(c.value(p.kind, p.name, 4))
	case 9, 10, 11:
		c.spoilText(p)
	case 12:
		c.rename(o, places)
	case 13:
		c.bad = 0.5
		p.set(c.value(p.kind, p.name, 2))
	default:
		c.setLeaf(s)
	}
}

// wrongType is a value of a JSON type that does not fit.
func (c chance) wrongType(t reflect.Type) jsontree.Node {
	all := []string{
		`"x"`, `1`, `1.5`, `true`, `false`, `{}`, `[]`, `["a"]`, `[1]`, `{"a":1}`, `[null]`, `{"a":null}`, `""`, `"1"`, `-1`, `1e3`, `3000000000`, `"true"`, `[[]]`, `[{}]`, `{"":{}}`, `9223372036854775808`, `"a\"<b>"`,
	}
	for {
		n := jsontree.MustParse(pick(c, all))
		if reflect.TypeOf(n) != reflect.TypeOf(c.hollow(t)) || c.often(0.5) {
			return n
		}
	}
}

// hollow is the emptiest value of a type.
func (c chance) hollow(t reflect.Type) jsontree.Node {
	t = pointee(t)
	switch {
	case t == quantityType || t == timeType || t.Kind() == reflect.String:
		return jsontree.Text("")
	case t == intOrStringType:
		return jsontree.Raw(pick(c, []string{`""`, `0`}))
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		return &jsontree.Object{}
	case t.Kind() == reflect.Slice:
		return &jsontree.List{}
	case t.Kind() == reflect.Bool:
		return jsontree.Bool(false)
	}
	return jsontree.Int(0)
}

// stranger adds a key that the struct has not, often one that looks like one that it has.
func (c chance) stranger(s site) {
	key := pick(c, []string{"bogus", "x", "", "spec", "metadata", "name", "a.b", "a[0]", "ünï", "a\"b", "a b", "\u2028", "A", "image", "volumes", "inline", "$patch", "kind", "status", "<x>"})
	if all := fields(s.kind); c.often(0.6) {
		key = pick(c, all).key
		switch c.IntN(5) {
		case 0:
			key = strings.ToUpper(key[:1]) + key[1:]
		case 1:
			key = strings.ToLower(key) + "s"
		case 2:
			key = key[:len(key)-1]
		case 3:
			key = strings.ToLower(key)
		case 4:
			key = c.spoil(key)
		}
	}
	if s.object.Get(key) == nil {
		s.object.Add(key, c.wrongType(deploymentType))
	}
}

// repeat puts a list item in twice, or a whole list after itself.
func (c chance) repeat(p place) {
	if l, ok := p.parent.(*jsontree.List); ok {
		l.Items = append(l.Items, jsontree.Clone(p.value()))
		return
	}
	if l, ok := p.value().(*jsontree.List); ok && len(l.Items) > 0 {
		l.Items = append(l.Items, jsontree.Clone(pick(c, l.Items)))
	}
}

// spoilText makes a string wrong by a little.
func (c chance) spoilText(p place) {
	raw, ok := p.value().(jsontree.Raw)
	if !ok {
		return
	}
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		c.bad = 1
		p.set(c.value(p.kind, p.name, 4))
		return
	}
	p.set(jsontree.Text(c.spoil(s)))
}

// rename moves a map's value to a spoilt key.
func (c chance) rename(o *jsontree.Object, places []place) {
	for range 10 {
		p := places[c.IntN(len(places))]
		if parent, ok := p.parent.(*jsontree.Object); ok && parent != o {
			key := c.spoil(parent.Members[p.index].Key)
			if parent.Get(key) == nil {
				parent.Members[p.index].Key = key
			}
			return
		}
	}
}

// setLeaf sets a field of some object to a bad scalar.
func (c chance) setLeaf(s site) {
	c.bad = 0.7
	all := fields(s.kind)
	for range 20 {
		f := pick(c, all)
		if k := pointee(f.kind); k.Kind() != reflect.Struct && k.Kind() != reflect.Slice && k.Kind() != reflect.Map || opaque(k) {
			s.object.Set(f.key, c.value(f.kind, f.name, 4))
			return
		}
	}
}
