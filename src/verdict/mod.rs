//! The verdict: what the API server would say about an object. The one function that the CLI, the
//! service and the webhook call. Pure.

mod identity;
mod request;
mod status;

pub use status::bad_request;

use crate::defaults::{self, gates};
use crate::schema::decode;
pub use crate::schema::decode::Placed;
use crate::schema::equality::same_field;
use crate::schema::json::SyntaxError;
use crate::schema::source::{Data, Node, Span};
use crate::schema::table::Table;
use crate::schema::value::{Struct, Value};
use crate::validate::fault::{Fault, Faults};
use crate::validate::path::Step;
use crate::validate::{self, Rules, exemptions};

/// The settings of the API server that is spoken for.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    /// The release, as its type table.
    pub table: &'static Table,
    /// Whether it runs with `--allow-privileged`.
    pub allow_privileged: bool,
    /// Whether a `generateName` is cut to make room for what is added, as the server's name generator
    /// does. The recorded answers were made by the rules alone, without the generator.
    pub cuts_generated_names: bool,
}

impl Server {
    /// A server of the newest release.
    pub fn new(allow_privileged: bool) -> Server {
        Server { table: Table::newest(), allow_privileged, cuts_generated_names: true }
    }
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
    /// The kind that the refusal is about.
    pub about: Target,
    /// Why the body could not be turned into an object at all. Of what follows, only
    /// `more_decode_errors` and `strict` are set then, which the server would not tell yet.
    pub decode_error: Option<Placed>,
    /// What else keeps the body from being decoded.
    pub more_decode_errors: Vec<Placed>,
    /// Why the request is refused although the object could be decoded, before its fields are judged.
    pub bad_request: Option<BadRequest>,
    /// Unknown and duplicate fields: refusals under `fieldValidation=Strict`, warnings under `Warn`.
    pub strict: Vec<Placed>,
    /// What validation refuses, without repetitions.
    pub faults: Vec<Fault>,
    /// What the server would warn about, each text once. Only for an object without faults.
    pub warnings: Vec<Warning>,
    /// The object as decoded and defaulted: what a mutating webhook is sent. For a Scale, the
    /// Deployment that it makes.
    pub defaulted: Option<Struct<'a>>,
    /// The object as it would be stored, where that differs in its spec: fields behind gates that
    /// are off are dropped.
    pub stored: Option<Struct<'a>>,
}

/// Why a request is refused before the fields of its object are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadRequest {
    /// The object names another namespace than the request.
    Namespace(Placed),
    /// The annotation that asks for a rollback holds no integer.
    Rollback(Placed),
    /// The stored object cannot be used to judge an update.
    Old(Placed),
}

impl BadRequest {
    /// The message and its place.
    pub fn placed(&self) -> &Placed {
        match self {
            BadRequest::Namespace(p) | BadRequest::Rollback(p) | BadRequest::Old(p) => p,
        }
    }
}

/// A warning of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The text, field path included.
    pub text: String,
    /// What it is about.
    pub place: Vec<Step>,
}

impl<'a> Verdict<'a> {
    /// Whether the server would take the object (under `fieldValidation=Warn` or `Ignore`).
    pub fn allowed(&self) -> bool {
        self.decode_error.is_none() && self.bad_request.is_none() && self.faults.is_empty()
    }

    /// The verdict on bytes that are no JSON.
    pub fn unreadable(error: &SyntaxError) -> Verdict<'a> {
        let offset = u32::try_from(error.offset).unwrap_or(u32::MAX);
        Verdict::undecodable(Placed {
            message: identity::unreadable(&error.message),
            at: Span { start: offset, end: offset },
        })
    }

    fn empty() -> Verdict<'a> {
        Verdict {
            name: String::new(),
            about: Target::Deployment,
            decode_error: None,
            more_decode_errors: Vec::new(),
            bad_request: None,
            strict: Vec::new(),
            faults: Vec::new(),
            warnings: Vec::new(),
            defaulted: None,
            stored: None,
        }
    }

    fn undecodable(error: Placed) -> Verdict<'a> {
        Verdict { decode_error: Some(error), ..Verdict::empty() }
    }

    /// For the errors of a body, of which there is at least one.
    fn undecodable_for(mut errors: Vec<Placed>) -> Verdict<'a> {
        let more_decode_errors = errors.split_off(1);
        Verdict { decode_error: errors.pop(), more_decode_errors, ..Verdict::empty() }
    }

    fn bad(self, why: BadRequest) -> Verdict<'a> {
        Verdict { bad_request: Some(why), ..self }
    }
}

/// Says what the API server would say.
pub fn judge<'a>(server: &Server, question: &Question<'_, 'a>) -> Verdict<'a> {
    if question.target == Target::Scale {
        return scale(server, question);
    }
    if let Err(error) = identity::check(question.object, server.table) {
        return Verdict::undecodable(error);
    }
    let decoded = decode::decode(question.object, server.table.of("v1.Deployment"));
    let mut object = match decoded.object {
        Ok(object) => object,
        Err(errors) => return Verdict { strict: decoded.strict, ..Verdict::undecodable_for(errors) },
    };
    defaults::apply(&mut object);
    let verdict = Verdict { strict: decoded.strict, ..Verdict::empty() };
    match question.operation {
        Operation::Create => create(server, question, object, verdict),
        Operation::Update => match stored_object(server, question) {
            Ok(old) => update(server, question, object, &old, verdict),
            Err(why) => Verdict { defaulted: Some(object), ..verdict }.bad(why),
        },
    }
}

/// The stored object, defaulted, with what the store would have filled in.
fn stored_object<'a>(server: &Server, question: &Question<'_, 'a>) -> Result<Struct<'a>, BadRequest> {
    let unusable = |message: &str, at| {
        BadRequest::Old(Placed { message: format!("the old object cannot be used: {message}"), at })
    };
    let Some(node) = question.old else {
        return Err(unusable("an update needs one", Span::default()));
    };
    identity::check(node, server.table).map_err(|e| unusable(&e.message, e.at))?;
    let decoded = decode::decode(node, server.table.of("v1.Deployment"));
    let mut old = decoded.object.map_err(|e| unusable(&e[0].message, e[0].at))?;
    defaults::apply(&mut old);
    if let Some(p) = request::bad_rollback(&old, node) {
        return Err(unusable(&p.message, p.at));
    }
    request::complete_stored(&mut old, question.namespace);
    Ok(old)
}

fn create<'a>(
    server: &Server,
    question: &Question<'_, 'a>,
    mut object: Struct<'a>,
    mut verdict: Verdict<'a>,
) -> Verdict<'a> {
    if verdict.refused_at_once(&object, question) {
        verdict.defaulted = Some(object);
        return verdict;
    }
    let drop = gates::used(object.view());
    let (mut work, kept) = request::working_copy(&mut object, drop.any());
    let repeated = validate::warnings::drop_repeated_owners(&mut work);
    request::complete_new(&mut work, question.namespace, server.cuts_generated_names);
    gates::drop_disabled(&mut work, drop);
    let rules = Rules { allow_privileged: server.allow_privileged, exempt: Default::default() };
    let mut faults = Faults::default();
    validate::deployment::create(&mut faults, work.view(), &rules);
    verdict.finish(faults, &work, repeated);
    verdict.warn(&work, None);
    verdict.keep(object, work, kept);
    verdict
}

fn update<'a>(
    server: &Server,
    question: &Question<'_, 'a>,
    mut object: Struct<'a>,
    old: &Struct<'a>,
    mut verdict: Verdict<'a>,
) -> Verdict<'a> {
    if verdict.refused_at_once(&object, question) {
        verdict.defaulted = Some(object);
        return verdict;
    }
    let of_status = question.target == Target::Status;
    // A write of the status drops nothing: the server takes the whole spec from the stored object.
    let drop = match of_status {
        true => gates::Used::default(),
        false => gates::used(object.view()).beyond(gates::used(old.view())),
    };
    let (mut work, kept) = request::working_copy(&mut object, of_status || drop.any());
    let repeated = validate::warnings::drop_repeated_owners(&mut work);
    request::complete_update(&mut work, old, question.namespace, !of_status);
    let mut faults = Faults::default();
    if of_status {
        request::keep_spec_and_labels(&mut work, old);
        validate::status::update(&mut faults, work.view(), old.view());
        verdict.finish(faults, &work, repeated);
    } else {
        gates::drop_disabled(&mut work, drop);
        let exempt = exemptions::of(old.view());
        let rules = Rules { allow_privileged: server.allow_privileged, exempt };
        validate::deployment::update(&mut faults, work.view(), old.view(), &rules);
        verdict.finish(faults, &work, repeated);
        verdict.warn(&work, Some(old));
    }
    verdict.keep(object, work, kept);
    verdict
}

impl<'a> Verdict<'a> {
    /// Notes what keeps the server from judging the fields, if anything.
    fn refused_at_once(&mut self, object: &Struct<'a>, question: &Question<'_, 'a>) -> bool {
        self.bad_request = request::refusal(object, question);
        if let Some(BadRequest::Namespace(_)) = self.bad_request {
            // By then the server has looked at the owners.
            self.warnings.extend(validate::warnings::drop_repeated_owners(&mut object.clone()));
        }
        self.bad_request.is_some()
    }

    fn finish(&mut self, mut faults: Faults, work: &Struct<'a>, repeated: Option<Warning>) {
        faults.dedup();
        self.name = work.view().nested("metadata").str("name").to_owned();
        self.faults = faults.list;
        self.warnings.extend(repeated);
    }

    /// Warns about an object without faults.
    fn warn(&mut self, work: &Struct<'a>, old: Option<&Struct<'a>>) {
        if self.faults.is_empty() {
            let more = validate::warnings::warnings(work.view(), old.map(Struct::view));
            self.warnings.extend(more);
        }
    }

    /// Keeps the object as decoded and, where its spec changed on the way, as it would be stored.
    fn keep(&mut self, object: Struct<'a>, work: Struct<'a>, kept: request::Kept<'a>) {
        match kept {
            request::Kept::Original => {
                let changed = !same_field(object.view(), work.view(), "spec");
                self.stored = (changed && self.faults.is_empty()).then_some(work);
                self.defaulted = Some(object);
            }
            request::Kept::Metadata(metadata) => {
                let mut object = work;
                object.set("metadata", Value::Struct(metadata));
                self.defaulted = Some(object);
            }
        }
    }
}

/// A request to `/scale`: the Scale itself, then the Deployment that it makes.
fn scale<'a>(server: &Server, question: &Question<'_, 'a>) -> Verdict<'a> {
    let decoded = decode::decode(question.object, server.table.of("autoscaling.Scale"));
    let scale = match decoded.object {
        Ok(scale) => scale,
        Err(errors) => return Verdict { about: Target::Scale, ..Verdict::undecodable_for(errors) },
    };
    let metadata = scale.view().nested("metadata");
    let mut verdict = Verdict {
        about: Target::Scale,
        name: metadata.str("name").to_owned(),
        strict: decoded.strict,
        ..Verdict::empty()
    };
    let replicas = scale.view().nested("spec").int("replicas");
    let mut faults = Faults::default();
    validate::scale::update(&mut faults, metadata, replicas);
    faults.dedup();
    verdict.faults = faults.list;
    if !verdict.faults.is_empty() || question.old.is_none_or(|o| matches!(o.data, Data::Null)) {
        return verdict;
    }
    let old = match stored_object(server, question) {
        Ok(old) => old,
        Err(why) => return verdict.bad(why),
    };
    let mut new = old.clone();
    new.struct_or_new("spec").set("replicas", Value::Int(replicas));
    let verdict = Verdict { about: Target::Deployment, ..verdict };
    update(server, question, new, &old, verdict)
}
