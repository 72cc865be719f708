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
        Some("timestamp") if is_date(&text) => Ok(Scalar::Text(text)),
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

/// Whether a plain scalar with this text would be read as text.
pub fn is_text(text: &str) -> bool {
    matches!(guess(Cow::Borrowed(text)), Scalar::Text(_))
}

/// What a plain scalar is by its looks.
pub(super) fn guess(text: Cow<'_, str>) -> Scalar<'_> {
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

/// Whether a text is a date as go-yaml reads it: `2001-1-31`, alone or with a time after `T`, `t` (then
/// with a zone) or a blank (then without).
fn is_date(text: &str) -> bool {
    let day_len = text.find(['T', 't', ' ']).unwrap_or(text.len());
    let (day, time) = text.split_at(day_len);
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let short = |s: &str, range: std::ops::RangeInclusive<u32>| {
        let digits = matches!(s.len(), 1 | 2) && s.bytes().all(|b| b.is_ascii_digit());
        digits && s.parse().is_ok_and(|n| range.contains(&n))
    };
    let Some(year) = Some(year).filter(|y| y.len() == 4).and_then(|y| y.parse::<u32>().ok()) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month.parse() {
        Ok(2u32) if leap => 29,
        Ok(2) => 28,
        Ok(4 | 6 | 9 | 11) => 30,
        _ => 31,
    };
    if !short(month, 1..=12) || !short(day, 1..=days) {
        return false;
    }
    let clock = |s: &str| {
        let (s, fraction) = s.split_once('.').map_or((s, None), |(s, f)| (s, Some(f)));
        let parts: Vec<&str> = s.split(':').collect();
        let [h, m, s] = parts[..] else { return false };
        let fraction_ok = fraction.is_none_or(|f| !f.is_empty() && f.bytes().all(|b| b.is_ascii_digit()));
        short(h, 0..=23) && short(m, 0..=59) && short(s, 0..=59) && fraction_ok
    };
    match time.as_bytes().first() {
        None => true,
        Some(b' ') => clock(&time[1..]),
        Some(_) => match time[1..].strip_suffix('Z') {
            Some(time) => clock(time),
            None => {
                let Some(zone) = time.rfind(['+', '-']) else { return false };
                let offset = time[zone + 1..].split_once(':');
                let two = |s: &str, max| s.len() == 2 && short(s, 0..=max);
                clock(&time[1..zone]) && offset.is_some_and(|(h, m)| two(h, 24) && two(m, 60))
            }
        },
    }
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
