//! Keeps the Lease, and the permit's leadership with it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

use http::Method;
use serde_json::json;
use tracing::{debug, info, warn};

use super::api::{Api, ApiError, Content, LEASES};
use super::lease::{COUNTED_ON, Candidate, EVERY, Lease, Move};
use super::permit::{Lead, Permit};
use crate::clock;

/// How long one attempt may take; several fit into the time that a holder counts on.
const ATTEMPT: Duration = Duration::from_secs(4);

/// The name of the Lease.
const NAME: &str = "rollgate";

/// A name for this process that no other has.
pub fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "rollgate".into());
    format!("{host}_{:016x}", RandomState::new().build_hasher().finish())
}

/// Runs for leadership.
#[derive(Debug)]
pub struct Leader {
    api: Api,
    permit: Permit,
    namespace: String,
    candidate: Candidate,
    leads: bool,
}

impl Leader {
    /// By a Lease in this namespace.
    pub fn new(api: Api, permit: Permit, namespace: String) -> Leader {
        Leader { api, permit, namespace, candidate: Candidate::new(identity()), leads: false }
    }

    /// Runs until `stop`, then lets go of the lease, so that another replica need not wait for its end.
    /// To be stopped when the last write is done.
    pub async fn run(mut self, mut stop: tokio::sync::watch::Receiver<bool>) {
        let mut deadline = Instant::now();
        loop {
            let started = Instant::now();
            match tokio::time::timeout(ATTEMPT, self.attempt()).await {
                Ok(Ok(held)) => {
                    if held {
                        // Counted from before the request: the server may have stored it that early.
                        deadline = started + COUNTED_ON;
                    }
                    self.turn(held, deadline);
                }
                Ok(Err(error)) => debug!(error = &error as &dyn std::error::Error, "lease not renewed"),
                Err(_) => debug!("lease not renewed in time"),
            }
            if self.leads && deadline <= Instant::now() {
                self.turn(false, deadline);
            }
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
        if self.leads {
            self.permit.set_lead(Lead::None);
            if let Ok(Err(error)) = tokio::time::timeout(ATTEMPT, self.release()).await {
                warn!(error = &error as &dyn std::error::Error, "could not let go of the lease");
            }
        }
    }

    fn turn(&mut self, leads: bool, deadline: Instant) {
        match (self.leads, leads) {
            (false, true) => info!(identity = self.candidate.identity, "leading"),
            (true, false) => warn!("no longer leading"),
            _ => {}
        }
        self.leads = leads;
        self.permit.set_lead(if leads { Lead::Until(deadline) } else { Lead::None });
    }

    /// Looks at the lease and takes or renews it. Says whether it is held.
    async fn attempt(&mut self) -> Result<bool, ApiError> {
        let lease = self.read().await?;
        let sent = match self.candidate.consider(lease, Instant::now(), clock::now()) {
            Move::Wait { holder } => {
                debug!(holder, "another replica leads");
                return Ok(false);
            }
            Move::Create(spec) => {
                let body = json!({
                    "apiVersion": "coordination.k8s.io/v1",
                    "kind": "Lease",
                    "metadata": {"name": NAME, "namespace": self.namespace},
                    "spec": spec,
                });
                let path = LEASES.all(Some(&self.namespace));
                self.api.call(Method::POST, &path, Some((Content::Json, body.to_string().into()))).await
            }
            Move::Hold(patch) => self.patch(patch.to_string()).await,
        };
        match sent {
            Ok(_) => Ok(true),
            Err(error) if error.has_code(409) => Ok(false), // somebody else was faster
            Err(error) => Err(error),
        }
    }

    async fn read(&self) -> Result<Option<Lease>, ApiError> {
        match self.api.get(&LEASES.one(&self.namespace, NAME)).await {
            Ok(json) => Ok(Some(serde_json::from_slice(&json)?)),
            Err(error) if error.has_code(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn patch(&self, body: String) -> Result<bytes::Bytes, ApiError> {
        let path = LEASES.one(&self.namespace, NAME);
        self.api.call(Method::PATCH, &path, Some((Content::MergePatch, body.into()))).await
    }

    async fn release(&self) -> Result<(), ApiError> {
        if let Some(lease) = self.read().await?
            && let Some(patch) = self.candidate.release(&lease, clock::now())
        {
            self.patch(patch.to_string()).await?;
            info!("lease released");
        }
        Ok(())
    }
}
