//! The API calls that steps and status writes amount to.
//!
//! Every change to an object that exists is a patch of just that change, with the resourceVersion that it
//! was decided on; so no field is lost that this build does not know, and a stale write is refused.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::annotations::REVISION;
use super::observed::{Condition, Deployment, DeploymentStatus};
use super::step::{NewSet, StatusWrite, Step, Target};
use crate::kube_types::time::rfc3339;

/// The label that tells the ReplicaSets of one Deployment apart.
pub const HASH_LABEL: &str = "pod-template-hash";

/// What to ask of the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// POST.
    Create,
    /// PATCH as `application/merge-patch+json`.
    MergePatch,
    /// PATCH as `application/strategic-merge-patch+json`.
    StrategicPatch,
    /// DELETE with the body as options.
    Delete,
}

/// The object that a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// `deployments`.
    Deployment,
    /// `deployments/status`.
    DeploymentStatus,
    /// `replicasets`.
    ReplicaSet,
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What to do.
    pub verb: Verb,
    /// To which kind of object.
    pub resource: Resource,
    /// Name of the object.
    pub name: String,
    /// The object, the patch, or the options, as JSON.
    pub body: String,
}

impl Step {
    /// The name of the ReplicaSet that the step is about; empty for a rollback that has none.
    pub fn name(&self) -> &str {
        match self {
            Step::Create(new) => &new.name,
            Step::Rollback { to, .. } => to.as_ref().map_or("", |set| &set.name),
            Step::Adopt { set } | Step::Release { set } | Step::Delete { set } | Step::Update { set, .. } => {
                &set.name
            }
        }
    }

    /// The call. A rollback to a set takes the JSON of that set's pod template, read live. `version` is the
    /// resourceVersion that an earlier write of the same round to the same object gave back, if there was one.
    pub fn request(&self, d: &Deployment, template: Option<&Value>, version: Option<&str>) -> Request {
        match self {
            Step::Adopt { set } => of_set(Verb::StrategicPatch, set, &adoption(d, set)),
            Step::Release { set } => {
                let gone = json!({"$patch": "delete", "uid": d.meta.uid});
                let body = json!({"metadata": {"uid": set.uid, "ownerReferences": [gone]}});
                of_set(Verb::StrategicPatch, set, &body)
            }
            Step::Create(new) => Request {
                verb: Verb::Create,
                resource: Resource::ReplicaSet,
                name: new.name.clone(),
                body: replica_set(d, new).to_string(),
            },
            Step::Update { set, scale, annotations, min_ready_secs } => {
                let spec = SetSpec {
                    replicas: scale.map(|scale| scale.to),
                    min_ready_seconds: min_ready_secs.map(present),
                };
                let metadata =
                    Metadata { resource_version: version.unwrap_or(&set.resource_version), annotations };
                of_set(Verb::MergePatch, set, &SetPatch { metadata, spec })
            }
            Step::Delete { set } => {
                let version = version.unwrap_or(&set.resource_version);
                let seen = json!({"uid": set.uid, "resourceVersion": version});
                of_set(Verb::Delete, set, &json!({"preconditions": seen}))
            }
            Step::Rollback { annotations, .. } => {
                let version = version.unwrap_or(&d.meta.resource_version);
                let metadata = json!({"resourceVersion": version, "annotations": annotations});
                let mut body = json!({"metadata": metadata});
                if let Some(template) = template {
                    body["spec"] = json!({"template": template_change(d, template)});
                }
                Request {
                    verb: Verb::MergePatch,
                    resource: Resource::Deployment,
                    name: d.meta.name.to_string(),
                    body: body.to_string(),
                }
            }
        }
    }
}

fn of_set(verb: Verb, set: &Target, body: &impl Serialize) -> Request {
    Request { verb, resource: Resource::ReplicaSet, name: set.name.to_string(), body: text(body) }
}

fn text(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("a body holds only what JSON can")
}

/// What writes change most often, as merge patches: given as they are, since it is most of what is sent.
#[derive(serde::Serialize)]
struct SetPatch<'a> {
    metadata: Metadata<'a>,
    #[serde(skip_serializing_if = "SetSpec::is_empty")]
    spec: SetSpec,
}

#[derive(serde::Serialize)]
struct StatusPatch<'a> {
    metadata: Metadata<'a>,
    status: StatusJson<'a>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    resource_version: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: &'a BTreeMap<Box<str>, Box<str>>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct SetSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    replicas: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_ready_seconds: Option<Option<i32>>,
}

impl SetSpec {
    fn is_empty(&self) -> bool {
        self.replicas.is_none() && self.min_ready_seconds.is_none()
    }
}

fn adoption(d: &Deployment, set: &Target) -> Value {
    json!({"metadata": {"ownerReferences": [owner(d)], "uid": set.uid}})
}

fn owner(d: &Deployment) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": d.meta.name,
        "uid": d.meta.uid,
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// The new ReplicaSet: the Deployment's selector and template, each with the hash label.
fn replica_set(d: &Deployment, new: &NewSet) -> Value {
    let mut template = parsed(d.template_json.get());
    label(&mut template, "metadata", "labels", &new.hash);
    let labels = template["metadata"]["labels"].clone();
    let mut selector =
        json!({"selector": d.selector_json.as_ref().map_or(Value::Null, |json| parsed(json.get()))});
    label(&mut selector, "selector", "matchLabels", &new.hash);
    let mut spec = json!({
        "replicas": new.replicas,
        "selector": selector["selector"],
        "template": template,
    });
    if d.min_ready_secs != 0 {
        spec["minReadySeconds"] = d.min_ready_secs.into();
    }
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": new.name,
            "namespace": d.meta.namespace,
            "labels": labels,
            "annotations": new.annotations,
            "ownerReferences": [owner(d)],
        },
        "spec": spec,
    })
}

/// JSON that was read as JSON before.
fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

/// Adds the hash label to `object.outer.inner`, made where it is missing.
fn label(object: &mut Value, outer: &str, inner: &str, hash: &str) {
    let mut place = object;
    for key in [outer, inner] {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[key];
    }
    if !place.is_object() {
        *place = json!({});
    }
    place[HASH_LABEL] = hash.into();
}

/// The merge patch that turns the Deployment's template into a ReplicaSet's, its hash label aside.
fn template_change(d: &Deployment, template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.shift_remove(HASH_LABEL);
    }
    merge_patch(&parsed(d.template_json.get()), &template)
}

/// The merge patch (RFC 7386) that turns `from` into `to`.
fn merge_patch(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
    let mut patch = Map::new();
    for (key, _) in from.iter().filter(|(key, _)| !to.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in to {
        match from.get(key) {
            Some(held) if held == value => {}
            Some(held) => {
                patch.insert(key.clone(), merge_patch(held, value));
            }
            None => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    patch.into()
}

impl StatusWrite {
    /// The call. The whole status is given, counters of 0 as null, so that what is stored does not depend
    /// on what was there. `version` is as in [`Step::request`].
    pub fn request(&self, d: &Deployment, version: Option<&str>) -> Request {
        let revision = self.revision.iter().map(|revision| (REVISION.into(), revision.clone()));
        let metadata = Metadata {
            resource_version: version.unwrap_or(&d.meta.resource_version),
            annotations: &revision.collect(),
        };
        Request {
            verb: Verb::MergePatch,
            resource: Resource::DeploymentStatus,
            name: d.meta.name.to_string(),
            body: text(&StatusPatch { metadata, status: StatusJson::of(&self.status) }),
        }
    }
}

/// A status as a merge patch: what is not there is null.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusJson<'a> {
    observed_generation: Option<i64>,
    replicas: Option<i32>,
    updated_replicas: Option<i32>,
    ready_replicas: Option<i32>,
    available_replicas: Option<i32>,
    unavailable_replicas: Option<i32>,
    terminating_replicas: Option<i32>,
    collision_count: Option<i32>,
    conditions: &'a [Condition],
}

impl<'a> StatusJson<'a> {
    pub(super) fn of(status: &'a DeploymentStatus) -> Self {
        StatusJson {
            observed_generation: (status.observed_generation != 0).then_some(status.observed_generation),
            replicas: present(status.replicas),
            updated_replicas: present(status.updated),
            ready_replicas: present(status.ready),
            available_replicas: present(status.available),
            unavailable_replicas: present(status.unavailable),
            terminating_replicas: status.terminating,
            collision_count: status.collision_count,
            conditions: &status.conditions,
        }
    }
}

fn present(number: i32) -> Option<i32> {
    (number != 0).then_some(number)
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_map(None)?;
        for (key, value) in &self.other {
            fields.serialize_entry(key, value)?;
        }
        fields.serialize_entry("type", &self.kind)?;
        fields.serialize_entry("status", &self.status)?;
        for (key, at) in [("lastUpdateTime", self.updated), ("lastTransitionTime", self.changed)] {
            fields.serialize_entry(key, &at.map(rfc3339))?;
        }
        for (key, text) in [("reason", &self.reason), ("message", &self.message)] {
            if !text.is_empty() {
                fields.serialize_entry(key, text)?;
            }
        }
        fields.end()
    }
}
