//! The verdict: what the API server would say about an object. The one function that the CLI, the
//! service and the webhook call. Pure.

use crate::schema::source::{Node, Span};
use crate::schema::table::Table;
use crate::schema::value::Struct;
use crate::validate::fault::Fault;
use crate::validate::path::Step;

/// The settings of the API server that is spoken for.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    /// The release, as its type table.
    pub table: &'static Table,
    /// Whether it runs with `--allow-privileged`.
    pub allow_privileged: bool,
}

/// What is being done to the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A new object.
    Create,
    /// A change of an existing one.
    Update,
}

/// Which resource the request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// `deployments`
    Deployment,
    /// `deployments/status`
    Status,
    /// `deployments/scale`: the object is an `autoscaling/v1` Scale, the old object the Deployment.
    Scale,
}

/// One question: may this be done?
#[derive(Debug, Clone, Copy)]
pub struct Question<'q, 'a> {
    /// What is being done.
    pub operation: Operation,
    /// To which resource.
    pub target: Target,
    /// The namespace of the request.
    pub namespace: &'q str,
    /// The new object.
    pub object: &'q Node<'a>,
    /// The stored object, for an update. It must itself be decodable.
    pub old: Option<&'q Node<'a>>,
}

/// The answer.
#[derive(Debug)]
pub struct Verdict<'a> {
    /// The name in the refusal's message; the generated one for `generateName`.
    pub name: String,
    /// Why the body could not be turned into an object at all. Nothing below is set then, except
    /// `strict`.
    pub decode_error: Option<Placed>,
    /// Unknown and duplicate fields: refusals under `fieldValidation=Strict`, warnings under `Warn`.
    pub strict: Vec<Placed>,
    /// What validation refuses, without repetitions.
    pub faults: Vec<Fault>,
    /// What the server would warn about, each text once.
    pub warnings: Vec<Warning>,
    /// The object as decoded and defaulted: what a mutating webhook is sent.
    pub defaulted: Option<Struct<'a>>,
    /// The object as it would be stored, where that differs in its spec: fields behind gates that
    /// are off are dropped.
    pub stored: Option<Struct<'a>>,
}

/// A message about one place of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The message.
    pub message: String,
    /// The place.
    pub at: Span,
}

/// A warning of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The text, field path included.
    pub text: String,
    /// What it is about.
    pub place: Vec<Step>,
}

impl Verdict<'_> {
    /// Whether the server would take the object (under `fieldValidation=Warn` or `Ignore`).
    pub fn allowed(&self) -> bool {
        self.decode_error.is_none() && self.faults.is_empty()
    }
}
