//! What the server does to an object between decoding and validation.

use std::borrow::Cow;

use super::{BadRequest, Placed, Question};
use crate::schema::print::parse_int_error;
use crate::schema::source::{Node, Span};
use crate::schema::value::{Struct, Value};
use crate::validate::warnings;

/// The annotation that asks the controller for a rollback.
const ROLLBACK: &str = "deprecated.deployment.rollback.to";
/// What five random characters stand for in a generated name.
const GENERATED_SUFFIX: &str = "xxxxx";
/// The longest prefix of a generated name.
const GENERATE_NAME_MAX: usize = 58;
/// Stands for the uid of a stored object that is given without one.
const STORED_UID: &str = "11111111-1111-1111-1111-111111111111";
/// Stands for the time of creation of a stored object that is given without one.
const STORED_CREATION: &str = "2026-01-01T00:00:00Z";

/// How to get back the object as it was decoded.
pub(super) enum Kept<'a> {
    /// The working copy is a copy; the original is untouched.
    Original,
    /// The working copy is the object itself; this was its metadata.
    Metadata(Struct<'a>),
}

/// The object to complete and judge: a copy when it is going to `change` below its metadata, and
/// otherwise the object itself, moved out, with its metadata kept aside.
pub(super) fn working_copy<'a>(object: &mut Struct<'a>, change: bool) -> (Struct<'a>, Kept<'a>) {
    if change {
        return (object.clone(), Kept::Original);
    }
    let metadata = object.struct_or_new("metadata").clone();
    let empty = Struct::new(object.ty);
    (std::mem::replace(object, empty), Kept::Metadata(metadata))
}

/// Why the request is refused before the fields are judged.
pub(super) fn refusal(object: &Struct<'_>, question: &Question<'_, '_>) -> Option<BadRequest> {
    if let Some(placed) = bad_rollback(object, question.object) {
        return Some(BadRequest::Rollback(placed));
    }
    let namespace = object.view().nested("metadata").str("namespace");
    if namespace.is_empty() || namespace == question.namespace {
        return None;
    }
    let at = place(question.object, &["metadata", "namespace"]);
    let message =
        "the namespace of the provided object does not match the namespace sent on the request".into();
    Some(BadRequest::Namespace(Placed { message, at }))
}

/// The fault of a rollback annotation that holds no 64-bit integer.
pub(super) fn bad_rollback(object: &Struct<'_>, source: &Node<'_>) -> Option<Placed> {
    let text = object.view().nested("metadata").text("annotations", ROLLBACK)?;
    if text.is_empty() {
        return None;
    }
    let why = parse_int_error(text)?;
    let message = format!("failed to parse annotation[{ROLLBACK}]={text} as int64: {why}");
    Some(Placed { message, at: place(source, &["metadata", "annotations", ROLLBACK]) })
}

fn place(source: &Node<'_>, path: &[&str]) -> Span {
    let mut node = source;
    for key in path {
        match node.get(key) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node.at
}

/// Fills in what the server fills in on create: namespace, a generated name, the first generation.
pub(super) fn complete_new(object: &mut Struct<'_>, namespace: &str, cut: bool) {
    let metadata = object.struct_or_new("metadata");
    set_if_empty(metadata, "namespace", namespace);
    let view = metadata.view();
    if view.str("name").is_empty() && !view.str("generateName").is_empty() {
        let mut prefix = view.str("generateName");
        if cut && prefix.len() > GENERATE_NAME_MAX {
            let mut end = GENERATE_NAME_MAX;
            while !prefix.is_char_boundary(end) {
                end -= 1;
            }
            prefix = &prefix[..end];
        }
        let name = format!("{prefix}{GENERATED_SUFFIX}");
        metadata.set("name", Value::Str(Cow::Owned(name)));
    }
    metadata.set("generation", Value::Int(1));
}

/// Fills in what a stored object has, where the one given lacks it.
pub(super) fn complete_stored(object: &mut Struct<'_>, namespace: &str) {
    let metadata = object.struct_or_new("metadata");
    set_if_empty(metadata, "namespace", namespace);
    set_if_empty(metadata, "uid", STORED_UID);
    set_if_empty(metadata, "creationTimestamp", STORED_CREATION);
    set_if_empty(metadata, "resourceVersion", "1");
}

/// Fills in what an update takes from the stored object. A write that `counts` makes a new generation
/// of what it changes.
pub(super) fn complete_update<'a>(object: &mut Struct<'a>, old: &Struct<'a>, namespace: &str, counts: bool) {
    let mut generation = old.view().nested("metadata").int("generation");
    // Only at the edges can validation tell whether it was raised.
    let at_edge = generation < 0 || generation == i64::MAX;
    if at_edge && counts && warnings::raises_generation(object.view(), old.view()) {
        generation = generation.wrapping_add(1);
    }
    let stored = old.view().nested("metadata");
    let metadata = object.struct_or_new("metadata");
    set_if_empty(metadata, "namespace", namespace);
    set_if_empty(metadata, "uid", stored.str("uid"));
    set_if_empty(metadata, "resourceVersion", stored.str("resourceVersion"));
    metadata.set("generation", Value::Int(generation));
    for time in ["creationTimestamp", "deletionTimestamp"] {
        if let Some(t) = stored.opt_str(time) {
            metadata.set(time, Value::Str(Cow::Owned(t.to_owned())));
        }
    }
    if let Some(secs) = stored.opt_int("deletionGracePeriodSeconds")
        && !metadata.view().has("deletionGracePeriodSeconds")
    {
        metadata.set("deletionGracePeriodSeconds", Value::Int(secs));
    }
}

/// A write of the status changes neither spec nor labels.
pub(super) fn keep_spec_and_labels<'a>(object: &mut Struct<'a>, old: &Struct<'a>) {
    let value =
        |s: &Struct<'a>, field: &str| s.fields.iter().find(|(f, _)| f.json == field).map(|(_, v)| v.clone());
    if let Some(spec) = value(old, "spec") {
        object.set("spec", spec);
        number_bounds(object.struct_or_new("spec").struct_or_new("strategy"));
    }
    let labels = match value(old, "metadata") {
        Some(Value::Struct(metadata)) => value(&metadata, "labels"),
        _ => None,
    };
    let metadata = object.struct_or_new("metadata");
    match labels {
        Some(labels) => metadata.set("labels", labels),
        None => {
            metadata.remove("labels");
        }
    }
}

/// Inside the server the bounds of a rolling update are no pointers: unset ones come out as 0. Only a
/// stored object of another strategy has any unset.
fn number_bounds(strategy: &mut Struct<'_>) {
    let Some(rolling) = strategy.struct_mut("rollingUpdate") else { return };
    for bound in ["maxUnavailable", "maxSurge"] {
        if !rolling.view().has(bound) {
            rolling.set(bound, Value::Number(0));
        }
    }
}

fn set_if_empty(s: &mut Struct<'_>, field: &'static str, value: &str) {
    if s.view().str(field).is_empty() && !value.is_empty() {
        s.set(field, Value::Str(Cow::Owned(value.to_owned())));
    }
}
