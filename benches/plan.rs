//! How many plans a second one core makes: `cargo bench --bench plan`.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use rollgate::rollout::{Snapshot, plan};
use serde_json::{Value, json};

/// How long each measurement takes.
const LONG: Duration = Duration::from_secs(1);

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {
            "containers": [{
                "name": "web", "image": image, "imagePullPolicy": "IfNotPresent",
                "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
                "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            }],
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "securityContext": {}, "schedulerName": "default-scheduler",
        },
    })
}

fn set(name: &str, image: &str, revision: usize, size: i64, desired: i64) -> Value {
    json!({
        "metadata": {
            "name": name, "namespace": "default", "uid": name, "resourceVersion": "1", "generation": 1,
            "creationTimestamp": format!("2026-01-01T00:{revision:02}:00Z"),
            "labels": {"app": "web", "pod-template-hash": "x"},
            "annotations": {
                "deployment.kubernetes.io/revision": revision.to_string(),
                "deployment.kubernetes.io/desired-replicas": desired.to_string(),
                "deployment.kubernetes.io/max-replicas": "13",
            },
            "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "d", "controller": true}],
        },
        "spec": {"replicas": size, "template": template(image)},
        "status": {"observedGeneration": 1, "replicas": size, "readyReplicas": size, "availableReplicas": size,
            "terminatingReplicas": 0},
    })
}

/// A Deployment of 10 replicas with the new set at `new` and an old one at `old` pods, and eight empty ones.
fn snapshot(new: Option<i64>, old: i64, desired: i64) -> String {
    let mut sets: Vec<Value> = (1..9).map(|i| set(&format!("web-{i}"), &format!("v{i}"), i, 0, 10)).collect();
    sets.push(set("web-old", "old", 9, old, desired));
    sets.extend(new.map(|new| set("web-new", "new", 10, new, desired)));
    let (updated, total) = (new.unwrap_or(0), new.unwrap_or(0) + old);
    let condition = |kind: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": "True", "reason": reason, "message": message,
            "lastUpdateTime": "2026-01-01T01:00:00Z", "lastTransitionTime": "2026-01-01T01:00:00Z"})
    };
    json!({
        "now": "2026-01-01T01:00:30Z",
        "deployment": {
            "metadata": {"name": "web", "namespace": "default", "uid": "d", "resourceVersion": "1", "generation": 1,
                "annotations": {"deployment.kubernetes.io/revision": if new.is_some() { "10" } else { "9" }}},
            "spec": {
                "replicas": 10, "selector": {"matchLabels": {"app": "web"}}, "template": template("new"),
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
                "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            },
            "status": {
                "observedGeneration": 1, "replicas": total, "updatedReplicas": updated, "readyReplicas": total,
                "availableReplicas": total, "terminatingReplicas": 0,
                "conditions": [
                    condition("Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
                    condition("Progressing", "NewReplicaSetAvailable",
                        "ReplicaSet \"web-new\" has successfully progressed."),
                ],
            },
        },
        "replica_sets": sets,
        "pods": [],
    })
    .to_string()
}

/// Runs something over and over and prints how often a second.
fn measure(what: &str, mut run: impl FnMut()) {
    let start = Instant::now();
    let mut count = 0_u32;
    while start.elapsed() < LONG {
        for _ in 0..100 {
            run();
        }
        count += 100;
    }
    println!("{what:40} {:>10.0} a second", f64::from(count) / start.elapsed().as_secs_f64());
}

fn main() {
    let situations = [
        ("plan: nothing to do", snapshot(Some(10), 0, 10)),
        ("plan: old set scaled down", snapshot(Some(5), 8, 10)),
        ("plan: new set scaled up", snapshot(Some(5), 3, 10)),
        ("plan: pods spread in proportion", snapshot(Some(5), 8, 9)),
        ("plan: new set created", snapshot(None, 10, 10)),
    ];
    for (what, json) in &situations {
        let read = Snapshot::read(json).unwrap();
        let seen = read.observed();
        measure(what, || {
            black_box(plan(black_box(&seen)));
        });
    }
    let json = &situations[1].1;
    measure("read a Deployment and 10 ReplicaSets", || {
        black_box(Snapshot::read(black_box(json)).unwrap());
    });
}
