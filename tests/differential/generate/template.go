package generate

import (
	"encoding/json"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rollgate.dev/differential/jsontree"
)

// Template makes a random pod template in the form that a server gives back, with at least one
// container and without times; it says whether that worked out.
func Template(r *rand.Rand, template *corev1.PodTemplateSpec) bool {
	c := chance{r, 0}
	o := c.base()
	for range 1 + c.IntN(40) {
		c.grow(o)
	}
	b := jsontree.Render(o.Child("spec").Child("template"))
	if json.Unmarshal(b, template) != nil || len(template.Spec.Containers) == 0 {
		*template = corev1.PodTemplateSpec{}
		return false
	}
	template.CreationTimestamp, template.DeletionTimestamp, template.ManagedFields = metav1.Time{}, nil, nil
	for _, v := range template.Spec.Volumes {
		if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
			m := &v.Ephemeral.VolumeClaimTemplate.ObjectMeta
			m.CreationTimestamp, m.DeletionTimestamp, m.ManagedFields = metav1.Time{}, nil, nil
		}
	}
	// Stored and read once more, quantities are in normal form, and empty lists and maps are gone.
	stored, err := template.Marshal()
	*template = corev1.PodTemplateSpec{}
	return err == nil && template.Unmarshal(stored) == nil
}
