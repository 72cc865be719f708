package generate

import (
	"slices"
	"strings"

	"rollgate.dev/differential/jsontree"
)

// body writes an object as a request body that encoding/json would not write: keys that occur
// twice, text that is cut short or followed by more, another kind, odd spellings of the same text.
func (c chance) body(o jsontree.Node) string {
	root, ok := o.(*jsontree.Object)
	if !ok {
		return string(jsontree.Render(o))
	}
	switch c.IntN(8) {
	case 0, 1, 2, 3:
		for range c.few() {
			c.double(root)
		}
	case 4:
		return c.cut(string(jsontree.Render(root)))
	case 5:
		c.otherKind(root)
	case 6:
		return pick(c, bodies)
	case 7:
		return c.respell(string(jsontree.Render(root)))
	}
	return string(jsontree.Render(root))
}

// double writes a key a second time, with the same or another value. The second value is read
// over the first. A third one would let elements shine through that Go's slices keep behind their
// end, which is chance and no rule.
func (c chance) double(root *jsontree.Object) {
	places, _ := survey(root, deploymentType)
	for range 10 {
		p := places[c.IntN(len(places))]
		parent, ok := p.parent.(*jsontree.Object)
		if !ok {
			continue
		}
		v := jsontree.Clone(p.value())
		switch c.IntN(4) {
		case 0:
			c.bad = 0.1
			v = c.value(p.kind, p.name, 3)
		case 1:
			v = pick(c, []jsontree.Node{jsontree.Null, c.wrongType(p.kind), c.hollow(p.kind)})
		}
		key := parent.Members[p.index].Key
		same := func(m jsontree.Member) bool { return m.Key == key }
		if first := slices.IndexFunc(parent.Members, same); slices.IndexFunc(parent.Members[first+1:], same) >= 0 {
			continue
		}
		at := c.IntN(len(parent.Members) + 1)
		parent.Members = append(parent.Members[:at:at], append([]jsontree.Member{{Key: key, Value: v}}, parent.Members[at:]...)...)
		return
	}
}

// cut damages a text at one place.
func (c chance) cut(s string) string {
	at := c.IntN(len(s))
	for at > 0 && s[at]&0xc0 == 0x80 {
		at-- // a body within a JSON string is valid UTF-8
	}
	switch c.IntN(6) {
	case 0:
		return s[:at]
	case 1:
		return s + pick(c, []string{"x", "{}", " ", "\n\n", ",", "}", "\x00", "null", "//", "\ufeff", "]", "\"", "1"})
	case 2:
		return pick(c, []string{"\ufeff", " ", "\n\t", "\x00", "//\n", "x", "\u00a0", "\v", "#"}) + s
	case 3:
		return s[:at] + pick(c, []string{"{", "}", "[", "]", ",", ":", "\"", "\\", "\x01", "'", "x", "0", "-", "+", ".", "e", "\t", "\n", "\u2028", "/", "tru", "nul", "NaN", "Infinity"}) + s[at:]
	case 4:
		end := min(len(s), at+1)
		for end < len(s) && s[end]&0xc0 == 0x80 {
			end++
		}
		return s[:at] + s[end:]
	}
	return strings.Replace(s, pick(c, []string{"{", "}", "\"", ":", ","}), pick(c, []string{"", "[", "'", "::", ",,"}), 1)
}

// otherKind gives the body another kind or version, or none. What a foreign kind holds is left out:
// the server decodes it as that kind, which rollgate does not know.
func (c chance) otherKind(root *jsontree.Object) {
	kinds := []string{`"Pod"`, `"Deployment"`, `"ReplicaSet"`, `"deployment"`, `"Scale"`, `"DeploymentList"`, `"List"`, `"Status"`, `"StatefulSet"`, `"DaemonSet"`, `"Service"`, `""`, `null`, `1`, `{}`, `[]`, `true`, `"X\"Y"`, `"Deploymentü"`, `"DeploymentRollback"`, `"ControllerRevision"`}
	versions := []string{`"apps/v1"`, `"v1"`, `"apps/v1beta1"`, `"apps/v1beta2"`, `"extensions/v1beta1"`, `"apps"`, `"apps/v2"`, `"a/b/c"`, `""`, `null`, `1`, `[]`, `"/"`, `"/v1"`, `"apps/"`, `"apps /v1"`, `"autoscaling/v1"`, `"foo.example.com/v1"`, `"Apps/v1"`, `"batch/v1"`}
	if c.often(0.7) {
		root.Set("kind", jsontree.Raw(pick(c, kinds)))
	}
	if c.often(0.6) {
		root.Set("apiVersion", jsontree.Raw(pick(c, versions)))
	}
	version, _ := root.Get("apiVersion").(jsontree.Raw)
	if root.Get("kind") != jsontree.Raw(`"Deployment"`) || strings.Contains(string(version), "beta") {
		root.Members = slices.DeleteFunc(root.Members, func(m jsontree.Member) bool { return m.Key != "kind" && m.Key != "apiVersion" })
	}
	for i, m := range root.Members {
		if (m.Key == "kind" || m.Key == "apiVersion") && c.often(0.15) {
			root.Members = append(root.Members[:i:i], root.Members[i+1:]...)
			return
		}
	}
}

// respell writes the same text with other escapes and blanks, or with numbers spelt oddly.
func (c chance) respell(s string) string {
	change := [][2]string{
		{`"app"`, `"\u0061pp"`}, {`"spec"`, `"sp\u0065c"`}, {`"name"`, `"n\u0061me"`}, {`"nginx`, `"\u006eginx`}, {`:`, ` : `}, {`,`, ",\r\n\t"}, {`"web"`, `"\ud800"`}, {`"web"`, `"\ud83d\ude00"`}, {`"web"`, `"\udc00\ud800"`}, {`"web"`, `"w\/b"`}, {`"web"`, `"\b\f\n\r\t\"\\"`},
		{`"web"`, "\"w\x7fb\""}, {`"web"`, `"\u0000"`}, {`"web"`, `"\x41"`}, {`"web"`, `"\u12"`}, {`"web"`, "\"a\nb\""}, {`"web"`, `"\uD800\u0041"`}, {`"kind"`, `"\u006bind"`}, {`"kind"`, `"Kind"`}, {`"apiVersion"`, `"apiversion"`}, {`{`, "{ \n "}, {`1`, `01`}, {`8080`, `8080.0`}, {`8080`, `+8080`}, {`8080`, `8080e0`},
		{`8080`, `0x1F90`}, {`8080`, `-`}, {`8080`, `8080.`}, {`8080`, `.5`}, {`"containers"`, `"containerS"`}, {`"web"`, `web`}, {`}`, `,}`}, {`]`, `,]`}, {`"web"`, `True`}, {`"image"`, `"\u0069mage"`}, {`"matchLabels"`, `"match\u004cabels"`}, {`"web"`, `"\uDBFF\uDFFF"`}, {`"web"`, `"\ufffe\uffff"`}, {`"web"`, `"a\ud800b"`},
	}
	for range c.few() {
		x := pick(c, change)
		s = strings.Replace(s, x[0], x[1], 1-2*c.IntN(2))
	}
	return s
}

// bodies are whole bodies that are hardly a Deployment.
var bodies = []string{
	"", " ", "null", "{}", "[]", "true", "1", "\"x\"", "x", "{", "[", "\"", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "nul", "-", "1.", "1e", "{}{}", "{} {}", "{}x", "\ufeff{}", "{\"kind\":\"Deployment\"}", "{\"apiVersion\":\"apps/v1\"}", "\x00", "{\"kind\":}", "{,}", "{\"a\" 1}", "{'a':1}", "[1,]",
	`{"apiVersion":"apps/v1","kind":"Deployment"}`, `{"apiVersion":"apps/v1","kind":"Deployment","spec":null}`, `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[null]}}}}`, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":null,"spec":{"selector":null,"template":null}}`, `{"kind":1}`, `{"apiVersion":1}`, `{"kind":{"a":1},"apiVersion":[]}`,
	`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"metadata":{"annotations":` + strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200) + `}}}}`, strings.Repeat(`[`, 10001), strings.Repeat(`{"a":`, 10001), strings.Repeat("[", 10000) + strings.Repeat("]", 10000), `{"a":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `}`, `{"a":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`,
	`{"apiVersion":"apps/v1","kind":"Deployment","a":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `}`, `{"apiVersion":"apps/v1","kind":"Deployment","spec":` + strings.Repeat(`{"template":`, 9999) + "1" + strings.Repeat("}", 10000), `apiVersion: apps/v1`, `---`, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"kind\":\"Deployment\"}", `{"Kind":"Deployment","APIVERSION":"apps/v1"}`, `{"kind":"Deployment","Kind":"Pod","apiVersion":"apps/v1"}`,
	`{"kind":"Pod","apiVersion":"v1","spec":{"containers":1}}`, `{"kind":"Deployment","apiVersion":"extensions/v1beta1","spec":{"rollbackTo":{"revision":1}}}`, `{"kind":"Scale","apiVersion":"autoscaling/v1","spec":{"replicas":2}}`, `{"kind":"List","apiVersion":"v1","items":[]}`, `{"kind":"","apiVersion":""}`, `{"kind":null,"apiVersion":null}`, `é`, "\u2028{}", "{\"\u2028\":1}", "{\"a\":\"\\",
}
