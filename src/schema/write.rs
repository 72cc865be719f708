//! Writes decoded objects and JSON-shaped data as JSON, the way Go's encoder would.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::print::json_quote;
use super::source::{Data, Node};
use super::table::{Field, Type};
use super::value::{Struct, Value, View};

/// JSON-shaped data without white space, keys in the order given.
pub fn node(node: &Node<'_>) -> String {
    let mut out = String::new();
    write_node(&mut out, node);
    out
}

fn write_node(out: &mut String, node: &Node<'_>) {
    match &node.data {
        Data::Null => out.push_str("null"),
        Data::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Data::Number(text) => out.push_str(text),
        Data::String(s) => json_quote(out, s),
        Data::Deep(text) => out.push_str(text),
        Data::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                separate(out, i);
                write_node(out, item);
            }
            out.push(']');
        }
        Data::Object(members) => {
            out.push('{');
            for (i, m) in members.iter().enumerate() {
                separate(out, i);
                json_quote(out, &m.key);
                out.push(':');
                write_node(out, &m.value);
            }
            out.push('}');
        }
    }
}

/// A struct in the API's form: JSON names, declaration order, empty fields left out where Go's
/// encoder leaves them out.
pub fn object(view: View<'_>) -> String {
    let mut out = String::new();
    Form::Api.write_struct(&mut out, view);
    out
}

/// As [`object`], for a whole [`Struct`].
pub fn structure(s: &Struct<'_>) -> String {
    object(s.view())
}

/// A list, map or scalar as the API writes it; `null` when unset.
pub fn value(value: Option<&Value<'_>>) -> String {
    let mut out = String::new();
    match value {
        Some(value) => Form::Api.write(&mut out, value),
        None => out.push_str("null"),
    }
    out
}

/// A struct as Go encodes the server's internal type, which has no JSON names: Go names, every
/// field: `{"Type":"x","RollingUpdate":null}`.
///
/// Parity: exact where the internal type has the fields of the API type in the same order, which
/// holds for the types that messages show (security contexts, claims, strategies, cluster trust
/// bundles). An unset int-or-string is `0`, since the internal types hold it by value.
pub fn internal(view: View<'_>) -> String {
    let mut out = String::new();
    Form::Internal.write_struct(&mut out, view);
    out
}

/// How the fields of a struct are named, and which are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// JSON names; what `omitempty` leaves out when empty is left out.
    Api,
    /// Go names, every field.
    Internal,
}

impl Form {
    fn write_struct(self, out: &mut String, view: View<'_>) {
        // The internal types share these with the API, JSON names included.
        let form = match view.ty.name {
            "LabelSelector" | "LabelSelectorRequirement" | "ObjectMeta" | "OwnerReference" => Form::Api,
            _ => self,
        };
        let start = out.len();
        out.push('{');
        for field in &view.ty.fields {
            let value = view.field(field);
            let empty = value.is_none_or(|v| !field.pointer && is_zero(v));
            if form == Form::Api && empty && is_omitted(field) {
                continue;
            }
            separate(out, out.len() - start - 1);
            json_quote(out, if form == Form::Api { field.json } else { field.go });
            out.push(':');
            match value {
                Some(Value::Str(s)) if s.is_empty() && matches!(field.ty, Type::Time | Type::MicroTime) => {
                    // Go's zero time.
                    out.push_str("null");
                }
                Some(v) => form.write(out, v),
                None => form.write_unset(out, field),
            }
        }
        out.push('}');
    }

    fn write_unset(self, out: &mut String, field: &Field) {
        out.push_str(match field.ty {
            Type::IntOrString if self == Form::Internal => "0",
            _ if field.pointer => "null",
            Type::Bool => "false",
            Type::Int32 | Type::Int64 | Type::IntOrString => "0",
            Type::Str | Type::NamedStr => r#""""#,
            Type::Quantity => r#""0""#,
            Type::Time | Type::MicroTime | Type::FieldsV1 | Type::List(_) | Type::Map(_) => "null",
            Type::Struct(ty) => return self.write_struct(out, Struct::new(ty).view()),
        });
    }

    fn write(self, out: &mut String, value: &Value<'_>) {
        match value {
            Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Value::Int(i) => {
                let _ = write!(out, "{i}");
            }
            Value::Number(i) => {
                let _ = write!(out, "{i}");
            }
            Value::Str(s) => json_quote(out, s),
            Value::Quantity(q) => json_quote(out, q.text()),
            Value::Raw(json) => out.push_str(json),
            Value::Struct(s) => self.write_struct(out, s.view()),
            Value::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    separate(out, i);
                    self.write(out, item);
                }
                out.push(']');
            }
            Value::Map(entries) => self.write_map(out, entries),
        }
    }

    /// Keys sorted, as Go writes maps.
    fn write_map(self, out: &mut String, entries: &[(Cow<'_, str>, Value<'_>)]) {
        let mut sorted: Vec<_> = entries.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        out.push('{');
        for (i, (key, value)) in sorted.into_iter().enumerate() {
            separate(out, i);
            json_quote(out, key);
            out.push(':');
            self.write(out, value);
        }
        out.push('}');
    }
}

/// Whether the zero value of this field is left out. Go's `omitempty` never leaves out a struct,
/// except that zero times are.
fn is_omitted(field: &Field) -> bool {
    match field.ty {
        Type::Struct(_) | Type::Quantity | Type::IntOrString => field.pointer && field.omit_empty,
        _ => field.omit_empty,
    }
}

fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Bool(b) => !b,
        Value::Int(i) => *i == 0,
        Value::Str(s) => s.is_empty(),
        Value::List(l) => l.is_empty(),
        Value::Map(m) => m.is_empty(),
        Value::Number(_) | Value::Quantity(_) | Value::Struct(_) | Value::Raw(_) => false,
    }
}

fn separate(out: &mut String, before: usize) {
    if before > 0 {
        out.push(',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table::Table;
    use crate::schema::{decode, json};

    #[test]
    fn required_fields_print_their_zero_and_empty_ones_are_left_out() {
        let text = r#"{"spec":{"paused":false,"minReadySeconds":0,"replicas":0,"template":{"spec":{"containers":[{"name":"","ports":[{}]}]}}}}"#;
        let source = json::read(text.as_bytes()).expect("well-formed");
        let decoded = decode::decode(&source, Table::newest().of("v1.Deployment"));
        assert_eq!(
            structure(&decoded.object.expect("decoded")),
            r#"{"metadata":{},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":[{"name":"","ports":[{"containerPort":0}],"resources":{}}]}},"strategy":{}},"status":{}}"#
        );
    }

    fn text(s: &'static str) -> Value<'static> {
        Value::Str(Cow::Borrowed(s))
    }

    #[test]
    fn api_form_leaves_empty_fields_out_and_sorts_keys() {
        let mut selector = Struct::new(Table::newest().of("v1.LabelSelector"));
        assert_eq!(object(selector.view()), "{}");
        selector.set("matchExpressions", Value::List(vec![]));
        selector.set("matchLabels", Value::Map(vec![("b".into(), text("2")), ("a".into(), text("1"))]));
        assert_eq!(object(selector.view()), r#"{"matchLabels":{"a":"1","b":"2"}}"#);
        let owner = Struct::new(Table::newest().of("v1.OwnerReference"));
        assert_eq!(object(owner.view()), r#"{"apiVersion":"","kind":"","name":"","uid":""}"#);
    }

    #[test]
    fn internal_form_has_go_names_and_every_field() {
        let mut strategy = Struct::new(Table::newest().of("v1.DeploymentStrategy"));
        strategy.set("type", text("x"));
        assert_eq!(internal(strategy.view()), r#"{"Type":"x","RollingUpdate":null}"#);
        strategy.struct_or_new("rollingUpdate").set("maxSurge", text("25%"));
        assert_eq!(
            internal(strategy.view()),
            r#"{"Type":"x","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"25%"}}"#
        );
        let claim = Struct::new(Table::newest().of("v1.PodResourceClaim"));
        assert_eq!(
            internal(claim.view()),
            r#"{"Name":"","ResourceClaimName":null,"ResourceClaimTemplateName":null}"#
        );
    }
}
