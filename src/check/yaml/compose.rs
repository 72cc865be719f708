//! The composer: the flat tree to [`Node`]s, with scalars resolved, aliases expanded, mappings merged
//! and keys made text. Members come out sorted, as Go's JSON encoder sorts them.

use std::borrow::Cow;
use std::mem;

use super::number::{self, Number};
use super::parser::{Entry, Tree, What};
use super::resolve::{Scalar, resolve};
use super::{Reading, Unreadable};
use crate::schema::json::MAX_DEPTH;
use crate::schema::print;
use crate::schema::source::{Data, Member, Node, Span};
use crate::verdict::Placed;

/// How deep a tree is built; see [`Data::Deep`].
const KEPT_DEPTH: usize = 100;

/// How many merges may lie inside each other.
const MAX_MERGES: usize = 1000;

struct Composer<'a> {
    nodes: Vec<Entry<'a>>,
    has_aliases: bool,
    /// How many nodes were decoded, and how many of them below an alias.
    decoded: u64,
    decoded_by_alias: u64,
    /// The aliases being expanded.
    open_aliases: Vec<usize>,
    open_merges: usize,
    repeated: Vec<Placed>,
}

pub(super) fn compose(tree: Tree<'_>) -> Result<Reading<'_>, Unreadable> {
    let mut composer = Composer {
        nodes: tree.nodes,
        has_aliases: tree.has_aliases,
        decoded: 1, // the document
        decoded_by_alias: 0,
        open_aliases: Vec::new(),
        open_merges: 0,
        repeated: Vec::new(),
    };
    if composer.nodes.is_empty() {
        return Ok(Reading { root: None, repeated: Vec::new() });
    }
    let root = composer.value(0, 0)?;
    Ok(Reading { root: Some(root), repeated: composer.repeated })
}

impl<'a> Composer<'a> {
    /// The place of the node after this one and its children.
    fn after(&self, node: usize) -> usize {
        match self.nodes[node].what {
            What::Sequence { next } | What::Mapping { next } => next,
            What::Scalar { .. } | What::Alias { .. } => node + 1,
        }
    }

    /// Counts a decoded node, and refuses to go on when too many of them come from aliases.
    fn count(&mut self, node: usize) -> Result<(), Unreadable> {
        self.decoded += 1;
        if self.open_aliases.is_empty() {
            return Ok(());
        }
        self.decoded_by_alias += 1;
        let ratio = self.decoded_by_alias as f64 / self.decoded as f64;
        if self.decoded_by_alias > 100 && self.decoded > 1000 && ratio > allowed_ratio(self.decoded) {
            let at = self.open_aliases.first().map_or(self.nodes[node].at, |&a| self.nodes[a].at);
            return Err(Unreadable::new("document contains excessive aliasing", at));
        }
        Ok(())
    }

    fn value(&mut self, node: usize, depth: usize) -> Result<Node<'a>, Unreadable> {
        self.count(node)?;
        let at = self.nodes[node].at;
        let data = match self.nodes[node].what {
            What::Alias { target, .. } => {
                self.open_alias(node)?;
                let value = self.value(target, depth)?;
                self.open_aliases.pop();
                return Ok(value);
            }
            What::Scalar { .. } => json_scalar(self.scalar(node)?, at)?,
            _ if depth >= KEPT_DEPTH => self.deep(node, depth)?,
            What::Sequence { next } => {
                let mut items = Vec::new();
                let mut child = node + 1;
                while child < next {
                    items.push(self.value(child, depth + 1)?);
                    child = self.after(child);
                }
                Data::Array(items)
            }
            What::Mapping { .. } => {
                let members = self.mapping(node, depth)?;
                Data::Object(self.settle(members))
            }
        };
        Ok(Node { at, data })
    }

    fn open_alias(&mut self, alias: usize) -> Result<(), Unreadable> {
        if self.open_aliases.contains(&alias) {
            let What::Alias { name, .. } = self.nodes[alias].what else { return Ok(()) };
            let message = format!("anchor '{name}' value contains itself");
            return Err(Unreadable::new(message, self.nodes[alias].at));
        }
        self.open_aliases.push(alias);
        Ok(())
    }

    fn scalar(&mut self, node: usize) -> Result<Scalar<'a>, Unreadable> {
        let keep = self.has_aliases;
        let entry = &mut self.nodes[node];
        let What::Scalar { text, plain } = &mut entry.what else { return Ok(Scalar::Null) };
        let text = if keep { text.clone() } else { mem::take(text) };
        resolve(entry.tag.as_deref(), text, *plain).map_err(|m| Unreadable::new(m, entry.at))
    }

    // Mappings.

    /// The members of a mapping in the order in which they are set, merged ones included.
    fn mapping(&mut self, node: usize, depth: usize) -> Result<Vec<Found<'a>>, Unreadable> {
        let end = self.after(node);
        let mut found = Vec::with_capacity(4);
        let mut key = node + 1;
        while key < end {
            let value = self.after(key);
            if self.is_merge(key) {
                self.merge(value, depth, &mut found)?;
            } else {
                let key_at = self.nodes[key].at;
                let key = self.key(key)?;
                let value = self.value(value, depth + 1)?;
                found.push(Found { member: Member { key, key_at, value }, merged: false });
            }
            key = self.after(value);
        }
        Ok(found)
    }

    fn is_merge(&self, key: usize) -> bool {
        let entry = &self.nodes[key];
        match &entry.what {
            What::Scalar { text, plain } => {
                text == "<<" && (*plain || entry.tag.as_deref() == Some("tag:yaml.org,2002:merge"))
            }
            _ => false,
        }
    }

    /// Adds the members of the mapping, or of the mappings of the list, at `node`.
    fn merge(&mut self, node: usize, depth: usize, found: &mut Vec<Found<'a>>) -> Result<(), Unreadable> {
        self.open_merges += 1;
        if self.open_merges > MAX_MERGES {
            return Err(Unreadable::new("exceeded max depth of merges", self.nodes[node].at));
        }
        if let What::Sequence { next } = self.nodes[node].what {
            let mut items = Vec::new();
            let mut item = node + 1;
            while item < next {
                items.push(item);
                item = self.after(item);
            }
            // The first mapping of the list counts most, so it is set last.
            for item in items.into_iter().rev() {
                self.merge_mapping(item, depth, found)?;
            }
        } else {
            self.merge_mapping(node, depth, found)?;
        }
        self.open_merges -= 1;
        Ok(())
    }

    fn merge_mapping(
        &mut self,
        node: usize,
        depth: usize,
        found: &mut Vec<Found<'a>>,
    ) -> Result<(), Unreadable> {
        let target = match self.nodes[node].what {
            What::Alias { target, .. } => target,
            _ => node,
        };
        if !matches!(self.nodes[target].what, What::Mapping { .. }) {
            let message = "map merge requires map or sequence of maps as the value";
            return Err(Unreadable::new(message, self.nodes[node].at));
        }
        self.count(node)?;
        let aliased = target != node;
        if aliased {
            self.open_alias(node)?;
            self.count(target)?;
        }
        let members = self.mapping(target, depth)?;
        if aliased {
            self.open_aliases.pop();
        }
        found.extend(members.into_iter().map(|f| Found { merged: true, ..f }));
        Ok(())
    }

    fn key(&mut self, node: usize) -> Result<Cow<'a, str>, Unreadable> {
        self.count(node)?;
        let at = self.nodes[node].at;
        match self.nodes[node].what {
            What::Alias { target, .. } => {
                self.open_alias(node)?;
                let key = self.key(target);
                self.open_aliases.pop();
                key
            }
            What::Scalar { .. } => json_key(self.scalar(node)?, at),
            What::Sequence { .. } | What::Mapping { .. } => {
                Err(Unreadable::new("invalid map key: a list or a map cannot be a key", at))
            }
        }
    }

    /// Sorts members; of those with one key keeps the last, and notes it if it was written twice.
    fn settle(&mut self, mut found: Vec<Found<'a>>) -> Vec<Member<'a>> {
        let by_key = |a: &Found<'_>, b: &Found<'_>| a.member.key.cmp(&b.member.key);
        if !found.is_sorted_by(|a, b| a.member.key < b.member.key) {
            found.sort_by(by_key);
        }
        let mut members: Vec<Member<'a>> = Vec::with_capacity(found.len());
        let mut written = false;
        for Found { member, merged } in found {
            match members.last_mut() {
                Some(last) if last.key == member.key => {
                    if written && !merged {
                        self.repeated.push(repeated(&member));
                    }
                    written |= !merged;
                    *last = member;
                }
                _ => {
                    written = !merged;
                    members.push(member);
                }
            }
        }
        members
    }

    /// Checks what lies too deep to be kept, without recursion.
    fn deep(&mut self, node: usize, depth: usize) -> Result<Data<'a>, Unreadable> {
        let text = if matches!(self.nodes[node].what, What::Sequence { .. }) { "[]" } else { "{}" };
        // Where each open collection ends, and the alias, if that is how it was come by.
        let mut open: Vec<(usize, Option<usize>)> = vec![(self.after(node), None)];
        let mut place = node + 1;
        while let Some(&(end, alias)) = open.last() {
            if place >= end {
                open.pop();
                if let Some(alias) = alias {
                    self.open_aliases.pop();
                    place = alias + 1;
                }
                continue;
            }
            self.count(place)?;
            if depth + open.len() >= MAX_DEPTH {
                return Err(Unreadable::new("exceeded max depth", self.nodes[place].at));
            }
            match self.nodes[place].what {
                What::Alias { target, .. } => {
                    self.open_alias(place)?;
                    open.push((self.after(target), Some(place)));
                    place = target;
                }
                What::Scalar { .. } => {
                    let at = self.nodes[place].at;
                    json_scalar(self.scalar(place)?, at)?;
                    place += 1;
                }
                What::Sequence { next } | What::Mapping { next } => {
                    open.push((next, None));
                    place += 1;
                }
            }
        }
        Ok(Data::Deep(Cow::Borrowed(text)))
    }
}

/// A member, and whether it came by a merge key.
struct Found<'a> {
    member: Member<'a>,
    merged: bool,
}

fn repeated(member: &Member<'_>) -> Placed {
    let message = format!("key {} already set in map", print::quoted(&member.key));
    Placed { message, at: member.key_at }
}

/// Which share of the decoded nodes may come from aliases: 99% in small documents, 10% in huge ones.
fn allowed_ratio(decoded: u64) -> f64 {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let decoded = (decoded as f64).clamp(LOW, HIGH);
    0.99 - 0.89 * ((decoded - LOW) / (HIGH - LOW))
}

pub(super) fn json_scalar(scalar: Scalar<'_>, at: Span) -> Result<Data<'_>, Unreadable> {
    Ok(match scalar {
        Scalar::Null => Data::Null,
        Scalar::Bool(b) => Data::Bool(b),
        Scalar::Text(text) => Data::String(text),
        Scalar::Number(Number::Int(n)) => Data::Number(n.to_string().into()),
        // kubectl holds what does not fit an `i64` as a double.
        Scalar::Number(Number::Uint(n)) => Data::Number(number::json_float(n as f64).into()),
        Scalar::Number(Number::Float(f)) if f.is_finite() => Data::Number(float_text(f).into()),
        Scalar::Number(Number::Float(f)) => {
            let shown = match f {
                f if f.is_nan() => "NaN",
                f if f > 0.0 => "+Inf",
                _ => "-Inf",
            };
            return Err(Unreadable::new(format!("json: unsupported value: {shown}"), at));
        }
    })
}

/// A double as it arrives at the server: kubectl reads what Go wrote, and takes it for an integer
/// if it looks like one.
fn float_text(f: f64) -> String {
    let text = number::json_float(f);
    number::canonical_number(&text).unwrap_or(text)
}

fn json_key(key: Scalar<'_>, at: Span) -> Result<Cow<'_, str>, Unreadable> {
    Ok(match key {
        Scalar::Text(text) => text,
        Scalar::Bool(b) => Cow::Borrowed(if b { "true" } else { "false" }),
        Scalar::Number(Number::Int(n)) => n.to_string().into(),
        Scalar::Number(Number::Float(f)) => number::key_float(f).into(),
        Scalar::Null => return Err(Unreadable::new("unsupported map key: null", at)),
        Scalar::Number(Number::Uint(_)) => {
            return Err(Unreadable::new("unsupported map key of type uint64", at));
        }
    })
}
