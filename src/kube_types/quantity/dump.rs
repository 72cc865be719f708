//! A quantity as Go's `spew` prints its inside, which goes into `pod-template-hash`.
//!
//! Unlike [`Quantity`](super::Quantity), this tells apart what means the same: how the amount is held, and
//! whether the text was kept.

use std::fmt::{self, Write};

use num_bigint::{BigInt, Sign};

use super::{Amount, Format, MAX_DIGITS, MAX_EXPONENT, NANO, Parts, interpret, pow10, scaled_up};

/// The inside of a quantity.
struct Inside<'a> {
    /// Up to 18 digits: a number and its power of ten.
    short: (i64, i32),
    /// More: a number, and the power of ten that it is divided by.
    long: Option<(BigInt, i32)>,
    /// The text, where it was kept; empty where it would be printed anew.
    kept: &'a str,
    format: Format,
}

/// Appends the inside of a quantity, given as text. What is no quantity looks like one never given.
pub(crate) fn dump(text: &str, out: &mut impl Write) -> fmt::Result {
    let Some(inside) = Inside::of(text.trim()) else { return out.write_str(UNSET) };
    let format = match inside.format {
        Format::DecimalSi => "DecimalSI",
        Format::DecimalExponent => "DecimalExponent",
        Format::BinarySi => "BinarySI",
    };
    let (value, scale) = inside.short;
    write!(out, "{{i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}} ")?;
    out.write_str("d:(resource.infDecAmount){Dec:(*inf.Dec)")?;
    match &inside.long {
        None => out.write_str("<nil>")?,
        Some((value, scale)) => {
            let negative = value.sign() == Sign::Minus;
            write!(out, "{{unscaled:(big.Int){{neg:(bool){negative} abs:(big.nat)")?;
            dump_words(value, out)?;
            write!(out, "}} scale:(inf.Scale){scale}}}")?;
        }
    }
    write!(out, "}} s:(string){} Format:(resource.Format){format}}}", inside.kept)
}

/// A quantity that was never given; one that was given as 0 has a format.
const UNSET: &str = "{i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0} \
     d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string) Format:(resource.Format)}";

/// Appends a big number in pieces of 64 bits, lowest first.
fn dump_words(value: &BigInt, out: &mut impl Write) -> fmt::Result {
    if value.sign() == Sign::NoSign {
        return out.write_str("<nil>");
    }
    for (i, word) in value.iter_u64_digits().enumerate() {
        let before = if i > 0 { ' ' } else { '[' };
        write!(out, "{before}{word}")?;
    }
    out.write_char(']')
}

impl<'a> Inside<'a> {
    fn of(text: &'a str) -> Option<Inside<'a>> {
        if text == "0" {
            return Some(Inside { short: (0, 0), long: None, kept: text, format: Format::DecimalSi });
        }
        let parts = Parts::split(text).ok()?;
        let (format, exponent) = interpret(parts.suffix).ok()?;
        let exponent = i32::try_from(exponent).ok()?;
        if parts.digits() > MAX_DIGITS || exponent.abs() > MAX_EXPONENT {
            return None;
        }
        if let Some((Amount::Short { value, scale }, normal)) = parts.short(format, exponent) {
            let kept = if normal { text } else { "" };
            return Some(Inside { short: (value, scale), long: None, kept, format });
        }
        let (long, format) = long(&parts, format, exponent)?;
        Some(Inside { short: (0, 0), long: Some(long), kept: "", format })
    }
}

/// The amount in billionths, rounded up; 0 as it is written; and beyond 64 bits, of binary ones, the largest
/// number of 64 bits.
fn long(parts: &Parts<'_>, mut format: Format, exponent: i32) -> Option<((BigInt, i32), Format)> {
    let mut value: BigInt = [parts.whole, parts.fraction].concat().parse().ok()?;
    let mut scale = -i32::try_from(parts.fraction.len()).ok()?;
    match format {
        Format::BinarySi => value <<= exponent,
        Format::DecimalSi | Format::DecimalExponent => scale += exponent,
    }
    let mut divisor = -scale;
    if value != BigInt::ZERO {
        (value, divisor) = (scaled_up(&Amount::Long { value: Box::new(value), scale }, NANO).0, -NANO);
    }
    if format == Format::BinarySi && value > BigInt::from(i64::MAX) * pow10(9) {
        (value, divisor) = (BigInt::from(i64::MAX), 0);
    } else if format == Format::BinarySi && value != BigInt::ZERO && value < pow10(9) {
        format = Format::DecimalSi;
    }
    if parts.negative {
        value = -value;
    }
    Some(((value, divisor), format))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dumped(text: &str) -> String {
        let mut out = String::new();
        dump(text, &mut out).unwrap();
        out
    }

    fn inside(value: i64, scale: i32, text: &str, format: &str) -> String {
        format!(
            "{{i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}} \
             d:(resource.infDecAmount){{Dec:(*inf.Dec)<nil>}} s:(string){text} Format:(resource.Format){format}}}"
        )
    }

    #[test]
    fn short_amounts_keep_normal_text_only() {
        assert_eq!(dumped("0"), inside(0, 0, "0", "DecimalSI"));
        assert_eq!(dumped("0n"), inside(0, -9, "", "DecimalSI"));
        assert_eq!(dumped("100m"), inside(100, -3, "100m", "DecimalSI"));
        assert_eq!(dumped("1Gi"), inside(1 << 30, 0, "1Gi", "BinarySI"));
        assert_eq!(dumped("64Mi"), inside(64 << 20, 0, "", "BinarySI"));
        assert_eq!(dumped("1e3"), inside(1, 3, "1e3", "DecimalExponent"));
        assert_eq!(dumped("x"), inside(0, 0, "", ""));
    }

    #[test]
    fn long_amounts_are_words() {
        assert!(dumped("100Ti").contains("abs:(big.nat)[8568098291072368640 5960]} scale:(inf.Scale)9}"));
        assert!(dumped("9Ei").contains("abs:(big.nat)[9223372036854775807]} scale:(inf.Scale)0}"));
        assert!(dumped("0Pi").contains("abs:(big.nat)<nil>} scale:(inf.Scale)0}"));
    }
}
