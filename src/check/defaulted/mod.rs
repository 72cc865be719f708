//! What `rollgate default` prints: a manifest with everything that defaulting fills in, its own keys in
//! their own order, as YAML, as JSON, or as the difference.

mod scalar;
mod yaml;

use std::fmt::Write as _;

use crate::schema::print::json_quote;
use crate::schema::source::{Data, Member, Node};

/// A manifest before and after, laid over each other.
#[derive(Debug)]
pub struct Overlay<'n, 'a> {
    parts: Part<'n, 'a>,
}

/// How much context a difference shows around its lines.
const CONTEXT_LINES: usize = 3;

/// One node of the overlay.
#[derive(Debug)]
enum Part<'n, 'a> {
    Same(&'n Node<'a>),
    Added(&'n Node<'a>),
    Removed(&'n Node<'a>),
    Changed { old: &'n Node<'a>, new: &'n Node<'a> },
    Object(Vec<(&'n str, Part<'n, 'a>)>),
    Array(Vec<Part<'n, 'a>>),
}

/// Which side a line of output belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Both,
    Added,
    Removed,
}

impl<'n, 'a> Overlay<'n, 'a> {
    /// Lays `new` over `old`. Without `new`, the manifest stays as it is.
    pub fn new(old: &'n Node<'a>, new: Option<&'n Node<'a>>) -> Overlay<'n, 'a> {
        Overlay { parts: new.map_or_else(|| whole(old, Part::Same), |new| overlay(old, new)) }
    }

    /// The new manifest as YAML.
    pub fn to_yaml(&self) -> String {
        let lines = yaml::lines(&self.parts);
        let kept = lines.iter().filter(|(mark, _)| *mark != Mark::Removed);
        kept.fold(String::new(), |mut out, (_, line)| {
            out.push_str(line);
            out.push('\n');
            out
        })
    }

    /// The new manifest as JSON without white space.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        write_json(&mut out, &self.parts);
        out
    }

    /// The lines of YAML that differ, each with its mark, with some lines around them. Empty when
    /// nothing differs.
    pub fn to_diff(&self, color: bool) -> String {
        let lines = yaml::lines(&self.parts);
        let near = |i: usize| {
            let range = i.saturating_sub(CONTEXT_LINES)..(i + CONTEXT_LINES + 1).min(lines.len());
            lines[range].iter().any(|(mark, _)| *mark != Mark::Both)
        };
        let mut out = String::new();
        let mut last = None;
        for (i, (mark, line)) in lines.iter().enumerate().filter(|(i, _)| near(*i)) {
            if last.is_some_and(|last| last + 1 != i) {
                out.push_str("...\n");
            }
            last = Some(i);
            let (sign, code) = match mark {
                Mark::Both => (' ', ""),
                Mark::Added => ('+', "32"),
                Mark::Removed => ('-', "31"),
            };
            let _ = match (color, code) {
                (true, code) if !code.is_empty() => writeln!(out, "\x1b[{code}m{sign}{line}\x1b[0m"),
                _ => writeln!(out, "{sign}{line}"),
            };
        }
        out
    }
}

/// A node with all below it, keys in the order of the text.
fn whole<'n, 'a>(node: &'n Node<'a>, leaf: fn(&'n Node<'a>) -> Part<'n, 'a>) -> Part<'n, 'a> {
    match &node.data {
        Data::Object(members) if !members.is_empty() => {
            let in_order = in_text_order(members).into_iter();
            Part::Object(in_order.map(|m| (&*m.key, whole(&m.value, leaf))).collect())
        }
        Data::Array(items) if !items.is_empty() => {
            Part::Array(items.iter().map(|i| whole(i, leaf)).collect())
        }
        _ => leaf(node),
    }
}

fn in_text_order<'n, 'a>(members: &'n [Member<'a>]) -> Vec<&'n Member<'a>> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|m| m.key_at.start);
    members
}

fn overlay<'n, 'a>(old: &'n Node<'a>, new: &'n Node<'a>) -> Part<'n, 'a> {
    match (&old.data, &new.data) {
        (Data::Object(before), Data::Object(after)) if !after.is_empty() => {
            // What is dropped comes last: the first key of a list item carries its dash.
            let (kept, dropped): (Vec<_>, Vec<_>) =
                in_text_order(before).into_iter().partition(|m| new.get(&m.key).is_some());
            let shared = kept.into_iter().filter_map(|m| Some((m, new.get(&m.key)?)));
            let mut parts: Vec<_> = shared.map(|(m, value)| (&*m.key, overlay(&m.value, value))).collect();
            let added = after.iter().filter(|m| old.get(&m.key).is_none());
            parts.extend(added.map(|m| (&*m.key, Part::Added(&m.value))));
            parts.extend(dropped.into_iter().map(|m| (&*m.key, Part::Removed(&m.value))));
            Part::Object(parts)
        }
        (Data::Array(before), Data::Array(after)) if !after.is_empty() => {
            let mut parts: Vec<_> = before.iter().zip(after).map(|(b, a)| overlay(b, a)).collect();
            parts.extend(before.iter().skip(after.len()).map(Part::Removed));
            parts.extend(after.iter().skip(before.len()).map(Part::Added));
            Part::Array(parts)
        }
        (a, b) if a == b => Part::Same(new),
        _ => Part::Changed { old, new },
    }
}

fn write_json(out: &mut String, part: &Part<'_, '_>) {
    match part {
        Part::Same(node) | Part::Added(node) | Part::Changed { new: node, .. } => {
            out.push_str(&crate::schema::write::node(node));
        }
        Part::Removed(_) => {}
        Part::Object(members) => {
            out.push('{');
            let kept = members.iter().filter(|(_, part)| !matches!(part, Part::Removed(_)));
            for (i, (key, part)) in kept.enumerate() {
                if i > 0 {
                    out.push(',');
                }
                json_quote(out, key);
                out.push(':');
                write_json(out, part);
            }
            out.push('}');
        }
        Part::Array(items) => {
            out.push('[');
            let kept = items.iter().filter(|part| !matches!(part, Part::Removed(_)));
            for (i, part) in kept.enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_json(out, part);
            }
            out.push(']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::yaml::read;
    use crate::schema::json;

    const OLD: &str = "b: 1\na:\n- p: '5'\n- gone: 1\n  q: 2\nz: old\n";
    const NEW: &str = r#"{"a":[{"p":"5","r":true},{"k":[],"q":2}],"b":1,"s":{"m":{}},"z":"new"}"#;

    fn both<T>(check: impl FnOnce(Overlay<'_, '_>) -> T) -> T {
        let old = read(OLD).unwrap().root.unwrap();
        let new = json::read(NEW.as_bytes()).unwrap();
        check(Overlay::new(&old, Some(&new)))
    }

    #[test]
    fn own_keys_keep_their_order_and_new_ones_follow() {
        let expected = "b: 1\na:\n- p: \"5\"\n  r: true\n- q: 2\n  k: []\nz: new\ns:\n  m: {}\n";
        assert_eq!(both(|o| o.to_yaml()), expected);
        let expected = r#"{"b":1,"a":[{"p":"5","r":true},{"q":2,"k":[]}],"z":"new","s":{"m":{}}}"#;
        assert_eq!(both(|o| o.to_json()), expected);
    }

    #[test]
    fn the_difference_marks_what_was_added_changed_and_dropped() {
        let expected = " b: 1\n a:\n - p: \"5\"\n+  r: true\n - q: 2\n+  k: []\n-  gone: 1\n-z: old\n+z: new\n+s:\n+  m: {}\n";
        assert_eq!(both(|o| o.to_diff(false)), expected);
    }

    #[test]
    fn nothing_changed_is_no_difference() {
        let old = read(OLD).unwrap().root.unwrap();
        assert_eq!(Overlay::new(&old, None).to_diff(false), "");
        assert_eq!(Overlay::new(&old, None).to_yaml(), "b: 1\na:\n- p: \"5\"\n- gone: 1\n  q: 2\nz: old\n");
    }
}
