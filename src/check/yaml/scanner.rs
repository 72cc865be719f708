//! The scanner: text to tokens, by the rules of YAML 1.1 as go-yaml v2 applies them.
//!
//! It works on bytes and lends text out where no escape or line folding is in the way. Tokens are made
//! on demand, since what follows the first document of a text is never looked at. The queue exists
//! because `a: b` is seen to be a mapping only at the `:`, when `a` has been scanned already.

use std::collections::VecDeque;

use super::Unreadable;
use super::token::{Kind, Token};
use crate::schema::source::Span;

/// How deep block and flow collections may nest, each counted on its own.
const MAX_DEPTH: usize = 10_000;

/// How many characters may lie between the start of an implicit key and its `:`.
const MAX_KEY_CHARS: usize = 1024;

/// A place where an implicit key may have begun. There is one for each flow level.
#[derive(Debug, Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// Whether only a key can stand here: at the indentation of a block mapping.
    required: bool,
    /// Whether the queue holds its first token back until this is settled.
    awaited: bool,
    /// The number of its first token, counted from the start of the text.
    token: usize,
    at: usize,
    line: usize,
    column: usize,
}

pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) pos: usize,
    ascii: bool,
    line: usize,
    line_start: usize,
    /// Up to where bytes of the line that begin no character were counted, and how many there are.
    counted: usize,
    continuation_bytes: usize,
    pub(super) flow_level: usize,
    /// The column of the innermost block collection, -1 outside of all.
    pub(super) indent: i64,
    indents: Vec<i64>,
    pub(super) simple_key_allowed: bool,
    keys: Vec<SimpleKey>,
    queue: VecDeque<Token<'a>>,
    taken: usize,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of `text`, which holds no control characters.
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Scanner {
            text,
            bytes: text.as_bytes(),
            pos: start,
            ascii: text.is_ascii(),
            line: 0,
            line_start: start,
            counted: start,
            continuation_bytes: 0,
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            simple_key_allowed: true,
            keys: vec![SimpleKey::default()],
            queue: VecDeque::with_capacity(16),
            taken: 0,
        }
    }

    /// The next token, which stays in the queue.
    pub(super) fn peek(&mut self) -> Result<&Token<'a>, Unreadable> {
        while self.queue.is_empty() || self.head_may_be_key()? {
            self.fetch()?;
        }
        Ok(&self.queue[0])
    }

    /// Takes the token that [`Scanner::peek`] showed.
    pub(super) fn take(&mut self) -> Token<'a> {
        self.taken += 1;
        self.queue.pop_front().expect("a token is taken only after it was peeked at")
    }

    fn head_may_be_key(&mut self) -> Result<bool, Unreadable> {
        // Token numbers never fall along the stack.
        let i = self.keys.partition_point(|k| k.token < self.taken);
        match self.keys.get(i) {
            Some(k) if k.token == self.taken && k.awaited => self.key_is_valid(i),
            _ => Ok(false),
        }
    }

    // Reading bytes. A zero byte stands for the end of the text; it cannot occur in it.

    pub(super) fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    /// How many bytes the line break at `i` takes up; 0 if there is none.
    ///
    /// Lines are read with a final CR LF made LF, before YAML sees them; hence CR CR LF is one break.
    pub(super) fn break_width(&self, i: usize) -> usize {
        match *self.bytes.get(i..).unwrap_or(&[]) {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            [b'\r', b'\r', b'\n', ..] => 3,
            [b'\r', ..] => 1,
            [0xC2, 0x85, ..] => 2,
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
            _ => 0,
        }
    }

    pub(super) fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t')
    }

    /// Whether a blank, a line break or the end of the text is `ahead` bytes from here.
    pub(super) fn is_blank_or_end(&self, ahead: usize) -> bool {
        match self.byte(ahead) {
            0 | b' ' | b'\t' | b'\n' | b'\r' => true,
            0xC2 | 0xE2 => self.break_width(self.pos + ahead) > 0,
            _ => false,
        }
    }

    /// Whether a line break or the end of the text is at hand.
    pub(super) fn is_break_or_end(&self) -> bool {
        match self.byte(0) {
            0 | b'\n' | b'\r' => true,
            0xC2 | 0xE2 => self.break_width(self.pos) > 0,
            _ => false,
        }
    }

    /// Goes past the line break at hand, if there is one.
    pub(super) fn skip_break(&mut self) {
        let width = self.break_width(self.pos);
        if width > 0 {
            self.pos += width;
            self.line += 1;
            self.line_start = self.pos;
            self.counted = self.pos;
            self.continuation_bytes = 0;
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.is_blank(0) {
            self.pos += 1;
        }
    }

    /// Goes to the end of the line.
    pub(super) fn skip_comment(&mut self) {
        if self.ascii {
            let rest = &self.bytes[self.pos..];
            self.pos += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        } else {
            while !self.is_break_or_end() {
                self.pos += 1;
            }
        }
    }

    /// Goes past the rest of the line, which may only be a comment.
    pub(super) fn end_line(&mut self) -> Result<(), Unreadable> {
        self.skip_blanks();
        if self.byte(0) == b'#' {
            self.skip_comment();
        }
        if !self.is_break_or_end() {
            return self.fail("did not find expected comment or line break");
        }
        self.skip_break();
        Ok(())
    }

    /// The column in characters. Amortized constant time: bytes of a line are counted once.
    pub(super) fn column(&mut self) -> usize {
        if !self.ascii {
            let new = &self.bytes[self.counted..self.pos];
            self.continuation_bytes += new.iter().filter(|&&b| b & 0xC0 == 0x80).count();
            self.counted = self.pos;
        }
        self.pos - self.line_start - self.continuation_bytes
    }

    fn indentation(&mut self) -> i64 {
        self.column() as i64
    }

    /// Whether `---` or `...` stands here at the start of a line.
    pub(super) fn at_document_indicator(&self) -> bool {
        self.pos == self.line_start
            && matches!(self.bytes.get(self.pos..self.pos + 3), Some(b"---" | b"..."))
            && self.is_blank_or_end(3)
    }

    pub(super) fn span_from(&self, start: usize) -> Span {
        super::span(start, self.pos)
    }

    pub(super) fn fail<T>(&self, message: &'static str) -> Result<T, Unreadable> {
        Err(Unreadable::new(message, self.span_from(self.pos)))
    }

    // Making tokens.

    fn push(&mut self, kind: Kind<'a>, at: Span) {
        self.queue.push_back(Token { kind, at });
    }

    /// Puts an indicator of `width` bytes into the queue.
    fn push_indicator(&mut self, kind: Kind<'a>, width: usize) {
        let start = self.pos;
        self.pos += width;
        self.push(kind, self.span_from(start));
    }

    fn fetch(&mut self) -> Result<(), Unreadable> {
        self.skip_to_token();
        let indentation = self.indentation();
        self.unroll_indent(indentation);
        if self.at_end() {
            return self.fetch_stream_end();
        }
        if self.at_document_indicator() {
            let kind = if self.byte(0) == b'-' { Kind::DocumentStart } else { Kind::DocumentEnd };
            self.end_blocks()?;
            self.push_indicator(kind, 3);
            return Ok(());
        }
        let in_flow = self.flow_level > 0;
        match self.byte(0) {
            b'%' if self.pos == self.line_start => {
                self.end_blocks()?;
                let token = self.directive()?;
                self.queue.push_back(token);
                Ok(())
            }
            b'[' => self.fetch_flow_start(Kind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(Kind::FlowMappingStart),
            b']' => self.fetch_flow_end(Kind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(Kind::FlowMappingEnd),
            b',' => {
                self.drop_key()?;
                self.simple_key_allowed = true;
                self.push_indicator(Kind::FlowEntry, 1);
                Ok(())
            }
            b'-' if self.is_blank_or_end(1) => self.fetch_block_entry(),
            b'?' if in_flow || self.is_blank_or_end(1) => self.fetch_key(),
            b':' if in_flow || self.is_blank_or_end(1) => self.fetch_value(),
            b'*' | b'&' => self.fetch_with_key(Scanner::anchor),
            b'!' => self.fetch_with_key(Scanner::tag),
            b'|' | b'>' if !in_flow => {
                self.drop_key()?;
                self.simple_key_allowed = true;
                let token = self.block_scalar()?;
                self.queue.push_back(token);
                Ok(())
            }
            b'\'' | b'"' => self.fetch_with_key(Scanner::quoted_scalar),
            b'-' | b'?' | b':' => self.fetch_with_key(Scanner::plain_scalar),
            b'\t' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => self.no_token(),
            _ => self.fetch_with_key(Scanner::plain_scalar),
        }
    }

    fn no_token(&self) -> Result<(), Unreadable> {
        self.fail("found character that cannot start any token")
    }

    /// Goes past blanks, comments and line breaks. Tabs count as blanks in flow collections, and in
    /// the middle of a line where no key may begin.
    fn skip_to_token(&mut self) {
        loop {
            let tabs = self.flow_level > 0 || !self.simple_key_allowed;
            while self.byte(0) == b' ' || (tabs && self.byte(0) == b'\t') {
                self.pos += 1;
            }
            if self.byte(0) == b'#' {
                self.skip_comment();
            }
            if self.break_width(self.pos) == 0 {
                return;
            }
            self.skip_break();
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    fn fetch_stream_end(&mut self) -> Result<(), Unreadable> {
        if self.pos != self.line_start {
            self.line += 1;
            self.line_start = self.pos;
        }
        self.end_blocks()?;
        self.push(Kind::StreamEnd, self.span_from(self.pos));
        Ok(())
    }

    /// Ends all block collections, before a directive, a document indicator or the end.
    fn end_blocks(&mut self) -> Result<(), Unreadable> {
        self.unroll_indent(-1);
        self.drop_key()?;
        self.simple_key_allowed = false;
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: Kind<'a>) -> Result<(), Unreadable> {
        self.save_key()?;
        self.flow_level += 1;
        if self.flow_level > MAX_DEPTH {
            return self.fail("exceeded max depth of 10000");
        }
        self.keys.push(SimpleKey { token: self.next_number(), ..SimpleKey::default() });
        self.simple_key_allowed = true;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: Kind<'a>) -> Result<(), Unreadable> {
        self.drop_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            let ended = self.keys.pop().expect("there is a key place for each flow level");
            // An empty collection was never followed by a key of its own, so that its place still
            // bears the number of its bracket. go-yaml then forgets to wait for the `:` after it:
            // `[]: x` is an error.
            let i = self.keys.partition_point(|k| k.token < ended.token);
            if let Some(k) = self.keys.get_mut(i).filter(|k| k.token == ended.token) {
                k.awaited = false;
            }
        }
        self.simple_key_allowed = false;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), Unreadable> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return self.fail("block sequence entries are not allowed in this context");
            }
            let column = self.indentation();
            self.roll_indent(column, None, Kind::BlockSequenceStart, self.pos)?;
        }
        self.drop_key()?;
        self.simple_key_allowed = true;
        self.push_indicator(Kind::BlockEntry, 1);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Unreadable> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return self.fail("mapping keys are not allowed in this context");
            }
            let column = self.indentation();
            self.roll_indent(column, None, Kind::BlockMappingStart, self.pos)?;
        }
        self.drop_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.push_indicator(Kind::Key, 1);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Unreadable> {
        let top = self.keys.len() - 1;
        if self.key_is_valid(top)? {
            let key = self.keys[top];
            let place = Some(key.token).filter(|&n| n >= self.taken);
            self.insert(place, Kind::Key, key.at);
            self.roll_indent(key.column as i64, place, Kind::BlockMappingStart, key.at)?;
            self.keys[top].possible = false;
            self.keys[top].awaited = false;
            self.simple_key_allowed = false;
        } else {
            // The value of an explicit key, or of an empty one.
            if self.flow_level == 0 {
                if !self.simple_key_allowed {
                    return self.fail("mapping values are not allowed in this context");
                }
                let column = self.indentation();
                self.roll_indent(column, None, Kind::BlockMappingStart, self.pos)?;
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.push_indicator(Kind::Value, 1);
        Ok(())
    }

    /// Fetches a token that may begin an implicit key, and after which none may begin.
    fn fetch_with_key(
        &mut self,
        scan: fn(&mut Scanner<'a>) -> Result<Token<'a>, Unreadable>,
    ) -> Result<(), Unreadable> {
        self.save_key()?;
        self.simple_key_allowed = false;
        let token = scan(self)?;
        self.queue.push_back(token);
        Ok(())
    }

    // Implicit keys.

    /// The number that the next token to enter the queue has.
    fn next_number(&self) -> usize {
        self.taken + self.queue.len()
    }

    /// An implicit key must lie on one line and be short. Gives up the key if it is not.
    fn key_is_valid(&mut self, i: usize) -> Result<bool, Unreadable> {
        let key = self.keys[i];
        if !key.possible {
            return Ok(false);
        }
        if key.line == self.line && key.column + MAX_KEY_CHARS >= self.column() {
            return Ok(true);
        }
        self.give_up_key(i)?;
        Ok(false)
    }

    fn give_up_key(&mut self, i: usize) -> Result<(), Unreadable> {
        if self.keys[i].required {
            let at = self.keys[i].at;
            let end = self.bytes[at..].iter().position(|b| matches!(b, b'\n' | b'\r'));
            let end = end.map_or(self.bytes.len(), |n| at + n).min(self.pos.max(at));
            return Err(Unreadable::new("could not find expected ':'", super::span(at, end)));
        }
        self.keys[i].possible = false;
        self.keys[i].awaited = false;
        Ok(())
    }

    fn save_key(&mut self) -> Result<(), Unreadable> {
        if !self.simple_key_allowed {
            return Ok(());
        }
        self.drop_key()?;
        let column = self.column();
        let key = SimpleKey {
            possible: true,
            required: self.flow_level == 0 && self.indent == column as i64,
            awaited: true,
            token: self.next_number(),
            at: self.pos,
            line: self.line,
            column,
        };
        *self.keys.last_mut().expect("there is a key place outside of all flow collections") = key;
        Ok(())
    }

    /// Settles that no implicit key began at this flow level.
    fn drop_key(&mut self) -> Result<(), Unreadable> {
        let top = self.keys.len() - 1;
        if self.keys[top].possible { self.give_up_key(top) } else { Ok(()) }
    }

    // Indentation.

    /// Begins a block collection if `column` lies deeper than the current one. Its token goes before
    /// the token with the number `before`, or to the end of the queue.
    fn roll_indent(
        &mut self,
        column: i64,
        before: Option<usize>,
        kind: Kind<'a>,
        at: usize,
    ) -> Result<(), Unreadable> {
        if self.flow_level > 0 || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > MAX_DEPTH {
            return self.fail("exceeded max depth of 10000");
        }
        self.insert(before, kind, at);
        Ok(())
    }

    fn insert(&mut self, before: Option<usize>, kind: Kind<'a>, at: usize) {
        let token = Token { kind, at: super::span(at, at) };
        match before {
            Some(number) => self.queue.insert(number - self.taken, token),
            None => self.queue.push_back(token),
        }
    }

    /// Ends the block collections that lie deeper than `column`.
    fn unroll_indent(&mut self, column: i64) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(Kind::BlockEnd, self.span_from(self.pos));
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }
}
