//! How Go prints values in error messages.
//!
//! Strings print quoted in one of two ways, and whole values as JSON in one of two forms: types of
//! the meta API (selectors, owner references) and lists as the API writes them ([`api_json`],
//! [`value_json`]), everything else as the server's internal types ([`internal_json`]).

use std::fmt::Write as _;

pub use super::write::{internal as internal_json, object as api_json, value as value_json};

/// Appends `s` quoted by Go's `%q`.
pub fn go_quote(out: &mut String, s: &str) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if is_go_printable(c) => out.push(c),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if (c as u32) < 0x10000 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => {
                let _ = write!(out, "\\U{:08x}", c as u32);
            }
        }
    }
    out.push('"');
}

/// `s` quoted by Go's `%q`.
pub fn quoted(s: &str) -> String {
    let mut out = String::new();
    go_quote(&mut out, s);
    out
}

/// Texts quoted by Go's `%q`, with commas between them.
pub fn quoted_list<'s>(texts: impl IntoIterator<Item = &'s str>) -> String {
    let mut out = String::new();
    for (i, text) in texts.into_iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        go_quote(&mut out, text);
    }
    out
}

/// What Go's `strconv.ParseInt` says to a text that is no 64-bit integer; `None` for one that is.
pub fn parse_int_error(text: &str) -> Option<String> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let why = match text.parse::<i64>().err()?.kind() {
        PosOverflow | NegOverflow => "value out of range",
        _ => "invalid syntax",
    };
    Some(format!("strconv.ParseInt: parsing {}: {why}", quoted(text)))
}

/// Appends `s` quoted as Go's JSON encoder does, HTML escapes included.
pub fn json_quote(out: &mut String, s: &str) {
    out.push('"');
    let bytes = s.as_bytes();
    let mut from = 0;
    for (i, c) in s.char_indices() {
        let escape: Option<&str> = match c {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            '\u{8}' => Some("\\b"),
            '\u{c}' => Some("\\f"),
            '<' => Some("\\u003c"),
            '>' => Some("\\u003e"),
            '&' => Some("\\u0026"),
            '\u{2028}' => Some("\\u2028"),
            '\u{2029}' => Some("\\u2029"),
            c if (c as u32) < 0x20 => None,
            _ => continue,
        };
        out.push_str(&s[from..i]);
        match escape {
            Some(e) => out.push_str(e),
            None => {
                let _ = write!(out, "\\u{:04x}", bytes[i]);
            }
        }
        from = i + c.len_utf8();
    }
    out.push_str(&s[from..]);
    out.push('"');
}

/// Whether Go's `strconv.IsPrint` holds: letters, marks, numbers, punctuation, symbols and the
/// ASCII space.
///
/// Parity: exact for ASCII and Latin-1; beyond, Rust's notion of what `{:?}` leaves unescaped, which
/// differs from Go's tables in characters of newer Unicode versions.
pub fn is_go_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\u{7f}'..='\u{a0}' | '\u{ad}' => false,
        '\u{300}'..='\u{36f}' => true,
        c if c.is_ascii() => false,
        c if c.is_whitespace() => false,
        c => c.escape_debug().len() == 1 || is_grapheme_extend_kept(c),
    }
}

/// `char::escape_debug` escapes combining marks (at the start of a string), which Go prints raw.
fn is_grapheme_extend_kept(c: char) -> bool {
    let mut text = String::with_capacity(8);
    text.push('a');
    text.push(c);
    let quoted = format!("{text:?}");
    quoted.len() == text.len() + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_and_json_quoting_differ_in_angles_and_controls() {
        let (mut go, mut json) = (String::new(), String::new());
        go_quote(&mut go, "<\u{7}\u{200b}\u{7f}");
        json_quote(&mut json, "<\u{7}\u{200b}\u{7f}");
        assert_eq!(go, r#""<\a\u200b\x7f""#);
        assert_eq!(json, "\"\\u003c\\u0007\u{200b}\u{7f}\"");
    }

    #[test]
    fn integers_that_are_none_get_go_s_words() {
        // Each row was given by the v1.37.2 conversion of the rollback annotation.
        for (text, why) in [
            ("99999999999999999999x", Some("value out of range")),
            ("-99999999999999999999", Some("value out of range")),
            ("+", Some("invalid syntax")),
            ("9x", Some("invalid syntax")),
            (" 5", Some("invalid syntax")),
            ("+5", None),
        ] {
            let expected = why.map(|why| format!("strconv.ParseInt: parsing \"{text}\": {why}"));
            assert_eq!(parse_int_error(text), expected);
        }
    }
}
