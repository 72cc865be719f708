package jsontree

// Smaller gives every tree that is one step smaller than n: half of the members or items of one
// place left out, one of them left out, or one value replaced by a plainer one. Big steps come
// first, so that who takes the first one that serves gets small soon.
func Smaller(n Node) []Node {
	var out []Node
	edit(n, nil, func() { out = append(out, Clone(n)) })
	return out
}

// edit makes every step in turn on the tree itself, calls seen while it stands, and undoes it.
// set puts another value in the place of n; nil for the root, which stays what it is.
func edit(n Node, set func(Node), seen func()) {
	try := func(v Node) {
		if set != nil {
			set(v)
			seen()
			set(n)
		}
	}
	switch n := n.(type) {
	case *Object:
		all := n.Members
		if set != nil && len(all) > 0 {
			try(&Object{})
		}
		for _, cut := range cuts(len(all)) {
			n.Members = append(append([]Member{}, all[:cut[0]]...), all[cut[1]:]...)
			seen()
		}
		n.Members = all
		for i := range all {
			edit(all[i].Value, func(v Node) { n.Members[i].Value = v }, seen)
		}
	case *List:
		all := n.Items
		for _, cut := range cuts(len(all)) {
			n.Items = append(append([]Node{}, all[:cut[0]]...), all[cut[1]:]...)
			seen()
		}
		n.Items = all
		for i := range all {
			edit(all[i], func(v Node) { n.Items[i] = v }, seen)
		}
	case Raw:
		for _, plain := range plainer(n) {
			try(plain)
		}
	}
}

// cuts gives the ranges to leave out of n things: the halves, then each one.
func cuts(n int) [][2]int {
	var out [][2]int
	if n > 3 {
		out = append(out, [2]int{0, n / 2}, [2]int{n / 2, n})
	}
	for i := range n {
		out = append(out, [2]int{i, i + 1})
	}
	return out
}

// plainer gives shorter scalars of the same JSON type.
func plainer(r Raw) []Raw {
	if len(r) < 4 || r[0] != '"' {
		return nil
	}
	out := []Raw{`"a"`}
	for _, cut := range pieces(len(r) - 2) {
		s := string(r[1:1+cut[0]]) + string(r[1+cut[1]:len(r)-1])
		if n, err := Parse([]byte(`"` + s + `"`)); err == nil {
			out = append(out, n.(Raw))
		}
	}
	return out
}

// pieces gives the ranges to leave out of a text: halves, quarters, eighths, and each byte of a
// short one.
func pieces(n int) [][2]int {
	var out [][2]int
	for size := n / 2; size > 0 && (size >= n/8 || n <= 24); size /= 2 {
		for at := 0; at+size <= n; at += size {
			out = append(out, [2]int{at, at + size})
		}
	}
	return out
}
