//! Tokens: what the scanner hands to the parser.

use std::borrow::Cow;

use crate::schema::source::Span;

/// One token and where it stands.
#[derive(Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) at: Span,
}

/// What a token is. Block collections have no mark of their own in the text: the scanner derives
/// their starts and ends from the indentation, and a `Key` from the `:` that follows it.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    StreamEnd,
    Version { major: u8, minor: u8 },
    TagDirective(Box<TagName>),
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'a str),
    Anchor(&'a str),
    Tag(Box<TagName>),
    Scalar { text: Cow<'a, str>, plain: bool },
}

/// A tag (`!!int`, `!local`, `!<verbatim>`) or a `%TAG` directive: the handle, which is empty for a
/// verbatim tag, and the suffix or prefix.
#[derive(Debug)]
pub(super) struct TagName {
    pub(super) handle: String,
    pub(super) rest: String,
}
