package generate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"rollgate.dev/differential/jsontree"
)

// deepest bounds how far a random value goes down.
const deepest = 14

// value makes a random value of a type, as `Struct.key` would hold it.
func (c chance) value(t reflect.Type, name string, depth int) jsontree.Node {
	t = pointee(t)
	switch t {
	case quantityType:
		return c.quantity(name)
	case intOrStringType:
		return c.intOrString(name)
	case timeType:
		return jsontree.Text(pick(c, times))
	case fieldsType:
		return jsontree.MustParse(pick(c, []string{`{}`, `{"f:spec":{"f:replicas":{}}}`}))
	}
	switch t.Kind() {
	case reflect.Struct:
		return c.object(t, depth+1)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return jsontree.Text("AA==")
		}
		return c.list(t, name, depth)
	case reflect.Map:
		return c.mapping(t, name, depth)
	case reflect.String:
		return jsontree.Text(c.text(t, name))
	case reflect.Bool:
		return jsontree.Bool(c.often(0.6))
	}
	return c.integer(name)
}

func (c chance) text(t reflect.Type, name string) string {
	good, ok := texts[name]
	if !ok {
		good, ok = enums[t.Name()]
	}
	if !ok {
		good = labels
	}
	s := pick(c, good)
	if c.often(c.bad) {
		return c.spoil(s)
	}
	return s
}

func (c chance) integer(name string) jsontree.Node {
	if c.often(c.bad) {
		for {
			if n := pick(c, edges); c.often(0.2) || !strings.ContainsAny(n, ".eE") && len(n) < 11 {
				return jsontree.Raw(n)
			}
		}
	}
	if good, ok := numbers[name]; ok {
		return jsontree.Int(pick(c, good))
	}
	return jsontree.Int(pick(c, []int64{1, 2, 3, 5, 10}))
}

func (c chance) intOrString(name string) jsontree.Node {
	good := []string{`80`, `8080`, `"http"`}
	wrong := []string{`0`, `-1`, `65536`, `"80"`, `""`, `"a--b"`, `"-a"`, `"1"`, `"ABC"`, `"0123456789abcdef"`, `1.5`, `1.0`, `1e2`, `3000000000`, `-3000000000`, `"\u003chttp\u003e"`, `"a\u0000"`}
	if strings.HasPrefix(name, "RollingUpdate") {
		good = []string{`1`, `"25%"`, `"100%"`, `0`, `"0%"`, `3`}
		wrong = []string{`-1`, `"101%"`, `"25"`, `"%"`, `"-1%"`, `"1.5%"`, `""`, `"99999999999999999999%"`, `"abc"`, `"0"`, `"00%"`, `"007%"`, `" 5%"`, `"5%%"`, `1.5`, `2147483648`, `"٣%"`, `"+5%"`, `"5 %"`, `"9223372036854775807%"`, `"<5%>"`, `"1_0"`, `"0x0"`, `1.0`, `-0`}
	}
	if c.often(c.bad) {
		return jsontree.Raw(pick(c, wrong))
	}
	return jsontree.Raw(pick(c, good))
}

var times = []string{
	"2026-01-01T00:00:00Z", "2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00.5Z", "2026-12-31T23:59:59-07:30", "2026-01-01t00:00:00z", "2026-01-01", "", "x", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2024-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z",
	"2026-01-01T00:00:00", "2026-01-01 00:00:00Z", "2026-1-1T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00,5Z", "2026-01-01T0:00:00Z", "2026-01-01T00:00:00Zx", "2026-01-01T00:00:00+0200", "0000-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789Z", "2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00+23:59", "0001-01-01T00:00:00+01:00",
}

var (
	amounts    = []string{"1", "100m", "500m", "64Mi", "1Gi", "128Mi", "2", "2Mi", "4Mi", "1k", "0", "250m"}
	oddAmounts = []string{
		"-1", "0.5", "1.5", "1.5Gi", "1024Mi", "1e3", "1E3", "1e4", "100u", "1n", "999n", "0.0001", "1.500", "007", "+5", "5.", ".5", ".", "+", "-", "Mi", "m", "e3", "-Ki", "1GB", "1g", "512mi", "1 Gi", "1K", "", " 1 ", "1.2.3", "--1", "1-", "1e+", "1Gi1", "1mm", "1E5k", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"9223372036854775807m", "1Ei", "8Ei", "7Ei", "9Ei", "100Ei", "1E", "10E", "9E", "1P", "1Pi", "0.001Ki", "1.0001Ki", "3.3Gi", "1e-3", "1e-9", "1e-10", "1e18", "1e19", "1e20", "1E-5", "0e5", "0Ki", "-0", "0.0", "00", "00.50", "123456789012345678", "1234567890123456789", "12345678901234567890", "0.1Ki", "0.0009765625Ki", "1023", "1024", "1025", "1000", "1000m",
		"1001m", "1000Ki", "1048576", "1000000Ki", "999999999999999999n", "1e1", "1e2", "-1.5Gi", "-100u", "-1n", "0.000000001", "0.0000000001", "1.1u", "4.5Mi", "1T", "1Ti", "1000G", "99999999Mi", "100000000Mi", "99999Gi", "100000Gi", "٣", "1\n", "1e05", "1e-05", "12E", "12e", "1e3m", "1.5e3", "1.5E", "15E-1", "2048Ki", "3Mi", "1G",
	}
	suffixes = []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e", "E"}
)

// quantity spells an amount. Exponents stay below 40: the server works for minutes on huge ones.
func (c chance) quantity(name string) jsontree.Node {
	if name == "ResourceFieldSelector.divisor" && c.often(0.9) {
		return jsontree.Text(pick(c, divisors))
	}
	if c.often(0.1) {
		return jsontree.Raw(pick(c, []string{"1", "0.5", "2", "1.5", "100", "1e3", "-1", "0", "0.0001", "1E2", "123456789012", "1.50", "1e-2", "1e19", "-0", "0.10"}))
	}
	if !c.often(0.3 + c.bad/2) {
		return jsontree.Text(pick(c, amounts))
	}
	if c.often(0.5) {
		return jsontree.Text(pick(c, oddAmounts))
	}
	digits := fmt.Sprint(c.Uint64() >> c.IntN(64))
	if c.often(0.5) {
		at := c.IntN(len(digits) + 1)
		digits = digits[:at] + "." + digits[at:]
	}
	if c.often(0.2) {
		digits += strings.Repeat("0", c.IntN(12))
	}
	if c.often(0.1) {
		digits = strings.Repeat("0", c.IntN(4)) + digits
	}
	suffix := pick(c, suffixes)
	if suffix == "e" || suffix == "E" && c.often(0.5) {
		suffix += fmt.Sprint(c.IntN(50) - 25)
	}
	return jsontree.Text(pick(c, []string{"", "", "", "-", "+"}) + digits + suffix)
}

func (c chance) list(t reflect.Type, name string, depth int) jsontree.Node {
	out := &jsontree.List{}
	n := c.few()
	if c.often(0.06) {
		n = 0
	}
	if depth > deepest {
		return out
	}
	for range n {
		out.Items = append(out.Items, c.value(t.Elem(), name, depth+1))
	}
	return out
}

// mapping makes labels, annotations, resource amounts and the like.
func (c chance) mapping(t reflect.Type, name string, depth int) jsontree.Node {
	out := &jsontree.Object{}
	for range c.few() {
		key := c.mapKey(name)
		if out.Get(key) == nil {
			out.Add(key, c.mapValue(t, name, key, depth))
		}
	}
	return out
}

func (c chance) mapKey(name string) string {
	keys := labelKeys[:8]
	switch {
	case strings.HasSuffix(name, ".annotations"):
		keys = annotations
	case strings.HasSuffix(name, ".limits"), strings.HasSuffix(name, ".requests"), strings.HasSuffix(name, ".overhead"):
		keys = resources[:6]
		if strings.HasPrefix(name, "Volume") && c.often(0.7) {
			keys = []string{"storage"}
		}
		if c.often(c.bad + 0.1) {
			keys = resources
		}
	case name == "FlexVolumeSource.options":
		keys = []string{"a", "kubernetes.io/x", "K8s.io/x", "x.k8s.io/y", "a.KUBERNETES.io/b/c", "kubernetes.io", "k8s.io", "xk8s.io/y", "/", ""}
	case name == "PodCertificateProjection.userAnnotations":
		keys = []string{"acme.io/foo", "Acme.io/Foo", "foo", "", "a/b/c", "/x", "a b/c", "acme.io/"}
	case c.often(c.bad):
		keys = labelKeys
	}
	key := pick(c, keys)
	if c.often(c.bad * 0.3) {
		return c.spoil(key)
	}
	return key
}

func (c chance) mapValue(t reflect.Type, name, key string, depth int) jsontree.Node {
	if t.Elem().Kind() != reflect.String {
		return c.value(t.Elem(), name, depth+1)
	}
	values := labelValues[:6]
	if strings.HasSuffix(name, ".annotations") {
		prefix, _, _ := strings.Cut(key, "/")
		if known, ok := annotationValues[key]; ok {
			values = known
		} else if known, ok := annotationValues[prefix]; ok {
			values = known
		}
	} else if c.often(c.bad) {
		values = labelValues
	}
	v := pick(c, values)
	if c.often(c.bad * 0.2) {
		v = c.spoil(v)
	}
	return jsontree.Text(v)
}

// object makes a struct: what is not optional nearly always, and some of the rest, with more of
// those keys that have much below them.
func (c chance) object(t reflect.Type, depth int) jsontree.Node {
	out := &jsontree.Object{}
	all := fields(t)
	weights := make([]float64, len(all))
	var union []int
	for i, f := range all {
		group, _, _ := strings.Cut(f.name, ".")
		switch {
		case oneOf[group] || oneOf[t.Name()]:
			union = append(union, i)
		case f.required && c.often(0.9):
			out.Add(f.key, c.value(f.kind, f.name, depth))
		default:
			weights[i] = f.weight
		}
	}
	if len(union) > 0 {
		c.oneOf(out, all, union, depth)
	}
	if pair, ok := pairs[t.Name()]; ok && !c.often(0.1) {
		weights = slices.Repeat([]float64{0}, len(all))
		key := pair[c.IntN(2)]
		i := slices.IndexFunc(all, func(f field) bool { return f.key == key })
		weights[i] = 1
	}
	if depth > deepest || !slices.ContainsFunc(weights, func(w float64) bool { return w > 0 }) {
		return out
	}
	for range c.few() + c.IntN(2) {
		if f := all[c.weighted(weights)]; out.Get(f.key) == nil {
			out.Add(f.key, c.value(f.kind, f.name, depth))
		}
	}
	c.alignAmounts(out)
	return out
}

// alignAmounts makes limits of what is requested, so that the two can be compared.
func (c chance) alignAmounts(out *jsontree.Object) {
	requests, ok := out.Get("requests").(*jsontree.Object)
	if !ok || out.Get("limits") != nil || c.often(0.4) {
		return
	}
	limits := jsontree.Clone(requests).(*jsontree.Object)
	for i := range limits.Members {
		if c.often(0.6) {
			limits.Members[i].Value = c.quantity("")
		}
	}
	out.Set("limits", limits)
}

// oneOf sets one key of a union, and seldom none or two.
func (c chance) oneOf(out *jsontree.Object, all []field, union []int, depth int) {
	n := 1
	if c.often(0.04) {
		n = 0
	} else if c.often(0.1) {
		n = 2
	}
	for range n {
		weights := make([]float64, len(union))
		for i, u := range union {
			weights[i] = all[u].weight
		}
		if f := all[union[c.weighted(weights)]]; out.Get(f.key) == nil {
			out.Add(f.key, c.value(f.kind, f.name, depth))
		}
	}
}
