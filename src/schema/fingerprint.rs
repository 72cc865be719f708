//! Fingerprints of pod templates: equal exactly when the templates mean the same.
//!
//! Two templates mean the same when they are equal as Go values after the `pod-template-hash` label is
//! taken away, with quantities by amount and times by instant, and with empty lists and maps as good as
//! none. A field's zero value means the same as its absence, unless the field is a pointer. Fields that the
//! type table does not have count as they are, so that a template of a newer release is never taken for
//! another one.
//!
//! A fingerprint is 128 bits wide (FNV-1a), so that equal ones may be taken for equal templates. It is the
//! same in every process and on every machine.
//!
//! Source: kubernetes v1.37.2 `pkg/controller/deployment/util`, `EqualIgnoreHash`, and `apimachinery`
//! `pkg/api/equality`. Parity: exact for what an API server returns.

use std::cmp::Ordering;

use super::json::{self, SyntaxError};
use super::source::{Data, Member, Node};
use super::table::{Field, StructType, Table, Type};
use super::time;
use crate::kube_types::quantity::Quantity;

/// The label that only ReplicaSets' templates carry.
const HASH_LABEL: &str = "pod-template-hash";

/// Stands for a pod template in comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// Of a pod template as JSON.
    ///
    /// # Errors
    /// When it is no JSON.
    pub fn of_template(template: &str) -> Result<Fingerprint, SyntaxError> {
        let mut node = json::read(template.as_bytes())?;
        if let Some(Data::Object(labels)) = labels_of(&mut node) {
            labels.retain(|label| label.key != HASH_LABEL);
        }
        let mut print = Fnv128::default();
        print.structure(Table::newest().of("v1.PodTemplateSpec"), &node);
        Ok(Fingerprint(print.0))
    }
}

fn labels_of<'n, 'a>(template: &'n mut Node<'a>) -> Option<&'n mut Data<'a>> {
    ["metadata", "labels"]
        .into_iter()
        .try_fold(template, |node, key| match &mut node.data {
            Data::Object(members) => members.iter_mut().rev().find(|m| m.key == key).map(|m| &mut m.value),
            _ => None,
        })
        .map(|node| &mut node.data)
}

/// FNV-1a in 128 bits, fed with values. Each value starts with a letter for its kind and says where it
/// ends, so that different values never feed the same bytes.
struct Fnv128(u128);

impl Default for Fnv128 {
    fn default() -> Self {
        Fnv128(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv128 {
    fn feed(&mut self, bytes: &[u8]) {
        const PRIME: u128 = (1 << 88) + 0x13b;
        self.0 = bytes.iter().fold(self.0, |hash, b| (hash ^ u128::from(*b)).wrapping_mul(PRIME));
    }

    /// A letter and a text, which may hold anything.
    fn text(&mut self, kind: u8, text: &str) {
        self.feed(&[kind]);
        self.feed(&(text.len() as u64).to_le_bytes());
        self.feed(text.as_bytes());
    }

    /// A letter and how many values follow.
    fn count(&mut self, kind: u8, count: usize) {
        self.feed(&[kind]);
        self.feed(&(count as u64).to_le_bytes());
    }

    fn structure(&mut self, ty: &'static StructType, node: &Node<'_>) {
        let Data::Object(members) = &node.data else { return self.untyped(node) };
        let mut known: Vec<(&'static Field, &Member<'_>)> = Vec::with_capacity(members.len());
        let mut unknown: Vec<&Member<'_>> = Vec::new();
        for member in members {
            match ty.field(&member.key) {
                Some(field) if is_set(field, &member.value) => known.push((field, member)),
                Some(_) => {}
                None if member.value.data == Data::Null => {}
                None => unknown.push(member),
            }
        }
        known.sort_by_key(|(field, _)| field.order);
        unknown.sort_by(|a, b| a.key.cmp(&b.key));
        self.count(b'{', known.len() + unknown.len());
        for (field, member) in known {
            self.text(b'f', field.json);
            self.value(field.ty, &member.value);
        }
        for member in unknown {
            self.text(b'?', &member.key);
            self.untyped(&member.value);
        }
    }

    fn value(&mut self, ty: Type, node: &Node<'_>) {
        match (ty, &node.data) {
            (Type::Struct(ty), Data::Object(_)) => self.structure(ty, node),
            // In a list a struct may be given as null, and means the empty one.
            (Type::Struct(_), Data::Null) => self.count(b'{', 0),
            (Type::List(elem), Data::Array(items)) => {
                self.count(b'[', items.len());
                for item in items {
                    self.value(elem.ty, item);
                }
            }
            (Type::Map(elem), Data::Object(members)) => {
                self.map(members, |print, value| print.value(elem.ty, value))
            }
            (Type::Quantity, data) => match quantity(Some(data)) {
                Some(quantity) => self.text(b'q', &quantity.amount_key()),
                None => self.untyped(node),
            },
            (Type::Time | Type::MicroTime, Data::String(text)) => match time::parse(text) {
                Ok(time) => self.text(b't', &time),
                Err(_) => self.text(b's', text),
            },
            (Type::Str | Type::NamedStr, Data::Null) => self.text(b's', ""),
            _ => self.untyped(node),
        }
    }

    fn map(&mut self, members: &[Member<'_>], mut value: impl FnMut(&mut Self, &Node<'_>)) {
        let mut sorted: Vec<_> = members.iter().collect();
        sorted.sort_by(|a, b| a.key.cmp(&b.key));
        self.count(b'm', sorted.len());
        for member in sorted {
            self.text(b'k', &member.key);
            value(self, &member.value);
        }
    }

    /// A value of no known type, as it stands, but for the order of members.
    fn untyped(&mut self, node: &Node<'_>) {
        match &node.data {
            Data::Null => self.feed(b"n"),
            Data::Bool(b) => self.feed(if *b { b"1" } else { b"0" }),
            Data::Number(number) => self.text(b'i', number),
            Data::Deep(text) => self.text(b'd', text),
            Data::String(text) => self.text(b's', text),
            Data::Array(items) => {
                self.count(b'[', items.len());
                items.iter().for_each(|item| self.untyped(item));
            }
            Data::Object(members) => self.map(members, Self::untyped),
        }
    }
}

/// Whether a field that is given differs from one that is not.
fn is_set(field: &'static Field, node: &Node<'_>) -> bool {
    if field.pointer { node.data != Data::Null } else { !is_zero(field.ty, node) }
}

fn is_zero(ty: Type, node: &Node<'_>) -> bool {
    match (ty, &node.data) {
        (_, Data::Null) => true,
        (Type::Bool, Data::Bool(b)) => !b,
        (Type::Int32 | Type::Int64 | Type::IntOrString, Data::Number(number)) => number == "0",
        (Type::Str | Type::NamedStr, Data::String(text)) => text.is_empty(),
        (Type::Quantity, data) => quantity(Some(data)).is_some_and(|q| q.sign() == Ordering::Equal),
        (Type::Time | Type::MicroTime, Data::String(text)) => time::parse(text) == Ok(String::new()),
        (Type::List(_), Data::Array(items)) => items.is_empty(),
        (Type::Map(_), Data::Object(members)) => members.is_empty(),
        (Type::Struct(ty), Data::Object(members)) => members.iter().all(|m| match ty.field(&m.key) {
            Some(field) => !is_set(field, &m.value),
            None => m.value.data == Data::Null,
        }),
        _ => false,
    }
}

/// A quantity given as text or as a number; none when it is not given, or is none.
fn quantity<'a>(data: Option<&'a Data<'_>>) -> Option<Quantity<'a>> {
    match data {
        Some(Data::String(text) | Data::Number(text)) => Quantity::parse(text).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(spec: &str) -> Fingerprint {
        Fingerprint::of_template(&format!(r#"{{"metadata":{{}},"spec":{spec}}}"#)).unwrap()
    }

    /// A template with one container of these fields.
    fn container(fields: &str) -> Fingerprint {
        print(&format!(r#"{{"containers":[{{"name":"a",{fields}}}]}}"#))
    }

    #[test]
    fn the_hash_label_does_not_count() {
        let of = |labels: &str| {
            Fingerprint::of_template(&format!(r#"{{"metadata":{{"labels":{labels}}}}}"#)).unwrap()
        };
        assert_eq!(of(r#"{"pod-template-hash":"1","a":"b"}"#), of(r#"{"a":"b"}"#));
        assert_eq!(of(r#"{"pod-template-hash":"1"}"#), of("null"));
        assert_ne!(of(r#"{"a":"b"}"#), of(r#"{"a":"c"}"#));
    }

    #[test]
    fn quantities_count_by_amount() {
        let cpu = |text: &str| container(&format!(r#""resources":{{"limits":{{"cpu":{text}}}}}"#));
        assert_eq!(cpu(r#""1""#), cpu(r#""1000m""#));
        assert_eq!(cpu(r#""1Gi""#), cpu("1073741824"));
        assert_ne!(cpu(r#""1""#), cpu(r#""1001m""#));
        assert_ne!(cpu(r#""0""#), container(r#""resources":{"limits":{}}"#));
    }

    #[test]
    fn zero_means_absent_except_behind_pointers() {
        assert_eq!(print(r#"{"hostNetwork":false,"nodeName":"","volumes":[]}"#), print("{}"));
        assert_eq!(container(r#""resources":{"limits":{}}"#), container(r#""image":"""#));
        assert_ne!(print(r#"{"securityContext":{}}"#), print("{}"));
        assert_ne!(print(r#"{"terminationGracePeriodSeconds":0}"#), print("{}"));
        assert_eq!(print(r#"{"securityContext":null}"#), print("{}"));
        assert_ne!(container(r#""livenessProbe":{}"#), container(r#""tty":false"#));
    }

    #[test]
    fn order_counts_in_lists_but_not_in_objects() {
        assert_eq!(
            print(r#"{"nodeName":"a","hostname":"b","nodeSelector":{"x":"1","y":"2"}}"#),
            print(r#"{"nodeSelector":{"y":"2","x":"1"},"hostname":"b","nodeName":"a"}"#)
        );
        assert_ne!(container(r#""args":["a","b"]"#), container(r#""args":["b","a"]"#));
        assert_ne!(container(r#""args":["ab"]"#), container(r#""args":["a","b"]"#));
        assert_ne!(container(r#""args":["a"]"#), container(r#""command":["a"]"#));
    }

    #[test]
    fn a_port_by_number_is_not_one_by_name() {
        let port = |port: &str| container(&format!(r#""livenessProbe":{{"tcpSocket":{{"port":{port}}}}}"#));
        assert_ne!(port("80"), port(r#""80""#));
        assert_eq!(port("0"), container(r#""livenessProbe":{"tcpSocket":{}}"#));
        assert_ne!(port(r#""""#), port("0"));
    }

    #[test]
    fn unknown_fields_count() {
        assert_ne!(print(r#"{"newInRelease99":1}"#), print("{}"));
        assert_eq!(print(r#"{"new":{"a":1,"b":[]}}"#), print(r#"{"new":{"b":[],"a":1}}"#));
        assert_ne!(container(r#""resources":{"new":1}"#), container(r#""resources":{}"#));
    }

    #[test]
    fn times_count_by_instant() {
        let made = |at: &str| {
            Fingerprint::of_template(&format!(r#"{{"metadata":{{"creationTimestamp":{at}}}}}"#)).unwrap()
        };
        assert_eq!(made(r#""2026-01-01T12:00:00Z""#), made(r#""2026-01-01T13:00:00+01:00""#));
        assert_eq!(made("null"), made(r#""0001-01-01T00:00:00Z""#));
        assert_ne!(made("null"), made(r#""2026-01-01T12:00:00Z""#));
    }
}
