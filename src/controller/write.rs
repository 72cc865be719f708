//! Sends what a plan asks for, if it is allowed to.

use bytes::Bytes;
use http::Method;
use serde_json::Value;

use super::api::{Api, ApiError, Content, DEPLOYMENTS, EVENTS, REPLICA_SETS};
use super::metrics::Metrics;
use super::permit::{Permit, Withheld};
use crate::rollout::{Request, Resource, Verb};

/// Why a write was not done.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// It was not allowed, and not sent.
    #[error(transparent)]
    Withheld(#[from] Withheld),
    /// It failed.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// The only way to change objects.
#[derive(Debug, Clone)]
pub struct Writer {
    /// The API server.
    pub api: Api,
    /// The permission.
    pub permit: Permit,
    /// Counts.
    pub metrics: Metrics,
}

impl Writer {
    /// Sends a write of a plan; gives back the answer.
    ///
    /// # Errors
    /// [`WriteError`]; see there.
    pub async fn send(&self, namespace: &str, request: &Request) -> Result<Bytes, WriteError> {
        let (kind, resource) = match request.resource {
            Resource::ReplicaSet => (REPLICA_SETS, "replicasets"),
            Resource::Deployment => (DEPLOYMENTS, "deployments"),
            Resource::DeploymentStatus => (DEPLOYMENTS, "deployments/status"),
        };
        let mut path = match request.verb {
            Verb::Create => kind.all(Some(namespace)),
            _ => kind.one(namespace, &request.name),
        };
        if request.resource == Resource::DeploymentStatus {
            path.push_str("/status");
        }
        let (method, content) = match request.verb {
            Verb::Create => (Method::POST, Content::Json),
            Verb::MergePatch => (Method::PATCH, Content::MergePatch),
            Verb::StrategicPatch => (Method::PATCH, Content::StrategicPatch),
            Verb::Delete => (Method::DELETE, Content::Json),
        };
        let body = serde_json::to_vec(&request.body).map_err(ApiError::from)?;
        self.raw(resource, method, &path, (content, body)).await
    }

    /// Creates an Event.
    ///
    /// # Errors
    /// [`WriteError`]; see there.
    pub async fn create_event(&self, namespace: &str, event: &Value) -> Result<Bytes, WriteError> {
        let path = EVENTS.all(Some(namespace));
        self.raw("events", Method::POST, &path, (Content::Json, event.to_string().into())).await
    }

    /// Patches an Event.
    ///
    /// # Errors
    /// [`WriteError`]; see there.
    pub async fn patch_event(&self, namespace: &str, name: &str, patch: &Value) -> Result<Bytes, WriteError> {
        let path = EVENTS.one(namespace, name);
        self.raw("events", Method::PATCH, &path, (Content::StrategicPatch, patch.to_string().into())).await
    }

    async fn raw(
        &self,
        resource: &'static str,
        method: Method,
        path: &str,
        body: (Content, Vec<u8>),
    ) -> Result<Bytes, WriteError> {
        let verb = match method {
            Method::POST => "create",
            Method::DELETE => "delete",
            _ => "patch",
        };
        self.permit.check()?;
        let answer = self.api.call(method, path, Some(body)).await;
        let result = match &answer {
            Ok(_) => Ok(()),
            Err(error) => Err(error.refusal().map(|refusal| refusal.code)),
        };
        self.metrics.wrote(verb, resource, result);
        Ok(answer?)
    }
}
