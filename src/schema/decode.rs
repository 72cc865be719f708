//! Strict decoding: JSON-shaped data into a typed [`Struct`], as the API server's JSON decoder does it.
//!
//! A wrong type is an error in Go's words. The server tells the first one only, except that a bad
//! quantity, time or int-or-string takes precedence, since it stops decoding there; here decoding goes
//! on, so that all can be shown. Unknown and repeated fields are collected aside. A repeated
//! field is decoded over what the earlier one left: structs merge, lists are overlaid by position.

use std::borrow::Cow;
use std::collections::HashSet;

use super::source::{Data, Member, Node, Span};
use super::table::{Field, StructType, Type};
use super::time;
use super::value::{Struct, Value};
use super::{print, write};
use crate::kube_types::quantity::{Quantity, QuantityError};

/// The most strict errors that are collected, as in the API server.
const MAX_STRICT_ERRORS: usize = 100;
/// The most other errors that are collected.
const MAX_ERRORS: usize = 100;

/// How many fields defaulting adds to most structs.
const ROOM_FOR_DEFAULTS: usize = 4;

/// A message about one place of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The message.
    pub message: String,
    /// The place.
    pub at: Span,
}

/// What decoding gives.
#[derive(Debug)]
pub struct Decoded<'a> {
    /// The object, or the errors that spoil it: first the one that the API server tells.
    pub object: Result<Struct<'a>, Vec<Placed>>,
    /// Unknown and duplicate fields, each text once. The API server reports them only with an object.
    pub strict: Vec<Placed>,
}

/// Decodes `node` as the struct `ty`.
pub fn decode<'a>(node: &Node<'a>, ty: &'static StructType) -> Decoded<'a> {
    let mut decoder =
        Decoder { stack: Vec::new(), inside: None, errors: Vec::new(), stopped_at: None, strict: Vec::new() };
    let mut object = Struct::new(ty);
    match &node.data {
        Data::Object(members) => decoder.members(members, &mut object),
        Data::Null => {}
        _ => decoder.mismatch(node, kind_of(node), ty.name),
    }
    let Decoder { mut errors, stopped_at, strict, .. } = decoder;
    if let Some(at) = stopped_at {
        errors[..=at].rotate_right(1);
    }
    let object = if errors.is_empty() { Ok(object) } else { Err(errors) };
    Decoded { object, strict }
}

/// One step on the way to the value at hand.
enum Step<'a> {
    Field(&'static Field),
    Key(Cow<'a, str>),
    Index(usize),
}

struct Decoder<'a> {
    stack: Vec<Step<'a>>,
    /// The struct whose field is being decoded.
    inside: Option<&'static StructType>,
    errors: Vec<Placed>,
    /// Which of the errors would have stopped the server.
    stopped_at: Option<usize>,
    strict: Vec<Placed>,
}

impl<'a> Decoder<'a> {
    fn members(&mut self, members: &[Member<'a>], into: &mut Struct<'a>) {
        let outer = self.inside;
        let overlaid = !into.fields.is_empty();
        let mut seen: u64 = 0;
        into.fields.reserve(members.len() + ROOM_FOR_DEFAULTS);
        for member in members {
            let Some(field) = into.ty.field(&member.key) else {
                self.strict_error("unknown field", member);
                continue;
            };
            let bit = 1_u64 << (field.order & 63);
            if seen & bit != 0 {
                self.strict_error("duplicate field", member);
            }
            let at = if overlaid || seen & bit != 0 {
                into.fields.iter().position(|(f, _)| *f == field)
            } else {
                None
            };
            seen |= bit;
            self.inside = Some(into.ty);
            self.stack.push(Step::Field(field));
            let old = at.map(|at| std::mem::replace(&mut into.fields[at].1, Value::Bool(false)));
            let new = self.value(&member.value, &field.ty, field.go_type, field.pointer, old);
            match (at, new) {
                (Some(at), Some(new)) => into.fields[at].1 = new,
                (Some(at), None) => {
                    into.fields.remove(at);
                }
                (None, Some(new)) => into.fields.push((field, new)),
                (None, None) => {}
            }
            self.stack.pop();
            self.inside = outer;
        }
    }

    /// The value that decoding `node` over `old` leaves; `None` leaves the field unset.
    fn value(
        &mut self,
        node: &Node<'a>,
        ty: &Type,
        go_type: &'static str,
        pointer: bool,
        old: Option<Value<'a>>,
    ) -> Option<Value<'a>> {
        if let Data::Null = node.data {
            // Null unsets pointers, lists and maps and leaves everything else as it was.
            return match ty {
                Type::List(_) | Type::Map(_) => None,
                _ if pointer => None,
                Type::Quantity => Some(Value::Quantity(Quantity::zero())),
                Type::Time | Type::MicroTime => None,
                // Becomes a number, the one it was if it was one.
                Type::IntOrString => match old {
                    Some(Value::Number(i)) => Some(Value::Number(i)),
                    _ => Some(Value::Number(0)),
                },
                _ => old,
            };
        }
        match (ty, &node.data) {
            (Type::Bool, Data::Bool(b)) => Some(Value::Bool(*b)),
            (Type::Str | Type::NamedStr, Data::String(s)) => Some(Value::Str(s.clone())),
            (Type::Int32 | Type::Int64, Data::Number(text)) => self.int(node, text, ty, go_type, old),
            (Type::Quantity, _) => self.quantity(node),
            (Type::IntOrString, _) => self.int_or_string(node),
            (Type::Time | Type::MicroTime, _) => self.time(node),
            (Type::FieldsV1, _) => Some(Value::Raw(Cow::Owned(write::node(node)))),
            (Type::List(elem), Data::Array(items)) => {
                let old = match old {
                    Some(Value::List(l)) => l,
                    _ => Vec::new(),
                };
                Some(self.list(items, &elem.ty, elem.go_type, old))
            }
            (Type::Map(elem), Data::Object(members)) => {
                let old = match old {
                    Some(Value::Map(m)) => m,
                    _ => Vec::new(),
                };
                Some(self.map(members, &elem.ty, elem.go_type, old))
            }
            (Type::Struct(ty), Data::Object(members)) => {
                let mut into = match old {
                    Some(Value::Struct(s)) => s,
                    _ => Struct::new(ty),
                };
                self.members(members, &mut into);
                Some(Value::Struct(into))
            }
            _ => {
                self.mismatch(node, kind_of(node), go_type);
                old
            }
        }
    }

    fn int(
        &mut self,
        node: &Node<'a>,
        text: &str,
        ty: &Type,
        go_type: &'static str,
        old: Option<Value<'a>>,
    ) -> Option<Value<'a>> {
        let fits = |i: &i64| matches!(ty, Type::Int64) || i32::try_from(*i).is_ok();
        match text.parse::<i64>().ok().filter(fits) {
            Some(i) => Some(Value::Int(i)),
            None => {
                self.mismatch(node, &format!("number {text}"), go_type);
                old
            }
        }
    }

    fn list(
        &mut self,
        items: &[Node<'a>],
        ty: &Type,
        go_type: &'static str,
        old: Vec<Value<'a>>,
    ) -> Value<'a> {
        let mut out = Vec::with_capacity(items.len());
        let mut old = old.into_iter();
        for (i, item) in items.iter().enumerate() {
            self.stack.push(Step::Index(i));
            let new = self.value(item, ty, go_type, false, old.next());
            out.push(new.unwrap_or_else(|| zero(ty)));
            self.stack.pop();
        }
        Value::List(out)
    }

    fn map(
        &mut self,
        members: &[Member<'a>],
        ty: &Type,
        go_type: &'static str,
        old: Vec<(Cow<'a, str>, Value<'a>)>,
    ) -> Value<'a> {
        let mut out = old;
        // Small maps are searched; large ones (annotations by the thousand) get an index.
        let mut index: Option<HashSet<&str>> = (members.len() > 16).then(HashSet::new);
        let overlaid = !out.is_empty();
        for (i, member) in members.iter().enumerate() {
            let repeated = match &mut index {
                Some(seen) => !seen.insert(&member.key),
                None => members[..i].iter().any(|m| m.key == member.key),
            };
            if repeated {
                self.strict_error("duplicate field", member);
            }
            let at = if repeated || overlaid { out.iter().position(|(k, _)| *k == member.key) } else { None };
            self.stack.push(Step::Key(member.key.clone()));
            let new = self.value(&member.value, ty, go_type, false, None).unwrap_or_else(|| zero(ty));
            self.stack.pop();
            match at {
                Some(at) => out[at].1 = new,
                None => out.push((member.key.clone(), new)),
            }
        }
        Value::Map(out)
    }

    fn quantity(&mut self, node: &Node<'a>) -> Option<Value<'a>> {
        let parsed = match &node.data {
            // The server reads the text as it stands in JSON, where these are escapes.
            Data::String(s) if s.contains(['\u{2028}', '\u{2029}']) || s.bytes().any(|b| b < b' ') => {
                Err(QuantityError::Format)
            }
            // Borrowed text lives as long as the input; anything else has to be kept.
            Data::String(Cow::Borrowed(s)) | Data::Number(Cow::Borrowed(s)) => Quantity::parse(s),
            Data::String(s) | Data::Number(s) => Quantity::parse(s).map(Quantity::into_owned),
            _ => Err(QuantityError::Format),
        };
        match parsed {
            Ok(quantity) => Some(Value::Quantity(quantity)),
            Err(e) => self.stop(Placed { message: e.to_string(), at: node.at }),
        }
    }

    fn int_or_string(&mut self, node: &Node<'a>) -> Option<Value<'a>> {
        let found = match &node.data {
            Data::String(s) => return Some(Value::Str(s.clone())),
            Data::Number(text) => match text.parse::<i32>() {
                Ok(i) => return Some(Value::Number(i)),
                Err(_) => &format!("number {text}"),
            },
            _ => kind_of(node),
        };
        self.stop(self.mismatch_error(node, found, "int32"))
    }

    fn time(&mut self, node: &Node<'a>) -> Option<Value<'a>> {
        let Data::String(text) = &node.data else {
            return self.stop(self.mismatch_error(node, kind_of(node), "string"));
        };
        match time::parse(text) {
            Ok(utc) => Some(Value::Str(Cow::Owned(utc))),
            Err(message) => self.stop(Placed { message, at: node.at }),
        }
    }

    /// Notes an error that ends decoding in the server; the value stays unset.
    fn stop(&mut self, error: Placed) -> Option<Value<'a>> {
        if self.stopped_at.is_none() {
            // The one error that counts is kept even when there are too many.
            self.errors.truncate(MAX_ERRORS - 1);
            self.stopped_at = Some(self.errors.len());
        }
        self.error(error);
        None
    }

    fn error(&mut self, error: Placed) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }

    fn mismatch(&mut self, node: &Node<'a>, found: &str, go_type: &str) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(self.mismatch_error(node, found, go_type));
        }
    }

    fn mismatch_error(&self, node: &Node<'a>, found: &str, go_type: &str) -> Placed {
        let mut path = String::new();
        for step in &self.stack {
            let Step::Field(field) = step else { continue };
            for name in field.embedded_in.into_iter().chain([field.json]) {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
        }
        let message = match self.inside {
            Some(ty) => {
                format!(
                    "json: cannot unmarshal {found} into Go struct field {}.{path} of type {go_type}",
                    ty.name
                )
            }
            None => format!("json: cannot unmarshal {found} into Go value of type v1.{go_type}"),
        };
        Placed { message, at: node.at }
    }

    fn strict_error(&mut self, what: &str, member: &Member<'a>) {
        if self.strict.len() >= MAX_STRICT_ERRORS {
            return;
        }
        let mut path = String::new();
        for step in &self.stack {
            match step {
                Step::Index(i) => {
                    path.push_str(&format!("[{i}]"));
                    continue;
                }
                _ if path.is_empty() => {}
                _ => path.push('.'),
            }
            match step {
                Step::Field(field) => path.push_str(field.json),
                Step::Key(key) => path.push_str(key),
                Step::Index(_) => {}
            }
        }
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(&member.key);
        let message = format!("{what} {}", print::quoted(&path));
        if self.strict.iter().all(|s| s.message != message) {
            self.strict.push(Placed { message, at: member.key_at });
        }
    }
}

/// What Go calls the value in its type errors.
pub(crate) fn kind_of(node: &Node<'_>) -> &'static str {
    match &node.data {
        Data::Null => "null",
        Data::Bool(_) => "bool",
        Data::Number(_) => "number",
        Data::String(_) => "string",
        Data::Array(_) => "array",
        Data::Object(_) => "object",
        Data::Deep(text) if text.starts_with('[') => "array",
        Data::Deep(_) => "object",
    }
}

/// Go's zero value, as an element of a list or map.
fn zero<'a>(ty: &Type) -> Value<'a> {
    match ty {
        Type::Bool => Value::Bool(false),
        Type::Int32 | Type::Int64 => Value::Int(0),
        Type::Str | Type::NamedStr | Type::Time | Type::MicroTime => Value::Str(Cow::Borrowed("")),
        Type::Quantity => Value::Quantity(Quantity::zero()),
        Type::IntOrString => Value::Number(0),
        Type::FieldsV1 => Value::Raw(Cow::Borrowed("null")),
        Type::List(_) => Value::List(Vec::new()),
        Type::Map(_) => Value::Map(Vec::new()),
        Type::Struct(ty) => Value::Struct(Struct::new(ty)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::json;
    use crate::schema::table::Table;

    fn deployment(text: &str) -> Decoded<'_> {
        let node = json::read(text.as_bytes()).expect("well-formed JSON");
        decode(&node, Table::newest().of("v1.Deployment"))
    }

    fn error(text: &str) -> String {
        deployment(text).object.expect_err("refused").swap_remove(0).message
    }

    #[test]
    fn type_errors_name_the_struct_and_the_path() {
        // Each expectation was given by the v1.37.2 decoder.
        for (text, expected) in [
            (
                r#"{"spec":{"replicas":"3"}}"#,
                "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                r#"{"spec":{"template":{"spec":{"containers":[{"command":"sh"}]}}}}"#,
                "json: cannot unmarshal string into Go struct field Container.spec.template.spec.containers.command of type []string",
            ),
            (
                r#"{"spec":{"template":{"metadata":{"labels":{"a":true}}}}}"#,
                "json: cannot unmarshal bool into Go struct field ObjectMeta.spec.template.metadata.labels of type string",
            ),
            (
                r#"{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1.5}}}}"#,
                "json: cannot unmarshal number 1.5 into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
            ),
            (
                r#"{"metadata":{"name":1,"creationTimestamp":"2020-13-01T00:00:00Z"}}"#,
                "parsing time \"2020-13-01T00:00:00Z\": month out of range",
            ),
        ] {
            assert_eq!(error(text), expected, "{text}");
        }
    }

    #[test]
    fn later_errors_are_told_too() {
        let errors = deployment(r#"{"metadata":{"name":1},"spec":{"paused":1,"strategy":{"rollingUpdate":{"maxSurge":[]}},"minReadySeconds":""}}"#)
            .object
            .expect_err("refused");
        let ends: Vec<_> = errors.iter().map(|e| e.message.rsplit("field ").next().unwrap_or("")).collect();
        assert_eq!(
            ends,
            [
                "RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
                "ObjectMeta.metadata.name of type string",
                "DeploymentSpec.spec.paused of type bool",
                "DeploymentSpec.spec.minReadySeconds of type int32",
            ]
        );
    }

    #[test]
    fn unknown_and_repeated_fields_are_set_aside() {
        let decoded = deployment(
            r#"{"spec":{"foo":{"bar":1},"replicas":1,"replicas":2,"template":{"spec":{"containers":[{"x":1}]}}}}"#,
        );
        let messages: Vec<_> = decoded.strict.iter().map(|s| s.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "unknown field \"spec.foo\"",
                "duplicate field \"spec.replicas\"",
                "unknown field \"spec.template.spec.containers[0].x\""
            ]
        );
        let object = decoded.object.expect("decoded");
        assert_eq!(object.view().nested("spec").int("replicas"), 2);
    }

    #[test]
    fn a_repeated_struct_is_merged_and_a_repeated_list_overlaid() {
        let text = r#"{"metadata":{"name":"a"},"metadata":{"namespace":"b"},
            "spec":{"template":{"spec":{"containers":[{"name":"x"},{"name":"y"}],"containers":[{"image":"i"}]}}}}"#;
        let object = deployment(text).object.expect("decoded");
        let metadata = object.view().nested("metadata");
        assert_eq!((metadata.str("name"), metadata.str("namespace")), ("a", "b"));
        let pod = object.view().nested("spec").nested("template").nested("spec");
        let containers: Vec<_> = pod.structs("containers").map(|c| (c.str("name"), c.str("image"))).collect();
        assert_eq!(containers, [("x", "i")]);
    }
}
