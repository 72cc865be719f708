//! Lays an overlay out as lines of YAML in kubectl's style: blocks, lists not indented.

use super::scalar::{self, Text};
use super::{Mark, Part, whole};
use crate::schema::source::{Data, Node};

/// The lines of an overlay.
pub(super) fn lines(part: &Part<'_, '_>) -> Vec<(Mark, String)> {
    let mut out = Lines { lines: Vec::new(), lead: String::new(), lead_indent: 0 };
    out.part(part, 0, Mark::Both);
    out.lines
}

struct Lines {
    lines: Vec<(Mark, String)>,
    /// What the next line begins with: `- ` or `key:` written already, waiting for the value.
    lead: String,
    lead_indent: usize,
}

impl Lines {
    /// Writes a node that begins at column `indent` when it takes lines of its own.
    fn part(&mut self, part: &Part<'_, '_>, indent: usize, mark: Mark) {
        match part {
            Part::Same(node) => self.leaf(node, indent, mark),
            Part::Added(node) => self.node(node, indent, Mark::Added),
            Part::Removed(node) => self.node(node, indent, Mark::Removed),
            Part::Changed { old, new } => {
                let (lead, lead_indent) = (self.lead.clone(), self.lead_indent);
                self.node(old, indent, Mark::Removed);
                (self.lead, self.lead_indent) = (lead, lead_indent);
                self.node(new, indent, Mark::Added);
            }
            Part::Object(members) => self.object(members, indent, mark),
            Part::Array(items) => self.array(items, indent, mark),
        }
    }

    fn node(&mut self, node: &Node<'_>, indent: usize, mark: Mark) {
        match whole(node, Part::Same) {
            Part::Same(leaf) => self.leaf(leaf, indent, mark),
            tree => self.part(&tree, indent, mark),
        }
    }

    fn object(&mut self, members: &[(&str, Part<'_, '_>)], indent: usize, mark: Mark) {
        // After `- ` the first key stays on the line; after `key:` it does not.
        if self.lead.ends_with(':') {
            self.end_line("", mark);
        }
        for (key, part) in members {
            if self.lead.is_empty() {
                self.lead_indent = indent;
            }
            self.lead.push_str(&scalar::inline(key));
            self.lead.push(':');
            // A list is not indented below its key.
            let inner = match part {
                Part::Array(_) => indent,
                Part::Added(n) | Part::Removed(n) if matches!(n.data, Data::Array(_)) => indent,
                _ => indent + 2,
            };
            self.part(part, inner, mark);
        }
    }

    fn array(&mut self, items: &[Part<'_, '_>], indent: usize, mark: Mark) {
        if self.lead.ends_with(':') {
            self.end_line("", mark);
        }
        for item in items {
            if self.lead.is_empty() {
                self.lead_indent = indent;
            }
            self.lead.push_str("- ");
            self.part(item, indent + 2, mark);
        }
    }

    fn leaf(&mut self, node: &Node<'_>, indent: usize, mark: Mark) {
        if self.lead.is_empty() {
            self.lead_indent = indent;
        }
        match &node.data {
            Data::Null => self.end_line("null", mark),
            Data::Bool(b) => self.end_line(if *b { "true" } else { "false" }, mark),
            Data::Number(n) => self.end_line(n, mark),
            Data::Deep(text) => self.end_line(text, mark),
            Data::Array(_) => self.end_line("[]", mark),
            Data::Object(_) => self.end_line("{}", mark),
            Data::String(text) => match scalar::text(text) {
                Text::Inline(text) => self.end_line(&text, mark),
                Text::Block { header, lines } => {
                    let inner = indent.max(self.lead_indent + 2);
                    self.end_line(header, mark);
                    for line in lines {
                        let pad = if line.is_empty() { 0 } else { inner };
                        self.lines.push((mark, format!("{}{line}", " ".repeat(pad))));
                    }
                }
            },
        }
    }

    fn end_line(&mut self, text: &str, mark: Mark) {
        let lead = std::mem::take(&mut self.lead);
        let gap = if lead.is_empty() || text.is_empty() || lead.ends_with(' ') { "" } else { " " };
        self.lines.push((mark, format!("{}{lead}{gap}{text}", " ".repeat(self.lead_indent))));
        self.lead_indent = 0;
    }
}
