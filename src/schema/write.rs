//! Writes decoded objects and JSON-shaped data as JSON, the way Go's encoder would.

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
    write_object(&mut out, view);
    out
}

/// As [`object`], for a whole [`Struct`].
pub fn structure(s: &Struct<'_>) -> String {
    object(s.view())
}

fn write_object(out: &mut String, view: View<'_>) {
    let start = out.len();
    out.push('{');
    for field in &view.ty.fields {
        let value = view.field(field);
        if value.is_none_or(|v| !field.pointer && is_zero(v)) && is_omitted(field) {
            continue;
        }
        separate(out, out.len() - start - 1);
        json_quote(out, field.json);
        out.push(':');
        match value {
            Some(v) => write_value(out, v),
            None => write_unset(out, field),
        }
    }
    out.push('}');
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

fn write_unset(out: &mut String, field: &Field) {
    match field.ty {
        _ if field.pointer => out.push_str("null"),
        Type::Bool => out.push_str("false"),
        Type::Int32 | Type::Int64 | Type::IntOrString => out.push('0'),
        Type::Str | Type::NamedStr => out.push_str("\"\""),
        Type::Quantity => out.push_str("\"0\""),
        Type::Time | Type::MicroTime | Type::FieldsV1 | Type::List(_) | Type::Map(_) => {
            out.push_str("null");
        }
        Type::Struct(ty) => write_object(out, Struct::new(ty).view()),
    }
}

fn write_value(out: &mut String, value: &Value<'_>) {
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
        Value::Struct(s) => write_object(out, s.view()),
        Value::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                separate(out, i);
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            for (i, (key, value)) in sorted.into_iter().enumerate() {
                separate(out, i);
                json_quote(out, key);
                out.push(':');
                write_value(out, value);
            }
            out.push('}');
        }
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
}
