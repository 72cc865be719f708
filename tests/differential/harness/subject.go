package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
)

// Subject is the program under test.
type Subject struct{ Path string }

// Answers puts questions to `rollgate answer KIND` and gives its answers in the same order.
// An answer that did not come is nil, and then the error says how the program ended.
func (s Subject) Answers(kind string, questions [][]byte) ([][]byte, error) {
	cmd := exec.Command(s.Path, "answer", kind)
	cmd.Stdin = bytes.NewReader(append(bytes.Join(questions, []byte("\n")), '\n'))
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s answer %s: %w: %s", s.Path, kind, err, firstBytes(complaint.Bytes(), 500))
	}
	answers := make([][]byte, len(questions))
	for i, line := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
		if i < len(answers) && len(line) > 0 {
			answers[i] = line
		}
	}
	return answers, err
}

// ID reads the id of a question or an answer.
func ID(line []byte) string {
	var v struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(line, &v) // a line without an id has the empty one
	return v.ID
}

func firstBytes(b []byte, n int) []byte {
	if len(b) > n {
		return b[:n]
	}
	return b
}
