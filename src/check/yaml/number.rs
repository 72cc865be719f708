//! Numbers: from YAML's spellings, and to Go's.

/// A number as go-yaml resolves it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Int(i64),
    /// Only what does not fit an `i64`.
    Uint(u64),
    Float(f64),
}

/// Reads the text of a plain scalar that begins with a sign, a digit or a full stop.
pub(super) fn parse(text: &str) -> Option<Number> {
    if text.starts_with('.') {
        return parse_float_with_underscores(text);
    }
    let plain = if text.contains('_') { &text.replace('_', "") } else { text };
    parse_int(plain).or_else(|| parse_float(plain)).or_else(|| parse_binary(plain))
}

/// An integer with the prefixes of Go: `0x`, `0o`, `0b`, and `0` for octal.
fn parse_int(text: &str) -> Option<Number> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', _, ..] => (2, &digits[2..]),
        [b'0'] => return Some(Number::Int(0)),
        [b'0', ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    let signed = text.len() > digits.len() && matches!(text.as_bytes()[0], b'-' | b'+');
    from_magnitude(negative, signed, magnitude(digits, radix)?)
}

fn magnitude(digits: &str, radix: u32) -> Option<u64> {
    // `from_str_radix` would take a sign.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

fn from_magnitude(negative: bool, signed: bool, magnitude: u64) -> Option<Number> {
    match (negative, i64::try_from(magnitude)) {
        (false, Ok(n)) => Some(Number::Int(n)),
        (false, Err(_)) if !signed => Some(Number::Uint(magnitude)),
        (false, Err(_)) => None,
        (true, Ok(n)) => Some(Number::Int(-n)),
        (true, Err(_)) => (magnitude == 1 << 63).then_some(Number::Int(i64::MIN)),
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, unless it overflows.
fn parse_float(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some(("", fraction)) => all_digits(fraction),
        Some((whole, fraction)) => all_digits(whole) && (fraction.is_empty() || all_digits(fraction)),
        None => all_digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|e| all_digits(e.strip_prefix(['-', '+']).unwrap_or(e)));
    if !mantissa_ok || !exponent_ok {
        return None;
    }
    text.parse().ok().filter(|f: &f64| f.is_finite()).map(Number::Float)
}

/// A text that begins with a full stop goes to Go's own reader, which takes an underscore between
/// digits.
fn parse_float_with_underscores(text: &str) -> Option<Number> {
    let bytes = text.as_bytes();
    let digit_at = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let well_placed = |i: usize| i > 0 && digit_at(i - 1) && digit_at(i + 1);
    let ok = bytes.iter().enumerate().all(|(i, &b)| b != b'_' || well_placed(i));
    if ok { parse_float(&text.replace('_', "")) } else { None }
}

/// `0b` and `-0b` once more: their digits may have a sign of their own (`0b-11` is -3).
fn parse_binary(text: &str) -> Option<Number> {
    let digits = text.strip_prefix("0b")?;
    let (negative, digits) = match digits.as_bytes().first()? {
        b'-' => (true, &digits[1..]),
        b'+' => (false, &digits[1..]),
        _ => return None,
    };
    from_magnitude(negative, true, magnitude(digits, 2)?)
}

/// A number as kubectl sends it: an integer if it is spelt as one and fits 64 bits with a sign, else
/// the shortest decimal that reads as the same double. None when it overflows a double.
///
/// Source: apimachinery v0.37.2 `UnstructuredJSONScheme`, Go's `encoding/json`.
pub fn canonical_number(text: &str) -> Option<String> {
    match text.parse::<i64>() {
        Ok(n) => Some(n.to_string()),
        Err(_) => text.parse().ok().filter(|f: &f64| f.is_finite()).map(json_float),
    }
}

/// A finite double as Go writes it in JSON.
pub(super) fn json_float(f: f64) -> String {
    let size = f.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{f:e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) if !exponent.starts_with('-') => format!("{mantissa}e+{exponent}"),
            _ => text,
        }
    } else {
        f.to_string()
    }
}

/// A double that is a mapping key: in single precision, as Go's `%g` writes it.
pub(super) fn key_float(f: f64) -> String {
    let f = f as f32;
    if f.is_nan() {
        return ".nan".into();
    }
    if f.is_infinite() {
        return if f > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    let text = format!("{f:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        f.to_string()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.abs())
    }
}
