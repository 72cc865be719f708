// Package admission compares rollgate's verdicts with the Kubernetes API server's own.
//
// oracle.go is the truth: it runs the server's decoding, defaulting, validation and warnings in
// process, without a server. kind.go puts random questions to it, outcome.go says whether two
// answers mean the same. A question and an answer look like this:
//
//	{"id":"…","operation":"CREATE|UPDATE","subresource":""|"status",
//	 "namespace":"default","object":{…}|"object_text":"…","old_object":{…}}
//
// object_text is the request body as text (for malformed or duplicate-key JSON).
// old_object must itself be valid; it is defaulted before use.
package admission

import (
	"context"
	"encoding/json"
	"fmt"
	_ "unsafe" // for a function that upstream keeps to itself

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	_ "k8s.io/apiserver/pkg/endpoints/handlers"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
)

type request struct {
	ID          string          `json:"id"`
	Operation   string          `json:"operation"`
	Subresource string          `json:"subresource"`
	Namespace   string          `json:"namespace"`
	Object      json.RawMessage `json:"object"`
	ObjectText  string          `json:"object_text"`
	OldObject   json.RawMessage `json:"old_object"`
}

type answer struct {
	ID string `json:"id"`
	// Allowed is false when decoding or validation refuses the object.
	Allowed bool `json:"allowed"`
	// DecodeError is set when the body could not be turned into a Deployment at all.
	DecodeError string `json:"decode_error,omitempty"`
	// StrictErrors are unknown or duplicate fields: warnings under
	// fieldValidation=Warn, refusals under fieldValidation=Strict.
	StrictErrors []string `json:"strict_errors,omitempty"`
	// Status is the refusal exactly as the API server would render it.
	Status *metav1.Status `json:"status,omitempty"`
	// Warnings are the Warning headers that validation adds.
	Warnings []string `json:"warnings,omitempty"`
	// Defaulted is the object as decoded and defaulted: what a mutating webhook is sent.
	Defaulted *appsv1.Deployment `json:"defaulted,omitempty"`
	// StoredSpec is the spec of an accepted object as it would be stored, where that differs
	// from Defaulted: fields behind gates that are off are dropped.
	StoredSpec *appsv1.DeploymentSpec `json:"stored_spec,omitempty"`
	// OracleError says that the question itself was unusable.
	OracleError string `json:"oracle_error,omitempty"`
}

var gvk = appsv1.SchemeGroupVersion.WithKind("Deployment")

// decode does what the server's create handler does with fieldValidation=Strict,
// keeping strict errors apart.
func decode(body []byte) (obj *appsv1.Deployment, strict []string, err error) {
	info, ok := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		return nil, nil, fmt.Errorf("no JSON serializer")
	}
	decoder := legacyscheme.Codecs.DecoderToVersion(info.StrictSerializer, schema.GroupVersion{Group: "apps", Version: "v1"})
	out, _, err := decoder.Decode(body, &gvk, &appsv1.Deployment{})
	if err != nil {
		se, ok := runtime.AsStrictDecodingError(err)
		if !ok || out == nil {
			return nil, nil, err
		}
		for _, e := range se.Errors() {
			strict = append(strict, e.Error())
		}
	}
	d, ok := out.(*appsv1.Deployment)
	if !ok {
		return nil, nil, fmt.Errorf("body is a %T, not a Deployment", out)
	}
	legacyscheme.Scheme.Default(d)
	return d, strict, nil
}

func toInternal(d *appsv1.Deployment) (*apps.Deployment, error) {
	out := &apps.Deployment{}
	return out, legacyscheme.Scheme.Convert(d, out, nil)
}

//go:linkname dedupOwnerReferences k8s.io/apiserver/pkg/endpoints/handlers.dedupOwnerReferencesAndAddWarning
func dedupOwnerReferences(obj runtime.Object, ctx context.Context, afterMutatingAdmission bool)

// recorder keeps warnings as the server sends them: each text once.
type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) {
	for _, t := range r.texts {
		if t == text {
			return
		}
	}
	r.texts = append(r.texts, text)
}

func judge(q request) (a answer) {
	a.ID = q.ID
	defer func() {
		if p := recover(); p != nil {
			a.OracleError = fmt.Sprintf("panic: %v", p)
		}
	}()
	body := []byte(q.ObjectText)
	if len(body) == 0 {
		body = q.Object
	}
	d, strict, err := decode(body)
	a.StrictErrors = strict
	if err != nil {
		a.DecodeError = err.Error()
		return a
	}
	a.Defaulted = d.DeepCopy()
	obj, err := toInternal(d)
	if err != nil {
		a.OracleError = err.Error()
		return a
	}

	ns := q.Namespace
	if ns == "" {
		ns = "default"
	}
	rec := &recorder{}
	ctx := warning.WithWarningRecorder(genericapirequest.WithNamespace(context.Background(), ns), rec)
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		IsResourceRequest: true, APIGroup: "apps", APIVersion: "v1", Resource: "deployments",
		Namespace: ns, Name: obj.Name, Subresource: q.Subresource,
	})

	dedupOwnerReferences(obj, ctx, false)
	switch q.Operation {
	case "CREATE", "":
		rest.FillObjectMetaSystemFields(obj)
		if obj.GenerateName != "" && obj.Name == "" {
			obj.Name = obj.GenerateName + "xxxxx"
		}
		err = rest.BeforeCreate(deployment.Strategy, ctx, obj)
	case "UPDATE":
		oldV1, _, derr := decode(q.OldObject)
		if derr != nil {
			a.OracleError = "old_object: " + derr.Error()
			return a
		}
		old, derr := toInternal(oldV1)
		if derr != nil {
			a.OracleError = "old_object: " + derr.Error()
			return a
		}
		// As the store would hold it.
		if old.Namespace == "" {
			old.Namespace = ns
		}
		if old.UID == "" {
			old.UID = "11111111-1111-1111-1111-111111111111"
		}
		if old.CreationTimestamp.IsZero() {
			old.CreationTimestamp = metav1.Unix(1767225600, 0)
		}
		if old.ResourceVersion == "" {
			old.ResourceVersion = "1"
		}
		if obj.ResourceVersion == "" {
			obj.ResourceVersion = old.ResourceVersion
		}
		var strategy rest.RESTUpdateStrategy = deployment.Strategy
		if q.Subresource == "status" {
			strategy = deployment.StatusStrategy
		}
		err = rest.BeforeUpdate(strategy, ctx, obj, old)
	default:
		a.OracleError = "unknown operation " + q.Operation
		return a
	}
	a.Warnings = rec.texts
	if err == nil {
		stored := &appsv1.Deployment{}
		if cerr := legacyscheme.Scheme.Convert(obj, stored, nil); cerr != nil {
			a.OracleError = cerr.Error()
			return a
		}
		if !apiequality.Semantic.DeepEqual(stored.Spec, a.Defaulted.Spec) {
			a.StoredSpec = &stored.Spec
		}
	}
	if err != nil {
		if s, ok := err.(apierrors.APIStatus); ok {
			st := s.Status()
			a.Status = &st
		} else {
			a.OracleError = err.Error()
		}
		return a
	}
	a.Allowed = true
	return a
}
