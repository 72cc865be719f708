//! Reads JSON bytes into [`Node`]s, with Go's notion of what is well formed and Go's error texts.
//!
//! Never panics and never recurses deeper than `KEPT_DEPTH`: what lies below is checked, and kept
//! as text. Invalid UTF-8 and lone surrogates become U+FFFD, as in Go.

use std::borrow::Cow;

use super::source::{Data, Member, Node, Span};

/// The deepest nesting that the API server reads.
pub const MAX_DEPTH: usize = 10_000;

/// How deep a tree is built. No field of a Deployment lies deeper than 30; beyond are only unknown
/// fields and `fieldsV1`.
const KEPT_DEPTH: usize = 100;

/// Why bytes are no JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// Go's text, for example `invalid character 'x' after top-level value`.
    pub message: String,
    /// The byte at fault.
    pub offset: usize,
}

/// Reads one JSON value that makes up all of `bytes`.
///
/// # Errors
/// [`SyntaxError`] when the bytes are no JSON, nest deeper than [`MAX_DEPTH`], or are more than 4 GiB.
pub fn read(bytes: &[u8]) -> Result<Node<'_>, SyntaxError> {
    let mut reader = Reader { bytes, text: std::str::from_utf8(bytes).ok(), pos: 0 };
    if u32::try_from(bytes.len()).is_err() {
        return Err(SyntaxError { message: "more than 4 GiB of JSON".into(), offset: 0 });
    }
    reader.skip_space();
    let node = reader.value(0)?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.unexpected("after top-level value")),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// The bytes as text, if they are UTF-8 throughout.
    text: Option<&'a str>,
    pos: usize,
}

/// What a closing bracket, or a comma, may be followed by.
enum Next {
    More,
    End,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.pos += 1;
        }
    }

    /// The error for the byte at hand, or for the end of input.
    fn unexpected(&self, context: &str) -> SyntaxError {
        // Go feeds its scanner one blank at the end of input, which only some states take ill.
        let in_token =
            context != "in string literal" && ["in ", "after decimal"].iter().any(|c| context.starts_with(c));
        let b = match self.peek() {
            Some(b) => b,
            None if in_token => b' ',
            None => {
                return SyntaxError {
                    message: "unexpected end of JSON input".into(),
                    offset: self.bytes.len(),
                };
            }
        };
        // Go quotes the byte as if it were a Latin-1 character.
        let shown = match b {
            b'\'' => r"'\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            _ => {
                let mut quoted = String::new();
                super::print::go_quote(&mut quoted, char::from(b).encode_utf8(&mut [0; 2]));
                format!("'{}'", &quoted[1..quoted.len() - 1])
            }
        };
        SyntaxError { message: format!("invalid character {shown} {context}"), offset: self.pos }
    }

    fn span(&self, start: usize) -> Span {
        // Sizes were checked in `read`.
        Span { start: start as u32, end: self.pos as u32 }
    }

    fn text_from(&self, start: usize) -> Cow<'a, str> {
        match self.text.and_then(|text| text.get(start..self.pos)) {
            Some(text) => Cow::Borrowed(text),
            None => String::from_utf8_lossy(&self.bytes[start..self.pos]),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node<'a>, SyntaxError> {
        let start = self.pos;
        let data = match self.peek() {
            Some(b'{' | b'[') if depth >= KEPT_DEPTH => {
                self.skip_nested(depth)?;
                Data::Deep(self.text_from(start))
            }
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Data::String(self.string()?),
            Some(b't') => self.word("true").map(|()| Data::Bool(true))?,
            Some(b'f') => self.word("false").map(|()| Data::Bool(false))?,
            Some(b'n') => self.word("null").map(|()| Data::Null)?,
            Some(b'-' | b'0'..=b'9') => Data::Number(Cow::Borrowed(self.number()?)),
            _ => return Err(self.unexpected("looking for beginning of value")),
        };
        Ok(Node { at: self.span(start), data })
    }

    fn object(&mut self, depth: usize) -> Result<Data<'a>, SyntaxError> {
        self.pos += 1;
        self.skip_space();
        let mut members = Vec::new();
        if self.peek() == Some(b'}') {
            self.pos += 1;
            return Ok(Data::Object(members));
        }
        loop {
            let start = self.pos;
            self.key_start()?;
            let key = self.string()?;
            let key_at = self.span(start);
            self.colon()?;
            let value = self.value(depth + 1)?;
            if members.capacity() == 0 {
                members.reserve(6);
            }
            members.push(Member { key, key_at, value });
            if let Next::End = self.after_member()? {
                return Ok(Data::Object(members));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Data<'a>, SyntaxError> {
        self.pos += 1;
        self.skip_space();
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.pos += 1;
            return Ok(Data::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if let Next::End = self.after_element()? {
                return Ok(Data::Array(items));
            }
        }
    }

    fn key_start(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'"') => Ok(()),
            _ => Err(self.unexpected("looking for beginning of object key string")),
        }
    }

    fn colon(&mut self) -> Result<(), SyntaxError> {
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("after object key"));
        }
        self.pos += 1;
        self.skip_space();
        Ok(())
    }

    fn after_member(&mut self) -> Result<Next, SyntaxError> {
        self.skip_space();
        let next = match self.peek() {
            Some(b',') => Next::More,
            Some(b'}') => Next::End,
            _ => return Err(self.unexpected("after object key:value pair")),
        };
        self.pos += 1;
        if let Next::More = next {
            self.skip_space();
        }
        Ok(next)
    }

    fn after_element(&mut self) -> Result<Next, SyntaxError> {
        self.skip_space();
        let next = match self.peek() {
            Some(b',') => Next::More,
            Some(b']') => Next::End,
            _ => return Err(self.unexpected("after array element")),
        };
        self.pos += 1;
        if let Next::More = next {
            self.skip_space();
        }
        Ok(next)
    }

    /// Checks a nested value without building it and without recursion.
    fn skip_nested(&mut self, depth: usize) -> Result<(), SyntaxError> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            // At the start of a value.
            match self.peek() {
                Some(b @ (b'{' | b'[')) => {
                    if depth + open.len() >= MAX_DEPTH {
                        return Err(self.unexpected("exceeded max depth"));
                    }
                    self.pos += 1;
                    self.skip_space();
                    let close = if b == b'{' { b'}' } else { b']' };
                    if self.peek() == Some(close) {
                        self.pos += 1;
                    } else {
                        open.push(b);
                        if b == b'{' {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
                _ => {
                    self.value(0)?;
                }
            }
            // After a value: close what ends here, then go on to the next value.
            loop {
                let Some(b) = open.last() else { return Ok(()) };
                let in_object = *b == b'{';
                let next = if in_object { self.after_member()? } else { self.after_element()? };
                if let Next::End = next {
                    open.pop();
                    continue;
                }
                if in_object {
                    self.skip_key()?;
                }
                break;
            }
        }
    }

    fn skip_key(&mut self) -> Result<(), SyntaxError> {
        self.key_start()?;
        self.string()?;
        self.colon()
    }

    fn word(&mut self, word: &'static str) -> Result<(), SyntaxError> {
        for (i, expected) in word.bytes().enumerate() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting '{}')", &word[i..=i]);
                return Err(self.unexpected(&context));
            }
            self.pos += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<&'a str, SyntaxError> {
        let start = self.pos;
        if self.peek() == Some(b'-') {
            self.pos += 1;
        }
        match self.peek() {
            Some(b'0') => self.pos += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.pos += 1;
            if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Err(self.unexpected("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.pos += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.pos += 1;
            }
            if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Err(self.unexpected("in exponent of numeric literal"));
            }
            self.digits();
        }
        Ok(std::str::from_utf8(&self.bytes[start..self.pos]).unwrap_or("0"))
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.pos += 1;
        }
    }

    /// The string at hand, unescaped; borrowed when nothing needed to change.
    fn string(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        self.pos += 1;
        let start = self.pos;
        loop {
            match self.peek() {
                Some(b'"') => {
                    let text = self.text_from(start);
                    self.pos += 1;
                    return Ok(text);
                }
                Some(b'\\') => break,
                Some(0x20..) => self.pos += 1,
                _ => return Err(self.unexpected("in string literal")),
            }
        }
        self.escaped_string(start).map(Cow::Owned)
    }

    fn escaped_string(&mut self, start: usize) -> Result<String, SyntaxError> {
        let mut out = Vec::from(&self.bytes[start..self.pos]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(String::from_utf8_lossy(&out).into_owned());
                }
                Some(b'\\') => {
                    self.pos += 1;
                    self.escape(&mut out)?;
                }
                Some(b @ 0x20..) => {
                    out.push(b);
                    self.pos += 1;
                }
                _ => return Err(self.unexpected("in string literal")),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), SyntaxError> {
        let plain = match self.peek() {
            Some(b @ (b'"' | b'\\' | b'/')) => b,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.pos += 1;
                let unit = self.hex4()?;
                let c = self.pair(unit)?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        out.push(plain);
        self.pos += 1;
        Ok(())
    }

    fn hex4(&mut self) -> Result<u32, SyntaxError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            unit = unit * 16 + digit;
            self.pos += 1;
        }
        Ok(unit)
    }

    /// Joins a surrogate pair; a lone surrogate becomes U+FFFD and leaves what follows alone.
    fn pair(&mut self, unit: u32) -> Result<char, SyntaxError> {
        if let Some(c) = char::from_u32(unit) {
            return Ok(c);
        }
        let behind = self.pos;
        if unit < 0xdc00 && self.bytes[self.pos..].starts_with(b"\\u") {
            self.pos += 2;
            let low = self.hex4()?;
            if (0xdc00..0xe000).contains(&low) {
                let c = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.pos = behind;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read(text.as_bytes()).expect_err("malformed").message
    }

    #[test]
    fn malformed_json_gets_go_s_words() {
        // Each expectation was given by Go 1.26's encoding/json.
        for (text, expected) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("{}x", "invalid character 'x' after top-level value"),
            ("{x", "invalid character 'x' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("tru", "invalid character ' ' in literal true (expecting 'e')"),
            ("\"", "unexpected end of JSON input"),
            ("\"\\", "invalid character ' ' in string escape code"),
            ("-", "invalid character ' ' in numeric literal"),
            ("trux", "invalid character 'x' in literal true (expecting 'e')"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1ex", "invalid character 'x' in exponent of numeric literal"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u00g0\"", "invalid character 'g' in \\u hexadecimal character escape"),
            ("'", "invalid character '\\'' looking for beginning of value"),
            ("\u{e9}", "invalid character 'Ã' looking for beginning of value"),
        ] {
            assert_eq!(message(text), expected, "{text}");
        }
    }

    #[test]
    fn nesting_is_read_to_the_depth_that_the_server_reads() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(read(nested(MAX_DEPTH).as_bytes()).is_ok());
        assert_eq!(message(&nested(MAX_DEPTH + 1)), "invalid character '[' exceeded max depth");
    }

    #[test]
    fn strings_are_unescaped_as_go_does() {
        let text = |s: &str| match read(s.as_bytes()).expect("well formed").data {
            Data::String(s) => s.into_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(text(r#""a\u00e9\n\/""#), "aé\n/");
        assert_eq!(text(r#""\ud83d\ude00""#), "😀");
        assert_eq!(text(r#""\ud83dx""#), "\u{fffd}x");
        assert_eq!(text(r#""\ud83d\u0041""#), "\u{fffd}A");
        assert_eq!(read(b"\"\xff\"").expect("well formed").as_str(), Some("\u{fffd}"));
    }
}
