package jsontree

import "testing"

func TestWhatIsParsedIsRendered(t *testing.T) {
	for _, text := range []string{
		`{"b":1,"a":{"x":[1.50,1e400,null,true,"\"<é"]},"b":2}`, `[]`, `{}`, `"x"`, `-0`,
	} {
		n, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(text, err)
		}
		if got := string(Render(Clone(n))); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestSmallerTakesOneStepAndChangesNothing(t *testing.T) {
	const text = `{"a":[1,2],"b":{"c":"long text"}}`
	n := MustParse(text)
	seen := map[string]bool{}
	for _, s := range Smaller(n) {
		seen[string(Render(s))] = true
	}
	if got := string(Render(n)); got != text {
		t.Errorf("the tree itself became %s", got)
	}
	for _, want := range []string{`{"b":{"c":"long text"}}`, `{"a":[2],"b":{"c":"long text"}}`, `{"a":[1,2],"b":{}}`, `{"a":[1,2],"b":{"c":"a"}}`} {
		if !seen[want] {
			t.Errorf("%s is not among the steps", want)
		}
	}
}
