//! How Go prints values in error messages, and how it writes JSON.
//!
//! Whole values print in one of two forms: [`api_json`] as the API writes them (JSON names, empty
//! fields left out, map keys sorted), [`internal_json`] as Go encodes the server's internal types,
//! which have no JSON names (Go names, every field: `{"Type":"x","RollingUpdate":null}`). Messages
//! show types of the meta API in the first form, everything else in the second.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::table::{Field, Type};
use super::value::{Value, View};

/// Appends `s` quoted by Go's `%q`.
pub fn go_quote(out: &mut String, s: &str) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if is_go_printable(c) => out.push(c),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if (c as u32) < 0x10000 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => {
                let _ = write!(out, "\\U{:08x}", c as u32);
            }
        }
    }
    out.push('"');
}

/// Appends `s` quoted as Go's JSON encoder does, HTML escapes included.
pub fn json_quote(out: &mut String, s: &str) {
    out.push('"');
    let bytes = s.as_bytes();
    let mut from = 0;
    for (i, c) in s.char_indices() {
        let escape: Option<&str> = match c {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            '\u{8}' => Some("\\b"),
            '\u{c}' => Some("\\f"),
            '<' => Some("\\u003c"),
            '>' => Some("\\u003e"),
            '&' => Some("\\u0026"),
            '\u{2028}' => Some("\\u2028"),
            '\u{2029}' => Some("\\u2029"),
            c if (c as u32) < 0x20 => None,
            _ => continue,
        };
        out.push_str(&s[from..i]);
        match escape {
            Some(e) => out.push_str(e),
            None => {
                let _ = write!(out, "\\u{:04x}", bytes[i]);
            }
        }
        from = i + c.len_utf8();
    }
    out.push_str(&s[from..]);
    out.push('"');
}

/// Whether Go's `strconv.IsPrint` holds: letters, marks, numbers, punctuation, symbols and the
/// ASCII space.
///
/// Parity: exact for ASCII and Latin-1; beyond, Rust's notion of what `{:?}` leaves unescaped, which
/// differs from Go's tables in characters of newer Unicode versions.
pub fn is_go_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\u{7f}'..='\u{a0}' | '\u{ad}' => false,
        '\u{300}'..='\u{36f}' => true,
        c if c.is_ascii() => false,
        c if c.is_whitespace() => false,
        c => c.escape_debug().len() == 1 || is_grapheme_extend_kept(c),
    }
}

/// `char::escape_debug` escapes combining marks (at the start of a string), which Go prints raw.
fn is_grapheme_extend_kept(c: char) -> bool {
    let mut text = String::with_capacity(8);
    text.push('a');
    text.push(c);
    let quoted = format!("{text:?}");
    quoted.len() == text.len() + 2
}

/// A struct as the API writes it: `{"matchLabels":{"app":"web"}}`.
pub fn api_json(view: View<'_>) -> String {
    let mut out = String::new();
    Form::Api.write_struct(&mut out, view);
    out
}

/// A struct as Go encodes the server's internal type: Go names, every field.
///
/// Parity: exact where the internal type has the fields of the API type in the same order, which
/// holds for the types that messages show (security contexts, claims, strategies, cluster trust
/// bundles). An unset int-or-string prints as `0`, since the internal types hold it by value.
pub fn internal_json(view: View<'_>) -> String {
    let mut out = String::new();
    Form::Internal.write_struct(&mut out, view);
    out
}

/// A list, map or scalar as the API writes it; `null` when unset.
pub fn value_json(value: Option<&Value<'_>>) -> String {
    let mut out = String::new();
    match value {
        Some(value) => Form::Api.write(&mut out, value),
        None => out.push_str("null"),
    }
    out
}

/// How the fields of a struct are named, and which are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// JSON names; fields that `omitempty` leaves out when empty are left out.
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
        out.push('{');
        let mut first = true;
        for field in &view.ty.fields {
            let value = view.get(field.json);
            if form == Form::Api && field.omit_empty && value.is_none_or(|v| is_empty(field, v)) {
                match field.ty {
                    // `omitempty` never leaves a struct out.
                    Type::Struct(_) if !field.pointer => {}
                    _ => continue,
                }
            }
            if !first {
                out.push(',');
            }
            first = false;
            json_quote(out, if form == Form::Api { field.json } else { field.go });
            out.push(':');
            match value {
                Some(value) => form.write(out, value),
                None => form.write_zero(out, field, view),
            }
        }
        out.push('}');
    }

    fn write_zero(self, out: &mut String, field: &'static Field, owner: View<'_>) {
        out.push_str(match field.ty {
            Type::IntOrString => "0",
            _ if field.pointer => "null",
            Type::Bool => "false",
            Type::Int32 | Type::Int64 => "0",
            Type::Str | Type::NamedStr => r#""""#,
            Type::Quantity => r#""0""#,
            Type::Time | Type::MicroTime | Type::FieldsV1 | Type::List(_) | Type::Map(_) => "null",
            Type::Struct(_) => return self.write_struct(out, owner.nested(field.json)),
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
            Value::List(items) => self.write_list(out, items),
            Value::Map(entries) => self.write_map(out, entries),
            Value::Struct(s) => self.write_struct(out, s.view()),
            Value::Raw(json) => out.push_str(json),
        }
    }

    fn write_list(self, out: &mut String, items: &[Value<'_>]) {
        out.push('[');
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            self.write(out, item);
        }
        out.push(']');
    }

    fn write_map(self, out: &mut String, entries: &[(Cow<'_, str>, Value<'_>)]) {
        let mut sorted: Vec<_> = entries.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        out.push('{');
        for (i, (key, value)) in sorted.into_iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            json_quote(out, key);
            out.push(':');
            self.write(out, value);
        }
        out.push('}');
    }
}

/// Whether Go's `omitempty` leaves the value out: set pointers and structs never are.
fn is_empty(field: &Field, value: &Value<'_>) -> bool {
    match value {
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ if field.pointer => false,
        Value::Bool(b) => !b,
        Value::Int(i) => *i == 0,
        Value::Str(s) => s.is_empty(),
        Value::Number(_) | Value::Quantity(_) | Value::Struct(_) | Value::Raw(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table::Table;
    use crate::schema::value::Struct;

    fn text(s: &'static str) -> Value<'static> {
        Value::Str(Cow::Borrowed(s))
    }

    #[test]
    fn go_and_json_quoting_differ_in_angles_and_controls() {
        let (mut go, mut json) = (String::new(), String::new());
        go_quote(&mut go, "<\u{7}\u{200b}\u{7f}");
        json_quote(&mut json, "<\u{7}\u{200b}\u{7f}");
        assert_eq!(go, r#""<\a\u200b\x7f""#);
        assert_eq!(json, "\"\\u003c\\u0007\u{200b}\u{7f}\"");
    }

    #[test]
    fn api_form_leaves_empty_fields_out_and_sorts_keys() {
        let mut selector = Struct::new(Table::newest().of("v1.LabelSelector"));
        assert_eq!(api_json(selector.view()), "{}");
        selector.set("matchExpressions", Value::List(vec![]));
        selector.set("matchLabels", Value::Map(vec![("b".into(), text("2")), ("a".into(), text("1"))]));
        assert_eq!(api_json(selector.view()), r#"{"matchLabels":{"a":"1","b":"2"}}"#);
        let owner = Struct::new(Table::newest().of("v1.OwnerReference"));
        assert_eq!(api_json(owner.view()), r#"{"apiVersion":"","kind":"","name":"","uid":""}"#);
    }

    #[test]
    fn internal_form_has_go_names_and_every_field() {
        let mut strategy = Struct::new(Table::newest().of("v1.DeploymentStrategy"));
        strategy.set("type", text("x"));
        assert_eq!(internal_json(strategy.view()), r#"{"Type":"x","RollingUpdate":null}"#);
        strategy.struct_or_new("rollingUpdate").set("maxSurge", text("25%"));
        assert_eq!(
            internal_json(strategy.view()),
            r#"{"Type":"x","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"25%"}}"#
        );
        let claim = Struct::new(Table::newest().of("v1.PodResourceClaim"));
        assert_eq!(
            internal_json(claim.view()),
            r#"{"Name":"","ResourceClaimName":null,"ResourceClaimTemplateName":null}"#
        );
    }
}
