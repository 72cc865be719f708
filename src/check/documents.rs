//! Separates the documents of a text as kubectl does, and says which are JSON.
//!
//! A text that begins with `{` is a stream of JSON values until one cannot be read; if that is the
//! first or the second one, the rest is YAML. YAML documents are separated by lines that begin with
//! `---`, whatever the YAML around them means, and only a comment may follow on such a line.
//!
//! Source: apimachinery v0.37.2 `pkg/util/yaml`, `YAMLOrJSONDecoder`. Parity: exact, save that a bad
//! separator or YAML document ends neither the documents before nor those after it, and that a comment
//! of less than four bytes may follow JSON.

use memchr::memmem;

use super::yaml::Unreadable;
use crate::schema::json;
use crate::schema::source::Span;

/// How far kubectl looks for the `{` that makes a text JSON.
const PEEKED: usize = 4096;

/// One document, not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document<'t> {
    /// Its text.
    pub text: &'t str,
    /// Where its text begins in the whole text.
    pub start: usize,
    /// Whether it is JSON.
    pub json: bool,
    /// Why it is not JSON although the text is: the error to show if it is no YAML either.
    pub not_json: Option<Unreadable>,
}

/// What kind of documents come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// With the number of values read so far.
    Json(usize),
    Yaml,
    Done,
}

/// Hands out the documents of a text, in order.
#[derive(Debug)]
pub struct Documents<'t> {
    text: &'t str,
    pos: usize,
    mode: Mode,
    bad_separator: Option<Unreadable>,
    not_json: Option<Unreadable>,
}

/// Whether a text, given by its start, is JSON to begin with.
pub fn begins_as_json(text: &str) -> bool {
    let start = text.len() - text.trim_start().len();
    start < PEEKED && text[start..].starts_with('{')
}

/// Whether a text that begins as JSON holds two JSON values, so that nothing of it can be YAML.
pub fn is_json_stream(text: &str) -> bool {
    let mut documents = Documents::of(text);
    let mut next_is_json = || matches!(documents.next(), Some(Ok(d)) if d.json);
    next_is_json() && next_is_json()
}

/// The last place where YAML text can be cut into parts: after a separator line.
pub fn last_yaml_cut(text: &str) -> Option<usize> {
    let mut end = memchr::memrchr(b'\n', text.as_bytes())? + 1;
    loop {
        let separator = memmem::rfind(&text.as_bytes()[..end], b"\n---")? + 1;
        if let Some(n) = memchr::memchr(b'\n', &text.as_bytes()[separator..]) {
            return Some(separator + n + 1);
        }
        end = separator;
    }
}

/// The last place where a stream of JSON values can be cut into parts: after a value.
pub fn last_json_cut(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut cut = 0;
    loop {
        let space = bytes[cut..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')).count();
        let end = cut + space + json_value_len(&bytes[cut + space..]);
        // A value that ends with the text may go on.
        if end >= bytes.len() {
            return (cut > 0).then_some(cut);
        }
        cut = end;
    }
}

impl<'t> Documents<'t> {
    /// The documents of a whole text, which ends with a line break.
    pub fn of(text: &'t str) -> Documents<'t> {
        let mode = if begins_as_json(text) { Mode::Json(0) } else { Mode::Yaml };
        Documents { text, pos: 0, mode, bad_separator: None, not_json: None }
    }

    /// The documents of a part of a YAML text that begins after a separator.
    pub fn of_yaml_part(text: &'t str) -> Documents<'t> {
        Documents { text, pos: 0, mode: Mode::Yaml, bad_separator: None, not_json: None }
    }

    /// The documents of a part of a JSON stream of which two or more values lie before this part.
    pub fn of_json_part(text: &'t str) -> Documents<'t> {
        Documents { text, pos: 0, mode: Mode::Json(2), bad_separator: None, not_json: None }
    }

    fn next_json(&mut self, read: usize) -> Option<Result<Document<'t>, Unreadable>> {
        let rest = &self.text[self.pos..];
        let space = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        if space == rest.len() {
            self.mode = Mode::Done;
            return None;
        }
        let start = self.pos + space;
        let end = start + json_value_len(&self.text.as_bytes()[start..]);
        // Later values are read by whoever takes them: no switch to YAML hangs on them any more.
        let value = &self.text.as_bytes()[start..end];
        let outcome = if read > 1 { Ok(()) } else { json::read(value).map(drop) };
        match outcome {
            Ok(()) => {
                self.mode = Mode::Json(read + 1);
                self.pos = end;
                let text = &self.text[start..end];
                Some(Ok(Document { text, start, json: true, not_json: None }))
            }
            Err(error) => {
                let at = start + error.offset.min(end - start);
                let error = Unreadable::new(error.message, span(at, at + 1));
                self.turn_to_yaml(error)
            }
        }
    }

    /// Goes past white space up to the end of the line, and on with YAML. kubectl does so only if at
    /// least four bytes are left.
    fn turn_to_yaml(&mut self, error: Unreadable) -> Option<Result<Document<'t>, Unreadable>> {
        let mut pos = self.pos;
        loop {
            let rest = &self.text[pos..];
            if rest.len() < 4 {
                self.mode = Mode::Done;
                return Some(Err(error));
            }
            match rest.chars().next() {
                Some('\n') => {
                    pos += 1;
                    break;
                }
                Some(c) if c.is_whitespace() => pos += c.len_utf8(),
                _ => break,
            }
        }
        self.pos = pos;
        self.mode = Mode::Yaml;
        self.not_json = Some(error);
        self.next_yaml()
    }

    fn next_yaml(&mut self) -> Option<Result<Document<'t>, Unreadable>> {
        let start = self.pos;
        let mut from = start;
        while let Some(separator) = self.separator(from) {
            let end = self.line_end(separator);
            let after = self.text[separator + 3..end].trim();
            let bad = !after.is_empty() && !after.starts_with('#');
            if bad {
                let message = format!("invalid Yaml document separator: {after}");
                let shown = separator + self.text[separator..end].trim_end().len();
                self.bad_separator = Some(Unreadable::new(message, span(separator, shown)));
            } else if separator == start {
                // It belongs to the document that it begins.
                from = end;
                continue;
            }
            self.pos = end;
            if separator == start {
                return self.bad_separator.take().map(Err);
            }
            return Some(Ok(self.document(start, separator)));
        }
        self.pos = self.text.len();
        self.mode = Mode::Done;
        (start < self.pos).then(|| Ok(self.document(start, self.pos)))
    }

    fn document(&mut self, start: usize, end: usize) -> Document<'t> {
        Document { text: &self.text[start..end], start, json: false, not_json: self.not_json.take() }
    }

    /// The next line, from `from` on, that begins with `---`. A line begins at `from`.
    fn separator(&self, from: usize) -> Option<usize> {
        let rest = &self.text.as_bytes()[from..];
        if rest.starts_with(b"---") {
            return Some(from);
        }
        memmem::find(rest, b"\n---").map(|i| from + i + 1)
    }

    fn line_end(&self, from: usize) -> usize {
        let rest = &self.text.as_bytes()[from..];
        from + memchr::memchr(b'\n', rest).map_or(rest.len(), |i| i + 1)
    }
}

impl<'t> Iterator for Documents<'t> {
    type Item = Result<Document<'t>, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.bad_separator.take() {
            return Some(Err(error));
        }
        match self.mode {
            Mode::Json(read) => self.next_json(read),
            Mode::Yaml => self.next_yaml(),
            Mode::Done => None,
        }
    }
}

/// How long the JSON value at the start is, going by its brackets and quotes alone. A value without
/// an end takes up all.
fn json_value_len(bytes: &[u8]) -> usize {
    match bytes {
        [b'{' | b'[', ..] => bracketed_len(bytes),
        [b'"', ..] => (string_end(bytes, 1) + 1).min(bytes.len()),
        [b't', b'r', b'u', b'e', ..] | [b'n', b'u', b'l', b'l', ..] => 4,
        [b'f', b'a', b'l', b's', b'e', ..] => 5,
        [b'-' | b'0'..=b'9', ..] => number_len(bytes),
        _ => bytes.len(),
    }
}

fn bracketed_len(bytes: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return i + 1,
            b'}' | b']' => depth -= 1,
            b'"' => i = string_end(bytes, i + 1),
            _ => {}
        }
        i += 1;
    }
    bytes.len()
}

/// `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`, as far as it goes.
fn number_len(bytes: &[u8]) -> usize {
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(bytes[0] == b'-');
    let mut len = match bytes.get(sign) {
        Some(b'0') => sign + 1,
        _ => sign + digits(sign),
    };
    if bytes.get(len) == Some(&b'.') {
        len += 1 + digits(len + 1);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        len += 1 + usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        len += digits(len);
    }
    len
}

/// Where the quote is that ends a string.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut i = from;
    while let Some(n) = memchr::memchr2(b'"', b'\\', &bytes[i..]) {
        i += n;
        if bytes[i] == b'"' {
            return i;
        }
        i += 2;
        if i > bytes.len() {
            break;
        }
    }
    bytes.len()
}

fn span(start: usize, end: usize) -> Span {
    let clamp = |n| u32::try_from(n).unwrap_or(u32::MAX);
    Span { start: clamp(start), end: clamp(end) }
}
