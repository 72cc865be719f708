//! JSON-shaped data with the place of every key and value: what readers make and decoding takes.

use std::borrow::Cow;

/// Where a key or value stands in the text it was read from, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Of its first byte.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a> {
    /// Its place.
    pub at: Span,
    /// What it is.
    pub data: Data<'a>,
}

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Data<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as JSON spells it: `420`, `1.5`, `1e3`.
    Number(Cow<'a, str>),
    /// Text, unescaped.
    String(Cow<'a, str>),
    /// A list.
    Array(Vec<Node<'a>>),
    /// Members in the order given, repeated keys included.
    Object(Vec<Member<'a>>),
    /// A list or object nested deeper than any field that decoding reads, as JSON text.
    Deep(Cow<'a, str>),
}

/// One `key: value` of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<'a> {
    /// The key, unescaped.
    pub key: Cow<'a, str>,
    /// Where the key stands.
    pub key_at: Span,
    /// The value.
    pub value: Node<'a>,
}

impl<'a> Node<'a> {
    /// The value under a key (the last one, when the key is repeated).
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.member(key).map(|m| &m.value)
    }

    /// The member with a key (the last one, when the key is repeated).
    pub fn member(&self, key: &str) -> Option<&Member<'a>> {
        match &self.data {
            Data::Object(members) => members.iter().rev().find(|m| m.key == key),
            _ => None,
        }
    }

    /// The text, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(s) => Some(s),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub fn items(&self) -> &[Node<'a>] {
        match &self.data {
            Data::Array(items) => items,
            _ => &[],
        }
    }
}
