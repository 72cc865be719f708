//! Reads YAML as kubectl does: by go-yaml v2, and from there to JSON.
//!
//! What kubectl makes of a text decides what the API server gets to see, so its oddities are kept:
//! YAML 1.1 scalars (`yes` is true, `0644` is 420, `12:30` and `2024-01-02` are text), a merge key that
//! overrides what stands before it, keys of any scalar type made text, numbers as JSON spells them,
//! members sorted. Texts are read as far as their first document; [`super::documents`] separates them.
//!
//! `scanner` makes tokens, `parser` a flat tree, `compose` resolves scalars, aliases and merges.
//! `simple` does all of that at once, for the plain style of most manifests.
//!
//! Source: go-yaml v2.4.4 and sigs.k8s.io/yaml v1.6.0. Parity: exact for what is accepted and what it
//! means, save that a byte order mark counts only at the start of a text, and that what nests deeper
//! than 100 levels, where no field lies, is checked but not kept. Messages are go-yaml's, positions ours.

mod compose;
mod number;
mod parser;
mod properties;
mod resolve;
mod scalars;
mod scanner;
mod simple;
mod token;

pub use number::canonical_number;
pub use resolve::is_text;

use crate::schema::source::{Node, Span};
use crate::verdict::Placed;

/// What was read from one YAML text.
#[derive(Debug, PartialEq)]
pub struct Reading<'a> {
    /// The value. None when the text is empty but for comments.
    pub root: Option<Node<'a>>,
    /// Keys that a mapping has twice. The last one counts.
    pub repeated: Vec<Placed>,
}

/// Why a text cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unreadable {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub at: Span,
}

impl Unreadable {
    pub(super) fn new(message: impl Into<String>, at: Span) -> Unreadable {
        Unreadable { message: message.into(), at }
    }
}

/// Reads the first document of a text.
///
/// # Errors
/// [`Unreadable`] when the text is no YAML, has no JSON counterpart (`.nan`, a mapping as a key),
/// nests deeper than 10,000 levels, or expands aliases beyond measure.
pub fn read(text: &str) -> Result<Reading<'_>, Unreadable> {
    match simple::read(text) {
        Some(root) => Ok(Reading { root: Some(root), repeated: Vec::new() }),
        None => read_in_full(text),
    }
}

/// Does what [`read`] does by the whole grammar, also where a text is simple enough for less.
///
/// # Errors
/// See [`read`].
pub fn read_in_full(text: &str) -> Result<Reading<'_>, Unreadable> {
    if u32::try_from(text.len()).is_err() {
        return Err(Unreadable::new("more than 4 GiB in one document", span(0, 0)));
    }
    check_characters(text)?;
    compose::compose(parser::parse(text)?)
}

/// A span; texts are shorter than 4 GiB, see [`read`].
fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, end: end as u32 }
}

fn check_characters(text: &str) -> Result<(), Unreadable> {
    if text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
        return Ok(());
    }
    let allowed = |c: char| {
        matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}')
            || matches!(c, '\u{A0}'..='\u{FFFD}' | '\u{10000}'..)
    };
    match text.char_indices().find(|&(_, c)| !allowed(c)) {
        None => Ok(()),
        Some((i, c)) => Err(Unreadable::new("control characters are not allowed", span(i, i + c.len_utf8()))),
    }
}
