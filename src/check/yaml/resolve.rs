//! What the text of a scalar means: YAML 1.1's types as go-yaml v2 knows them.

use std::borrow::Cow;

use super::number::{self, Number};

const PREFIX: &str = "tag:yaml.org,2002:";

/// A resolved scalar. Dates are text.
#[derive(Debug, PartialEq)]
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
}

impl Scalar<'_> {
    fn tag(&self) -> &'static str {
        match self {
            Scalar::Null => "!!null",
            Scalar::Bool(_) => "!!bool",
            Scalar::Number(Number::Float(_)) => "!!float",
            Scalar::Number(_) => "!!int",
            Scalar::Text(_) => "!!str",
        }
    }
}

/// Resolves a scalar. `plain` is whether it is free to be something else than text.
///
/// # Errors
/// A message when the text is not of the type that the tag names.
pub(super) fn resolve<'a>(tag: Option<&str>, text: Cow<'a, str>, plain: bool) -> Result<Scalar<'a>, String> {
    let Some(tag) = tag else {
        return Ok(if plain { guess(text) } else { Scalar::Text(text) });
    };
    match tag.strip_prefix(PREFIX) {
        Some("str") => Ok(Scalar::Text(text)),
        Some("binary") => decode_base64(&text)
            .map(|bytes| Scalar::Text(String::from_utf8_lossy(&bytes).into_owned().into()))
            .ok_or_else(|| "!!binary value contains invalid base64 data".into()),
        Some("timestamp") if looks_like_date(&text) => Ok(Scalar::Text(text)),
        Some(wanted @ ("bool" | "int" | "float" | "null" | "timestamp")) => as_tagged(wanted, text),
        _ => Ok(Scalar::Text(text)),
    }
}

fn as_tagged<'a>(wanted: &str, text: Cow<'a, str>) -> Result<Scalar<'a>, String> {
    let shown = text.clone();
    let found = guess(text);
    match found {
        Scalar::Number(Number::Int(n)) if wanted == "float" => Ok(Scalar::Number(Number::Float(n as f64))),
        _ if found.tag().strip_prefix("!!") == Some(wanted) => Ok(found),
        _ => Err(format!("cannot decode {} `{shown}` as a !!{wanted}", found.tag())),
    }
}

/// What a plain scalar is by its looks.
fn guess(text: Cow<'_, str>) -> Scalar<'_> {
    let known = match text.as_bytes().first() {
        None => Some(Scalar::Null),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => word(&text),
        Some(b'.' | b'+' | b'-' | b'0'..=b'9') => {
            special_float(&text).or_else(|| number::parse(&text)).map(Scalar::Number)
        }
        Some(_) => None,
    };
    known.unwrap_or(Scalar::Text(text))
}

fn word(text: &str) -> Option<Scalar<'static>> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => return None,
    })
}

fn special_float(text: &str) -> Option<Number> {
    Some(Number::Float(match text {
        ".nan" | ".NaN" | ".NAN" => f64::NAN,
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => f64::INFINITY,
        "-.inf" | "-.Inf" | "-.INF" => f64::NEG_INFINITY,
        _ => return None,
    }))
}

fn looks_like_date(text: &str) -> bool {
    matches!(text.as_bytes(), [a, b, c, d, b'-', ..] if [a, b, c, d].iter().all(|d| d.is_ascii_digit()))
}

/// Standard base64 with padding; line breaks are ignored.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| {
        Some(match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        })
    };
    let chars: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    let mut out = Vec::with_capacity(chars.len() / 4 * 3);
    for (i, group) in chars.chunks(4).enumerate() {
        let last = (i + 1) * 4 == chars.len();
        let padding = match group {
            [_, _, b'=', b'='] if last => 2,
            [_, _, _, b'='] if last => 1,
            [_, _, _, _] => 0,
            _ => return None,
        };
        let mut bits = 0u32;
        for &b in &group[..4 - padding] {
            bits = bits << 6 | u32::from(digit(b)?);
        }
        let bytes = (bits << (6 * padding)).to_be_bytes();
        out.extend_from_slice(&bytes[1..4 - padding]);
    }
    Some(out)
}
