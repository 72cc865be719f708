// Package jsontree holds JSON as a tree that can say what encoding/json's own values cannot: the
// order of keys, a key that occurs twice, and numbers spelt in odd ways.
package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Node is an *Object, a *List or a Raw.
type Node interface{ write(*bytes.Buffer) }

// Object is a JSON object; a key may occur more than once.
type Object struct{ Members []Member }

// Member is one key of an object with its value.
type Member struct {
	Key   string
	Value Node
}

// List is a JSON array.
type List struct{ Items []Node }

// Raw is the JSON text of a scalar, written as it stands.
type Raw string

// Null is JSON's null.
const Null = Raw("null")

// Text is a JSON string.
func Text(s string) Raw {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a Go string always encodes
	}
	return Raw(bytes.TrimSpace(b.Bytes()))
}

// Int is a JSON number.
func Int(i int64) Raw { return Raw(strconv.FormatInt(i, 10)) }

// Bool is true or false.
func Bool(b bool) Raw { return Raw(strconv.FormatBool(b)) }

// Get gives the first value of a key, nil when the object has no such key.
func (o *Object) Get(key string) Node {
	for _, m := range o.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Set replaces the first value of a key, or adds it at the end.
func (o *Object) Set(key string, v Node) {
	for i, m := range o.Members {
		if m.Key == key {
			o.Members[i].Value = v
			return
		}
	}
	o.Add(key, v)
}

// Add puts a member at the end, also when the key is there already.
func (o *Object) Add(key string, v Node) { o.Members = append(o.Members, Member{key, v}) }

// Child gives the object under a key, making it when it is not there.
func (o *Object) Child(key string) *Object {
	if c, ok := o.Get(key).(*Object); ok {
		return c
	}
	c := &Object{}
	o.Set(key, c)
	return c
}

// Array gives the list under a key, making it when it is not there.
func (o *Object) Array(key string) *List {
	if l, ok := o.Get(key).(*List); ok {
		return l
	}
	l := &List{}
	o.Set(key, l)
	return l
}

func (o *Object) write(b *bytes.Buffer) {
	b.WriteByte('{')
	for i, m := range o.Members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(Text(m.Key)))
		b.WriteByte(':')
		m.Value.write(b)
	}
	b.WriteByte('}')
}

func (l *List) write(b *bytes.Buffer) {
	b.WriteByte('[')
	for i, v := range l.Items {
		if i > 0 {
			b.WriteByte(',')
		}
		v.write(b)
	}
	b.WriteByte(']')
}

func (r Raw) write(b *bytes.Buffer) { b.WriteString(string(r)) }

// Render gives the JSON text of a tree.
func Render(n Node) []byte {
	var b bytes.Buffer
	n.write(&b)
	return b.Bytes()
}

// Clone gives a copy that shares nothing.
func Clone(n Node) Node {
	switch n := n.(type) {
	case *Object:
		c := &Object{Members: make([]Member, len(n.Members))}
		for i, m := range n.Members {
			c.Members[i] = Member{m.Key, Clone(m.Value)}
		}
		return c
	case *List:
		c := &List{Items: make([]Node, len(n.Items))}
		for i, v := range n.Items {
			c.Items[i] = Clone(v)
		}
		return c
	}
	return n
}

// Parse reads one JSON value; nothing may follow it.
func Parse(text []byte) (Node, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	n, err := parse(d)
	if err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("more than one value")
	}
	return n, nil
}

// MustParse reads a JSON text that stands in the program.
func MustParse(text string) Node {
	n, err := Parse([]byte(text))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return n
}

func parse(d *json.Decoder) (Node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return parseObject(d)
		}
		return parseList(d)
	case string:
		return Text(t), nil
	case json.Number:
		return Raw(t), nil
	case bool:
		return Bool(t), nil
	}
	return Null, nil
}

func parseObject(d *json.Decoder) (Node, error) {
	o := &Object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parse(d)
		if err != nil {
			return nil, err
		}
		o.Add(key.(string), v)
	}
	_, err := d.Token()
	return o, err
}

func parseList(d *json.Decoder) (Node, error) {
	l := &List{}
	for d.More() {
		v, err := parse(d)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, v)
	}
	_, err := d.Token()
	return l, err
}
