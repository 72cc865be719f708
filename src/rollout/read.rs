//! Reads the slim types from the API server's JSON, whether of one object, a list or a watch.

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use k8s_openapi::jiff::Timestamp;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, value::RawValue};

use super::annotations::LAST_APPLIED;
use super::observed::{
    Condition, Controller, Deployment, DeploymentStatus, Meta, OwnerKind, Pod, ReplicaSet, SetStatus,
};
use super::selector::Selector;
use super::strategy::{Bound, Strategy};
use super::text_map::TextMap;
use crate::schema::fingerprint::Fingerprint;

/// What the API server defaults `maxSurge` and `maxUnavailable` to.
const DEFAULT_BOUND: &str = "25%";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMeta {
    #[serde(default)]
    name: Box<str>,
    #[serde(default)]
    namespace: Box<str>,
    #[serde(default)]
    uid: Box<str>,
    #[serde(default)]
    resource_version: Box<str>,
    #[serde(default)]
    generation: i64,
    #[serde(default)]
    creation_timestamp: MaybeTime,
    #[serde(default)]
    deletion_timestamp: MaybeTime,
    #[serde(default)]
    labels: TextMap,
    #[serde(default)]
    annotations: TextMap,
    #[serde(default)]
    owner_references: Option<Vec<WireOwner>>,
}

#[derive(Deserialize)]
struct WireOwner {
    #[serde(default)]
    kind: Box<str>,
    #[serde(default)]
    name: Box<str>,
    #[serde(default)]
    uid: Box<str>,
    #[serde(default)]
    controller: Option<bool>,
}

impl WireMeta {
    fn controller(&mut self) -> Option<Controller> {
        let owners = self.owner_references.take()?;
        let owner = owners.into_iter().find(|o| o.controller == Some(true))?;
        let kind = match &*owner.kind {
            "Deployment" => OwnerKind::Deployment,
            "ReplicaSet" => OwnerKind::ReplicaSet,
            _ => OwnerKind::Other,
        };
        Some(Controller { kind, name: owner.name, uid: owner.uid })
    }

    fn slim(self) -> Meta {
        let annotations = match self.annotations.get(LAST_APPLIED) {
            Some(_) => self.annotations.filtered(|key| key != LAST_APPLIED),
            None => self.annotations,
        };
        Meta {
            name: self.name,
            namespace: self.namespace,
            uid: self.uid,
            resource_version: self.resource_version,
            generation: self.generation,
            created: self.creation_timestamp.0,
            deleting: self.deletion_timestamp.0.is_some(),
            labels: self.labels,
            annotations,
        }
    }
}

/// A text that is copied only if it has escapes.
#[derive(Debug, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// An RFC 3339 time, null, or an empty text.
#[derive(Default)]
struct MaybeTime(Option<Timestamp>);

impl<'de> Deserialize<'de> for MaybeTime {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Option::<Text<'_>>::deserialize(from)?;
        match text.as_ref().map_or("", |text| &text.0) {
            "" => Ok(MaybeTime(None)),
            text => Ok(MaybeTime(Some(text.parse().map_err(D::Error::custom)?))),
        }
    }
}

#[derive(Deserialize)]
struct WireDeployment {
    metadata: WireMeta,
    spec: WireDeploymentSpec,
    #[serde(default)]
    status: WireDeploymentStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDeploymentSpec {
    replicas: Option<i32>,
    selector: Option<Box<RawValue>>,
    template: Box<RawValue>,
    #[serde(default)]
    strategy: WireStrategy,
    #[serde(default)]
    min_ready_seconds: i32,
    revision_history_limit: Option<i32>,
    progress_deadline_seconds: Option<i32>,
    #[serde(default)]
    paused: bool,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct WireStrategy {
    #[serde(default, rename = "type")]
    kind: Box<str>,
    rolling_update: Option<WireRollingUpdate>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct WireRollingUpdate {
    max_surge: Option<WireBound>,
    max_unavailable: Option<WireBound>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireBound {
    Pods(i32),
    Text(Box<str>),
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireDeploymentStatus {
    observed_generation: i64,
    replicas: i32,
    updated_replicas: i32,
    ready_replicas: i32,
    available_replicas: i32,
    unavailable_replicas: i32,
    terminating_replicas: Option<i32>,
    collision_count: Option<i32>,
    conditions: Option<Vec<Condition>>,
}

impl Deployment {
    /// Reads one. What is held of it saves the work of comparing a template that has not changed.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(json: &str, held: Option<&Deployment>) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<WireDeployment>(json)?.slim(held).map_err(serde_json::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Deployment {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        WireDeployment::deserialize(from)?.slim(None).map_err(D::Error::custom)
    }
}

impl WireDeployment {
    fn slim(self, held: Option<&Deployment>) -> Result<Deployment, String> {
        let mut wire = self;
        wire.metadata.labels = TextMap::default();
        let spec = wire.spec;
        let selector = match &spec.selector {
            Some(json) => Selector::read(json.get()).map_err(|e| e.to_string())?,
            None => Selector::default(),
        };
        let template = match held {
            Some(held) if held.template_json.get() == spec.template.get() => held.template,
            _ => Fingerprint::of_template(spec.template.get()).map_err(|e| e.to_string())?,
        };
        Ok(Deployment {
            meta: wire.metadata.slim(),
            replicas: spec.replicas.unwrap_or(1),
            selector,
            selector_json: spec.selector,
            template,
            template_json: spec.template,
            strategy: spec.strategy.read(),
            min_ready_secs: spec.min_ready_seconds,
            history_limit: spec.revision_history_limit,
            deadline_secs: spec.progress_deadline_seconds,
            paused: spec.paused,
            status: wire.status.read(),
        })
    }
}

impl WireStrategy {
    fn read(self) -> Strategy {
        match &*self.kind {
            "RollingUpdate" => {
                let bounds = self.rolling_update.unwrap_or_default();
                Strategy::RollingUpdate {
                    max_surge: bound(bounds.max_surge),
                    max_unavailable: bound(bounds.max_unavailable),
                }
            }
            "Recreate" => Strategy::Recreate,
            _ => Strategy::Unknown(self.kind),
        }
    }
}

fn bound(wire: Option<WireBound>) -> Bound {
    match wire {
        Some(WireBound::Pods(pods)) => Bound::Pods(pods),
        Some(WireBound::Text(text)) => Bound::Text(text),
        None => Bound::Text(DEFAULT_BOUND.into()),
    }
}

impl WireDeploymentStatus {
    fn read(self) -> DeploymentStatus {
        DeploymentStatus {
            observed_generation: self.observed_generation,
            replicas: self.replicas,
            updated: self.updated_replicas,
            ready: self.ready_replicas,
            available: self.available_replicas,
            unavailable: self.unavailable_replicas,
            terminating: self.terminating_replicas,
            collision_count: self.collision_count,
            conditions: self.conditions.unwrap_or_default(),
        }
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Condition;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a condition")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Condition, A::Error> {
                let mut condition = Condition {
                    kind: "".into(),
                    status: "".into(),
                    reason: "".into(),
                    message: "".into(),
                    updated: None,
                    changed: None,
                    other: Map::new(),
                };
                while let Some(Text(key)) = map.next_key()? {
                    match &*key {
                        "type" => condition.kind = map.next_value::<Shared>()?.0,
                        "status" => condition.status = map.next_value::<Shared>()?.0,
                        "reason" => condition.reason = map.next_value::<Shared>()?.0,
                        "message" => condition.message = map.next_value::<Shared>()?.0,
                        "lastUpdateTime" => condition.updated = map.next_value::<MaybeTime>()?.0,
                        "lastTransitionTime" => condition.changed = map.next_value::<MaybeTime>()?.0,
                        _ => {
                            condition.other.insert(key.into_owned(), map.next_value()?);
                        }
                    }
                }
                Ok(condition)
            }
        }
        from.deserialize_map(Fields)
    }
}

/// A text of a condition; null is an empty one.
struct Shared(Cow<'static, str>);

impl<'de> Deserialize<'de> for Shared {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Shared(Option::<Text<'_>>::deserialize(from)?.map_or("".into(), |text| shared(text.0))))
    }
}

/// The texts that conditions are mostly made of, so that caches need not hold them thousands of times.
fn shared(text: Cow<'_, str>) -> Cow<'static, str> {
    const COMMON: [&str; 14] = [
        "True",
        "False",
        "Unknown",
        "Available",
        "Progressing",
        "ReplicaFailure",
        "MinimumReplicasAvailable",
        "MinimumReplicasUnavailable",
        "Deployment has minimum availability.",
        "Deployment does not have minimum availability.",
        "NewReplicaSetAvailable",
        "NewReplicaSetCreated",
        "ReplicaSetUpdated",
        "ProgressDeadlineExceeded",
    ];
    match COMMON.iter().find(|common| **common == text) {
        Some(common) => Cow::Borrowed(common),
        None => Cow::Owned(text.into_owned()),
    }
}

#[derive(Deserialize)]
struct WireSet {
    metadata: WireMeta,
    #[serde(default)]
    spec: WireSetSpec,
    #[serde(default)]
    status: WireSetStatus,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireSetSpec {
    replicas: Option<i32>,
    min_ready_seconds: i32,
    template: Option<Box<RawValue>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireSetStatus {
    observed_generation: i64,
    replicas: i32,
    ready_replicas: i32,
    available_replicas: i32,
    terminating_replicas: Option<i32>,
    conditions: Option<Vec<Condition>>,
}

impl ReplicaSet {
    /// Reads one. What is held of it saves the work of comparing a template that has not changed.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(json: &str, held: Option<&ReplicaSet>) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<WireSet>(json)?.slim(held).map_err(serde_json::Error::custom)
    }
}

impl<'de> Deserialize<'de> for ReplicaSet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        WireSet::deserialize(from)?.slim(None).map_err(D::Error::custom)
    }
}

impl WireSet {
    fn slim(self, held: Option<&ReplicaSet>) -> Result<ReplicaSet, String> {
        let mut wire = self;
        let template = wire.spec.template.as_ref().map_or("{}", |json| json.get());
        let text = text_hash(template);
        let fingerprint = match held {
            Some(held) if held.template_text == text => held.template,
            _ => Fingerprint::of_template(template).map_err(|e| e.to_string())?,
        };
        let mut conditions = wire.status.conditions.unwrap_or_default().into_iter();
        let failure = conditions.find(|condition| condition.kind == "ReplicaFailure").map(Box::new);
        Ok(ReplicaSet {
            controller: wire.metadata.controller(),
            meta: wire.metadata.slim(),
            replicas: wire.spec.replicas.unwrap_or(1),
            min_ready_secs: wire.spec.min_ready_seconds,
            template: fingerprint,
            template_text: text,
            status: SetStatus {
                observed_generation: wire.status.observed_generation,
                replicas: wire.status.replicas,
                ready: wire.status.ready_replicas,
                available: wire.status.available_replicas,
                terminating: wire.status.terminating_replicas,
            },
            failure,
        })
    }
}

/// Tells whether a text is the same as before, and is much cheaper than a fingerprint.
fn text_hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[derive(Deserialize)]
struct WirePod {
    metadata: WireMeta,
    #[serde(default)]
    status: WirePodStatus,
}

#[derive(Deserialize, Default)]
struct WirePodStatus {
    #[serde(default)]
    phase: Box<str>,
}

impl<'de> Deserialize<'de> for Pod {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut wire = WirePod::deserialize(from)?;
        Ok(Pod {
            controller: wire.metadata.controller(),
            name: wire.metadata.name,
            namespace: wire.metadata.namespace,
            ended: matches!(&*wire.status.phase, "Failed" | "Succeeded"),
            deleting: wire.metadata.deletion_timestamp.0.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_compared_anew_when_its_text_changes() {
        let set = |image: &str, held: Option<&ReplicaSet>| {
            let container = format!(r#"{{"name":"a","image":"{image}"}}"#);
            let template = format!(r#"{{"spec":{{"containers":[{container}]}}}}"#);
            let json = format!(r#"{{"metadata":{{"name":"s"}},"spec":{{"template":{template}}}}}"#);
            ReplicaSet::read(&json, held).unwrap()
        };
        let (first, second) = (set("a:1", None), set("a:2", None));
        assert_eq!(set("a:1", Some(&first)).template, first.template);
        assert_eq!(set("a:2", Some(&first)).template, second.template);
        assert_ne!(first.template, second.template);
    }
}
