//! The scanner's part for scalars: plain, quoted and block ones, with folding and escapes.

use std::borrow::Cow;

use super::Unreadable;
use super::scanner::Scanner;
use super::token::{Kind, Token};

/// The line breaks between two pieces of a scalar. The first is kept apart, as it may become a blank.
#[derive(Default)]
struct Breaks {
    first: Option<char>,
    rest: String,
}

impl Breaks {
    fn add(&mut self, c: char) {
        if self.first.is_none() { self.first = Some(c) } else { self.rest.push(c) }
    }

    /// Folds one break into a blank; of several, drops the first. A Unicode line or paragraph
    /// separator stays.
    fn fold(&mut self, out: &mut String) {
        match self.first.take() {
            Some('\n') if self.rest.is_empty() => out.push(' '),
            Some('\n') | None => out.push_str(&self.rest),
            Some(c) => {
                out.push(c);
                out.push_str(&self.rest);
            }
        }
        self.rest.clear();
    }
}

/// What to do with the line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

impl<'a> Scanner<'a> {
    /// Goes past a line break; gives what it contributes to a scalar.
    fn take_break(&mut self) -> char {
        let c = match *self.bytes.get(self.pos..).unwrap_or(&[]) {
            [0xE2, 0x80, 0xA8, ..] => '\u{2028}',
            [0xE2, 0x80, 0xA9, ..] => '\u{2029}',
            _ => '\n',
        };
        self.skip_break();
        c
    }

    fn at_break(&self) -> bool {
        self.break_width(self.pos) > 0
    }

    pub(super) fn plain_scalar(&mut self) -> Result<Token<'a>, Unreadable> {
        let start = self.pos;
        let mut end = start;
        // Set once lines are folded; until then the text is lent out as it stands.
        let mut folded: Option<String> = None;
        let mut breaks = Breaks::default();
        let mut on_new_line = false;
        while !self.at_document_indicator() && self.byte(0) != b'#' {
            let run = self.pos;
            self.skip_plain_run();
            if self.pos > run {
                if on_new_line {
                    let out = folded.get_or_insert_with(|| self.text[start..end].to_owned());
                    breaks.fold(out);
                    on_new_line = false;
                } else if let Some(out) = &mut folded {
                    out.push_str(&self.text[end..run]);
                }
                if let Some(out) = &mut folded {
                    out.push_str(&self.text[run..self.pos]);
                }
                end = self.pos;
            }
            if !self.is_blank(0) && !self.at_break() {
                break;
            }
            self.skip_plain_space(&mut breaks, &mut on_new_line)?;
            if self.flow_level == 0 && (self.column() as i64) < self.indent + 1 {
                break;
            }
        }
        if on_new_line {
            self.simple_key_allowed = true;
        }
        let text = folded.map_or(Cow::Borrowed(&self.text[start..end]), Cow::Owned);
        Ok(Token { kind: Kind::Scalar { text, plain: true }, at: super::span(start, end) })
    }

    fn skip_plain_run(&mut self) {
        let in_flow = self.flow_level > 0;
        loop {
            match self.byte(0) {
                0 | b' ' | b'\t' | b'\n' | b'\r' => return,
                b':' if self.is_blank_or_end(1) => return,
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if in_flow => return,
                0xC2 | 0xE2 if self.at_break() => return,
                _ => self.pos += 1,
            }
        }
    }

    fn skip_plain_space(&mut self, breaks: &mut Breaks, on_new_line: &mut bool) -> Result<(), Unreadable> {
        loop {
            if self.is_blank(0) {
                let tab = self.byte(0) == b'\t';
                if tab && *on_new_line && (self.column() as i64) < self.indent + 1 {
                    return self.fail("found a tab character that violates indentation");
                }
                self.pos += 1;
            } else if self.at_break() {
                let c = self.take_break();
                breaks.add(c);
                *on_new_line = true;
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn quoted_scalar(&mut self) -> Result<Token<'a>, Unreadable> {
        let start = self.pos;
        let quote = self.byte(0);
        self.pos += 1;
        let mut piece = Piece { from: self.pos, built: None };
        let mut breaks = Breaks::default();
        loop {
            if self.at_document_indicator() {
                return self.fail("found unexpected document indicator");
            }
            if self.at_end() {
                let at = super::span(start, start + 1);
                return Err(Unreadable::new("found unexpected end of stream", at));
            }
            let mut on_new_line = self.quoted_run(quote, &mut piece)?;
            if self.byte(0) == quote {
                break;
            }
            let run_end = self.pos;
            let escaped_break = on_new_line;
            loop {
                if self.is_blank(0) {
                    self.pos += 1;
                } else if self.at_break() {
                    let c = self.take_break();
                    if escaped_break {
                        breaks.rest.push(c)
                    } else {
                        breaks.add(c)
                    }
                    on_new_line = true;
                } else {
                    break;
                }
            }
            if on_new_line {
                let out = piece.flush(self.text, run_end);
                breaks.fold(out);
                piece.from = self.pos;
            }
        }
        let end = self.pos;
        self.pos += 1;
        let kind = Kind::Scalar { text: piece.finish(self.text, end), plain: false };
        Ok(Token { kind, at: self.span_from(start) })
    }

    /// Goes to the next blank, line break or closing quote. Says whether it stopped after an escaped
    /// line break.
    fn quoted_run(&mut self, quote: u8, piece: &mut Piece) -> Result<bool, Unreadable> {
        loop {
            match self.byte(0) {
                0 | b' ' | b'\t' | b'\n' | b'\r' => return Ok(false),
                0xC2 | 0xE2 if self.at_break() => return Ok(false),
                b'\'' if quote == b'\'' && self.byte(1) == b'\'' => {
                    piece.flush(self.text, self.pos + 1);
                    self.pos += 2;
                    piece.from = self.pos;
                }
                b if b == quote => return Ok(false),
                b'\\' if quote == b'"' => {
                    piece.flush(self.text, self.pos);
                    self.pos += 1;
                    if self.at_break() {
                        self.skip_break();
                        piece.from = self.pos;
                        return Ok(true);
                    }
                    let c = self.escape()?;
                    piece.flush(self.text, piece.from).push(c);
                    piece.from = self.pos;
                }
                _ => self.pos += 1,
            }
        }
    }

    /// Reads what follows the backslash.
    fn escape(&mut self) -> Result<char, Unreadable> {
        let backslash = self.pos - 1;
        let c = match self.byte(0) {
            b'0' => '\0',
            b'a' => '\x07',
            b'b' => '\x08',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\x0B',
            b'f' => '\x0C',
            b'r' => '\r',
            b'e' => '\x1B',
            b' ' => ' ',
            b'"' => '"',
            b'\'' => '\'',
            b'\\' => '\\',
            b'N' => '\u{85}',
            b'_' => '\u{A0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' => return self.coded_escape(2),
            b'u' => return self.coded_escape(4),
            b'U' => return self.coded_escape(8),
            _ => {
                let at = super::span(backslash, backslash + 1);
                return Err(Unreadable::new("found unknown escape character", at));
            }
        };
        self.pos += 1;
        Ok(c)
    }

    fn coded_escape(&mut self, digits: usize) -> Result<char, Unreadable> {
        let start = self.pos - 1;
        let mut code: u32 = 0;
        for i in 1..=digits {
            let Some(digit) = char::from(self.byte(i)).to_digit(16) else {
                return self.fail("did not find expected hexdecimal number");
            };
            code = code << 4 | digit;
        }
        self.pos += 1 + digits;
        char::from_u32(code).ok_or_else(|| {
            Unreadable::new("found invalid Unicode character escape code", self.span_from(start))
        })
    }

    pub(super) fn block_scalar(&mut self) -> Result<Token<'a>, Unreadable> {
        let start = self.pos;
        let literal = self.byte(0) == b'|';
        self.pos += 1;
        let (chomping, increment) = self.block_scalar_header()?;
        let mut end = self.pos;
        // 0 while it is to be found out from the first line.
        let mut indent = match increment {
            0 => 0,
            n => self.indent.max(0) + n,
        };
        let mut out = String::new();
        let mut leading_break: Option<char> = None;
        let mut trailing = String::new();
        let mut leading_blank = false;
        self.block_scalar_breaks(&mut indent, &mut trailing)?;
        while self.column() as i64 == indent && !self.at_end() {
            let blank = self.is_blank(0);
            if !literal && !leading_blank && !blank && leading_break == Some('\n') {
                if trailing.is_empty() {
                    out.push(' ');
                }
            } else {
                out.extend(leading_break);
            }
            out.push_str(&trailing);
            trailing.clear();
            leading_blank = blank;
            let line = self.pos;
            self.skip_comment();
            out.push_str(&self.text[line..self.pos]);
            end = self.pos;
            leading_break = if self.at_break() { Some(self.take_break()) } else { None };
            self.block_scalar_breaks(&mut indent, &mut trailing)?;
        }
        if chomping != Chomping::Strip {
            out.extend(leading_break);
        }
        if chomping == Chomping::Keep {
            out.push_str(&trailing);
        }
        let kind = Kind::Scalar { text: Cow::Owned(out), plain: false };
        Ok(Token { kind, at: super::span(start, end) })
    }

    /// Reads the rest of the line with `|` or `>`: the chomping and the indentation (0 if not given).
    fn block_scalar_header(&mut self) -> Result<(Chomping, i64), Unreadable> {
        let mut chomping = Chomping::Clip;
        let mut increment = 0;
        let mut seen = (false, false);
        loop {
            match self.byte(0) {
                b @ (b'+' | b'-') if !seen.0 => {
                    chomping = if b == b'+' { Chomping::Keep } else { Chomping::Strip };
                    seen.0 = true;
                }
                b'0' if !seen.1 => return self.fail("found an indentation indicator equal to 0"),
                b @ b'1'..=b'9' if !seen.1 => {
                    increment = i64::from(b - b'0');
                    seen.1 = true;
                }
                _ => break,
            }
            self.pos += 1;
        }
        self.end_line()?;
        Ok((chomping, increment))
    }

    /// Goes past indentation and empty lines; finds out the indentation if it is not known yet.
    fn block_scalar_breaks(&mut self, indent: &mut i64, breaks: &mut String) -> Result<(), Unreadable> {
        let mut deepest = 0;
        loop {
            while self.byte(0) == b' ' && (*indent == 0 || (self.column() as i64) < *indent) {
                self.pos += 1;
            }
            let column = self.column() as i64;
            deepest = deepest.max(column);
            if self.byte(0) == b'\t' && (*indent == 0 || column < *indent) {
                return self.fail("found a tab character where an indentation space is expected");
            }
            if !self.at_break() {
                break;
            }
            let c = self.take_break();
            breaks.push(c);
        }
        if *indent == 0 {
            *indent = deepest.max(self.indent + 1).max(1);
        }
        Ok(())
    }
}

/// The text of a quoted scalar: lent out as long as nothing in it has to change.
struct Piece {
    /// Where the part begins that is not in `built` yet.
    from: usize,
    built: Option<String>,
}

impl Piece {
    /// Moves the text up to `end` into the built text.
    fn flush(&mut self, text: &str, end: usize) -> &mut String {
        let built = self.built.get_or_insert_with(String::new);
        built.push_str(&text[self.from..end]);
        self.from = end;
        built
    }

    fn finish<'a>(self, text: &'a str, end: usize) -> Cow<'a, str> {
        match self.built {
            None => Cow::Borrowed(&text[self.from..end]),
            Some(mut built) => {
                built.push_str(&text[self.from..end]);
                Cow::Owned(built)
            }
        }
    }
}
