//! What a plan is made from: the few facts of Deployments, ReplicaSets and Pods that decisions read.
//!
//! These types are what caches hold, so they leave out whatever no decision needs: of a ReplicaSet's
//! template only its fingerprint is kept, of a Pod its owner and whether it has ended. They are read from
//! JSON ([`super::read`]) and never written back; every write is a patch of what changes ([`super::step`]).

use std::borrow::Cow;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, value::RawValue};

use super::selector::Selector;
use super::strategy::Strategy;
use super::text_map::TextMap;
use crate::schema::fingerprint::Fingerprint;

/// One reading of the world. Nothing else may influence the decision.
///
/// It may be older than the world, for every write carries what it was decided on and is refused when that
/// has changed. But it must show our own writes: a new ReplicaSet is created next to others, whose versions
/// that write does not carry, so a reading without our last scaling could go beyond the ceiling.
#[derive(Debug, Clone)]
pub struct Observed<'a> {
    /// The Deployment to plan for.
    pub deployment: &'a Deployment,
    /// The ReplicaSets of its namespace, in any order. Needed are those that it controls and those without
    /// a controller; others are ignored.
    pub sets: Vec<&'a ReplicaSet>,
    /// The Pods that those ReplicaSets control, in any order. Read for the Recreate strategy only; others
    /// are ignored.
    pub pods: Vec<&'a Pod>,
    /// The time.
    pub now: Timestamp,
}

/// What decisions read of an object's metadata.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// Name.
    pub name: Box<str>,
    /// Namespace.
    pub namespace: Box<str>,
    /// Identity: another object of the same name has another one.
    pub uid: Box<str>,
    /// Which state of the object this is; writes carry it, so that a stale one is refused.
    pub resource_version: Box<str>,
    /// Counts changes of the spec (of a Deployment also of its annotations).
    pub generation: i64,
    /// When it was created; absent only in hand-made objects.
    pub created: Option<Timestamp>,
    /// Whether it has a deletion timestamp.
    pub deleting: bool,
    /// Labels. Kept for ReplicaSets only.
    pub labels: TextMap,
    /// Annotations, without `kubectl.kubernetes.io/last-applied-configuration`, which no decision reads
    /// and which can be as large as the object.
    pub annotations: TextMap,
}

/// The kind that an owner reference names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerKind {
    /// `Deployment`.
    Deployment,
    /// `ReplicaSet`.
    ReplicaSet,
    /// Anything else.
    Other,
}

/// The first owner reference with `controller: true`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controller {
    /// Kind; its API version is not compared.
    pub kind: OwnerKind,
    /// Name.
    pub name: Box<str>,
    /// Identity.
    pub uid: Box<str>,
}

/// What decisions read of a Deployment.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// Metadata.
    pub meta: Meta,
    /// Pods wanted.
    pub replicas: i32,
    /// Which ReplicaSets may belong to it.
    pub selector: Selector,
    /// The selector as JSON, to be copied into new ReplicaSets.
    pub selector_json: Option<Box<RawValue>>,
    /// The pod template as JSON, to be copied into new ReplicaSets.
    pub template_json: Box<RawValue>,
    /// Stands for the template in comparisons.
    pub template: Fingerprint,
    /// How to replace old pods.
    pub strategy: Strategy,
    /// Seconds that a pod must be ready to count as available.
    pub min_ready_secs: i32,
    /// Old ReplicaSets to keep; absent or `i32::MAX` means all.
    pub history_limit: Option<i32>,
    /// Seconds without progress until a rollout counts as failed; absent or `i32::MAX` means never.
    pub deadline_secs: Option<i32>,
    /// Whether rollouts are held.
    pub paused: bool,
    /// Its status as last written.
    pub status: DeploymentStatus,
}

impl Deployment {
    /// The progress deadline, if one is set.
    pub fn progress_deadline_secs(&self) -> Option<i32> {
        self.deadline_secs.filter(|secs| *secs != i32::MAX)
    }
}

/// A Deployment's status. Zero counters are left out of its JSON, except `terminatingReplicas`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeploymentStatus {
    /// The generation that this status is about.
    pub observed_generation: i64,
    /// Pods of all its ReplicaSets.
    pub replicas: i32,
    /// Pods of the new ReplicaSet.
    pub updated: i32,
    /// Ready pods.
    pub ready: i32,
    /// Available pods.
    pub available: i32,
    /// Pods asked for and not available.
    pub unavailable: i32,
    /// Pods that are terminating; absent when a ReplicaSet does not say.
    pub terminating: Option<i32>,
    /// How many ReplicaSet names were found taken; goes into the hash when present, even 0.
    pub collision_count: Option<i32>,
    /// Conditions, oldest change first.
    pub conditions: Vec<Condition>,
}

/// A condition of a Deployment.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// `Available`, `Progressing`, `ReplicaFailure`, or a foreign one.
    pub kind: Cow<'static, str>,
    /// `True`, `False` or `Unknown`.
    pub status: Cow<'static, str>,
    /// Why, in one word.
    pub reason: Cow<'static, str>,
    /// Why, in a sentence.
    pub message: Cow<'static, str>,
    /// When it was last renewed.
    pub updated: Option<Timestamp>,
    /// When `status` last changed.
    pub changed: Option<Timestamp>,
    /// Fields that this build does not know, kept as they came.
    pub other: Map<String, Value>,
}

/// What decisions read of a ReplicaSet.
#[derive(Debug, Clone)]
pub struct ReplicaSet {
    /// Metadata.
    pub meta: Meta,
    /// Who controls it, if anybody.
    pub controller: Option<Controller>,
    /// Pods wanted.
    pub replicas: i32,
    /// Seconds that a pod must be ready to count as available.
    pub min_ready_secs: i32,
    /// Stands for its pod template (without the hash label) in comparisons.
    pub template: Fingerprint,
    /// A hash of the template's JSON: while the text stays, so does the fingerprint.
    pub template_text: u64,
    /// What the ReplicaSet controller reports.
    pub status: SetStatus,
    /// Its first condition of type `ReplicaFailure`.
    pub failure: Option<Box<Condition>>,
}

/// What the ReplicaSet controller reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SetStatus {
    /// The generation that it acted on; 0 before it has looked.
    pub observed_generation: i64,
    /// Pods, terminating ones aside.
    pub replicas: i32,
    /// Ready pods.
    pub ready: i32,
    /// Available pods.
    pub available: i32,
    /// Terminating pods; absent when it does not say.
    pub terminating: Option<i32>,
}

/// What decisions read of a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pod {
    /// Name.
    pub name: Box<str>,
    /// Namespace.
    pub namespace: Box<str>,
    /// Who controls it, if anybody.
    pub controller: Option<Controller>,
    /// Whether its phase is Failed or Succeeded.
    pub ended: bool,
    /// Whether it has a deletion timestamp.
    pub deleting: bool,
}
