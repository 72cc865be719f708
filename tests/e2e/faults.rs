//! What happens when things break: nothing is lost, nothing is done twice, and rollouts go on within
//! seconds.
//!
//! Each test has a control plane of its own, one test at a time: they are about time, and must not
//! wait for each other's processor.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::engine::{ALONE, start_engine, start_engine_with};
use crate::kubectl::Kubectl;
use crate::nodes::Nodes;
use crate::process::{Process, Signal};
use crate::proxy::{Proxy, Weather};
use crate::workplace::wait_for;

/// How long a rollout may take after what broke works again.
const RECOVERY: Duration = Duration::from_secs(60);

/// How many Pods more than asked for a rollout of [`deployment`] may want.
const SURGE: u64 = 1;

const REPLICAS: u64 = 2;

/// A control plane with everything but the engine.
struct Cluster {
    plane: ControlPlane,
    _others: Process,
    _nodes: Nodes,
    _turn: MutexGuard<'static, ()>,
}

impl Cluster {
    fn start(test: &str) -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let plane = ControlPlane::start(test);
        let others = plane.start_other_controllers();
        let nodes = Nodes::start(plane.kubectl("default").kubeconfig);
        Self { plane, _others: others, _nodes: nodes, _turn: turn }
    }
}

#[test]
fn killed_at_any_moment_it_goes_on_where_it_was() {
    const DEPLOYMENTS: usize = 10;
    const IMAGES: u32 = 6;
    let cluster = Cluster::start("faults-killed");
    let kubectl = cluster.plane.namespace("killed");
    create(&kubectl, DEPLOYMENTS);
    let mut engine = start_engine(&cluster.plane, "engine", ALONE);
    // Moments that differ from each other and stay the same from run to run.
    let mut pauses = (1..).map(|n: u64| Duration::from_millis(150 + n * 7919 % 700));
    for image in 2..=IMAGES {
        roll(&kubectl, DEPLOYMENTS, image);
        for pause in pauses.by_ref().take(DEPLOYMENTS / 2) {
            thread::sleep(pause);
            engine.kill();
            engine = start_engine(&cluster.plane, "engine", ALONE);
            assert_never_too_many(&kubectl);
        }
        await_rollouts(&kubectl, DEPLOYMENTS, image);
    }
    assert_one_set_an_image(&kubectl, DEPLOYMENTS, IMAGES);
}

#[test]
fn a_restarted_api_server_is_found_again() {
    const DEPLOYMENTS: usize = 5;
    let mut cluster = Cluster::start("faults-restart");
    let kubectl = cluster.plane.namespace("restart");
    let _engine = start_engine(&cluster.plane, "engine", ALONE);
    create(&kubectl, DEPLOYMENTS);
    for image in 2..=3 {
        roll(&kubectl, DEPLOYMENTS, image);
        cluster.plane.restart_api_server();
        await_rollouts(&kubectl, DEPLOYMENTS, image);
    }
    assert_one_set_an_image(&kubectl, DEPLOYMENTS, 3);
}

#[test]
fn another_replica_takes_over_from_a_dead_or_frozen_leader() {
    const DEPLOYMENTS: usize = 3;
    let cluster = Cluster::start("faults-leader");
    let kubectl = cluster.plane.namespace("leader");
    create(&kubectl, DEPLOYMENTS);
    let replica = |name: &str| start_engine(&cluster.plane, name, &["--home-namespace=leader"]);
    let mut first = replica("first");
    let holder = await_holder(&kubectl, "");
    let proxy = Proxy::start(kubectl.kubeconfig.clone(), Weather::Calm);
    let through = kubectl.through(&format!("http://127.0.0.1:{}", proxy.port));
    let second = start_engine_with(&through, &cluster.plane.folder, "second", &["--home-namespace=leader"]);
    await_rollouts(&kubectl, DEPLOYMENTS, 1);

    first.kill();
    roll(&kubectl, DEPLOYMENTS, 2);
    let holder = await_holder(&kubectl, &holder);
    await_rollouts(&kubectl, DEPLOYMENTS, 2);

    let _third = replica("third");
    roll(&kubectl, DEPLOYMENTS, 3);
    second.signal(Signal::Stop);
    let last = await_holder(&kubectl, &holder);
    await_rollouts(&kubectl, DEPLOYMENTS, 3);
    let (written, _) = proxy.counts();
    assert!(written > 0, "the second replica was to lead");
    // It wakes up in the belief that it leads, in the middle of the other's work. What it was just sending
    // comes too late, and is refused.
    roll(&kubectl, DEPLOYMENTS, 4);
    second.signal(Signal::Cont);
    await_rollouts(&kubectl, DEPLOYMENTS, 4);
    assert_eq!(proxy.counts().0, written, "the frozen replica wrote beside another leader");
    assert_eq!(await_holder(&kubectl, ""), last, "the frozen replica took the Lease back");
    assert_one_set_an_image(&kubectl, DEPLOYMENTS, 4);
}

#[test]
fn told_to_end_it_hands_over_at_once() {
    let cluster = Cluster::start("faults-handover");
    let kubectl = cluster.plane.namespace("handover");
    create(&kubectl, 1);
    let mut first = start_engine(&cluster.plane, "first", &["--home-namespace=handover"]);
    let holder = await_holder(&kubectl, "");
    let _second = start_engine(&cluster.plane, "second", &["--home-namespace=handover"]);
    await_rollouts(&kubectl, 1, 1);
    assert!(first.stop().success(), "it ends with an error\n{}", first.tail());
    roll(&kubectl, 1, 2);
    await_holder(&kubectl, &holder);
    await_rollouts(&kubectl, 1, 2);
}

#[test]
fn storms_of_errors_and_expired_watches_only_delay_it() {
    const DEPLOYMENTS: usize = 3;
    let cluster = Cluster::start("faults-storm");
    let kubectl = cluster.plane.namespace("storm");
    let proxy = Proxy::start(kubectl.kubeconfig.clone(), Weather::Storm);
    let through = kubectl.through(&format!("http://127.0.0.1:{}", proxy.port));
    let _engine = start_engine_with(&through, &cluster.plane.folder, "engine", ALONE);
    create(&kubectl, DEPLOYMENTS);
    await_rollouts(&kubectl, DEPLOYMENTS, 1);
    for image in 2..=3 {
        roll(&kubectl, DEPLOYMENTS, image);
        await_rollouts(&kubectl, DEPLOYMENTS, image);
    }
    assert_one_set_an_image(&kubectl, DEPLOYMENTS, 3);
    let (writes, watches) = proxy.counts();
    assert!(writes > 0 && watches > 3, "no storm came by: {writes} writes, {watches} watches");
}

#[test]
fn a_namespace_that_goes_away_takes_nothing_with_it() {
    let cluster = Cluster::start("faults-namespace");
    let going = cluster.plane.namespace("going");
    let staying = cluster.plane.namespace("staying");
    let mut engine = start_engine(&cluster.plane, "engine", ALONE);
    create(&going, 5);
    create(&staying, 1);
    await_rollouts(&going, 5, 1);
    roll(&going, 5, 2);
    going.get(&["delete", "namespace", "going", "--timeout=60s"]);
    roll(&staying, 1, 2);
    await_rollouts(&staying, 1, 2);
    assert!(engine.ended().is_none(), "the engine ended\n{}", engine.tail());
}

#[test]
fn foreign_replica_sets_and_garbage_are_left_alone() {
    const FOREIGN: usize = 1000;
    let cluster = Cluster::start("faults-foreign");
    let kubectl = cluster.plane.namespace("foreign");
    let sets: Vec<_> = (0..FOREIGN).map(foreign_set).collect();
    kubectl.apply(&json!({"apiVersion": "v1", "kind": "List", "items": sets}));
    let before = foreign_versions(&kubectl);
    let _engine = start_engine(&cluster.plane, "engine", ALONE);
    create(&kubectl, 1);
    await_rollouts(&kubectl, 1, 1);
    for garbage in ["revision=first", "desired-replicas=-7", "max-replicas=many", "revision-history=,,x"] {
        let garbage = format!("deployment.kubernetes.io/{garbage}");
        kubectl.get(&["annotate", "replicasets", "-l", "app=d0,whose!=foreign", "--overwrite", &garbage]);
        kubectl.get(&["annotate", "deployment/d0", "--overwrite", &garbage]);
    }
    roll(&kubectl, 1, 2);
    await_rollouts(&kubectl, 1, 2);
    // Not assert_eq!, which would print a thousand of them twice.
    assert!(foreign_versions(&kubectl) == before, "ReplicaSets of others were written");
}

/// Creates Deployments `d0`, `d1`, … with image 1.
fn create(kubectl: &Kubectl, count: usize) {
    let items: Vec<_> = (0..count).map(|n| deployment(&format!("d{n}"))).collect();
    kubectl.apply(&json!({"apiVersion": "v1", "kind": "List", "items": items}));
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": REPLICAS,
            "strategy": {"rollingUpdate": {"maxSurge": SURGE, "maxUnavailable": 0}},
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {
                    "labels": {"app": name},
                    "annotations": {"test.rollgate.dev/ready-after": "0.3"},
                },
                "spec": {"containers": [{"name": "main", "image": image(1)}]},
            },
        },
    })
}

fn image(number: u32) -> String {
    format!("registry.example/image:{number}")
}

/// A ReplicaSet with labels that no Deployment selects, or with another controller.
fn foreign_set(number: usize) -> Value {
    let app = if number.is_multiple_of(2) { "other" } else { "d0" };
    let owners = match app {
        "other" => json!([]),
        _ => json!([{"apiVersion": "example.com/v1", "kind": "Rollout", "name": "r",
            "uid": format!("00000000-0000-0000-0000-{number:012}"), "controller": true}]),
    };
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": format!("foreign-{number}"), "labels": {"app": app, "whose": "foreign"},
            "ownerReferences": owners},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": app}},
            "template": {
                "metadata": {"labels": {"app": app}},
                "spec": {"containers": [{"name": "main", "image": image(1)}]},
            },
        },
    })
}

/// What changes with every write that changes anything but their status.
fn foreign_versions(kubectl: &Kubectl) -> String {
    let shown = "jsonpath={range .items[*]}{.metadata.name} {.metadata.generation} {.metadata.annotations} \
                 {.metadata.ownerReferences}{\"\\n\"}{end}";
    kubectl.get(&["get", "replicasets", "-l", "whose=foreign", "-o", shown])
}

/// Gives all Deployments an image.
fn roll(kubectl: &Kubectl, count: usize, number: u32) {
    let image = format!("main={}", image(number));
    let names: Vec<_> = (0..count).map(|n| format!("deployment/d{n}")).collect();
    let mut arguments = vec!["set", "image"];
    arguments.extend(names.iter().map(String::as_str));
    arguments.push(&image);
    kubectl.get(&arguments);
}

/// Waits until all Deployments have come to an image.
fn await_rollouts(kubectl: &Kubectl, count: usize, number: u32) {
    let done = wait_for(RECOVERY, || {
        assert_never_too_many(kubectl);
        let deployments = kubectl.objects("deployments");
        let complete = deployments.iter().filter(|d| is_complete(d, &image(number))).count();
        (complete == count).then_some(())
    });
    let state = || kubectl.get(&["get", "deployments,replicasets", "-o", "wide"]);
    assert!(done.is_some(), "image {number} is not rolled out in time:\n{}", state());
}

fn is_complete(deployment: &Value, image: &str) -> bool {
    let status = &deployment["status"];
    deployment["spec"]["template"]["spec"]["containers"][0]["image"] == image
        && status["observedGeneration"] == deployment["metadata"]["generation"]
        && ["replicas", "updatedReplicas", "availableReplicas"].iter().all(|key| status[key] == REPLICAS)
}

/// The ReplicaSets of a Deployment never want more Pods than it may have.
fn assert_never_too_many(kubectl: &Kubectl) {
    let sets = kubectl.objects("replicasets");
    for deployment in kubectl.objects("deployments") {
        let name = &deployment["metadata"]["name"];
        let own = sets.iter().filter(|set| set["metadata"]["ownerReferences"][0]["name"] == *name);
        let wanted: u64 = own.filter_map(|set| set["spec"]["replicas"].as_u64()).sum();
        assert!(wanted <= REPLICAS + SURGE, "the ReplicaSets of {name} want {wanted} Pods");
    }
}

/// No image was lost, and none has two ReplicaSets.
fn assert_one_set_an_image(kubectl: &Kubectl, deployments: usize, images: u32) {
    let sets = kubectl.objects("replicasets");
    for n in 0..deployments {
        let name = format!("d{n}");
        let own = sets.iter().filter(|set| set["metadata"]["labels"]["app"] == name);
        let mut found: Vec<_> = own
            .map(|set| {
                let image = &set["spec"]["template"]["spec"]["containers"][0]["image"];
                let revision = &set["metadata"]["annotations"]["deployment.kubernetes.io/revision"];
                (revision.to_string(), image.to_string())
            })
            .collect();
        found.sort();
        let expected: Vec<_> =
            (1..=images).map(|n| (format!("\"{n}\""), format!("\"{}\"", image(n)))).collect();
        assert_eq!(found, expected, "revisions and images of {name}");
    }
}

/// Waits until another than `former` holds the Lease; who it is.
fn await_holder(kubectl: &Kubectl, former: &str) -> String {
    let holder = wait_for(RECOVERY, || {
        let leases = kubectl.objects("leases.coordination.k8s.io");
        let holder = leases.first()?["spec"]["holderIdentity"].as_str()?.to_owned();
        (!holder.is_empty() && holder != former).then_some(holder)
    });
    holder.unwrap_or_else(|| panic!("nobody takes the Lease from {former:?}"))
}
