//! Reading an AdmissionReview out of the request's body.

use crate::schema::json;
use crate::schema::source::{Data, Node};

/// The one version of the review that is spoken.
pub const API_VERSION: &str = "admission.k8s.io/v1";

/// A review as read: it owns the tree that a [`Request`] looks into.
#[derive(Debug)]
pub struct Review<'a> {
    root: Node<'a>,
}

/// Why a body is no review that can be answered. There is no uid to echo, so the caller gets an HTTP
/// error instead of a review.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The bytes are no JSON.
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    /// It is JSON, but of another kind.
    #[error("the body must be an AdmissionReview of {API_VERSION}, but its kind is {0}")]
    NotAReview(String),
    /// A review of another version, v1beta1 above all.
    #[error(
        "the AdmissionReview must be of {API_VERSION}, but its apiVersion is {0}; list only \"v1\" in admissionReviewVersions"
    )]
    OtherVersion(String),
    /// A review with nothing in it.
    #[error("the AdmissionReview has no request")]
    NoRequest,
    /// A request that cannot be answered, as an answer must name its uid.
    #[error("the request of the AdmissionReview has no uid")]
    NoUid,
}

/// What is asked of the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A new object.
    Create,
    /// A change of an existing one, by whatever verb.
    Update,
    /// A removal; the object is null.
    Delete,
    /// CONNECT, and whatever a later server may ask.
    Other,
}

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// `apps/v1` Deployments themselves.
    Deployment,
    /// Their `status` subresource.
    Status,
    /// Their `scale` subresource, whose object is an `autoscaling/v1` Scale.
    Scale,
    /// Anything else: a webhook configuration that sends more than it should.
    Foreign,
}

/// The request inside a review, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r, 'a> {
    /// What the answer must echo.
    pub uid: &'r str,
    /// What is done.
    pub operation: Operation,
    /// To what.
    pub subject: Subject,
    /// The namespace, empty when the request names none.
    pub namespace: &'r str,
    /// The name, empty for a new object whose name is still to be generated.
    pub name: &'r str,
    /// Who asks; empty when the request does not say.
    pub user: &'r str,
    /// Whether nothing will be stored.
    pub dry_run: bool,
    /// The object as it would be; `None` when null.
    pub object: Option<&'r Node<'a>>,
    /// The object as it is; `None` when null.
    pub old: Option<&'r Node<'a>>,
}

impl<'a> Review<'a> {
    /// Reads the body.
    ///
    /// # Errors
    /// [`Unreadable::NotJson`] only; what the JSON says is looked at by [`Review::request`].
    pub fn read(body: &'a [u8]) -> Result<Self, Unreadable> {
        let root = json::read(body).map_err(|e| Unreadable::NotJson(e.to_string()))?;
        Ok(Review { root })
    }

    /// The request in it.
    ///
    /// # Errors
    /// Every variant of [`Unreadable`] but `NotJson`.
    pub fn request(&self) -> Result<Request<'_, 'a>, Unreadable> {
        let kind = text(&self.root, "kind");
        if kind != "AdmissionReview" {
            return Err(Unreadable::NotAReview(shown(kind)));
        }
        let version = text(&self.root, "apiVersion");
        if version != API_VERSION {
            return Err(Unreadable::OtherVersion(shown(version)));
        }
        let request = present(&self.root, "request").ok_or(Unreadable::NoRequest)?;
        let uid = text(request, "uid");
        if uid.is_empty() {
            return Err(Unreadable::NoUid);
        }
        Ok(Request {
            uid,
            operation: operation(text(request, "operation")),
            subject: subject(request),
            namespace: text(request, "namespace"),
            name: text(request, "name"),
            user: present(request, "userInfo").map_or("", |u| text(u, "username")),
            dry_run: matches!(present(request, "dryRun").map(|d| &d.data), Some(Data::Bool(true))),
            object: present(request, "object"),
            old: present(request, "oldObject"),
        })
    }
}

fn operation(name: &str) -> Operation {
    match name {
        "CREATE" => Operation::Create,
        "UPDATE" => Operation::Update,
        "DELETE" => Operation::Delete,
        _ => Operation::Other,
    }
}

/// Goes by the resource, which also tells a Scale of a Deployment from one of a ReplicaSet. Reviews
/// made by hand often name only the kind.
fn subject(request: &Node<'_>) -> Subject {
    let deployments = match (present(request, "resource"), present(request, "kind")) {
        (Some(resource), _) => is_in_apps_v1(resource) && text(resource, "resource") == "deployments",
        (None, Some(kind)) => is_in_apps_v1(kind) && text(kind, "kind") == "Deployment",
        (None, None) => false,
    };
    match (deployments, text(request, "subResource")) {
        (true, "") => Subject::Deployment,
        (true, "status") => Subject::Status,
        (true, "scale") => Subject::Scale,
        _ => Subject::Foreign,
    }
}

fn is_in_apps_v1(node: &Node<'_>) -> bool {
    text(node, "group") == "apps" && text(node, "version") == "v1"
}

/// The value under a key, unless it is null.
fn present<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    node.get(key).filter(|n| n.data != Data::Null)
}

fn text<'n>(node: &'n Node<'_>, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or("")
}

/// Quotes what was sent, cut short, so that an error never repeats a body.
fn shown(text: &str) -> String {
    if text.is_empty() {
        "missing".to_owned()
    } else {
        format!("{:?}", text.chars().take(64).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(body: &str) -> String {
        match Review::read(body.as_bytes()) {
            Err(e) => e.to_string(),
            Ok(review) => review.request().expect_err("must be unreadable").to_string(),
        }
    }

    #[test]
    fn what_is_no_review_is_refused_with_the_reason() {
        assert!(error("{").starts_with("the body is not JSON: "));
        assert_eq!(
            error("[]"),
            "the body must be an AdmissionReview of admission.k8s.io/v1, but its kind is missing"
        );
        assert_eq!(
            error(
                r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","request":{"uid":"u"}}"#
            ),
            "the AdmissionReview must be of admission.k8s.io/v1, but its apiVersion is \
             \"admission.k8s.io/v1beta1\"; list only \"v1\" in admissionReviewVersions"
        );
        assert_eq!(
            error(r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":null}"#),
            "the AdmissionReview has no request"
        );
        assert_eq!(
            error(r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{}}"#),
            "the request of the AdmissionReview has no uid"
        );
    }

    fn subject_of(request: &str) -> Subject {
        let body = format!(
            r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{"uid":"u",{request}}}}}"#
        );
        let review = Review::read(body.as_bytes()).unwrap();
        review.request().unwrap().subject
    }

    #[test]
    fn the_subject_follows_the_resource_and_else_the_kind() {
        let deployments = r#""resource":{"group":"apps","version":"v1","resource":"deployments"}"#;
        assert_eq!(subject_of(deployments), Subject::Deployment);
        assert_eq!(subject_of(&format!(r#"{deployments},"subResource":"status""#)), Subject::Status);
        assert_eq!(subject_of(&format!(r#"{deployments},"subResource":"scale""#)), Subject::Scale);
        assert_eq!(subject_of(&format!(r#"{deployments},"subResource":"rollback""#)), Subject::Foreign);
        assert_eq!(
            subject_of(
                r#""resource":{"group":"apps","version":"v1","resource":"replicasets"},"subResource":"scale""#
            ),
            Subject::Foreign
        );
        assert_eq!(
            subject_of(r#""kind":{"group":"apps","version":"v1","kind":"Deployment"}"#),
            Subject::Deployment
        );
        assert_eq!(
            subject_of(r#""kind":{"group":"extensions","version":"v1beta1","kind":"Deployment"}"#),
            Subject::Foreign
        );
        assert_eq!(subject_of(r#""name":"x""#), Subject::Foreign);
    }
}
