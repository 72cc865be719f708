// Package rollout is the truth about what the built-in Deployment controller does next: it runs
// one sync of the real controller over a snapshot, in process, and reports every API write and
// every event of that sync. A snapshot looks like this:
//
//	{"id":"…","now":"2026-01-01T00:00:00Z","deployment":{…},
//	 "replica_sets":[…],"pods":[…]}
//
// Times inside the snapshot are relative to "now"; a time written by the sync comes back as "now"
// itself. The controller's clock is a variable of its package, so syncs run one at a time.
package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	gosync "sync"
	"time"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/deployment"
	_ "k8s.io/kubernetes/pkg/controller/deployment/util"
)

//go:linkname syncDeployment k8s.io/kubernetes/pkg/controller/deployment.(*DeploymentController).syncDeployment
func syncDeployment(dc *deployment.DeploymentController, ctx context.Context, key string) error

//go:linkname nowFn k8s.io/kubernetes/pkg/controller/deployment/util.nowFn
var nowFn func() time.Time

//go:linkname progressNowFn k8s.io/kubernetes/pkg/controller/deployment.nowFn
var progressNowFn func() time.Time

type snapshot struct {
	ID          string              `json:"id"`
	Now         metav1.Time         `json:"now"`
	Deployment  *appsv1.Deployment  `json:"deployment"`
	ReplicaSets []appsv1.ReplicaSet `json:"replica_sets"`
	Pods        []corev1.Pod        `json:"pods"`
}

type write struct {
	Verb        string          `json:"verb"`
	Resource    string          `json:"resource"`
	Subresource string          `json:"subresource,omitempty"`
	Name        string          `json:"name,omitempty"`
	PatchType   string          `json:"patch_type,omitempty"`
	Patch       json.RawMessage `json:"patch,omitempty"`
	Object      runtime.Object  `json:"object,omitempty"`
}

type event struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type answer struct {
	ID     string  `json:"id"`
	Writes []write `json:"writes"`
	Events []event `json:"events"`
	// RequeueAfterSeconds is the delay after which the controller asked to look again, null if it did not.
	RequeueAfterSeconds *float64 `json:"requeue_after_seconds"`
	Error               string   `json:"error,omitempty"`
}

type events struct{ list []event }

func (e *events) Event(_ runtime.Object, t, r, m string) { e.list = append(e.list, event{t, r, m}) }
func (e *events) Eventf(_ runtime.Object, t, r, f string, a ...interface{}) {
	e.list = append(e.list, event{t, r, fmt.Sprintf(f, a...)})
}
func (e *events) AnnotatedEventf(_ runtime.Object, _ map[string]string, t, r, f string, a ...interface{}) {
	e.list = append(e.list, event{t, r, fmt.Sprintf(f, a...)})
}
func (e *events) WithLogger(klog.Logger) record.EventRecorderLogger { return e }

// delays records AddAfter calls instead of waiting for them.
type delays struct {
	workqueue.TypedRateLimitingInterface[string]
	after *time.Duration
}

func (d *delays) AddAfter(_ string, w time.Duration) { d.after = &w }
func (d *delays) AddRateLimited(string)              { d.after = new(time.Duration) }

func field(dc *deployment.DeploymentController, name string) reflect.Value {
	f := reflect.ValueOf(dc).Elem().FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

func sync(s snapshot) (a answer) {
	a.ID, a.Writes, a.Events = s.ID, []write{}, []event{}
	defer func() {
		if p := recover(); p != nil {
			a.Error = fmt.Sprintf("panic: %v", p)
		}
	}()
	ctx := klog.NewContext(context.Background(), klog.Logger{})
	now := s.Now.Time
	nowFn = func() time.Time { return now }
	progressNowFn = nowFn

	objs := []runtime.Object{s.Deployment.DeepCopy()}
	for i := range s.ReplicaSets {
		objs = append(objs, s.ReplicaSets[i].DeepCopy())
	}
	client := fake.NewSimpleClientset(objs...)
	factory := informers.NewSharedInformerFactory(client, 0)
	dc, err := deployment.NewDeploymentController(ctx, factory.Apps().V1().Deployments(), factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods(), client)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	rec := &events{}
	field(dc, "eventRecorder").Set(reflect.ValueOf(rec))
	field(dc, "rsControl").Set(reflect.ValueOf(controller.RealRSControl{KubeClient: client, Recorder: rec}))
	q := &delays{TypedRateLimitingInterface: field(dc, "queue").Interface().(workqueue.TypedRateLimitingInterface[string])}
	field(dc, "queue").Set(reflect.ValueOf(q))

	_ = factory.Apps().V1().Deployments().Informer().GetStore().Add(s.Deployment.DeepCopy())
	for i := range s.ReplicaSets {
		_ = factory.Apps().V1().ReplicaSets().Informer().GetStore().Add(s.ReplicaSets[i].DeepCopy())
	}
	for i := range s.Pods {
		_ = factory.Core().V1().Pods().Informer().GetStore().Add(s.Pods[i].DeepCopy())
	}
	if err := syncDeployment(dc, ctx, s.Deployment.Namespace+"/"+s.Deployment.Name); err != nil {
		a.Error = err.Error()
	}
	for _, act := range client.Actions() {
		w := write{Verb: act.GetVerb(), Resource: act.GetResource().Resource, Subresource: act.GetSubresource()}
		switch t := act.(type) {
		case clienttesting.CreateActionImpl:
			w.Object = t.GetObject()
		case clienttesting.UpdateActionImpl:
			w.Object = t.GetObject()
		case clienttesting.PatchActionImpl:
			w.Name, w.PatchType, w.Patch = t.GetName(), string(t.GetPatchType()), t.GetPatch()
		case clienttesting.DeleteActionImpl:
			w.Name = t.GetName()
		case clienttesting.GetActionImpl:
			w.Name = t.GetName()
		}
		a.Writes = append(a.Writes, w)
	}
	a.Events = append(a.Events, rec.list...)
	if q.after != nil {
		// A condition stamped in this very sync carries the wall clock, not "now".
		if late := time.Since(now); *q.after > late-time.Hour && late > 24*time.Hour {
			*q.after = (*q.after - late).Round(time.Second)
		}
		sec := q.after.Seconds()
		a.RequeueAfterSeconds = &sec
	}
	return a
}

// lock lets one sync run at a time: the controller reads its clock from a variable of its package.
var lock gosync.Mutex

// Truth answers a snapshot (one line of JSON) with what the built-in controller does.
func Truth(question []byte) ([]byte, error) {
	var s snapshot
	if err := json.Unmarshal(question, &s); err != nil {
		return nil, fmt.Errorf("bad snapshot: %w", err)
	}
	lock.Lock()
	defer lock.Unlock()
	start := time.Now().Add(-time.Minute)
	b, err := json.Marshal(sync(s))
	if err != nil {
		return nil, err
	}
	// The controller stamps conditions with the wall clock; say "now" instead.
	text := string(b)
	for t := start.UTC().Truncate(time.Second); !t.After(time.Now().UTC()); t = t.Add(time.Second) {
		text = strings.ReplaceAll(text, t.Format(time.RFC3339), s.Now.UTC().Format(time.RFC3339))
	}
	return []byte(text), nil
}
