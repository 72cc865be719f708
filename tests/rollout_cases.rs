//! Reports of users about rollouts, each as it should come out. Numbers and words are those seen on
//! Kubernetes v1.37.2.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod model;

use model::{Cluster, DESIRED, MAX, REVISION};
use serde_json::{Value, json};

fn note<'a>(set: &'a Value, key: &str) -> &'a str {
    set["metadata"]["annotations"][key].as_str().unwrap_or("-")
}

fn sizes(cluster: &Cluster) -> Vec<(String, i64)> {
    cluster.sizes()
}

fn want(list: &[(&str, i64)]) -> Vec<(String, i64)> {
    list.iter().map(|(image, size)| ((*image).to_owned(), *size)).collect()
}

/// Case 38.
#[test]
fn a_stale_desired_replicas_annotation_does_not_block_rollouts() {
    let mut cluster = Cluster::new();
    cluster.create("a", "v1", json!({"replicas": 3}));
    cluster.settle();
    let name = cluster.set_of("v1")["metadata"]["name"].as_str().unwrap().to_owned();
    cluster.edit_set(&name, json!({"spec": {"replicas": 2}}));
    cluster.scale("a", 2);
    assert_eq!(note(cluster.set_of("v1"), DESIRED), "3");
    let plan = cluster.sync("a").unwrap();
    assert_eq!(plan.diverges.len(), 1);
    assert_eq!((note(cluster.set_of("v1"), DESIRED), note(cluster.set_of("v1"), MAX)), ("2", "3"));
    cluster.set_image("a", "v2");
    cluster.settle();
    assert_eq!(sizes(&cluster), want(&[("v2", 2)]));
}

/// Case 38, the same trap without surge: scaled while the new set is still at 0.
#[test]
fn scaling_in_the_middle_of_an_update_without_surge_does_not_block_it() {
    let mut cluster = Cluster::new();
    let strategy = json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
    cluster.create("a", "v1", json!({"replicas": 3, "strategy": strategy}));
    cluster.settle();
    cluster.set_image("a", "v2");
    cluster.sync("a").unwrap();
    assert_eq!(sizes(&cluster), want(&[("v1", 2)]));
    cluster.scale("a", 2);
    cluster.settle();
    assert_eq!(sizes(&cluster), want(&[("v2", 2)]));
}

fn recreate_with_failed_pod() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.graceful = true;
    cluster.create(
        "a",
        "v1",
        json!({"replicas": 2, "strategy": {"type": "Recreate", "rollingUpdate": null}}),
    );
    cluster.settle();
    cluster.stored.pods[0].phase = "Failed";
    cluster.settle();
    assert_eq!(cluster.stored.pods.len(), 3);
    cluster.set_image("a", "v2");
    cluster
}

/// Case 40.
#[test]
fn failed_pods_do_not_hold_up_recreate() {
    let mut cluster = recreate_with_failed_pod();
    for _ in 0..3 {
        cluster.sync("a").unwrap();
        cluster.run_sets();
    }
    assert_eq!(sizes(&cluster), want(&[]));
    assert_eq!(cluster.status("a")["terminatingReplicas"], 2);
    assert_eq!(cluster.condition("a", "Available"), "False/MinimumReplicasUnavailable");
    cluster.remove_terminating();
    cluster.sync("a").unwrap();
    assert_eq!(sizes(&cluster), want(&[("v2", 2)]));
    assert!(cluster.stored.pods.iter().any(|pod| pod.phase == "Failed"));
}

/// Case 40, the variant: a pod that has ended but is still there.
#[test]
fn a_terminating_pod_that_has_ended_does_not_hold_up_recreate() {
    let mut cluster = recreate_with_failed_pod();
    cluster.sync("a").unwrap();
    cluster.run_sets();
    for phase in ["Unknown", "Succeeded"] {
        for pod in cluster.stored.pods.iter_mut().filter(|pod| pod.terminating) {
            pod.phase = phase;
        }
        cluster.run_sets();
        cluster.sync("a").unwrap();
        let expected: &[(&str, i64)] = if phase == "Succeeded" { &[("v2", 2)] } else { &[] };
        assert_eq!(sizes(&cluster), want(expected), "{phase}");
    }
}

/// Case 42.
#[test]
fn scaling_up_a_finished_deployment_never_times_out() {
    let mut cluster = Cluster::new();
    cluster.create("a", "broken", json!({"replicas": 0, "progressDeadlineSeconds": 8}));
    cluster.settle();
    assert_eq!(cluster.condition("a", "Progressing"), "True/NewReplicaSetAvailable");
    assert_eq!(cluster.condition("a", "Available"), "True/MinimumReplicasAvailable");
    cluster.scale("a", 1);
    cluster.settle();
    cluster.wait(13);
    cluster.settle();
    assert_eq!(cluster.condition("a", "Progressing"), "True/NewReplicaSetAvailable");
    assert_eq!(cluster.condition("a", "Available"), "False/MinimumReplicasUnavailable");
    assert_eq!(cluster.status("a")["unavailableReplicas"], 1);
}

/// Case 42, the second part.
#[test]
fn losing_pods_after_a_rollout_never_times_out() {
    let mut cluster = Cluster::new();
    cluster.create("a", "v1", json!({"replicas": 2, "progressDeadlineSeconds": 8}));
    cluster.settle();
    cluster.broken.push("v1");
    cluster.stored.pods.iter_mut().for_each(|pod| pod.ready_at = None);
    cluster.settle();
    cluster.wait(12);
    cluster.settle();
    assert_eq!(cluster.condition("a", "Progressing"), "True/NewReplicaSetAvailable");
    assert_eq!(cluster.condition("a", "Available"), "False/MinimumReplicasUnavailable");
    assert_eq!(cluster.status("a")["availableReplicas"], Value::Null);
}

/// Ten replicas in the middle of a stuck rollout: v1 8, v2 5.
fn stuck() -> Cluster {
    let mut cluster = Cluster::new();
    let strategy = json!({"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}});
    cluster.broken.extend(["v2", "v3"]);
    cluster.create("a", "v1", json!({"replicas": 10, "strategy": strategy}));
    cluster.settle();
    // From here on nobody makes pods ready.
    cluster.broken.push("v1");
    cluster.set_image("a", "v2");
    cluster.settle();
    assert_eq!(sizes(&cluster), want(&[("v1", 8), ("v2", 5)]));
    cluster
}

/// Case 44.
#[test]
fn scaling_in_the_middle_of_a_rollout_spreads_pods_in_proportion() {
    type Sizes = &'static [(&'static str, i64)];
    let edits: [(Value, Sizes, &str); 4] = [
        (json!({"replicas": 15}), &[("v1", 11), ("v2", 7)], "18"),
        (json!({"replicas": 30}), &[("v1", 20), ("v2", 13)], "33"),
        (
            json!({"replicas": 30, "template": model::template("v3")}),
            &[("v1", 15), ("v2", 13), ("v3", 5)],
            "33",
        ),
        (json!({"replicas": 5, "paused": true}), &[("v1", 5), ("v2", 3)], "8"),
    ];
    for (edit, expected, max) in edits {
        let mut cluster = stuck();
        cluster.edit("a", json!({"spec": edit}));
        cluster.settle();
        assert_eq!(sizes(&cluster), want(expected), "{edit}");
        for (image, _) in expected {
            assert_eq!(note(cluster.set_of(image), MAX), max, "{edit}");
        }
    }
}

/// Case 46.
#[test]
fn two_deployments_with_one_selector_leave_each_other_alone() {
    let mut cluster = Cluster::new();
    cluster.create("a", "v1", json!({}));
    cluster.create("b", "v2", json!({}));
    cluster.settle();
    assert_eq!(sizes(&cluster), want(&[("v1", 1), ("v2", 1)]));
    let before = cluster.stored.sets.clone();
    cluster.settle();
    assert_eq!(cluster.stored.sets, before);
    cluster.delete_orphaning("a");
    cluster.settle();
    assert_eq!(sizes(&cluster), want(&[("v2", 1)]));
    assert_eq!(note(cluster.set_of("v1"), REVISION), "1");
    assert_eq!(note(cluster.set_of("v2"), REVISION), "2");
}

/// Case 46, part 4.
#[test]
fn two_deployments_with_one_template_have_a_set_each() {
    let mut cluster = Cluster::new();
    cluster.create("a", "v1", json!({}));
    cluster.create("b", "v1", json!({}));
    cluster.settle();
    let names: Vec<&str> = cluster.stored.sets.keys().map(|name| &name[1..]).collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names[0], names[1]);
    assert!(cluster.stored.deployments.values().all(|d| d["status"]["collisionCount"].is_null()));
}

fn equal_template(hash: &str) -> (Value, Value) {
    let mut template = model::template("v1");
    template["metadata"]["labels"]["pod-template-hash"] = hash.into();
    (template["metadata"]["labels"].clone(), template)
}

/// Case 47.
#[test]
fn of_sets_with_the_template_the_oldest_is_the_new_one() {
    let mut cluster = Cluster::new();
    cluster.broken.push("v1");
    cluster.create("a", "v1", json!({"replicas": 2}));
    cluster.settle();
    let own = cluster.set_of("v1")["metadata"]["name"].as_str().unwrap().to_owned();
    cluster.wait(1);
    let (labels, template) = equal_template("other");
    cluster.create_set("younger", labels, template, 2, "7");
    cluster.settle();
    assert_eq!(note(&cluster.stored.sets[&own], REVISION), "8");
    assert_eq!(cluster.stored.sets["younger"]["metadata"]["ownerReferences"][0]["name"], "a");
    assert_eq!(cluster.status("a")["updatedReplicas"], 2);
    cluster.broken.clear();
    cluster.settle();
    assert_eq!(cluster.stored.sets["younger"]["spec"]["replicas"], 0);
    assert_eq!(cluster.stored.sets[&own]["spec"]["replicas"], 2);
}

/// Case 47, part 3.
#[test]
fn an_orphan_with_the_template_becomes_the_new_set() {
    let mut cluster = Cluster::new();
    let (labels, template) = equal_template("other");
    cluster.create_set("orphan", labels, template, 3, "1");
    cluster.wait(1);
    cluster.create("a", "v1", json!({"replicas": 2}));
    cluster.settle();
    assert_eq!(cluster.stored.sets.len(), 1);
    assert_eq!(sizes(&cluster), want(&[("v1", 2)]));
    assert_eq!(cluster.events, ["Scaled down replica set orphan from 3 to 2"]);
}

/// Case 48.
#[test]
fn a_taken_name_is_counted_and_another_one_used() {
    let mut cluster = Cluster::new();
    cluster.create("a", "v1", json!({}));
    let name = cluster.plan("a").steps[0].step.name().to_owned();
    cluster.create_set(&name, json!({"squatter": "yes"}), model::template("v9"), 0, "1");
    let squatter = cluster.stored.sets[&name].clone();
    cluster.settle();
    assert_eq!(cluster.status("a")["collisionCount"], 1);
    assert_eq!(sizes(&cluster), want(&[("v1", 1)]));
    assert_eq!(cluster.events.len(), 1);
    assert_eq!(cluster.stored.sets[&name]["spec"], squatter["spec"]);
}

/// Case 48, part 3: the answer to the creation was lost.
#[test]
fn a_set_of_our_own_under_the_name_is_taken_up() {
    let mut cluster = Cluster::new();
    cluster.create("a", "v1", json!({}));
    let before = cluster.stored.clone();
    cluster.sync("a").unwrap();
    assert!(cluster.sync_seeing("a", &before, &before).is_err(), "the set is not in the cache yet");
    cluster.settle();
    assert_eq!(cluster.stored.sets.len(), 1);
    assert!(cluster.status("a")["collisionCount"].is_null());
}

/// Case 50.
#[test]
fn annotations_are_copied_but_for_the_controller_s_own() {
    let mut cluster = Cluster::new();
    cluster.create("a", "v1", json!({}));
    let last_applied = "kubectl.kubernetes.io/last-applied-configuration";
    let given = json!({"empty": "", "keep": "1", last_applied: "{}", REVISION: "55", DESIRED: "9"});
    cluster.edit("a", json!({"metadata": {"annotations": given}}));
    cluster.settle();
    let copied = json!({"empty": "", "keep": "1", REVISION: "1", DESIRED: "1", MAX: "2"});
    assert_eq!(cluster.set_of("v1")["metadata"]["annotations"], copied);
    let held = &cluster.stored.deployments["a"]["metadata"]["annotations"];
    assert_eq!(
        (&held[REVISION], &held[DESIRED], &held[last_applied]),
        (&json!("1"), &json!("9"), &json!("{}"))
    );
    cluster.edit("a", json!({"metadata": {"annotations": {"keep": null, "empty": null}}}));
    cluster.settle();
    assert_eq!(cluster.set_of("v1")["metadata"]["annotations"], copied);
    cluster.edit("a", json!({"metadata": {"annotations": {"keep": "2"}}}));
    cluster.settle();
    let name = cluster.set_of("v1")["metadata"]["name"].as_str().unwrap().to_owned();
    cluster.edit_set(&name, json!({"metadata": {"annotations": {"keep": null}}}));
    cluster.settle();
    let set = cluster.set_of("v1");
    assert_eq!((note(set, "keep"), note(set, REVISION)), ("2", "1"));
    assert_eq!(note(set, "deployment.kubernetes.io/revision-history"), "-");
}

/// Case 51.
#[test]
fn a_quota_stalls_the_surge_and_is_told() {
    let mut cluster = Cluster::new();
    cluster.create("a", "v1", json!({"replicas": 2, "progressDeadlineSeconds": 8}));
    cluster.settle();
    cluster.quota = 2;
    cluster.set_image("a", "v2");
    cluster.settle();
    assert_eq!(sizes(&cluster), want(&[("v1", 2), ("v2", 1)]));
    assert_eq!(cluster.condition("a", "Available"), "True/MinimumReplicasAvailable");
    assert_eq!(cluster.condition("a", "Progressing"), "True/NewReplicaSetCreated");
    assert_eq!(cluster.condition("a", "ReplicaFailure"), "True/FailedCreate");
    cluster.wait(12);
    cluster.settle();
    assert_eq!(cluster.condition("a", "Progressing"), "False/ProgressDeadlineExceeded");
    assert_eq!(cluster.condition("a", "ReplicaFailure"), "True/FailedCreate");
    assert_eq!(sizes(&cluster), want(&[("v1", 2), ("v2", 1)]));
    cluster.quota = usize::MAX;
    cluster.settle();
    assert_eq!(cluster.condition("a", "ReplicaFailure"), "");
    assert_eq!(cluster.condition("a", "Progressing"), "True/NewReplicaSetAvailable");
    assert_eq!(sizes(&cluster), want(&[("v2", 2)]));
}

/// Case 62, the last part; its table is tested beside the rounding itself.
#[test]
fn five_replicas_at_a_quarter_each_settle_at_four_and_three() {
    let mut cluster = Cluster::new();
    cluster.broken.push("v2");
    cluster.create("a", "v1", json!({"replicas": 5}));
    cluster.settle();
    cluster.set_image("a", "v2");
    cluster.settle();
    assert_eq!(sizes(&cluster), want(&[("v1", 4), ("v2", 3)]));
    assert_eq!(note(cluster.set_of("v2"), MAX), "7");
}
