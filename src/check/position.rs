//! From bytes to lines and columns, and from field paths to bytes.

use std::cell::OnceCell;

use crate::schema::source::{Data, Node, Span};
use crate::validate::path::Step;

/// A stretch of a file as people and tools count it: lines from 1, columns in characters from 1, the
/// end column one past the last character. Line 0 stands for the file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Region {
    /// The line of the first character.
    pub line: u64,
    /// Its column.
    pub column: u64,
    /// The line of the last character.
    pub end_line: u64,
    /// One past its column.
    pub end_column: u64,
}

/// The lines of a text, which begins at some line of a file.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    first_line: u64,
    /// Where each line begins. Found out when first asked for: most texts are without faults.
    starts: OnceCell<Vec<usize>>,
}

impl<'t> Lines<'t> {
    /// The lines of `text`, the first of which has the number `first_line` in its file.
    pub fn new(text: &'t str, first_line: u64) -> Lines<'t> {
        Lines { text, first_line, starts: OnceCell::new() }
    }

    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let after_breaks = memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|i| i + 1);
            std::iter::once(0).chain(after_breaks).collect()
        })
    }

    /// The index of the line that holds a byte, and where it begins.
    fn line_of(&self, byte: usize) -> (usize, usize) {
        let starts = self.starts();
        let index = starts.partition_point(|&s| s <= byte) - 1;
        (index, starts[index])
    }

    /// The region of `span`, which counts from `base` in the text. An empty one gets one character.
    pub fn region(&self, base: usize, span: Span) -> Region {
        let start = (base + span.start as usize).min(self.text.len());
        let end = (base + span.end as usize).clamp(start, self.text.len());
        let (line, line_start) = self.line_of(start);
        let (end_line, end_line_start) = self.line_of(end);
        let column = self.chars(line_start, start) + 1;
        let end_column = match self.chars(end_line_start, end) + 1 {
            c if end == start => c + 1,
            c => c,
        };
        Region {
            line: self.first_line + line as u64,
            column,
            end_line: self.first_line + end_line as u64,
            end_column,
        }
    }

    fn chars(&self, from: usize, to: usize) -> u64 {
        self.text.get(from..to).map_or(0, |s| s.chars().count() as u64)
    }

    /// The text of a line of the file.
    pub fn line(&self, number: u64) -> &'t str {
        let starts = self.starts();
        let index = number.saturating_sub(self.first_line) as usize;
        let Some(&start) = starts.get(index) else { return "" };
        let end = starts.get(index + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }
}

/// Where the value (or with `on_key`, the key) at a path stands: the one at fault itself, or if it is
/// missing, the nearest parent that is there, by its key.
pub fn locate(root: &Node<'_>, place: &[Step], on_key: bool) -> Span {
    let mut node = root;
    // The key that led to `node`, if any.
    let mut key = None;
    for (i, step) in place.iter().enumerate() {
        let next = match (step, &node.data) {
            (Step::Field(name) | Step::Key(name), Data::Object(_)) => node.member(name).map(|m| {
                key = Some(m.key_at);
                &m.value
            }),
            (Step::Index(index), Data::Array(items)) => items.get(*index).inspect(|_| key = None),
            _ => None,
        };
        match next {
            Some(inner) => node = inner,
            None => return parent(root, node, key, i == 0),
        }
    }
    match (on_key, &node.data) {
        (true, _) => key.unwrap_or(node.at),
        // A whole list or object would be too much to show.
        (false, Data::Array(_) | Data::Object(_) | Data::Deep(_)) => {
            parent(root, node, key, place.is_empty())
        }
        (false, Data::Null) if node.at.start == node.at.end => key.unwrap_or(node.at),
        (false, _) => node.at,
    }
}

/// The place to show for a parent: its key, or in a list its first character.
fn parent(root: &Node<'_>, node: &Node<'_>, key: Option<Span>, is_root: bool) -> Span {
    match key {
        Some(key) => key,
        None if is_root => start_of(root),
        None => start_of(node),
    }
}

/// The first key of an object, or the first character.
fn start_of(node: &Node<'_>) -> Span {
    let first = match &node.data {
        Data::Object(members) => members.iter().map(|m| m.key_at).min_by_key(|at| at.start),
        _ => None,
    };
    match first {
        Some(key) if key.start == node.at.start => key,
        _ => Span { start: node.at.start, end: node.at.end.min(node.at.start + 1) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::yaml;

    const MANIFEST: &str = "\
metadata:
  labels:
    app: web
spec:
  containers:
  - name: a
    ports: [{containerPort: 99}]
  - image: b
";

    #[track_caller]
    fn assert_at(place: &[Step], on_key: bool, line: u64, text: &str) {
        let reading = yaml::read(MANIFEST).unwrap();
        let span = locate(&reading.root.unwrap(), place, on_key);
        assert_eq!(&MANIFEST[span.start as usize..span.end as usize], text);
        assert_eq!(Lines::new(MANIFEST, 1).region(0, span).line, line);
    }

    fn field(name: &str) -> Step {
        Step::Field(name.into())
    }

    #[test]
    fn the_value_at_fault_is_shown() {
        let labels = [field("metadata"), field("labels"), Step::Key("app".into())];
        assert_at(&labels, false, 3, "web");
        assert_at(&labels, true, 3, "app");
        let port = [field("spec"), field("containers"), Step::Index(0), field("ports")];
        let port = [&port[..], &[Step::Index(0), field("containerPort")]].concat();
        assert_at(&port, false, 7, "99");
    }

    #[test]
    fn a_collection_is_shown_by_its_key() {
        assert_at(&[field("spec"), field("containers")], false, 5, "containers");
        assert_at(&[field("spec"), field("containers"), Step::Index(1)], false, 8, "image");
    }

    #[test]
    fn what_is_missing_is_shown_at_its_nearest_parent() {
        assert_at(&[field("spec"), field("selector"), field("matchLabels")], false, 4, "spec");
        let name = [field("spec"), field("containers"), Step::Index(1), field("name")];
        assert_at(&name, false, 8, "image");
        assert_at(&[field("status")], false, 1, "metadata");
        assert_at(&[field("spec"), field("containers"), Step::Index(7)], false, 5, "containers");
    }

    #[test]
    fn columns_count_characters() {
        let lines = Lines::new("a\né中: x\n", 10);
        let region = lines.region(2, Span { start: 7, end: 8 });
        assert_eq!(region, Region { line: 11, column: 5, end_line: 11, end_column: 6 });
        assert_eq!(lines.line(11), "é中: x");
        assert_eq!(lines.line(99), "");
    }
}
