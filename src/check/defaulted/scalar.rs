//! Text as YAML spells it: bare where every reader takes it for text, else quoted, or as a block.

use std::fmt::Write as _;

use crate::check::yaml;

/// How a text is written.
pub(super) enum Text<'t> {
    /// On the line of its key.
    Inline(String),
    /// As a literal block: `|`, and the lines below it.
    Block { header: &'static str, lines: Vec<&'t str> },
}

/// Spells the value of a field.
pub(super) fn text(text: &str) -> Text<'_> {
    if !is_block(text) {
        return Text::Inline(inline(text));
    }
    let body = text.trim_end_matches('\n');
    let header = match text.len() - body.len() {
        0 => "|-",
        1 => "|",
        _ => "|+",
    };
    let shown = if header == "|+" { &text[..text.len() - 1] } else { body };
    Text::Block { header, lines: shown.split('\n').collect() }
}

/// Spells a text on one line.
pub(super) fn inline(text: &str) -> String {
    if is_bare(text) { text.to_owned() } else { quoted(text) }
}

/// Several lines, the first of them with something on it and not indented, and nothing invisible.
fn is_block(text: &str) -> bool {
    let first = text.chars().next();
    text.contains('\n')
        && first.is_some_and(|c| !c.is_whitespace())
        && text.chars().all(|c| c == '\n' || is_visible(c))
        && !text.contains(" \n")
        && !text.ends_with(' ')
}

fn is_visible(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn is_bare(text: &str) -> bool {
    let starts_well = match text.as_bytes() {
        [b'-', b, ..] => b.is_ascii_alphabetic(),
        [b, ..] => b.is_ascii_alphanumeric() || b"/._$(+;^".contains(b) || !b.is_ascii(),
        [] => false,
    };
    // Other readers take `12:30` and `2024-01-02` for numbers and dates.
    let numeric = text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || b"+-.:_eExXTtZ ".contains(&b));
    starts_well
        && !numeric
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
        && text.chars().all(is_visible)
        && yaml::is_text(text)
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_visible(c) => out.push(c),
            c => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::source::{Data, Node, Span};

    #[test]
    fn every_text_is_read_back_as_it_was() {
        let texts = [
            "",
            "a",
            "yes",
            "y",
            "~",
            "null",
            "0644",
            "1e3",
            ".5",
            "12:30",
            "2024-01-02",
            "<<",
            "a: b",
            "a:b",
            "a #b",
            "a#b",
            "#a",
            "- a",
            "-a",
            "-1",
            "--x=y",
            "---",
            "...",
            "a ",
            " a",
            "a\tb",
            "\t",
            "a\nb",
            "a\nb\n",
            "a\n\nb\n\n",
            "\na",
            " a\nb",
            "a \nb",
            "a\r\nb",
            "\u{1}",
            "\u{85}",
            "\u{2028}x",
            "\u{feff}",
            "é中",
            "'a'",
            "\"a\"",
            "a\\b",
            "{a}",
            "[a]",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "%a",
            "@a",
            "`a",
            "?",
            "? a",
            ":",
            ": a",
            "a:",
            "=",
            "a,b",
            "$(VAR)",
            "/bin/sh",
            "a\n  b\n c",
            "\n",
            "a\n---\nb",
            "0b-1",
        ];
        for expected in texts {
            let node = Node { at: Span::default(), data: Data::String(expected.into()) };
            let lines = super::super::yaml::lines(&super::super::Part::Object(vec![
                ("k", super::super::Part::Same(&node)),
                ("l", super::super::Part::Array(vec![super::super::Part::Same(&node)])),
            ]));
            let yaml: String = lines.iter().map(|(_, l)| format!("{l}\n")).collect();
            let read = yaml::read(&yaml).unwrap().root.unwrap();
            assert_eq!(read.get("k").unwrap().as_str(), Some(expected), "{yaml}");
            assert_eq!(read.get("l").unwrap().items()[0].as_str(), Some(expected), "{yaml}");
        }
    }
}
