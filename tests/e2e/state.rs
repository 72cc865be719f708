//! What a controller leaves in a namespace, as a text that is equal for equal outcomes.
//!
//! Deployments and ReplicaSets are shown whole, Pods as far as their ReplicaSet decides, events as
//! a set. Left out are times, uids, resource versions, managed fields and the random part of Pods'
//! names; of a template that tells when it was restarted also the hash.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kubectl::Kubectl;

/// How long nothing must change, so that a namespace counts as settled.
const QUIET: Duration = Duration::from_secs(2);

/// When to stop waiting for that, on a busy machine.
const SETTLE_LIMIT: Duration = Duration::from_secs(60);

/// Waits until nothing changes any more; the state then.
pub(crate) fn once_settled(kubectl: &Kubectl) -> String {
    let start = Instant::now();
    let mut seen = versions(kubectl);
    let mut since = Instant::now();
    while since.elapsed() < QUIET && start.elapsed() < SETTLE_LIMIT {
        thread::sleep(QUIET / 4);
        let now = versions(kubectl);
        if now != seen {
            seen = now;
            since = Instant::now();
        }
    }
    of(kubectl)
}

fn versions(kubectl: &Kubectl) -> String {
    let versions = "jsonpath={.items[*].metadata.resourceVersion}";
    kubectl.get(&["get", "deployments,replicasets,pods,events", "-o", versions])
}

/// The state of a namespace.
pub(crate) fn of(kubectl: &Kubectl) -> String {
    let objects = kubectl.objects("deployments,replicasets,pods,events");
    let sets: Vec<_> = objects.iter().filter(|object| object["kind"] == "ReplicaSet").collect();
    // Events also tell of ReplicaSets that are gone.
    let about = objects.iter().map(|object| &object["involvedObject"]);
    let told = about.filter(|about| about["kind"] == "ReplicaSet").map(|about| text(&about["name"]));
    let names: BTreeSet<_> = told.chain(sets.iter().map(|set| text(&set["metadata"]["name"]))).collect();
    let restarted: Vec<_> = sets
        .iter()
        .filter(|set| !set["spec"]["template"]["metadata"]["annotations"][RESTARTED_AT].is_null())
        .map(|set| text(&set["metadata"]["labels"]["pod-template-hash"]))
        .collect();
    let mut shown: Vec<String> = Vec::new();
    let mut events = BTreeMap::new();
    for object in &objects {
        match object["kind"].as_str() {
            Some("Event") => note_event(object, &mut events),
            Some("Pod") => shown.push(pod(object)),
            _ => shown.push(whole(object)),
        }
    }
    shown.extend(events.into_iter().map(|(event, count)| format!("{event}{count}")));
    for entry in &mut shown {
        for name in &names {
            *entry = without_pod_names(entry, name);
        }
        for hash in restarted.iter().filter(|hash| !hash.is_empty()) {
            *entry = entry.replace(hash, "RESTARTED");
        }
        *entry = entry.replace(&kubectl.namespace, "NAMESPACE");
    }
    shown.sort();
    shown.dedup();
    shown.join("\n") + "\n"
}

const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// An object without what differs from run to run.
fn whole(object: &Value) -> String {
    let mut object = object.clone();
    forget(&mut object);
    serde_json::to_string_pretty(&object).expect("JSON can be written")
}

fn forget(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|key, _| !["uid", "resourceVersion", "managedFields"].contains(&key.as_str()));
            members.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        Value::String(text) if is_time(text) => "TIME".clone_into(text),
        _ => {}
    }
}

/// Whether a text has the form `2026-01-02T03:04:05` and whatever zone.
fn is_time(text: &str) -> bool {
    let form = b"0000-00-00T00:00:00";
    let fits = |(is, form): (u8, &u8)| if *form == b'0' { is.is_ascii_digit() } else { is == *form };
    text.len() >= form.len() && text.bytes().zip(form).all(fits)
}

fn pod(pod: &Value) -> String {
    let owner = text(&pod["metadata"]["ownerReferences"][0]["name"]);
    let going = if pod["metadata"]["deletionTimestamp"].is_null() { "" } else { ", being deleted" };
    format!("Pod {} of {owner}{going} {}", text(&pod["metadata"]["name"]), pod["metadata"]["labels"])
}

/// Adds an event to the set. How often one came is compared for Deployments only: it is the
/// ReplicaSet controller that repeats its own, as often as time allows.
fn note_event(event: &Value, events: &mut BTreeMap<String, String>) {
    let about = &event["involvedObject"];
    let (kind, name) = (text(&about["kind"]), text(&about["name"]));
    if kind == "Pod" {
        return;
    }
    let said = format!(
        "Event of {kind} {name}: {} {} by {}: {}",
        text(&event["type"]),
        text(&event["reason"]),
        text(&event["source"]["component"]),
        text(&event["message"]),
    );
    let count = event["count"].as_u64().unwrap_or(1);
    let count = if kind == "Deployment" { format!(" (x{count})") } else { String::new() };
    *events.entry(said).or_default() += &count;
}

/// Refuses a state whose events depend on chance: past ten different ones, those of a Deployment are
/// combined in the order in which they happened to come.
pub(crate) fn events_are_certain(state: &str) -> Result<(), String> {
    let combined = |line: &&str| line.starts_with("Event of Deployment") && line.contains("(combined from");
    match state.lines().find(combined) {
        Some(line) => Err(format!("shorten it, it makes too many different events:\n{line}")),
        None => Ok(()),
    }
}

/// The text with the random part of the names of a ReplicaSet's Pods replaced.
fn without_pod_names(text: &str, set: &str) -> String {
    const RANDOM_CHARS: usize = 5;
    let start = format!("{set}-");
    let mut parts = text.split(&start);
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let random = part.bytes().take_while(|b| b.is_ascii_lowercase() || b.is_ascii_digit()).count();
        let rest = if random == RANDOM_CHARS { &part[RANDOM_CHARS..] } else { part };
        told += &format!("{start}{}{rest}", if random == RANDOM_CHARS { "RANDOM" } else { "" });
    }
    told
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
