// Command reads says what kubectl makes of a text, by kubectl's own readers. NDJSON questions on
// standard input, {"text": base64}; on standard output the records that tests/data/yaml holds:
// {"text": …, "documents": [JSON as kubectl would send it], "error": what comes after them}.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

type answer struct {
	Text      string   `json:"text"`
	Documents []string `json:"documents"`
	Error     string   `json:"error,omitempty"`
}

func read(text []byte) (a answer) {
	a.Documents = []string{}
	defer func() {
		if r := recover(); r != nil {
			a.Error = fmt.Sprint("panic: ", r)
		}
	}()
	bom := unicode.BOMOverride(unicode.UTF8.NewDecoder())
	d := yaml.NewYAMLOrJSONDecoder(transform.NewReader(bytes.NewReader(text), bom), 4096)
	for {
		ext := runtime.RawExtension{}
		if err := d.Decode(&ext); err != nil {
			if err == io.EOF {
				return
			}
			a.Error = err.Error()
			return
		}
		ext.Raw = bytes.TrimSpace(ext.Raw)
		if len(ext.Raw) == 0 || bytes.Equal(ext.Raw, []byte("null")) {
			continue
		}
		var v interface{}
		if err := utiljson.Unmarshal(ext.Raw, &v); err != nil {
			a.Error = "unstructured: " + err.Error()
			return
		}
		m, ok := v.(map[string]interface{})
		var out []byte
		var err error
		if ok {
			var buf bytes.Buffer
			u := &unstructured.Unstructured{Object: m}
			if m["kind"] == nil || m["apiVersion"] == nil {
				out, err = json.Marshal(m)
			} else {
				err = unstructured.UnstructuredJSONScheme.Encode(u, &buf)
				out = buf.Bytes()
			}
		} else {
			out, err = json.Marshal(v)
		}
		if err != nil {
			a.Error = "encode: " + err.Error()
			return
		}
		a.Documents = append(a.Documents, strings.TrimSpace(string(out)))
	}
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var q struct{ Text string }
			if e := json.Unmarshal(line, &q); e != nil {
				panic(e)
			}
			text, e := base64.StdEncoding.DecodeString(q.Text)
			if e != nil {
				panic(e)
			}
			a := read(text)
			a.Text = string(text)
			b, _ := json.Marshal(a)
			out.Write(b)
			out.WriteByte('\n')
		}
		if err != nil {
			return
		}
	}
}
