//! A quick reader for the style that nearly all manifests are written in: block mappings and lists,
//! each key and scalar on one line, lists of scalars in brackets, no anchors, tags or escapes.
//!
//! It gives up on everything else, and on whatever is wrong or repeated; then the whole grammar is
//! read, see [`super`]. What it does read is equal to what the whole grammar gives, places included:
//! the fuzz tests compare them.

use std::borrow::Cow;

use super::compose::json_scalar;
use super::resolve::{Scalar, guess};
use super::span;
use crate::schema::source::{Data, Member, Node};

/// How deep it goes: far deeper than any manifest.
const MAX_DEPTH: usize = 32;

/// How long a text may be: far less than places can tell.
const MAX_BYTES: usize = 1 << 30;

/// How long a key may be: far less than an implicit key may.
const MAX_KEY_BYTES: usize = 256;

/// Reads a text that holds one document in this style; None when it is any other.
pub(super) fn read(text: &str) -> Option<Node<'_>> {
    if text.len() > MAX_BYTES || !has_only_usual_bytes(text) {
        return None;
    }
    let body = text.strip_prefix("---\n").map_or(0, |_| 4);
    let mut reader = Reader { text, bytes: text.as_bytes(), pos: body, column: 0, depth: 0 };
    reader.next_line();
    let root = reader.block()?;
    reader.at_end().then_some(root)
}

/// Whether there is nothing but printable ASCII and line feeds.
fn has_only_usual_bytes(text: &str) -> bool {
    // Without a way out in the middle of a chunk, one is looked at as a whole.
    let is_usual = |b: &u8| matches!(b, b' '..=b'~' | b'\n');
    text.as_bytes().chunks(64).all(|chunk| chunk.iter().fold(true, |usual, b| usual & is_usual(b)))
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    /// Of what is at hand, as long as that is the first of its line.
    column: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// The byte at hand; a zero byte, which no text has, at the end.
    fn byte(&self) -> u8 {
        self.byte_after(0)
    }

    fn byte_after(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn at_end(&self) -> bool {
        self.pos == self.bytes.len()
    }

    /// Goes to the next line, from its start on, that has more than a comment, and there to the first
    /// character.
    fn next_line(&mut self) {
        loop {
            let start = self.pos;
            self.skip_blanks();
            self.column = self.pos - start;
            match self.byte() {
                b'\n' => self.pos += 1,
                b'#' => self.skip_line(),
                _ => return,
            }
        }
    }

    fn skip_blanks(&mut self) {
        while self.byte() == b' ' {
            self.pos += 1;
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.pos..];
        self.pos += memchr::memchr(b'\n', rest).map_or(rest.len(), |n| n + 1);
    }

    /// Goes on to the next line if nothing but a comment follows on this one.
    fn end_line(&mut self) -> Option<()> {
        let end = self.pos;
        self.skip_blanks();
        match self.byte() {
            b'\n' => self.pos += 1,
            b'#' if self.pos > end => self.skip_line(),
            0 => {}
            _ => return None,
        }
        self.next_line();
        Some(())
    }

    fn is_entry(&self) -> bool {
        self.byte() == b'-' && self.byte_after(1) == b' '
    }

    fn is_entry_at(&self, column: usize) -> bool {
        self.column == column && self.is_entry()
    }

    /// Reads the mapping or list whose first character is at hand.
    fn block(&mut self) -> Option<Node<'a>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let node = if self.is_entry() { self.list() } else { self.mapping() };
        self.depth -= 1;
        node
    }

    fn mapping(&mut self) -> Option<Node<'a>> {
        let (start, column) = (self.pos, self.column);
        let mut members: Vec<Member<'a>> = Vec::with_capacity(4);
        let mut end = start;
        while self.column == column && !self.at_end() && !self.is_entry() {
            let member = self.member(column)?;
            end = member.value.at.end as usize;
            members.push(member);
        }
        if self.column > column || members.is_empty() {
            return None;
        }
        if !members.is_sorted_by(|a, b| a.key < b.key) {
            members.sort_by(|a, b| a.key.cmp(&b.key));
            if members.windows(2).any(|pair| pair[0].key == pair[1].key) {
                return None;
            }
        }
        Some(Node { at: span(start, end), data: Data::Object(members) })
    }

    fn member(&mut self, column: usize) -> Option<Member<'a>> {
        let key_at = span(self.pos, self.pos + self.key_len()?);
        let key = &self.text[key_at.start as usize..key_at.end as usize];
        let Scalar::Text(key) = guess(Cow::Borrowed(key)) else { return None };
        self.pos = key_at.end as usize + 1;
        let colon = self.pos;
        self.skip_blanks();
        let value = match self.byte() {
            b'\n' | b'#' | 0 => {
                self.pos = colon;
                self.end_line()?;
                match self.column > column || self.is_entry_at(column) {
                    true if !self.at_end() => self.block()?,
                    _ => Node { at: span(colon, colon), data: Data::Null },
                }
            }
            _ => self.scalar(column)?,
        };
        Some(Member { key, key_at, value })
    }

    /// The length of the key at hand. None if there is none of letters, digits and `_ - . /`.
    fn key_len(&self) -> Option<usize> {
        let rest = &self.bytes[self.pos..];
        let is_key = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/');
        let len = rest.iter().take_while(|b| is_key(b)).count();
        let starts = rest.first().is_some_and(u8::is_ascii_alphanumeric);
        let ends = rest.get(len) == Some(&b':') && matches!(rest.get(len + 1), None | Some(b' ' | b'\n'));
        (starts && ends && len <= MAX_KEY_BYTES).then_some(len)
    }

    fn list(&mut self) -> Option<Node<'a>> {
        let (start, column) = (self.pos, self.column);
        let mut items = Vec::with_capacity(2);
        let mut end = start;
        while self.is_entry_at(column) {
            let dash = self.pos;
            self.pos += 1;
            self.skip_blanks();
            self.column = column + self.pos - dash;
            let item = match self.key_len() {
                Some(_) => self.block()?,
                None => self.scalar(column)?,
            };
            end = item.at.end as usize;
            items.push(item);
        }
        (self.column <= column).then_some(Node { at: span(start, end), data: Data::Array(items) })
    }

    /// Reads a scalar, `{}` or a list in brackets, and goes on to the next line, which must not be a
    /// part of it.
    fn scalar(&mut self, column: usize) -> Option<Node<'a>> {
        let start = self.pos;
        let data = match self.byte() {
            quote @ (b'"' | b'\'') => Data::String(self.quoted(quote)?.into()),
            b'{' if self.byte_after(1) == b'}' => {
                self.pos += 2;
                Data::Object(Vec::new())
            }
            b'[' => self.flow_list()?,
            b'-' if !self.byte_after(1).is_ascii_alphanumeric() => return None,
            b'-' | b'/' | b'.' | b'_' | b'$' => self.plain()?,
            b if b.is_ascii_alphanumeric() => self.plain()?,
            _ => return None,
        };
        let at = span(start, self.pos);
        self.end_line()?;
        (self.column <= column).then_some(Node { at, data })
    }

    /// Reads `[a, "b"]`, on one line.
    fn flow_list(&mut self) -> Option<Data<'a>> {
        let mut items = Vec::new();
        self.pos += 1;
        self.skip_blanks();
        if self.byte() == b']' {
            self.pos += 1;
            return Some(Data::Array(items));
        }
        loop {
            items.push(self.flow_scalar()?);
            self.skip_blanks();
            let after = self.byte();
            self.pos += 1;
            match after {
                b',' => self.skip_blanks(),
                b']' => return Some(Data::Array(items)),
                _ => return None,
            }
        }
    }

    /// Reads a quoted text or a single word.
    fn flow_scalar(&mut self) -> Option<Node<'a>> {
        let start = self.pos;
        let data = match self.byte() {
            quote @ (b'"' | b'\'') => Data::String(self.quoted(quote)?.into()),
            _ => {
                let rest = &self.bytes[start..];
                let is_word =
                    |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'=');
                let len = rest.iter().take_while(|b| is_word(b)).count();
                let word = &rest[..len];
                if !matches!(word, [b'/' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z', ..] | [b'-', _, ..]) {
                    return None;
                }
                self.pos += len;
                self.resolved(start, self.pos)?
            }
        };
        Some(Node { at: span(start, self.pos), data })
    }

    fn quoted(&mut self, quote: u8) -> Option<&'a str> {
        let from = self.pos + 1;
        let escape = if quote == b'"' { b'\\' } else { quote };
        let len = memchr::memchr3(quote, escape, b'\n', &self.bytes[from..])?;
        self.pos = from + len + 1;
        (self.bytes[from + len] == quote).then(|| &self.text[from..from + len])
    }

    fn plain(&mut self) -> Option<Data<'a>> {
        let start = self.pos;
        let mut end = start;
        loop {
            match self.byte() {
                0 | b'\n' => break,
                b' ' if self.byte_after(1) == b'#' => break,
                b':' if matches!(self.byte_after(1), 0 | b' ' | b'\n') => return None,
                b' ' => {}
                _ => end = self.pos + 1,
            }
            self.pos += 1;
        }
        self.pos = end;
        self.resolved(start, end)
    }

    /// What the plain scalar between two places means.
    fn resolved(&self, start: usize, end: usize) -> Option<Data<'a>> {
        json_scalar(guess(Cow::Borrowed(&self.text[start..end])), span(start, end)).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::read_in_full;
    use super::read;

    /// Fails when a text is read otherwise than by the whole grammar; says whether it was read.
    fn reads_alike(text: &str) -> bool {
        let Some(root) = read(text) else { return false };
        let full = read_in_full(text).unwrap_or_else(|e| panic!("{text:?} should be refused: {e}"));
        assert_eq!(full.root, Some(root), "{text:?}");
        assert_eq!(full.repeated, Vec::new(), "{text:?}");
        true
    }

    #[test]
    fn usual_manifests_are_read() {
        for text in [
            "a: b\n",
            "a: b",
            "---\na: b\n",
            "# c\n\n  # c\na: b # c\n\n",
            "b: 1\na:\n  d: yes\n  c:\nz:\n",
            "a:\n- b\n- c: d\n  e: f\n-   g: h\n    i:\n    - j\nk: l\n",
            "a:\n  - b\n  - c: # c\n      d: e\n",
            "a: [x, 'y', 2]\n",
            "- a\n- b: c\n",
            "a: \"b: c # d\"\nb: 'e \\ f'   # c\nc: {}\nd: []\ne: [f, \"g\", 'h' , 1, -x/y=z]\n",
            "a: 0644\nb: 1_000\nc: -5\nd: .5\ne: b c  d\nf: a#b:c\ng: http://x:80/y\nh: $(A)\n",
            "app.kubernetes.io/name: x\nx-y_z: 12:30\n",
        ] {
            assert!(reads_alike(text), "{text:?} is left to the whole grammar");
        }
    }

    #[test]
    fn anything_else_is_left_to_the_whole_grammar() {
        for text in [
            "",
            "a\n",
            "# c\n",
            "a: b\n  c\n",
            "a:\n  b\n",
            "a: b\n c: d\n",
            "a: &x b\n",
            "a: *x\n",
            "a: !x b\n",
            "a: |\n  b\n",
            "a: >-\n  b\n",
            "a: \"b\\n\"\n",
            "a: 'it''s'\n",
            "a: \"b\n  c\"\n",
            "a: {b: c}\n",
            "a: [b: c]\n",
            "a: [b,]\n",
            "a: [[b]]\n",
            "a: [b\n",
            "? a\n: b\n",
            "<<: a\n",
            "a: b\na: c\n",
            "1: b\n",
            "yes: b\n",
            "null: b\n",
            "a: .nan\n",
            "a: b: c\n",
            "a: b:\n",
            "a: 'b': c\n",
            "a:\n  b: c\n d: e\n",
            "a: b\n- c\n",
            "- a\nb: c\n",
            "a:\n    - b\n  - c\n",
            "- - a\n",
            "-\n  a: b\n",
            "a: b\n---\nc: d\n",
            "a: b\n...\n",
            "%YAML 1.1\n---\na: b\n",
            "a: b\r\n",
            "a:\tb\n",
            "a: \u{e9}\n",
            "\u{feff}a: b\n",
            "a: @b\n",
            "a: \"b\"c\n",
            "a: \"b\"#c\n",
            "a: -\n",
            "a: - b\n",
            "a: ?\n",
        ] {
            assert!(!reads_alike(text), "{text:?} is taken for simple");
        }
    }

    /// Lines that are manifests now and then, and nearly so mostly.
    fn lines() -> impl Strategy<Value = String> {
        let indent =
            prop::sample::select(vec!["", "", "  ", "  ", "    ", "   ", "- ", "  - ", "-   ", "- - "]);
        let key = prop::sample::select(vec!["a:", "b:", "c:", "d/e.f:", "y:", "7:", "", "\"k\":", "# c"]);
        let value = prop::sample::select(vec![
            "",
            "",
            "",
            " x",
            " x y",
            " 'q'",
            " \"q\" # c",
            " {}",
            " []",
            " [x, 'y', 2]",
            " [x, {}]",
            " 0x1F",
            " 1e3",
            " -1",
            " ~",
            " x: y",
            " x #c",
            " x# c",
            " |",
            " &a x",
            "x",
            " - x",
            " [x",
            " ''",
            " ",
            " .",
            " -x",
            " null",
        ]);
        prop::collection::vec((indent, key, value), 1..7).prop_map(|lines| {
            lines.into_iter().map(|(indent, key, value)| format!("{indent}{key}{value}\n")).collect()
        })
    }

    proptest! {
        // What fails is shown whole, and becomes a case above.
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..Default::default() })]
        #[test]
        fn what_is_read_is_read_alike(text in lines()) {
            reads_alike(&text);
        }
    }
}
