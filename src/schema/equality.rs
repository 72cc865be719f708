//! Whether two decoded values mean the same, as the API server sees it: lists and maps that are not
//! set equal empty ones, quantities compare by amount, map order does not count.
//!
//! Source: kubernetes v1.37.2 `apimachinery/pkg/api/equality`, `Semantic.DeepEqual`. Parity: exact.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::table::Field;
use super::value::{Value, View};

/// Whether a field means the same in two structs of one type.
pub fn same_field(a: View<'_>, b: View<'_>, json: &'static str) -> bool {
    match (a.get(json), b.get(json)) {
        (None, None) => true,
        (Some(a), Some(b)) => same_value(a, b),
        (Some(value), None) | (None, Some(value)) => is_zero(a.ty.known(json), value),
    }
}

/// Whether two structs of one type mean the same.
pub fn same(a: View<'_>, b: View<'_>) -> bool {
    let only_in_b = b.set_fields().filter(|(field, _)| !a.has(field.json));
    a.set_fields().all(|(field, _)| same_field(a, b, field.json))
        && only_in_b.into_iter().all(|(field, value)| is_zero(field, value))
}

fn same_value(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::Str(a), Value::Str(b)) | (Value::Raw(a), Value::Raw(b)) => a == b,
        (Value::Quantity(a), Value::Quantity(b)) => a.cmp_amount(b) == Ordering::Equal,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Value::Map(a), Value::Map(b)) => same_map(a, b),
        (Value::Struct(a), Value::Struct(b)) => same(a.view(), b.view()),
        _ => false,
    }
}

type Entry<'a> = (Cow<'a, str>, Value<'a>);

fn same_map(a: &[Entry<'_>], b: &[Entry<'_>]) -> bool {
    fn sorted<'m, 'a>(map: &'m [Entry<'a>]) -> Vec<&'m Entry<'a>> {
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        entries
    }
    a.len() == b.len()
        && sorted(a).into_iter().zip(sorted(b)).all(|(a, b)| a.0 == b.0 && same_value(&a.1, &b.1))
}

/// Whether a field that is set means the same as one that is not.
fn is_zero(field: &Field, value: &Value<'_>) -> bool {
    match value {
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ if field.pointer => false,
        Value::Bool(b) => !b,
        Value::Int(i) => *i == 0,
        Value::Number(i) => *i == 0,
        Value::Str(s) => s.is_empty(),
        Value::Quantity(q) => q.sign() == Ordering::Equal,
        Value::Struct(s) => s.view().set_fields().all(|(field, value)| is_zero(field, value)),
        Value::Raw(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::decode::decode;
    use crate::schema::json;
    use crate::schema::table::Table;

    fn alike(a: &str, b: &str) -> bool {
        let (a, b) = (json::read(a.as_bytes()), json::read(b.as_bytes()));
        let (a, b) = (a.expect("JSON"), b.expect("JSON"));
        let ty = Table::newest().of("v1.Container");
        let (a, b) = (decode(&a, ty).object, decode(&b, ty).object);
        let (a, b) = (a.expect("a container"), b.expect("a container"));
        let alike = same(a.view(), b.view());
        assert_eq!(alike, same(b.view(), a.view()));
        alike
    }

    #[test]
    fn empty_means_unset_except_behind_a_pointer() {
        assert!(alike(r#"{"env":[],"tty":false,"image":"","resources":{"limits":{}}}"#, "{}"));
        assert!(!alike(r#"{"securityContext":{}}"#, "{}"));
        assert!(!alike(r#"{"restartPolicy":""}"#, "{}"));
    }

    #[test]
    fn maps_have_no_order_and_quantities_no_notation() {
        let limits = |list: &str| format!(r#"{{"resources":{{"limits":{list}}}}}"#);
        let written = limits(r#"{"cpu":"1000m","memory":"1Gi"}"#);
        assert!(alike(&written, &limits(r#"{"memory":"1024Mi","cpu":"1"}"#)));
        assert!(!alike(&written, &limits(r#"{"memory":"1Gi","cpu":"2"}"#)));
        assert!(!alike(&written, &limits(r#"{"memory":"1Gi","gpu":"1"}"#)));
    }

    #[test]
    fn lists_have_an_order() {
        assert!(alike(r#"{"args":["a","b"]}"#, r#"{"args":["a","b"]}"#));
        assert!(!alike(r#"{"args":["a","b"]}"#, r#"{"args":["b","a"]}"#));
        assert!(!alike(r#"{"args":["a"]}"#, r#"{"args":["a","b"]}"#));
    }
}
