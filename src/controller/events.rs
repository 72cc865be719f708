//! Tells events: correlates them and sends them off, without anybody waiting for it.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tokio::sync::mpsc;
use tracing::debug;

use super::correlate::{Correlator, Said, Verdict};
use super::write::{WriteError, Writer};
use crate::clock;
use crate::kube_types::time::rfc3339;
use crate::rollout::{Deployment, Event};

/// Events that may wait to be sent; further ones are dropped.
const WAITING: usize = 10_000;

/// Events sent at once.
const SENDERS: usize = 4;

/// As the built-in controller's events say, so that whoever looks for them finds them.
const SOURCE: &str = "deployment-controller";

/// An Event object to be made or counted up.
#[derive(Debug)]
struct Parcel {
    again: bool,
    object: Object,
}

/// An Event, as `v1` has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata,
    involved_object: Involved,
    #[serde(rename = "type")]
    class: &'static str,
    reason: &'static str,
    first_timestamp: String,
    source: Source,
    reporting_component: &'static str,
    reporting_instance: &'static str,
    #[serde(flatten)]
    latest: Latest,
}

/// What changes when an Event is counted up.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Latest {
    count: i32,
    last_timestamp: String,
    message: String,
}

#[derive(Debug, Serialize)]
struct Metadata {
    name: String,
    namespace: Box<str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Involved {
    kind: &'static str,
    api_version: &'static str,
    namespace: Box<str>,
    name: Box<str>,
    uid: Box<str>,
    resource_version: Box<str>,
}

#[derive(Debug, Serialize)]
struct Source {
    component: &'static str,
}

/// Takes events.
#[derive(Debug, Clone)]
pub struct Recorder {
    correlator: Arc<Mutex<Correlator>>,
    out: mpsc::Sender<Parcel>,
}

/// Sends what the recorder was told.
#[derive(Debug)]
pub struct Sender {
    waiting: mpsc::Receiver<Parcel>,
    writer: Writer,
}

/// A recorder, and the task behind it.
pub fn recorder(writer: Writer) -> (Recorder, Sender) {
    let (out, waiting) = mpsc::channel(WAITING);
    (Recorder { correlator: Arc::default(), out }, Sender { waiting, writer })
}

impl Recorder {
    /// Tells an event on a Deployment.
    pub fn tell(&self, deployment: &Deployment, event: &Event) {
        let now = clock::now();
        let meta = &deployment.meta;
        let said = Said {
            about: format!("{}/{} {}", meta.namespace, meta.name, meta.uid).into(),
            kind: event.kind,
            reason: event.reason,
            message: Some(event.message.clone()),
        };
        let name = format!("{}.{:x}", meta.name, now.as_nanosecond());
        let mut correlator = self.correlator.lock().unwrap_or_else(PoisonError::into_inner);
        let verdict = correlator.judge(said, name, now);
        drop(correlator);
        let Verdict::Tell { record, again, combined, message } = verdict else { return };
        let involved_object = Involved {
            kind: "Deployment",
            api_version: "apps/v1",
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.clone(),
        };
        let object = Object {
            api_version: "v1",
            kind: "Event",
            metadata: Metadata { name: record.name, namespace: meta.namespace.clone() },
            involved_object,
            class: event.kind,
            reason: event.reason,
            first_timestamp: rfc3339(record.first),
            source: Source { component: SOURCE },
            reporting_component: if combined { "" } else { SOURCE },
            reporting_instance: "",
            latest: Latest { count: record.count, last_timestamp: rfc3339(now), message },
        };
        let parcel = Parcel { again, object };
        if self.out.try_send(parcel).is_err() {
            debug!(deployment = %meta.name, "event dropped: too many are waiting");
        }
    }
}

impl Sender {
    /// Sends until every recorder is gone and all is sent.
    pub async fn run(self) {
        let Sender { mut waiting, writer } = self;
        let mut sending = tokio::task::JoinSet::new();
        while let Some(parcel) = waiting.recv().await {
            while sending.len() >= SENDERS {
                sending.join_next().await;
            }
            let writer = writer.clone();
            sending.spawn(async move { send(&writer, parcel).await });
        }
        while sending.join_next().await.is_some() {}
    }
}

/// Sends one event. A refusal is final: events are told as well as possible, and no better.
async fn send(writer: &Writer, parcel: Parcel) {
    let Parcel { again, object } = parcel;
    let Metadata { name, namespace } = &object.metadata;
    let sent = match again {
        true => writer.patch_event(namespace, name, &object.latest).await,
        false => writer.create_event(namespace, &object).await,
    };
    let sent = match sent {
        Err(WriteError::Api(error)) if again && error.has_code(404) => {
            writer.create_event(namespace, &object).await
        }
        sent => sent,
    };
    if let Err(error) = sent {
        debug!(event = name, error = &error as &dyn std::error::Error, "event not sent");
    }
}
