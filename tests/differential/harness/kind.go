// Package harness asks the truth and rollgate the same questions and reports where they part.
//
// It knows nothing about what is asked: a Kind makes questions, answers them with upstream's own
// code, and says whether another answer means the same. To compare one more sort of question,
// write a Kind and name it in main.go.
package harness

import "math/rand/v2"

// Kind is one sort of question that `rollgate answer KIND` takes.
type Kind interface {
	// Name is the KIND.
	Name() string
	// Question makes a question (one line of JSON). Equal randomness makes equal questions.
	Question(r *rand.Rand, id string) []byte
	// Truth answers it as upstream does, or gives nil when the question makes no sense. It must be
	// safe to call from several goroutines.
	Truth(question []byte) []byte
	// Differences says where an answer means something else than the truth; none when it does not.
	Differences(question, truth, answer []byte) []string
	// Facts names the rules that an answer shows, without what is peculiar to its question.
	Facts(question, truth []byte) []string
	// Essence is what of an answer is worth recording.
	Essence(truth []byte) []byte
	// Smaller gives questions that are one step smaller, the big steps first.
	Smaller(question []byte) [][]byte
}
