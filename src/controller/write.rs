//! Sends what a plan asks for, if it is allowed to.

use bytes::Bytes;
use http::Method;
use serde::Serialize;

use super::api::{Api, ApiError, Content, DEPLOYMENTS, EVENTS, Form, REPLICA_SETS};
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
        let body = (content, request.body.clone().into_bytes());
        self.raw(Form::Whole, resource, method, &path, body).await
    }

    /// Creates an Event.
    ///
    /// # Errors
    /// [`WriteError`]; see there.
    pub async fn create_event(&self, namespace: &str, event: &impl Serialize) -> Result<(), WriteError> {
        let body = (Content::Json, serde_json::to_vec(event).map_err(ApiError::from)?);
        self.event(Method::POST, &EVENTS.all(Some(namespace)), body).await
    }

    /// Patches an Event.
    ///
    /// # Errors
    /// [`WriteError`]; see there.
    pub async fn patch_event(
        &self,
        namespace: &str,
        name: &str,
        patch: &impl Serialize,
    ) -> Result<(), WriteError> {
        let body = (Content::StrategicPatch, serde_json::to_vec(patch).map_err(ApiError::from)?);
        self.event(Method::PATCH, &EVENTS.one(namespace, name), body).await
    }

    /// Nobody reads the answer, so it may be short.
    async fn event(&self, method: Method, path: &str, body: (Content, Vec<u8>)) -> Result<(), WriteError> {
        self.raw(Form::Metadata, "events", method, path, body).await.map(drop)
    }

    async fn raw(
        &self,
        form: Form,
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
        let answer = self.api.call_for(form, method, path, Some(body)).await;
        let result = match &answer {
            Ok(_) => Ok(()),
            Err(error) => Err(error.refusal().map(|refusal| refusal.code)),
        };
        self.metrics.wrote(verb, resource, result);
        Ok(answer?)
    }
}
