package rollout

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/controller"

	"rollgate.dev/differential/generate"
)

// chance is the source of all choices.
type chance struct{ *rand.Rand }

func (c chance) often(p float64) bool { return c.Float64() < p }

func pick[T any](c chance, from ...T) T { return from[c.IntN(len(from))] }

const (
	prefix  = "deployment.kubernetes.io/"
	ownUID  = "d0000000-0000-4000-8000-000000000001"
	hashKey = appsv1.DefaultDeploymentUniqueLabelKey
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// world makes a snapshot: a Deployment, ReplicaSets that are its own or nearly, and their Pods. Most of it
// is what a cluster may hold, the rest what users and other programs may do to it.
func (c chance) world(id string) snapshot {
	s := snapshot{ID: id, Now: metav1.NewTime(start)}
	templates := c.templates()
	s.Deployment = c.deployment(templates[c.IntN(len(templates))])
	n := c.IntN(5)
	if c.often(0.05) {
		n = 6 + c.IntN(6)
	}
	for i := range n {
		template := s.Deployment.Spec.Template
		if c.often(0.6) {
			template = templates[c.IntN(len(templates))]
		}
		s.ReplicaSets = append(s.ReplicaSets, c.set(s.Deployment, template, i))
	}
	if c.often(0.6) {
		c.settle(&s)
	}
	if s.Deployment.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType || c.often(0.1) {
		for i := range s.ReplicaSets {
			for j := range c.IntN(3) {
				s.Pods = append(s.Pods, c.pod(&s.ReplicaSets[i], j))
			}
		}
	}
	return s
}

// templates makes a few different pod templates, in which everything the API knows may occur.
func (c chance) templates() []corev1.PodTemplateSpec {
	var base corev1.PodTemplateSpec
	if !c.often(0.4) || !generate.Template(c.Rand, &base) {
		base.Spec = corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "web", TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile, ImagePullPolicy: corev1.PullIfNotPresent,
			}},
			RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst, SchedulerName: "default-scheduler", SecurityContext: &corev1.PodSecurityContext{},
		}
	}
	if base.Labels == nil {
		base.Labels = map[string]string{}
	}
	base.Labels["app"] = "web"
	if c.often(0.02) {
		base.Labels[hashKey] = "mine"
	}
	out := make([]corev1.PodTemplateSpec, 1+c.IntN(4))
	for i := range out {
		out[i] = *base.DeepCopy()
		out[i].Spec.Containers[0].Image = fmt.Sprintf("registry.example/web:1.%d", i)
	}
	if c.often(0.2) {
		// One amount in two notations.
		one, other := *out[0].DeepCopy(), *out[0].DeepCopy()
		one.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"memory": resource.MustParse("1Gi"), "cpu": resource.MustParse("1")}
		other.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"memory": resource.MustParse("1073741824"), "cpu": resource.MustParse("1e0")}
		out = append(out, one, other)
	}
	return out
}

func (c chance) deployment(template corev1.PodTemplateSpec) *appsv1.Deployment {
	name := "web"
	if c.often(0.03) {
		name = strings.Repeat("w", pick(c, 200, 242, 243, 253))
	}
	d := &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "default", UID: ownUID, ResourceVersion: "100", Generation: int64(1 + c.IntN(8)),
			CreationTimestamp: metav1.NewTime(start.Add(-24 * time.Hour)), Labels: map[string]string{"app": "web"}, Annotations: c.annotations(),
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(pick[int32](c, 0, 1, 2, 3, 3, 4, 5, 7, 10, 10, 15, 25, 100)), Template: template, Strategy: c.strategy(),
			Selector: c.selector(), MinReadySeconds: pick[int32](c, 0, 0, 0, 5, 30), Paused: c.often(0.12),
			RevisionHistoryLimit: pick(c, nil, new(int32(0)), new(int32(1)), new(int32(2)), new(int32(10)), new(int32(math.MaxInt32))), ProgressDeadlineSeconds: pick(c, nil, new(int32(600)), new(int32(600)), new(int32(600)), new(int32(60)), new(int32(1)), new(int32(math.MaxInt32))),
		},
	}
	if c.often(0.01) {
		d.Spec.Replicas = new(int32(math.MaxInt32))
	}
	if c.often(0.04) {
		d.DeletionTimestamp, d.DeletionGracePeriodSeconds, d.Finalizers = new(metav1.NewTime(start)), new(int64(0)), []string{"foregroundDeletion"}
	}
	number := func() int32 { return pick(c, 0, *d.Spec.Replicas, int32(c.IntN(12))) }
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation - int64(pick(c, 0, 0, 0, 1)), Replicas: number(), UpdatedReplicas: number(), ReadyReplicas: number(), AvailableReplicas: number(), UnavailableReplicas: number(),
		TerminatingReplicas: pick(c, nil, new(int32(0)), new(int32(2))), Conditions: c.conditions(d), CollisionCount: pick(c, nil, nil, nil, nil, new(int32(0)), new(int32(1)), new(int32(7))),
	}
	return d
}

// annotations makes some that belong to the user, some of the controller, and some that look like those.
func (c chance) annotations() map[string]string {
	all := [][2]string{
		{"team", "shop"}, {"empty", ""}, {"kubernetes.io/change-cause", pick(c, "first", "second")}, {corev1.LastAppliedConfigAnnotation, "{}"}, {prefix + "revision-history", "9"},
		{prefix + "desired-replicas", "9"}, {prefix + "max-replicas", "9"}, {"é\x00\"", "a\nb"},
	}
	out := map[string]string{}
	for _, a := range all {
		if c.often(0.2) {
			out[a[0]] = a[1]
		}
	}
	if c.often(0.8) {
		out[prefix+"revision"] = c.revision()
	}
	if c.often(0.07) {
		out[appsv1.DeprecatedRollbackTo] = pick(c, "0", "0", "1", "2", "3", "4", "+1", "007", "-1", "9", "x", "", " 1", "9223372036854775808")
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (c chance) revision() string {
	if c.often(0.06) {
		return pick(c, "", "abc", "-1", "+3", "007", "99999999999", "9223372036854775807", "9223372036854775808", "1 ", "1.5", "0x2", "1_0")
	}
	return fmt.Sprint(1 + c.IntN(7))
}

func (c chance) strategy() appsv1.DeploymentStrategy {
	if c.often(0.3) {
		return appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	bound := func() *intstr.IntOrString {
		if c.often(0.01) {
			return new(intstr.FromString(pick(c, "abc", "5", "%", "-5%", "+5%", "1.5%", "", "5%%", "99999999999999999999%", "2000%")))
		}
		if c.often(0.6) {
			return new(intstr.FromString(pick(c, "25%", "25%", "25%", "0%", "1%", "10%", "33%", "50%", "99%", "100%")))
		}
		return new(intstr.FromInt32(pick[int32](c, 0, 0, 1, 1, 2, 3, 5, 20)))
	}
	kind := appsv1.RollingUpdateDeploymentStrategyType
	if c.often(0.005) {
		kind = pick[appsv1.DeploymentStrategyType](c, "", "OnDelete", "rollingupdate")
	}
	return appsv1.DeploymentStrategy{Type: kind, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: bound(), MaxUnavailable: bound()}}
}

func (c chance) selector() *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	if c.often(0.15) {
		s.MatchExpressions = []metav1.LabelSelectorRequirement{pick(c,
			metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"web", "api"}}, metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"api"}},
			metav1.LabelSelectorRequirement{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"x"}}, metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpExists}, metav1.LabelSelectorRequirement{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist})}
		if c.often(0.4) {
			s.MatchLabels = nil
		}
		if c.often(0.02) {
			s.MatchExpressions[0].Operator = "Like"
		}
	}
	switch {
	case c.often(0.005):
		return &metav1.LabelSelector{}
	case c.often(0.003):
		return nil
	}
	return s
}

// ago is a time that matters for a deadline.
func (c chance) ago(deadline *int32) metav1.Time {
	secs := pick(c, 0, 1, 2, 5, 30, 59, 60, 61, 599, 600, 601, 86400)
	if deadline != nil && c.often(0.4) {
		secs = int(*deadline%1000) + c.IntN(5) - 2
	}
	return metav1.NewTime(start.Add(-time.Duration(secs) * time.Second))
}

func (c chance) conditions(d *appsv1.Deployment) []appsv1.DeploymentCondition {
	var out []appsv1.DeploymentCondition
	add := func(kind, status, reason, message string) {
		out = append(out, appsv1.DeploymentCondition{
			Type: appsv1.DeploymentConditionType(kind), Status: corev1.ConditionStatus(status), Reason: reason, Message: message,
			LastUpdateTime: c.ago(d.Spec.ProgressDeadlineSeconds), LastTransitionTime: c.ago(nil),
		})
	}
	if c.often(0.8) {
		p := pick(c, [2]string{"True", "NewReplicaSetCreated"}, [2]string{"True", "NewReplicaSetAvailable"}, [2]string{"True", "NewReplicaSetAvailable"}, [2]string{"True", "ReplicaSetUpdated"}, [2]string{"True", "FoundNewReplicaSet"},
			[2]string{"Unknown", "DeploymentPaused"}, [2]string{"Unknown", "DeploymentResumed"}, [2]string{"False", "ProgressDeadlineExceeded"}, [2]string{"False", "ReplicaSetCreateError"}, [2]string{"False", "ReplicaSetUpdated"}, [2]string{"", ""})
		add("Progressing", p[0], p[1], "old words")
	}
	if c.often(0.8) {
		p := pick(c, [2]string{"True", "MinimumReplicasAvailable"}, [2]string{"False", "MinimumReplicasUnavailable"}, [2]string{"True", "Other"})
		add("Available", p[0], p[1], "")
	}
	if c.often(0.1) {
		add("ReplicaFailure", pick(c, "True", "False"), pick(c, "FailedCreate", "FailedDelete"), "quota")
	}
	if c.often(0.05) {
		add("Custom", "True", "Mine", "kept")
	}
	if c.often(0.02) && len(out) > 0 {
		out = append(out, out[0])
		out[len(out)-1].Reason = "Twice"
	}
	if c.often(0.02) && len(out) > 0 {
		out[0].LastUpdateTime, out[0].LastTransitionTime = metav1.Time{}, metav1.Time{}
	}
	c.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func controls(uid types.UID) func(metav1.OwnerReference) bool {
	return func(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller && r.UID == uid }
}

// set makes a ReplicaSet that is most often the Deployment's own.
func (c chance) set(d *appsv1.Deployment, template corev1.PodTemplateSpec, i int) appsv1.ReplicaSet {
	hash := fmt.Sprintf("b%d7f9c5d4", i)
	if c.often(0.25) {
		hash = controller.ComputeHash(pick(c, &d.Spec.Template, &template), d.Status.CollisionCount)
		if i > 0 && !c.often(0.2) {
			hash += fmt.Sprint(i)
		}
	}
	labels := map[string]string{"app": "web", hashKey: hash}
	rs := appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{
			Name: d.Name + "-" + hash, Namespace: "default", UID: types.UID(fmt.Sprintf("a%07d-0000-4000-8000-000000000000", i)), ResourceVersion: fmt.Sprint(200 + i), Generation: int64(1 + c.IntN(4)),
			CreationTimestamp: metav1.NewTime(start.Add(-time.Duration(pick(c, 30, 60, 60, 300, 300, 3600)) * time.Second)), Labels: labels, Annotations: c.setAnnotations(d), OwnerReferences: c.owners(d),
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: new(c.size(*d.Spec.Replicas)), MinReadySeconds: d.Spec.MinReadySeconds, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: *template.DeepCopy()},
	}
	if len(rs.Name) > 253 {
		rs.Name = d.Name[:252-len(hash)] + "-" + hash
	}
	if c.often(0.9) {
		rs.Spec.Template.Labels[hashKey] = hash
	}
	if c.often(0.06) {
		rs.Labels = pick(c, map[string]string{"app": "other"}, map[string]string{"app": "web", "tier": "x"}, nil)
	}
	if c.often(0.1) {
		rs.Spec.MinReadySeconds = pick[int32](c, 0, 5, 7)
	}
	if c.often(0.03) {
		rs.DeletionTimestamp, rs.DeletionGracePeriodSeconds, rs.Finalizers = new(metav1.NewTime(start)), new(int64(0)), []string{"foregroundDeletion"}
	}
	rs.Status = c.setStatus(rs)
	return rs
}

func (c chance) size(wanted int32) int32 {
	if wanted == math.MaxInt32 {
		wanted = 3
	}
	return pick(c, 0, 0, 0, wanted, wanted, 1, int32(c.IntN(6)), int32(c.IntN(int(wanted)+2)))
}

func (c chance) owners(d *appsv1.Deployment) []metav1.OwnerReference {
	own := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: d.Name, UID: d.UID, Controller: new(true), BlockOwnerDeletion: new(true)}
	foreign := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "other", UID: "e0000000-0000-4000-8000-000000000001", Controller: new(true)}
	plain := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "f0000000-0000-4000-8000-000000000001"}
	switch c.IntN(40) {
	case 0, 1, 2, 3:
		return nil
	case 4, 5:
		return []metav1.OwnerReference{foreign}
	case 6:
		return []metav1.OwnerReference{plain}
	case 7:
		return []metav1.OwnerReference{plain, own}
	case 8:
		own.Controller = new(false)
		return []metav1.OwnerReference{own}
	case 9:
		own.UID = "d0000000-0000-4000-8000-00000000dead" // a former Deployment of this name
		return []metav1.OwnerReference{own}
	}
	return []metav1.OwnerReference{own}
}

func (c chance) setAnnotations(d *appsv1.Deployment) map[string]string {
	wanted := *d.Spec.Replicas
	note := func(usual ...int32) string {
		if c.often(0.06) {
			return pick(c, "", "abc", "-1", "+5", "-0", "007", "2147483647", "2147483648", "99999999999", " 5", "5.0")
		}
		return fmt.Sprint(pick(c, usual...))
	}
	out := map[string]string{}
	for k, v := range d.Annotations {
		if !strings.HasPrefix(k, prefix) && k != corev1.LastAppliedConfigAnnotation && k != appsv1.DeprecatedRollbackTo && c.often(0.85) {
			out[k] = v
		}
	}
	if c.often(0.95) {
		out[prefix+"revision"] = c.revision()
	}
	if c.often(0.95) {
		out[prefix+"desired-replicas"] = note(wanted, wanted, wanted, wanted, wanted, wanted, 3, wanted+1)
	}
	if c.often(0.95) {
		out[prefix+"max-replicas"] = note(wanted, wanted+1, wanted+wanted/4, 0, 13)
	}
	if c.often(0.1) {
		out[prefix+"revision-history"] = pick(c, "1,2", "", ",", "1", strings.Repeat("1,", 999)+"1", strings.Repeat("12345,", 400))
	}
	if c.often(0.05) {
		out["stale"] = "x"
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// setStatus makes what the ReplicaSet controller may say: that all is done, less, or something old.
func (c chance) setStatus(rs appsv1.ReplicaSet) appsv1.ReplicaSetStatus {
	if c.often(0.05) {
		return appsv1.ReplicaSetStatus{}
	}
	pods := *rs.Spec.Replicas
	if c.often(0.3) {
		pods = pick(c, 0, pods+1, pods+3, int32(c.IntN(int(pods)+1)))
	}
	part := func(of int32) int32 {
		if c.often(0.6) {
			return of
		}
		return int32(c.IntN(int(of) + 1))
	}
	ready := part(pods)
	s := appsv1.ReplicaSetStatus{
		Replicas: pods, FullyLabeledReplicas: pods, ReadyReplicas: ready, AvailableReplicas: part(ready), TerminatingReplicas: pick(c, nil, new(int32(0)), new(int32(0)), new(int32(0)), new(int32(1)), new(int32(3))),
		ObservedGeneration: rs.Generation - int64(pick(c, 0, 0, 0, 0, 1)),
	}
	if c.often(0.08) {
		s.Conditions = []appsv1.ReplicaSetCondition{{Type: "ReplicaFailure", Status: corev1.ConditionTrue, Reason: pick(c, "FailedCreate", "FailedDelete"), Message: "quota", LastTransitionTime: c.ago(nil)}}
		if c.often(0.2) {
			s.Conditions = append([]appsv1.ReplicaSetCondition{{Type: "Custom", Status: corev1.ConditionTrue}}, s.Conditions...)
		}
	}
	return s
}

// settle makes the Deployment's status the sum of its sets, as it is most of the time.
func (c chance) settle(s *snapshot) {
	status := &s.Deployment.Status
	status.Replicas, status.ReadyReplicas, status.AvailableReplicas, status.UpdatedReplicas, status.UnavailableReplicas = 0, 0, 0, 0, 0
	for i, rs := range s.ReplicaSets {
		status.Replicas += rs.Status.Replicas
		status.ReadyReplicas += rs.Status.ReadyReplicas
		status.AvailableReplicas += rs.Status.AvailableReplicas
		if i == 0 {
			status.UpdatedReplicas = rs.Status.Replicas
		}
	}
}

func (c chance) pod(rs *appsv1.ReplicaSet, i int) corev1.Pod {
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: rs.Name, UID: rs.UID, Controller: new(true)}
	switch c.IntN(25) {
	case 0:
		owner.UID = "gone"
	case 1:
		owner.Name = "gone"
	case 2:
		owner.Kind = "Job"
	case 3:
		owner.Controller = nil
	case 4:
		owner.APIVersion = "example.com/v1"
	}
	p := corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", rs.Name, i), Namespace: "default", UID: types.UID(fmt.Sprintf("b-%s-%d", rs.UID, i)), Labels: rs.Labels, OwnerReferences: []metav1.OwnerReference{owner}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "x"}}},
		Status:     corev1.PodStatus{Phase: pick(c, corev1.PodRunning, corev1.PodPending, corev1.PodFailed, corev1.PodFailed, corev1.PodSucceeded, corev1.PodSucceeded, corev1.PodUnknown, "")},
	}
	if c.often(0.3) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(start)), new(int64(30))
	}
	return p
}
