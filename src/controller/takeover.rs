//! Makes sure that no other Deployment controller is at work, before the first write and as long as we run.
//!
//! After coming to lead, a paused probe Deployment without pods is created, and whoever sets its
//! `status.observedGeneration` within a few seconds is a rival. While working, statuses written by others
//! ([`super::rivals`]) give one away. With a rival about, nothing is written; the probe is repeated until it
//! is gone.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Method;
use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tracing::{error, info, warn};

use super::api::{Api, ApiError, Content, DEPLOYMENTS, EVENTS};
use super::permit::{Field, Permit};
use super::rivals::rival;
use crate::clock;
use crate::kube_types::time::rfc3339;

/// The probe's name.
const PROBE: &str = "rollgate-takeover-probe";

/// How long others have to betray themselves. A controller that has nothing else to do needs
/// milliseconds; a busy one with the default client limits may need seconds.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often the probe is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// How long to wait before probing again when there is a rival, or when probing failed.
const AGAIN: Duration = Duration::from_secs(30);
const RETRY: Duration = Duration::from_secs(2);

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Finding {
    /// Nobody answered. When the probe was made, by the server's clock.
    Alone(Timestamp),
    /// Somebody did.
    Rival(String),
}

/// A foreign write of a status.
#[derive(Debug)]
struct Trespass {
    manager: String,
    object: String,
}

#[derive(Deserialize)]
struct Probe {
    metadata: ProbeMeta,
    #[serde(default)]
    status: ProbeStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProbeMeta {
    creation_timestamp: String,
    #[serde(default)]
    managed_fields: Option<Vec<ProbeMark>>,
}

#[derive(Deserialize)]
struct ProbeMark {
    #[serde(default)]
    manager: String,
    #[serde(default)]
    subresource: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ProbeStatus {
    observed_generation: i64,
}

/// Looks at Deployments that come by for the handwriting of others.
#[derive(Debug, Clone)]
pub struct Lookout {
    /// From when on foreign writes count; none while nobody cares.
    since: Arc<Mutex<Option<Timestamp>>>,
    found: mpsc::Sender<Trespass>,
}

impl Lookout {
    /// Looks at one.
    pub fn look(&self, deployment: &str) {
        let Some(since) = *self.since.lock().unwrap_or_else(PoisonError::into_inner) else { return };
        if let Some(manager) = rival(deployment, since) {
            let object = deployment.to_owned();
            let _ = self.found.try_send(Trespass { manager, object }); // one is enough
        }
    }

    fn count_from(&self, since: Option<Timestamp>) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }
}

/// Guards against rivals.
#[derive(Debug)]
pub struct Takeover {
    api: Api,
    permit: Permit,
    namespace: String,
    lookout: Lookout,
    found: mpsc::Receiver<Trespass>,
}

impl Takeover {
    /// Probing in this namespace.
    pub fn new(api: Api, permit: Permit, namespace: String) -> Takeover {
        let (tell, found) = mpsc::channel(1);
        let lookout = Lookout { since: Arc::default(), found: tell };
        Takeover { api, permit, namespace, lookout, found }
    }

    /// To be shown every Deployment.
    pub fn lookout(&self) -> Lookout {
        self.lookout.clone()
    }

    /// Guards for ever.
    pub async fn run(mut self) {
        loop {
            self.permit.set_field(Field::Unchecked);
            self.permit.leading(true).await;
            match self.probe().await {
                Ok(Finding::Alone(since)) => {
                    info!("no other Deployment controller is running");
                    self.watch_from(since).await;
                }
                Ok(Finding::Rival(manager)) => {
                    self.alarm(&manager, &probe(&self.namespace)).await;
                    tokio::time::sleep(AGAIN).await;
                }
                Err(error) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "could not make sure that no other Deployment controller is running"
                    );
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Lets us work until leadership ends or a rival shows.
    async fn watch_from(&mut self, since: Timestamp) {
        while self.found.try_recv().is_ok() {} // from before
        self.lookout.count_from(Some(since));
        self.permit.set_field(Field::Clear);
        let trespass = tokio::select! {
            () = self.permit.leading(false) => None,
            found = self.found.recv() => found,
        };
        self.lookout.count_from(None);
        if let Some(Trespass { manager, object }) = trespass {
            let object = serde_json::from_str(&object).unwrap_or_default();
            self.alarm(&manager, &object).await;
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn alarm(&self, manager: &str, about: &Value) {
        self.permit.set_field(Field::Taken);
        error!(manager, deployment = %about["metadata"]["name"], "another Deployment controller is running: rollgate has stopped writing");
        let event = event(manager, about);
        let namespace = about["metadata"]["namespace"].as_str().unwrap_or(&self.namespace);
        let body = Some((Content::Json, event.to_string().into_bytes()));
        if let Err(error) = self.api.call(Method::POST, &EVENTS.all(Some(namespace)), body).await {
            warn!(error = &error as &dyn std::error::Error, "event not sent");
        }
    }

    async fn probe(&self) -> Result<Finding, ApiError> {
        self.remove_probe().await?; // one left over from a process that was killed
        let body = probe(&self.namespace).to_string().into_bytes();
        let path = DEPLOYMENTS.all(Some(&self.namespace));
        self.api.call(Method::POST, &path, Some((Content::Json, body))).await?;
        let found = self.wait_for_others().await;
        self.remove_probe().await?;
        found
    }

    async fn wait_for_others(&self) -> Result<Finding, ApiError> {
        let path = DEPLOYMENTS.one(&self.namespace, PROBE);
        let mut waited = Duration::ZERO;
        loop {
            let probe: Probe = serde_json::from_slice(&self.api.get(&path).await?)?;
            if probe.status.observed_generation > 0 {
                let marks = probe.metadata.managed_fields.unwrap_or_default();
                let writer = marks.into_iter().find(|mark| mark.subresource == "status");
                return Ok(Finding::Rival(writer.map_or("unknown".into(), |mark| mark.manager)));
            }
            if waited >= PATIENCE {
                let made = probe.metadata.creation_timestamp.parse().unwrap_or_else(|_| clock::now());
                return Ok(Finding::Alone(made));
            }
            tokio::time::sleep(LOOK).await;
            waited += LOOK;
        }
    }

    async fn remove_probe(&self) -> Result<(), ApiError> {
        let path = DEPLOYMENTS.one(&self.namespace, PROBE);
        let body = Some((Content::Json, json!({"propagationPolicy": "Background"}).to_string().into()));
        match self.api.call(Method::DELETE, &path, body).await {
            Err(error) if !error.has_code(404) => Err(error),
            _ => Ok(()),
        }
    }
}

/// A Deployment that every Deployment controller takes note of and none does anything about.
fn probe(namespace: &str) -> Value {
    let labels = json!({"app.kubernetes.io/name": PROBE});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": PROBE, "namespace": namespace, "labels": labels},
        "spec": {
            "paused": true,
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "none", "image": "none"}]},
            },
        },
    })
}

fn event(manager: &str, about: &Value) -> Value {
    let (meta, now) = (&about["metadata"], clock::now());
    let time = rfc3339(now);
    let name = meta["name"].as_str().unwrap_or(PROBE);
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": format!("{name}.{:x}", now.as_nanosecond()), "namespace": meta["namespace"]},
        "involvedObject": {
            "kind": "Deployment",
            "apiVersion": "apps/v1",
            "namespace": meta["namespace"],
            "name": name,
            "uid": meta["uid"],
        },
        "type": "Warning",
        "reason": "RivalController",
        "message": format!("{manager} also acts as Deployment controller; rollgate has stopped writing"),
        "count": 1,
        "firstTimestamp": time,
        "lastTimestamp": time,
        "source": {"component": "rollgate"},
        "reportingComponent": "rollgate",
        "reportingInstance": "",
    })
}
