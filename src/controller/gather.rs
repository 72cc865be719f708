//! One reading of what bears on one Deployment, for those who keep no caches. It only reads.

use k8s_openapi::jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::api::{Api, ApiError, DEPLOYMENTS, Form, Kind, PODS, REPLICA_SETS};
use super::wire::Page;
use crate::rollout::{Deployment, Strategy};

/// What was seen, in the shape that [`Snapshot::read`](crate::rollout::Snapshot::read) takes.
#[derive(Serialize)]
struct Gathered {
    now: Timestamp,
    deployment: Box<RawValue>,
    replica_sets: Vec<Box<RawValue>>,
    pods: Vec<Box<RawValue>>,
}

/// Reads a Deployment, and the ReplicaSets of its namespace; Pods too, where the strategy looks at them. Gives
/// a snapshot as JSON, with `now` as its time.
///
/// The parts are read one after the other, so what changes meanwhile may show in one and not in another.
///
/// # Errors
/// [`ApiError`], when any of them cannot be read.
pub async fn gather(api: &Api, namespace: &str, name: &str, now: Timestamp) -> Result<String, ApiError> {
    let body = api.get(&DEPLOYMENTS.one(namespace, name)).await?;
    let deployment: Box<RawValue> = serde_json::from_slice(&body)?;
    let strategy = serde_json::from_str::<Deployment>(deployment.get())?.strategy;
    let replica_sets = list(api, REPLICA_SETS, namespace).await?;
    let pods = match strategy {
        Strategy::Recreate => list(api, PODS, namespace).await?,
        _ => Vec::new(),
    };
    Ok(serde_json::to_string(&Gathered { now, deployment, replica_sets, pods })?)
}

async fn list(api: &Api, kind: Kind, namespace: &str) -> Result<Vec<Box<RawValue>>, ApiError> {
    let path = kind.all(Some(namespace));
    let mut objects = Vec::new();
    let mut next = String::new();
    loop {
        let body = api.page(&path, "", &next, Form::Whole).await?;
        let page = Page::read(&body)?;
        objects.extend(page.items.into_iter().map(ToOwned::to_owned));
        if page.next.is_empty() {
            return Ok(objects);
        }
        next = page.next.into_owned();
    }
}
