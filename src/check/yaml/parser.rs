//! The parser: tokens to a flat tree, by the grammar of YAML 1.1 as go-yaml v2 has it.
//!
//! It keeps its own stack, so that deep nesting costs memory and not the thread's stack.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Unreadable;
use super::scanner::Scanner;
use super::token::{Kind, TagName};
use crate::schema::source::Span;

/// The nodes of one document, each before its children; children of a mapping are keys and values in
/// turn.
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Entry<'a>>,
    pub(super) has_aliases: bool,
}

/// One node of the tree.
pub(super) struct Entry<'a> {
    pub(super) at: Span,
    /// The resolved tag: `tag:yaml.org,2002:int`, `!local`.
    pub(super) tag: Option<Box<str>>,
    pub(super) what: What<'a>,
}

pub(super) enum What<'a> {
    Scalar {
        text: Cow<'a, str>,
        plain: bool,
    },
    Alias {
        name: &'a str,
        target: usize,
    },
    /// `next` is the place of the first node after its children.
    Sequence {
        next: usize,
    },
    Mapping {
        next: usize,
    },
}

/// What to parse next. Each state that belongs to a collection knows its place in the tree.
#[derive(Clone, Copy)]
enum State {
    BlockSequence(usize),
    /// A block sequence that is not indented deeper than the mapping key it belongs to.
    Indentless(usize),
    BlockKey(usize),
    BlockValue(usize),
    FlowSequence {
        first: bool,
        node: usize,
    },
    /// `[a: b]`: a mapping of one pair inside a flow sequence.
    PairKey(usize),
    PairValue(usize),
    PairEnd(usize),
    FlowKey {
        first: bool,
        node: usize,
    },
    FlowValue(usize),
    /// The value of `{a}`.
    FlowNoValue(usize),
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    states: Vec<State>,
    tree: Tree<'a>,
    /// Where the node ends that ended last.
    last_end: u32,
    anchors: HashMap<&'a str, usize>,
    tag_handles: Vec<TagName>,
}

/// Parses the first document; the tree is empty if there is none.
pub(super) fn parse(text: &str) -> Result<Tree<'_>, Unreadable> {
    let mut parser = Parser {
        scanner: Scanner::new(text),
        states: Vec::new(),
        tree: Tree { nodes: Vec::with_capacity(text.len() / 12), has_aliases: false },
        last_end: 0,
        anchors: HashMap::new(),
        tag_handles: Vec::new(),
    };
    parser.document()?;
    Ok(parser.tree)
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Result<(&Kind<'a>, Span), Unreadable> {
        let token = self.scanner.peek()?;
        Ok((&token.kind, token.at))
    }

    fn next_is(&mut self, wanted: fn(&Kind<'_>) -> bool) -> Result<bool, Unreadable> {
        Ok(wanted(&self.scanner.peek()?.kind))
    }

    /// Takes the next token if it is of the wanted kind.
    fn take_if(&mut self, wanted: fn(&Kind<'_>) -> bool) -> Result<Option<Span>, Unreadable> {
        let taken = self.next_is(wanted)?;
        Ok(taken.then(|| self.scanner.take().at))
    }

    fn fail<T>(&mut self, message: &'static str) -> Result<T, Unreadable> {
        let at = self.peek()?.1;
        Err(Unreadable::new(message, at))
    }

    fn document(&mut self) -> Result<(), Unreadable> {
        if matches!(self.peek()?.0, Kind::StreamEnd) {
            return Ok(());
        }
        let directives = self.directives()?;
        let started = self.take_if(|k| matches!(k, Kind::DocumentStart))?;
        if directives && started.is_none() {
            return self.fail("did not find expected <document start>");
        }
        let empty = matches!(
            self.peek()?.0,
            Kind::Version { .. }
                | Kind::TagDirective(_)
                | Kind::DocumentStart
                | Kind::DocumentEnd
                | Kind::StreamEnd
        );
        match started {
            Some(mark) if empty => self.empty(mark.end as usize),
            _ => self.node(true, false)?,
        }
        while let Some(state) = self.states.pop() {
            self.step(state)?;
        }
        // What ends the document must be readable.
        self.peek()?;
        Ok(())
    }

    /// Reads `%YAML` and `%TAG`; says whether there were any.
    fn directives(&mut self) -> Result<bool, Unreadable> {
        let mut seen_version = false;
        let mut seen = false;
        while self.next_is(|k| matches!(k, Kind::Version { .. } | Kind::TagDirective(_)))? {
            seen = true;
            let token = self.scanner.take();
            let problem = match token.kind {
                Kind::Version { .. } if seen_version => "found duplicate %YAML directive",
                Kind::Version { major: 1, minor: 1 } => {
                    seen_version = true;
                    continue;
                }
                Kind::TagDirective(name) if self.tag_handles.iter().all(|t| t.handle != name.handle) => {
                    self.tag_handles.push(*name);
                    continue;
                }
                Kind::TagDirective(_) => "found duplicate %TAG directive",
                _ => "found incompatible YAML document",
            };
            return Err(Unreadable::new(problem, token.at));
        }
        Ok(seen)
    }

    fn step(&mut self, state: State) -> Result<(), Unreadable> {
        match state {
            State::BlockSequence(node) => self.block_sequence(node),
            State::Indentless(node) => self.indentless(node),
            State::BlockKey(node) => self.block_key(node),
            State::BlockValue(node) => self.block_value(node),
            State::FlowSequence { first, node } => self.flow_sequence(first, node),
            State::PairKey(node) => self.pair_key(node),
            State::PairValue(node) => self.pair_value(node),
            State::PairEnd(node) => {
                self.close(node, None);
                Ok(())
            }
            State::FlowKey { first, node } => self.flow_key(first, node),
            State::FlowValue(node) => self.flow_value(node),
            State::FlowNoValue(node) => {
                let at = self.peek()?.1.start;
                self.states.push(State::FlowKey { first: false, node });
                self.empty(at as usize);
                Ok(())
            }
        }
    }

    // Nodes.

    /// Parses the properties and the start of a node; of a collection, the rest follows by its state.
    fn node(&mut self, block: bool, indentless: bool) -> Result<(), Unreadable> {
        if let Kind::Alias(name) = *self.peek()?.0 {
            return self.alias(name);
        }
        let start = self.peek()?.1.start as usize;
        let (tag, anchored, end) = self.properties()?;
        let has_properties = tag.is_some() || anchored;
        let place = self.tree.nodes.len();
        let mut at = self.peek()?.1;
        let what = match self.peek()?.0 {
            Kind::BlockEntry if indentless => {
                self.states.push(State::Indentless(place));
                What::Sequence { next: place }
            }
            Kind::Scalar { .. } => {
                let Kind::Scalar { text, plain } = self.scanner.take().kind else {
                    return self.fail("did not find expected node content");
                };
                let plain = if tag.is_none() { plain } else { tag.as_deref() == Some("!") };
                What::Scalar { text, plain }
            }
            Kind::FlowSequenceStart => {
                self.scanner.take();
                self.states.push(State::FlowSequence { first: true, node: place });
                What::Sequence { next: place }
            }
            Kind::FlowMappingStart => {
                self.scanner.take();
                self.states.push(State::FlowKey { first: true, node: place });
                What::Mapping { next: place }
            }
            Kind::BlockSequenceStart if block => {
                self.scanner.take();
                self.states.push(State::BlockSequence(place));
                What::Sequence { next: place }
            }
            Kind::BlockMappingStart if block => {
                self.scanner.take();
                self.states.push(State::BlockKey(place));
                What::Mapping { next: place }
            }
            _ if has_properties => {
                at = super::span(start, end);
                What::Scalar { text: Cow::Borrowed(""), plain: tag.is_none() }
            }
            _ => return self.fail("did not find expected node content"),
        };
        self.push(Entry { at, tag, what });
        Ok(())
    }

    fn alias(&mut self, name: &'a str) -> Result<(), Unreadable> {
        let at = self.scanner.take().at;
        let Some(&target) = self.anchors.get(name) else {
            return Err(Unreadable::new(format!("unknown anchor '{name}' referenced"), at));
        };
        self.tree.has_aliases = true;
        self.push(Entry { at, tag: None, what: What::Alias { name, target } });
        Ok(())
    }

    /// Reads a tag and an anchor in either order: the tag, whether there is an anchor, and their end.
    fn properties(&mut self) -> Result<(Option<Box<str>>, bool, usize), Unreadable> {
        let mut tag = None;
        let mut anchored = false;
        let mut end = self.peek()?.1.start as usize;
        loop {
            let wanted = match self.peek()?.0 {
                Kind::Anchor(_) => !anchored,
                Kind::Tag(_) => tag.is_none(),
                _ => false,
            };
            if !wanted {
                return Ok((tag, anchored, end));
            }
            let token = self.scanner.take();
            end = token.at.end as usize;
            match token.kind {
                Kind::Anchor(name) => {
                    self.anchors.insert(name, self.tree.nodes.len());
                    anchored = true;
                }
                Kind::Tag(name) => tag = Some(self.resolve_tag(*name, token.at)?),
                _ => {}
            }
        }
    }

    fn resolve_tag(&self, name: TagName, at: Span) -> Result<Box<str>, Unreadable> {
        let declared = self.tag_handles.iter().find(|t| t.handle == name.handle);
        let prefix = match (name.handle.as_str(), declared) {
            ("", _) => "",
            (_, Some(declared)) => &declared.rest,
            ("!", None) => "!",
            ("!!", None) => "tag:yaml.org,2002:",
            _ => return Err(Unreadable::new("found undefined tag handle", at)),
        };
        Ok(format!("{prefix}{}", name.rest).into())
    }

    /// Adds the empty scalar that stands for a node left out.
    fn empty(&mut self, at: usize) {
        let what = What::Scalar { text: Cow::Borrowed(""), plain: true };
        self.push(Entry { at: super::span(at, at), tag: None, what });
    }

    fn push(&mut self, entry: Entry<'a>) {
        self.last_end = entry.at.end;
        self.tree.nodes.push(entry);
    }

    /// Ends a collection: at its closing bracket, or with its last child.
    fn close(&mut self, node: usize, bracket: Option<Span>) {
        let after = self.tree.nodes.len();
        let end = bracket.map_or(self.last_end, |at| at.end);
        let entry = &mut self.tree.nodes[node];
        entry.at.end = end.max(entry.at.end);
        self.last_end = entry.at.end;
        if let What::Sequence { next } | What::Mapping { next } = &mut entry.what {
            *next = after;
        }
    }

    // Block collections.

    fn block_sequence(&mut self, node: usize) -> Result<(), Unreadable> {
        if let Some(dash) = self.take_if(|k| matches!(k, Kind::BlockEntry))? {
            self.states.push(State::BlockSequence(node));
            return match self.peek()?.0 {
                Kind::BlockEntry | Kind::BlockEnd => {
                    self.empty(dash.end as usize);
                    Ok(())
                }
                _ => self.node(true, false),
            };
        }
        if self.take_if(|k| matches!(k, Kind::BlockEnd))?.is_none() {
            return self.fail("did not find expected '-' indicator");
        }
        self.close(node, None);
        Ok(())
    }

    fn indentless(&mut self, node: usize) -> Result<(), Unreadable> {
        let Some(dash) = self.take_if(|k| matches!(k, Kind::BlockEntry))? else {
            self.close(node, None);
            return Ok(());
        };
        self.states.push(State::Indentless(node));
        match self.peek()?.0 {
            Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd => {
                self.empty(dash.end as usize);
                Ok(())
            }
            _ => self.node(true, false),
        }
    }

    /// Parses a key or a value of a block mapping; `mark` is where an empty one would stand.
    fn block_part(&mut self, mark: usize) -> Result<(), Unreadable> {
        match self.peek()?.0 {
            Kind::Key | Kind::Value | Kind::BlockEnd => {
                self.empty(mark);
                Ok(())
            }
            _ => self.node(true, true),
        }
    }

    fn block_key(&mut self, node: usize) -> Result<(), Unreadable> {
        if let Some(mark) = self.take_if(|k| matches!(k, Kind::Key))? {
            self.states.push(State::BlockValue(node));
            return self.block_part(mark.end as usize);
        }
        if self.take_if(|k| matches!(k, Kind::BlockEnd))?.is_none() {
            return self.fail("did not find expected key");
        }
        self.close(node, None);
        Ok(())
    }

    fn block_value(&mut self, node: usize) -> Result<(), Unreadable> {
        self.states.push(State::BlockKey(node));
        if let Some(colon) = self.take_if(|k| matches!(k, Kind::Value))? {
            return self.block_part(colon.end as usize);
        }
        let at = self.peek()?.1.start;
        self.empty(at as usize);
        Ok(())
    }

    // Flow collections.

    fn flow_sequence(&mut self, first: bool, node: usize) -> Result<(), Unreadable> {
        if !self.next_is(|k| matches!(k, Kind::FlowSequenceEnd))? {
            if !first && self.take_if(|k| matches!(k, Kind::FlowEntry))?.is_none() {
                return self.fail("did not find expected ',' or ']'");
            }
            if let Some(at) = self.take_if(|k| matches!(k, Kind::Key))? {
                let pair = self.tree.nodes.len();
                self.push(Entry { at, tag: None, what: What::Mapping { next: pair } });
                self.states.push(State::FlowSequence { first: false, node });
                self.states.push(State::PairKey(pair));
                return Ok(());
            }
            if !self.next_is(|k| matches!(k, Kind::FlowSequenceEnd))? {
                self.states.push(State::FlowSequence { first: false, node });
                return self.node(false, false);
            }
        }
        let bracket = self.scanner.take().at;
        self.close(node, Some(bracket));
        Ok(())
    }

    fn pair_key(&mut self, node: usize) -> Result<(), Unreadable> {
        self.states.push(State::PairValue(node));
        match self.peek()?.0 {
            Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd => {
                // go-yaml drops this token; hence `[? : a]` is an error.
                let at = self.scanner.take().at;
                self.empty(at.end as usize);
                Ok(())
            }
            _ => self.node(false, false),
        }
    }

    fn pair_value(&mut self, node: usize) -> Result<(), Unreadable> {
        self.states.push(State::PairEnd(node));
        let at = self.peek()?.1.start;
        let given = self.take_if(|k| matches!(k, Kind::Value))?.is_some();
        if given && !self.next_is(|k| matches!(k, Kind::FlowEntry | Kind::FlowSequenceEnd))? {
            return self.node(false, false);
        }
        self.empty(at as usize);
        Ok(())
    }

    fn flow_key(&mut self, first: bool, node: usize) -> Result<(), Unreadable> {
        if !self.next_is(|k| matches!(k, Kind::FlowMappingEnd))? {
            if !first && self.take_if(|k| matches!(k, Kind::FlowEntry))?.is_none() {
                return self.fail("did not find expected ',' or '}'");
            }
            if self.take_if(|k| matches!(k, Kind::Key))?.is_some() {
                self.states.push(State::FlowValue(node));
                return self.flow_part();
            }
            if !self.next_is(|k| matches!(k, Kind::FlowMappingEnd))? {
                self.states.push(State::FlowNoValue(node));
                return self.node(false, false);
            }
        }
        let bracket = self.scanner.take().at;
        self.close(node, Some(bracket));
        Ok(())
    }

    fn flow_value(&mut self, node: usize) -> Result<(), Unreadable> {
        self.states.push(State::FlowKey { first: false, node });
        let given = self.take_if(|k| matches!(k, Kind::Value))?.is_some();
        if given && !self.next_is(|k| matches!(k, Kind::FlowEntry | Kind::FlowMappingEnd))? {
            return self.node(false, false);
        }
        let at = self.peek()?.1.start;
        self.empty(at as usize);
        Ok(())
    }

    fn flow_part(&mut self) -> Result<(), Unreadable> {
        match self.peek()? {
            (Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd, at) => {
                self.empty(at.start as usize);
                Ok(())
            }
            _ => self.node(false, false),
        }
    }
}
