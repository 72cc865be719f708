//! Calls to the API server as bytes: addresses, timeouts, and what a refusal means.
//!
//! No typed client is used, since it reads whole objects into types that forget unknown fields, and
//! retries by itself, which a controller that may lose its lease at any time must not allow.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde::Deserialize;

use super::transport::{Transport, TransportError};

/// How long one call may take. As long as the API server gives itself, so that an answer is not missed.
const CALL: Duration = Duration::from_secs(60);

/// Objects on a page of a list, as kubectl asks for them.
const PAGE: u32 = 500;

/// Why a call did not do what it was to do.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The API server refused it.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// There was no answer, so that it may or may not have been done.
    #[error("the API server cannot be reached")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The answer is not what was asked for.
    #[error("the answer cannot be read")]
    Garbled(#[from] serde_json::Error),
}

/// A refusal, in the API server's words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Refusal {
    /// The HTTP status.
    pub code: u16,
    /// Why, in one word; `Conflict` and `AlreadyExists` share a code and are told apart by it.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
    /// More about it.
    pub details: Details,
}

/// More about a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Details {
    /// What exactly is wrong.
    pub causes: Vec<Cause>,
    /// When to try again, 0 when it does not say.
    pub retry_after_seconds: u64,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Cause {
    /// In one word.
    pub reason: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Refusal {
    fn read(status: StatusCode, retry_after: Option<&str>, body: &[u8]) -> Refusal {
        // Proxies answer in other shapes than the API server.
        let mut refusal: Refusal = serde_json::from_slice(body).unwrap_or_else(|_| Refusal {
            message: String::from_utf8_lossy(&body[..body.len().min(512)]).trim().to_owned(),
            ..Refusal::default()
        });
        refusal.code = status.as_u16();
        if refusal.message.is_empty() {
            refusal.message = format!("the server answered {status}");
        }
        if let Some(secs) = retry_after.and_then(|text| text.parse().ok()) {
            refusal.details.retry_after_seconds = secs;
        }
        refusal
    }

    /// Whether the namespace is going away, so that nothing can be created in it any more.
    pub fn is_namespace_ending(&self) -> bool {
        self.details.causes.iter().any(|cause| cause.reason == "NamespaceTerminating")
    }

    /// Whether the server has too much to do, or cannot do it just now: no judgement about the request.
    pub fn is_passing(&self) -> bool {
        matches!(self.code, 429 | 503 | 504)
    }
}

impl ApiError {
    /// The refusal, if it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            ApiError::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Whether it is a refusal with this reason.
    pub fn is(&self, reason: &str) -> bool {
        self.refusal().is_some_and(|refusal| refusal.reason == reason)
    }

    /// Whether it is a refusal with this HTTP status.
    pub fn has_code(&self, code: u16) -> bool {
        self.refusal().is_some_and(|refusal| refusal.code == code)
    }
}

/// The content types of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// An object.
    Json,
    /// An RFC 7386 patch.
    MergePatch,
    /// A patch that knows the merge keys of lists.
    StrategicPatch,
}

impl Content {
    fn mime(self) -> &'static str {
        match self {
            Content::Json => "application/json",
            Content::MergePatch => "application/merge-patch+json",
            Content::StrategicPatch => "application/strategic-merge-patch+json",
        }
    }
}

/// How much of objects is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All.
    Whole,
    /// Their metadata. A server that cannot leave the rest out sends all.
    Metadata,
}

impl Form {
    fn of_object(self) -> &'static str {
        match self {
            Form::Whole => "application/json",
            Form::Metadata => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
        }
    }

    fn of_list(self) -> &'static str {
        match self {
            Form::Whole => "application/json",
            Form::Metadata => {
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
        }
    }
}

/// Calls one API server. Objects will remember `rollgate` as the manager of what is written.
#[derive(Debug, Clone)]
pub struct Api {
    transport: Transport,
}

impl Api {
    /// Prepares to reach the API server that `config` names.
    ///
    /// # Errors
    /// [`TransportError`]; see there.
    pub fn new(config: kube::Config) -> Result<Api, TransportError> {
        Ok(Api { transport: Transport::new(config)? })
    }

    /// GET.
    ///
    /// # Errors
    /// [`ApiError`]; see there.
    pub async fn get(&self, path: &str) -> Result<Bytes, ApiError> {
        self.call(Method::GET, path, None).await
    }

    /// GET of a page of a list: of all under `path`, or those that `which` selects, as part of a query that
    /// begins with `&`. `next` is what the page before gave, empty for the first.
    ///
    /// # Errors
    /// [`ApiError`]; see there.
    pub async fn page(&self, path: &str, which: &str, next: &str, form: Form) -> Result<Bytes, ApiError> {
        let mut url = format!("{path}?limit={PAGE}{which}");
        if !next.is_empty() {
            url.push_str(&format!("&continue={next}"));
        }
        self.collect(self.send(Method::GET, &url, None, form.of_list())).await
    }

    /// Any call whose answer is one object.
    ///
    /// # Errors
    /// [`ApiError`]; see there.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<(Content, Vec<u8>)>,
    ) -> Result<Bytes, ApiError> {
        self.call_for(Form::Whole, method, path, body).await
    }

    /// The same, with as much in the answer as is asked for.
    ///
    /// # Errors
    /// [`ApiError`]; see there.
    pub async fn call_for(
        &self,
        form: Form,
        method: Method,
        path: &str,
        body: Option<(Content, Vec<u8>)>,
    ) -> Result<Bytes, ApiError> {
        self.collect(self.send(method, path, body, form.of_object())).await
    }

    async fn collect(
        &self,
        answer: impl Future<Output = Result<Incoming, ApiError>>,
    ) -> Result<Bytes, ApiError> {
        let whole = async { answer.await?.collect().await.map(|body| body.to_bytes()).map_err(unreachable) };
        tokio::time::timeout(CALL, whole).await.map_err(unreachable)?
    }

    /// GET of a watch, whose answer comes bit by bit.
    ///
    /// # Errors
    /// [`ApiError`]; see there.
    pub async fn watch(&self, path: &str, form: Form) -> Result<Incoming, ApiError> {
        let opened = self.send(Method::GET, path, None, form.of_object());
        tokio::time::timeout(CALL, opened).await.map_err(unreachable)?
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<(Content, Vec<u8>)>,
        accept: &'static str,
    ) -> Result<Incoming, ApiError> {
        let mut request = http::Request::builder().method(method).uri(path);
        let mut bytes = Bytes::new();
        if let Some((content, body)) = body {
            request = request.header(header::CONTENT_TYPE, content.mime());
            bytes = body.into();
        }
        let request = request.header(header::ACCEPT, accept).body(Full::new(bytes));
        let answer = self.transport.send(request.map_err(unreachable)?).await.map_err(unreachable)?;
        if answer.status().is_success() {
            return Ok(answer.into_body());
        }
        let (head, body) = answer.into_parts();
        let body = body.collect().await.map_err(unreachable)?.to_bytes();
        let retry_after = head.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
        Err(ApiError::Refused(Box::new(Refusal::read(head.status, retry_after, &body))))
    }
}

fn unreachable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ApiError {
    ApiError::Unreachable(source.into())
}

/// A kind of object, as paths name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    group: &'static str,
    /// In the plural.
    pub plural: &'static str,
}

/// `deployments.apps`.
pub const DEPLOYMENTS: Kind = Kind { group: "/apis/apps/v1", plural: "deployments" };
/// `replicasets.apps`.
pub const REPLICA_SETS: Kind = Kind { group: "/apis/apps/v1", plural: "replicasets" };
/// `pods`.
pub const PODS: Kind = Kind { group: "/api/v1", plural: "pods" };
/// `events`, the older of the two kinds: the built-in controller's.
pub const EVENTS: Kind = Kind { group: "/api/v1", plural: "events" };
/// `leases.coordination.k8s.io`.
pub const LEASES: Kind = Kind { group: "/apis/coordination.k8s.io/v1", plural: "leases" };

impl Kind {
    /// The path of all objects, or all of a namespace.
    pub fn all(self, namespace: Option<&str>) -> String {
        match namespace {
            Some(namespace) => format!("{}/namespaces/{namespace}/{}", self.group, self.plural),
            None => format!("{}/{}", self.group, self.plural),
        }
    }

    /// The path of one object.
    pub fn one(self, namespace: &str, name: &str) -> String {
        format!("{}/{name}", self.all(Some(namespace)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(PODS.all(None), "/api/v1/pods");
        assert_eq!(DEPLOYMENTS.one("a", "b"), "/apis/apps/v1/namespaces/a/deployments/b");
    }

    #[test]
    fn a_refusal_is_read_whatever_its_shape() {
        let json = br#"{"kind":"Status","reason":"Forbidden","message":"no","code":403,
            "details":{"causes":[{"reason":"NamespaceTerminating"}],"retryAfterSeconds":2}}"#;
        let refusal = Refusal::read(StatusCode::FORBIDDEN, None, json);
        assert!(refusal.is_namespace_ending());
        assert_eq!((refusal.code, refusal.details.retry_after_seconds), (403, 2));
        let refusal = Refusal::read(StatusCode::SERVICE_UNAVAILABLE, Some("3"), b"gone fishing\n");
        assert_eq!((refusal.code, refusal.to_string()), (503, "gone fishing".to_owned()));
        assert_eq!(refusal.details.retry_after_seconds, 3);
        assert!(refusal.is_passing() && !refusal.is_namespace_ending());
    }
}
