//! Plays the kubelets of a cluster that has none: makes every Pod ready and lets deleted ones go.
//!
//! Annotations of a Pod tell when: `test.rollgate.dev/ready-after` and `test.rollgate.dev/stop-after`
//! (seconds since its creation and since its deletion was asked for, 0 unless said), and
//! `test.rollgate.dev/never-ready: "true"` for as long as it stays.

use std::collections::HashSet;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};

use crate::background::{Background, config_of};

/// The kubelets; they rest when dropped.
pub(crate) struct Nodes {
    _run: Background,
}

/// What a Pod waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Ready,
    Gone,
}

impl Nodes {
    /// Starts the kubelets of the cluster that a kubeconfig leads to.
    pub(crate) fn start(kubeconfig: PathBuf) -> Self {
        Self { _run: Background::run(|| run(kubeconfig)) }
    }
}

async fn run(kubeconfig: PathBuf) {
    let config = config_of(kubeconfig).await;
    let client = Client::try_from(config).expect("the test's credentials are usable");
    let waiting = Arc::new(Mutex::new(HashSet::new()));
    let pods = watcher(Api::<Pod>::all(client.clone()), watcher::Config::default());
    let mut pods = pin!(pods.default_backoff().touched_objects());
    loop {
        // A watch breaks when the API server restarts: the stream backs off and goes on.
        match pods.try_next().await {
            Ok(Some(pod)) => {
                let client = client.clone();
                let waiting = Arc::clone(&waiting);
                tokio::spawn(async move { attend(client, pod, &waiting).await });
            }
            Ok(None) => panic!("a watch never ends"),
            Err(error) => eprintln!("nodes: {error}"),
        }
    }
}

/// Does a Pod's next step when its time has come, once, however many events tell of it.
async fn attend(client: Client, pod: Pod, waiting: &Mutex<HashSet<(String, Step)>>) {
    let Some(step) = next_step(&pod) else { return };
    let key = (pod.uid().expect("a stored object has a uid"), step);
    if !waiting.lock().expect("nobody panics while holding it").insert(key.clone()) {
        return;
    }
    tokio::time::sleep(delay(&pod, step)).await;
    while let Err(error) = take(&client, &pod, step).await {
        eprintln!("nodes: {error}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    waiting.lock().expect("nobody panics while holding it").remove(&key);
}

fn next_step(pod: &Pod) -> Option<Step> {
    if pod.metadata.deletion_timestamp.is_some() {
        return Some(Step::Gone);
    }
    let never = pod.annotations().get("test.rollgate.dev/never-ready").is_some_and(|v| v == "true");
    (!never && !is_ready(pod)).then_some(Step::Ready)
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.is_some_and(|all| all.iter().any(|c| c.type_ == "Ready" && c.status == "True"))
}

/// How long a step takes, counted from the event that asks for it, which comes at once.
fn delay(pod: &Pod, step: Step) -> Duration {
    let key = match step {
        Step::Ready => "test.rollgate.dev/ready-after",
        Step::Gone => "test.rollgate.dev/stop-after",
    };
    let seconds = pod.annotations().get(key).and_then(|text| text.parse().ok()).unwrap_or(0.0);
    Duration::from_secs_f64(seconds)
}

/// Takes a step; fails when it should be tried again.
async fn take(client: &Client, pod: &Pod, step: Step) -> kube::Result<()> {
    let namespace = pod.namespace().expect("a Pod has a namespace");
    let pods = Api::<Pod>::namespaced(client.clone(), &namespace);
    let done = match step {
        Step::Ready => {
            let status = Patch::Strategic(ready_status(pod));
            pods.patch_status(&pod.name_any(), &PatchParams::default(), &status).await.map(|_| ())
        }
        Step::Gone => {
            let this_one = Preconditions { uid: pod.uid(), resource_version: None };
            let at_once = DeleteParams::default().grace_period(0).preconditions(this_one);
            pods.delete(&pod.name_any(), &at_once).await.map(|_| ())
        }
    };
    match done {
        // It has gone meanwhile, or is another one by now.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => Ok(()),
        other => other,
    }
}

#[allow(clippy::disallowed_methods, reason = "kubelets have a clock of their own")]
fn now() -> String {
    Timestamp::now().to_string()
}

fn ready_status(pod: &Pod) -> Value {
    let now = now();
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": now});
    let conditions: Vec<_> =
        ["Initialized", "ContainersReady", "Ready", "PodScheduled"].into_iter().map(condition).collect();
    let spec = pod.spec.as_ref().expect("a Pod has a spec");
    let containers: Vec<_> = spec
        .containers
        .iter()
        .map(|container| {
            json!({
                "name": container.name, "image": container.image, "imageID": "", "ready": true,
                "restartCount": 0, "started": true, "state": {"running": {"startedAt": now}},
            })
        })
        .collect();
    json!({"metadata": {"uid": pod.uid()}, "status": {
        "phase": "Running", "startTime": now, "conditions": conditions, "containerStatuses": containers,
    }})
}
