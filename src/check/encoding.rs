//! Bytes to text: byte order marks, UTF-16, and what is no UTF-8.
//!
//! Source: cli-runtime v0.37.2 `FileVisitor`, which decodes by the byte order mark and takes anything
//! else for UTF-8 with replacements.

/// Turns the bytes of a file, given piece by piece, into text.
///
/// A byte order mark at the start decides between UTF-8, UTF-16LE and UTF-16BE, and is dropped.
/// Malformed input becomes U+FFFD. The text ends with a line break: a file without a final one is
/// read as if it had it, which matters to block scalars.
#[derive(Debug, Default)]
pub struct Decoder {
    encoding: Option<Encoding>,
    /// Bytes of a character whose rest has not come yet.
    pending: Vec<u8>,
    ends_with_break: bool,
    empty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16 { big_endian: bool },
}

/// Decodes a whole file.
pub fn decode(bytes: Vec<u8>) -> String {
    // The common case costs no copy.
    let bytes = match String::from_utf8(bytes) {
        Ok(mut text) if !text.starts_with('\u{feff}') => {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            return text;
        }
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let mut decoder = Decoder::new();
    let mut text = String::with_capacity(bytes.len() + 1);
    decoder.push(&bytes, &mut text);
    decoder.finish(&mut text);
    text
}

impl Decoder {
    /// A decoder at the start of a file.
    pub fn new() -> Decoder {
        Decoder { encoding: None, pending: Vec::new(), ends_with_break: false, empty: true }
    }

    /// Decodes the next bytes onto the end of `text`.
    pub fn push(&mut self, bytes: &[u8], text: &mut String) {
        let joined;
        let bytes = if self.pending.is_empty() {
            bytes
        } else {
            joined = [&self.pending, bytes].concat();
            self.pending.clear();
            &joined[..]
        };
        let before = text.len();
        match self.encoding {
            None if bytes.len() < 3 => self.pending = bytes.to_vec(),
            None => self.start(bytes, text),
            Some(Encoding::Utf8) => self.push_utf8(bytes, text),
            Some(Encoding::Utf16 { big_endian }) => self.push_utf16(bytes, big_endian, text),
        }
        self.note(&text[before..]);
    }

    /// Decodes what is left at the end of the file.
    pub fn finish(&mut self, text: &mut String) {
        let rest = std::mem::take(&mut self.pending);
        let before = text.len();
        match self.encoding {
            None if !rest.is_empty() => {
                self.start(&rest, text);
                if !std::mem::take(&mut self.pending).is_empty() {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
            }
            Some(_) if !rest.is_empty() => text.push(char::REPLACEMENT_CHARACTER),
            _ => {}
        }
        self.note(&text[before..]);
        if !self.empty && !self.ends_with_break {
            text.push('\n');
        }
    }

    fn note(&mut self, new: &str) {
        if !new.is_empty() {
            self.empty = false;
            self.ends_with_break = new.ends_with('\n');
        }
    }

    fn start(&mut self, bytes: &[u8], text: &mut String) {
        let (encoding, rest) = match bytes {
            [0xEF, 0xBB, 0xBF, rest @ ..] => (Encoding::Utf8, rest),
            [0xFF, 0xFE, rest @ ..] => (Encoding::Utf16 { big_endian: false }, rest),
            [0xFE, 0xFF, rest @ ..] => (Encoding::Utf16 { big_endian: true }, rest),
            rest => (Encoding::Utf8, rest),
        };
        self.encoding = Some(encoding);
        match encoding {
            Encoding::Utf8 => self.push_utf8(rest, text),
            Encoding::Utf16 { big_endian } => self.push_utf16(rest, big_endian, text),
        }
    }

    fn push_utf8(&mut self, mut bytes: &[u8], text: &mut String) {
        loop {
            match std::str::from_utf8(bytes) {
                Ok(valid) => {
                    text.push_str(valid);
                    return;
                }
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    let Some(bad) = error.error_len() else {
                        self.pending = rest.to_vec();
                        return;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    bytes = &rest[bad..];
                }
            }
        }
    }

    fn push_utf16(&mut self, bytes: &[u8], big_endian: bool, text: &mut String) {
        let unit = |pair: &[u8]| match big_endian {
            true => u16::from_be_bytes([pair[0], pair[1]]),
            false => u16::from_le_bytes([pair[0], pair[1]]),
        };
        let mut whole = bytes.len() & !1;
        // The first half of a surrogate pair waits for the second.
        if whole >= 2 && (0xD800..0xDC00).contains(&unit(&bytes[whole - 2..whole])) {
            whole -= 2;
        }
        let units = bytes[..whole].chunks_exact(2).map(unit);
        text.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        self.pending = bytes[whole..].to_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_pieces(bytes: &[u8], size: usize) -> String {
        let mut decoder = Decoder::new();
        let mut text = String::new();
        for piece in bytes.chunks(size) {
            decoder.push(piece, &mut text);
        }
        decoder.finish(&mut text);
        text
    }

    #[test]
    fn every_encoding_reads_the_same_in_pieces_of_any_size() {
        let text = "kind: \u{e9}\u{4e2d}\u{1f600}\n";
        let utf16 = |to: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to).collect::<Vec<u8>>();
        let inputs = [
            text.as_bytes().to_vec(),
            [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
            [b"\xFF\xFE", &utf16(u16::to_le_bytes)[..]].concat(),
            [b"\xFE\xFF", &utf16(u16::to_be_bytes)[..]].concat(),
        ];
        for input in inputs {
            for size in 1..8 {
                assert_eq!(in_pieces(&input, size), text, "{input:?} in pieces of {size}");
            }
            assert_eq!(decode(input), text);
        }
    }

    #[test]
    fn malformed_input_is_replaced_and_the_last_line_ended() {
        assert_eq!(decode(b"a\xFFb".to_vec()), "a\u{fffd}b\n");
        assert_eq!(decode(b"a\xE4\xB8".to_vec()), "a\u{fffd}\n");
        assert_eq!(decode(b"\xFF\xFEa".to_vec()), "\u{fffd}\n");
        assert_eq!(decode(b"\xFF".to_vec()), "\u{fffd}\n");
        assert_eq!(decode(b"".to_vec()), "");
        assert_eq!(decode(b"\xEF\xBB\xBF".to_vec()), "");
    }
}
