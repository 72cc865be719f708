package rollout

import (
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// later lets the built-in controller, the ReplicaSet controller and users act for some rounds.
func (c chance) later(s snapshot) snapshot {
	for range 1 + c.IntN(8) {
		s = c.synced(s)
		c.pass(&s)
		if c.often(0.25) {
			c.edit(s.Deployment)
		}
	}
	return s
}

// synced is the snapshot as one sync of the built-in controller leaves it.
func (c chance) synced(s snapshot) snapshot {
	question := encode(s)
	truth, err := Truth(question)
	if err != nil {
		panic(err)
	}
	left := apply(question, decode[reply](truth))
	next := snapshot{ID: s.ID, Now: s.Now, Pods: s.Pods, Deployment: decode[*appsv1.Deployment](encode(left.deployment))}
	if !slices.Equal(encode(next.Deployment.Spec), encode(s.Deployment.Spec)) {
		next.Deployment.Generation++
	}
	for _, name := range slices.Sorted(maps.Keys(left.sets)) {
		set := decode[appsv1.ReplicaSet](encode(left.sets[name]))
		set.APIVersion, set.Kind = "apps/v1", "ReplicaSet"
		if set.UID == "" {
			set.UID, set.CreationTimestamp, set.ResourceVersion = types.UID("c-"+name), s.Now, "300"
			set.Generation = 1
		}
		next.ReplicaSets = append(next.ReplicaSets, set)
	}
	return next
}

// pass lets time pass: ReplicaSets catch up with their sizes in full, in part, or not at all.
func (c chance) pass(s *snapshot) {
	s.Now = metav1.NewTime(s.Now.Add(time.Duration(pick(c, 0, 1, 1, 5, 61, 300, 601)) * time.Second))
	for i := range s.ReplicaSets {
		rs := &s.ReplicaSets[i]
		status := &rs.Status
		if !c.often(0.75) {
			continue
		}
		if gone := status.Replicas - *rs.Spec.Replicas; gone > 0 && c.often(0.4) {
			status.TerminatingReplicas = &gone
		} else if c.often(0.95) {
			status.TerminatingReplicas = new(int32)
		}
		status.ObservedGeneration, status.Replicas = rs.Generation, *rs.Spec.Replicas
		status.FullyLabeledReplicas = status.Replicas
		status.ReadyReplicas = min(status.ReadyReplicas, status.Replicas)
		if missing := status.Replicas - status.ReadyReplicas; missing > 0 && c.often(0.8) {
			status.ReadyReplicas += pick(c, missing, 1, int32(c.IntN(int(missing)+1)))
		}
		status.AvailableReplicas = min(status.AvailableReplicas, status.ReadyReplicas)
		if c.often(0.8) {
			status.AvailableReplicas = status.ReadyReplicas
		}
	}
	if c.often(0.5) {
		s.Pods = nil
	}
}

// edit is what a user may do.
func (c chance) edit(d *appsv1.Deployment) {
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	switch c.IntN(7) {
	case 0, 1:
		d.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("registry.example/web:1.%d", c.IntN(5))
	case 2:
		d.Spec.Replicas = new(pick[int32](c, 0, 1, 2, 3, 5, 10, 15, 30))
	case 3:
		d.Spec.Paused = !d.Spec.Paused
	case 4:
		d.Annotations["kubernetes.io/change-cause"] = fmt.Sprint("cause ", c.IntN(3))
	case 5:
		d.Annotations[appsv1.DeprecatedRollbackTo] = fmt.Sprint(c.IntN(4))
	case 6:
		d.Spec.Strategy = c.strategy()
	}
	d.Generation++
}
