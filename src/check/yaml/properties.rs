//! The scanner's part for anchors, aliases, tags and directives.

use super::Unreadable;
use super::scanner::Scanner;
use super::token::{Kind, TagName, Token};

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

fn is_uri(b: u8) -> bool {
    is_word(b) || b";/?:@&=+$,.!~*'()[]%".contains(&b)
}

impl<'a> Scanner<'a> {
    fn word(&mut self) -> &'a str {
        let start = self.pos;
        while is_word(self.byte(0)) {
            self.pos += 1;
        }
        &self.text[start..self.pos]
    }

    /// `&name` or `*name`.
    pub(super) fn anchor(&mut self) -> Result<Token<'a>, Unreadable> {
        let start = self.pos;
        let is_alias = self.byte(0) == b'*';
        self.pos += 1;
        let name = self.word();
        let ended = self.is_blank_or_end(0) || b"?:,]}%@`".contains(&self.byte(0));
        if name.is_empty() || !ended {
            return self.fail("did not find expected alphabetic or numeric character");
        }
        let kind = if is_alias { Kind::Alias(name) } else { Kind::Anchor(name) };
        Ok(Token { kind, at: self.span_from(start) })
    }

    /// `!suffix`, `!handle!suffix`, `!<verbatim>` or `!`.
    pub(super) fn tag(&mut self) -> Result<Token<'a>, Unreadable> {
        let start = self.pos;
        let name = if self.byte(1) == b'<' {
            self.pos += 2;
            let rest = self.tag_uri(String::new(), false)?;
            if self.byte(0) != b'>' {
                return self.fail("did not find the expected '>'");
            }
            self.pos += 1;
            TagName { handle: String::new(), rest }
        } else {
            let handle = self.tag_handle(false)?.to_owned();
            if handle.len() > 1 && handle.ends_with('!') {
                TagName { rest: self.tag_uri(String::new(), false)?, handle }
            } else {
                let rest = self.tag_uri(handle[1..].to_owned(), true)?;
                match rest.as_str() {
                    "" => TagName { handle: rest, rest: "!".to_owned() },
                    _ => TagName { handle: "!".to_owned(), rest },
                }
            }
        };
        if !self.is_blank_or_end(0) {
            return self.fail("did not find expected whitespace or line break");
        }
        Ok(Token { kind: Kind::Tag(Box::new(name)), at: self.span_from(start) })
    }

    /// `!`, `!name!`, or, unless in a directive, the start of a local tag such as `!name`.
    fn tag_handle(&mut self, directive: bool) -> Result<&'a str, Unreadable> {
        if self.byte(0) != b'!' {
            return self.fail("did not find expected '!'");
        }
        let start = self.pos;
        self.pos += 1;
        self.word();
        if self.byte(0) == b'!' {
            self.pos += 1;
        } else if directive && self.pos - start > 1 {
            return self.fail("did not find expected '!'");
        }
        Ok(&self.text[start..self.pos])
    }

    /// Reads a URI after `head`, resolving `%XX`.
    fn tag_uri(&mut self, head: String, may_be_empty: bool) -> Result<String, Unreadable> {
        let mut uri = head.into_bytes();
        let start = self.pos;
        while is_uri(self.byte(0)) {
            if self.byte(0) == b'%' {
                self.uri_escape(&mut uri)?;
            } else {
                uri.push(self.byte(0));
                self.pos += 1;
            }
        }
        if self.pos == start && !may_be_empty {
            return self.fail("did not find expected tag URI");
        }
        // Escapes can spell what is no UTF-8. No such tag has a meaning.
        Ok(String::from_utf8_lossy(&uri).into_owned())
    }

    /// Reads the escapes of one UTF-8 character.
    fn uri_escape(&mut self, uri: &mut Vec<u8>) -> Result<(), Unreadable> {
        let mut left = None;
        while left != Some(0) {
            let digit = |i| char::from(self.byte(i)).to_digit(16);
            let (b'%', Some(high), Some(low)) = (self.byte(0), digit(1), digit(2)) else {
                return self.fail("did not find URI escaped octet");
            };
            let octet = (high << 4 | low) as u8;
            left = match (left, octet) {
                (None, 0..0x80) => Some(0),
                (None, 0xC0..0xE0) => Some(1),
                (None, 0xE0..0xF0) => Some(2),
                (None, 0xF0..0xF8) => Some(3),
                (None, _) => return self.fail("found an incorrect leading UTF-8 octet"),
                (Some(n), 0x80..0xC0) => Some(n - 1),
                (Some(_), _) => return self.fail("found an incorrect trailing UTF-8 octet"),
            };
            uri.push(octet);
            self.pos += 3;
        }
        Ok(())
    }

    /// `%YAML 1.1` or `%TAG !x! prefix`.
    pub(super) fn directive(&mut self) -> Result<Token<'a>, Unreadable> {
        let start = self.pos;
        self.pos += 1;
        let name = self.word();
        if name.is_empty() {
            return self.fail("could not find expected directive name");
        }
        if !self.is_blank_or_end(0) {
            return self.fail("found unexpected non-alphabetical character");
        }
        let kind = match name {
            "YAML" => self.version_directive()?,
            "TAG" => self.tag_directive()?,
            _ => {
                let at = self.span_from(start);
                return Err(Unreadable::new("found unknown directive name", at));
            }
        };
        let at = self.span_from(start);
        self.end_line()?;
        Ok(Token { kind, at })
    }

    fn version_directive(&mut self) -> Result<Kind<'a>, Unreadable> {
        self.skip_blanks();
        let major = self.version_number()?;
        if self.byte(0) != b'.' {
            return self.fail("did not find expected digit or '.' character");
        }
        self.pos += 1;
        let minor = self.version_number()?;
        Ok(Kind::Version { major, minor })
    }

    fn version_number(&mut self) -> Result<u8, Unreadable> {
        let start = self.pos;
        let mut number = 0;
        while self.byte(0).is_ascii_digit() {
            if self.pos - start == 2 {
                return self.fail("found extremely long version number");
            }
            number = number * 10 + (self.byte(0) - b'0');
            self.pos += 1;
        }
        if self.pos == start {
            return self.fail("did not find expected version number");
        }
        Ok(number)
    }

    fn tag_directive(&mut self) -> Result<Kind<'a>, Unreadable> {
        self.skip_blanks();
        let handle = self.tag_handle(true)?.to_owned();
        if !self.is_blank(0) {
            return self.fail("did not find expected whitespace");
        }
        self.skip_blanks();
        let rest = self.tag_uri(String::new(), false)?;
        if !self.is_blank_or_end(0) {
            return self.fail("did not find expected whitespace or line break");
        }
        Ok(Kind::TagDirective(Box::new(TagName { handle, rest })))
    }
}
