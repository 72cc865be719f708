//! Plans against recorded answers of upstream's controller.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod model;

use std::collections::BTreeMap;

use rollgate::rollout::{self, Snapshot};
use serde_json::{Map, Value, json};

/// The state that an answer's writes leave behind, as far as it counts.
fn outcome(question: &Value, answer: &Value) -> Value {
    let mut deployment = question["deployment"].clone();
    let sets = question["replica_sets"].as_array().unwrap().iter();
    let mut sets: BTreeMap<String, Value> =
        sets.map(|set| (set["metadata"]["name"].as_str().unwrap().to_owned(), set.clone())).collect();
    let mut deleted = Vec::new();
    for write in answer["writes"].as_array().unwrap() {
        let name = write["name"].as_str().unwrap().to_owned();
        let (verb, patch) = (write["verb"].as_str().unwrap(), &write["patch"]);
        match (write["resource"].as_str().unwrap(), verb, write["patch_type"].as_str()) {
            ("deployments", "patch", _) => model::merge(&mut deployment, patch),
            ("replicasets", "create", _) => {
                sets.entry(name).or_insert_with(|| write["object"].clone());
            }
            ("replicasets", "delete", _) => {
                sets.remove(&name);
                deleted.push(name);
            }
            (_, _, Some("application/merge-patch+json")) => model::merge(sets.get_mut(&name).unwrap(), patch),
            _ => model::patch_owners(sets.get_mut(&name).unwrap(), patch),
        }
    }
    deleted.sort();
    let sets: Map<String, Value> = sets.into_iter().map(|(name, set)| (name, set_outcome(&set))).collect();
    let events = answer["events"].as_array().unwrap().iter();
    let events: Vec<Value> = events.map(|e| json!([e["type"], e["reason"], e["message"]])).collect();
    let after = answer["requeue_after_seconds"].as_f64();
    pruned(&json!({
        "deployment": {"annotations": deployment["metadata"]["annotations"], "spec": deployment["spec"],
            "status": deployment["status"]},
        "replica_sets": sets,
        "deleted": deleted,
        "events": events,
        "requeue_after_seconds": after.map(|secs| format!("{:.0}", secs.round_ties_even())),
        "failed": answer.get("error").is_some(),
    }))
}

fn set_outcome(set: &Value) -> Value {
    let mut owners = set["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
    owners.sort_by_key(|owner| owner["uid"].to_string());
    json!({
        "labels": set["metadata"]["labels"],
        "annotations": set["metadata"]["annotations"],
        "owners": owners,
        "replicas": set["spec"]["replicas"].to_string(),
        "minReadySeconds": set["spec"]["minReadySeconds"],
        "selector": set["spec"]["selector"],
        "template": set["spec"]["template"],
    })
}

/// Absent, null and empty mean the same.
fn pruned(value: &Value) -> Value {
    let kept = |v: &Value| !matches!(v, Value::Null) && *v != json!({}) && *v != json!([]) && *v != json!("");
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(k, v)| (k.clone(), pruned(v))).filter(|(_, v)| kept(v));
            fields.collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(pruned).collect(),
        other => other.clone(),
    }
}

fn answered(question: &Value) -> Value {
    serde_json::from_str(&rollout::answer(&question.to_string())).unwrap()
}

fn lines(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(format!("tests/data/rollout/{file}")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty());
    lines
}

/// What [`rollout::Mended::StaleDesiredReplicas`] puts right, and upstream leaves.
fn forget_notes(outcome: &mut Value) {
    for set in outcome["replica_sets"].as_object_mut().unwrap().values_mut() {
        for note in [model::DESIRED, model::MAX] {
            if let Some(annotations) = set["annotations"].as_object_mut() {
                annotations.shift_remove(note);
            }
        }
    }
}

#[test]
fn recorded_snapshots_come_out_as_upstream_s() {
    let mut wrong = Vec::new();
    let mut mended = 0;
    for case in lines("recorded.ndjson") {
        let (question, answer) = (&case["question"], answered(&case["question"]));
        let still = json!({"writes": [], "events": [], "requeue_after_seconds": null});
        let mut expected = outcome(question, &still);
        model::merge(&mut expected, &case["change"]);
        let mut got = outcome(question, &answer);
        if answer.get("diverges").is_some() {
            mended += 1;
            forget_notes(&mut expected);
            forget_notes(&mut got);
        }
        if expected != got {
            wrong.push(format!("{}: expected {expected:#}, got {got:#}", question["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(mended > 0, "the case of the documented fix is among them");
}

#[test]
fn hashes_of_templates_with_every_field_are_upstream_s() {
    for case in lines("hashes.ndjson") {
        let count = case["collisionCount"].as_i64().map(|count| count as i32);
        let hash = rollgate::schema::hash::pod_template_hash(&case["template"].to_string(), count);
        assert_eq!(*hash, case["hash"]);
    }
}

#[test]
fn what_is_no_snapshot_is_answered_with_an_error() {
    for line in ["", "{", "[]", r#"{"id":"a"}"#, r#"{"id":"a","now":"x","deployment":{}}"#] {
        let answer: Value = serde_json::from_str(&rollout::answer(line)).unwrap();
        assert!(answer["error"].is_string(), "{line}: {answer}");
        assert_eq!(answer["writes"], json!([]));
    }
}

#[test]
fn the_order_of_objects_does_not_matter() {
    for case in lines("recorded.ndjson") {
        let mut question = case["question"].clone();
        let before = rollout::answer(&question.to_string());
        for list in ["replica_sets", "pods"] {
            question[list].as_array_mut().unwrap().reverse();
        }
        assert_eq!(before, rollout::answer(&question.to_string()));
    }
}

#[test]
fn a_plan_reads_as_words_and_as_json() {
    for case in lines("recorded.ndjson") {
        let snapshot = Snapshot::read(&case["question"].to_string()).unwrap();
        let plan = snapshot.plan();
        let words = rollout::explain(&snapshot.deployment, &plan);
        assert!(words.starts_with("Deployment default/web wants "), "{words}");
        assert_eq!(plan.is_empty(), words.contains("Nothing to do."), "{words}");
        let json = rollout::plan_json(&snapshot.deployment, &plan);
        assert_eq!(json["steps"].as_array().unwrap().len(), plan.steps.len());
    }
}

#[test]
fn the_words_of_a_rolling_update() {
    let mut cluster = model::Cluster::new();
    cluster.create("web", "v1", json!({"replicas": 10}));
    cluster.settle();
    cluster.set_image("web", "v2");
    let d = serde_json::from_str(&cluster.stored.deployments["web"].to_string()).unwrap();
    let plan = cluster.plan("web");
    let new = plan.steps[0].step.name();
    let old = plan.steps[1].step.name();
    let expected = format!(
        "Deployment default/web wants 10 pods.
Rolling update with at most 13 pods, at least 8 of them available.
1. Create ReplicaSet {new} with 3 pods, because no ReplicaSet has the Deployment's pod template.
2. Scale ReplicaSet {old} down from 10 to 8, because 10 pods are available and 8 must be.
3. Update the status: 10 pods, 0 up to date, 10 ready, 10 available, 3 unavailable.
   Progressing becomes True (NewReplicaSetCreated): Created new replica set \"{new}\"
Event Normal ScalingReplicaSet: Scaled up replica set {new} from 0 to 3
Event Normal ScalingReplicaSet: Scaled down replica set {old} from 10 to 8
"
    );
    assert_eq!(rollout::explain(&d, &plan), expected);
}

/// Fields of a release that this build does not know: they count in comparisons, and none is lost.
#[test]
fn unknown_fields_survive() {
    let mut cluster = model::Cluster::new();
    cluster.create("web", "v1", json!({"template": {"spec": {"newField": {"a": [1, null]}}}}));
    cluster.edit("web", json!({"status": {"newCount": 3, "conditions": [{"type": "Own", "newField": 1}]}}));
    cluster.settle();
    let set = cluster.set_of("v1");
    assert_eq!(set["spec"]["template"]["spec"]["newField"], json!({"a": [1, null]}));
    assert_eq!(cluster.status("web")["newCount"], 3);
    assert_eq!(cluster.status("web")["conditions"][0]["newField"], 1);
    cluster.edit("web", json!({"spec": {"template": {"spec": {"newField": {"a": [2]}}}}}));
    cluster.settle();
    assert_eq!(cluster.stored.sets.len(), 2);
}

/// A rollback by annotation takes on the whole old template, fields that only one of the two has included.
#[test]
fn a_rollback_takes_on_the_old_template() {
    let mut cluster = model::Cluster::new();
    cluster.create("web", "v1", json!({"template": {"spec": {"nodeName": "a", "newField": 1}}}));
    cluster.edit("web", json!({"metadata": {"annotations": {"cause": "first", "old": "1"}}}));
    cluster.settle();
    let first = cluster.stored.deployments["web"]["spec"]["template"].clone();
    let change =
        json!({"nodeName": null, "newField": null, "hostname": "b", "containers": [{"image": "v2"}]});
    let notes = json!({"cause": "second", "old": null, "new": "1", "deprecated.deployment.rollback.to": "0"});
    cluster.edit("web", json!({"spec": {"template": {"spec": change}}}));
    cluster.settle();
    cluster.edit("web", json!({"metadata": {"annotations": notes}}));
    cluster.settle();
    let d = &cluster.stored.deployments["web"];
    assert_eq!(d["spec"]["template"], first);
    let expected = json!({"cause": "first", "old": "1", "deployment.kubernetes.io/revision": "3"});
    assert_eq!(d["metadata"]["annotations"], expected);
    assert!(cluster.events.contains(&"Rolled back deployment \"web\" to revision 1".to_owned()));
    assert_eq!(cluster.sizes(), [("v1".to_owned(), 1)]);
}
