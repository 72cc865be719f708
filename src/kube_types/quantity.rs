//! Resource quantities: `500m`, `1Gi`, `1e3`.
//!
//! A quantity keeps the notation it was written in when that is in normal form already, and is
//! rewritten otherwise; which of the two happens is part of the API server's visible behaviour.
//!
//! Source: kubernetes v1.37.2 `apimachinery/pkg/api/resource`. Parity: exact, but for exponents beyond
//! [`MAX_EXPONENT`] and numbers of more than [`MAX_DIGITS`] digits, which the server would work on
//! for minutes and which are errors here.

pub(crate) mod dump;

use std::borrow::Cow;
use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

/// The largest power of ten that a quantity may be written with.
pub const MAX_EXPONENT: i32 = 10_000;
/// The most digits that a quantity may be written with.
pub const MAX_DIGITS: usize = 10_000;

/// The finest power of ten that a quantity can hold.
const NANO: i32 = -9;
/// Numbers of up to this many decimal digits are held in 64 bits.
const SHORT_DIGITS: i32 = 18;
const DECIMAL_SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Why a text is no quantity: the API server's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// It does not have the shape of one.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// The suffix is none of those known.
    #[error("unable to parse quantity's suffix")]
    Suffix,
    /// The number before the suffix is none.
    #[error("unable to parse numeric part of quantity")]
    Number,
}

/// The notation that a quantity is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// `1k`
    DecimalSi,
    /// `1e3`
    DecimalExponent,
    /// `1Ki`
    BinarySi,
}

/// `value × 10^scale`, or the same with more digits.
#[derive(Debug, Clone)]
enum Amount {
    Short { value: i64, scale: i32 },
    Long { value: Box<BigInt>, scale: i32 },
}

/// A quantity as the API server holds it: an amount and the text it prints as.
#[derive(Debug, Clone)]
pub struct Quantity<'a> {
    amount: Amount,
    format: Format,
    text: Cow<'a, str>,
}

impl<'a> Quantity<'a> {
    /// The quantity that an explicit `null` in a resource list stands for.
    pub fn zero() -> Quantity<'static> {
        Quantity {
            amount: Amount::Short { value: 0, scale: 0 },
            format: Format::DecimalSi,
            text: Cow::Borrowed("0"),
        }
    }

    /// Reads a quantity; blanks around it are ignored.
    ///
    /// # Errors
    /// [`QuantityError`], one variant for each of the API server's three messages.
    pub fn parse(text: &'a str) -> Result<Quantity<'a>, QuantityError> {
        let text = text.trim();
        if text == "0" {
            return Ok(Quantity::zero());
        }
        let parts = Parts::split(text)?;
        let (format, exponent) = interpret(parts.suffix)?;
        let limit = i64::from(MAX_EXPONENT);
        // Nothing times whatever power is nothing; but which text is an error depends on the power.
        let exponent = if parts.is_zero() { exponent.clamp(-limit, limit) } else { exponent };
        let exponent = i32::try_from(exponent).map_err(|_| QuantityError::Suffix)?;
        if exponent.abs() > MAX_EXPONENT {
            return Err(QuantityError::Suffix);
        }
        if parts.digits() > MAX_DIGITS {
            return Err(QuantityError::Number);
        }
        if let Some((amount, normal)) = parts.short(format, exponent) {
            return Ok(if normal {
                Quantity { amount, format, text: Cow::Borrowed(text) }
            } else {
                Quantity::rendered(amount, format)
            });
        }
        let (amount, format) = parts.long(format, exponent)?;
        Ok(Quantity::rendered(amount, format))
    }

    fn rendered(amount: Amount, format: Format) -> Quantity<'a> {
        let text = Cow::Owned(render(&amount, format));
        Quantity { amount, format, text }
    }

    /// The text in normal form: in output and in messages.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same quantity, borrowing nothing.
    pub fn into_owned(self) -> Quantity<'static> {
        Quantity { amount: self.amount, format: self.format, text: Cow::Owned(self.text.into_owned()) }
    }

    /// Below, at or above zero.
    pub fn sign(&self) -> Ordering {
        match &self.amount {
            Amount::Short { value, .. } => value.cmp(&0),
            Amount::Long { value, .. } => match value.sign() {
                Sign::Minus => Ordering::Less,
                Sign::NoSign => Ordering::Equal,
                Sign::Plus => Ordering::Greater,
            },
        }
    }

    /// Compares amounts; notation does not count.
    pub fn cmp_amount(&self, other: &Quantity<'_>) -> Ordering {
        match (&self.amount, &other.amount) {
            (Amount::Short { value: a, scale: s }, Amount::Short { value: b, scale: t }) if s == t => {
                a.cmp(b)
            }
            (a, b) => {
                let (a, b, _) = aligned(a, b);
                a.cmp(&b)
            }
        }
    }

    /// Rounds up, away from zero, to thousandths, as the server does in resource lists.
    pub fn round_up_to_milli(&mut self) {
        if let Amount::Short { scale: -3.., .. } = self.amount {
            return;
        }
        let milli = scaled_up(&self.amount, -3).0;
        // What was read as a long number stays one for the server, which rounds the two in two ways.
        self.amount = match self.amount {
            Amount::Short { .. } => Amount::from_big(milli, -3),
            Amount::Long { .. } => Amount::Long { value: Box::new(milli), scale: -3 },
        };
        self.text = Cow::Owned(render(&self.amount, self.format));
    }

    /// Whether the amount, rounded up to thousandths, is a whole number.
    ///
    /// Counts in 64 bits, as the server does: `9999999999999999999` is not whole to it.
    pub fn is_whole(&self) -> bool {
        self.in_units_of(-3) % 1000 == 0
    }

    /// The amount as a whole number, rounded up, in the server's 64 bits: what overflows wraps around or
    /// comes to 0.
    pub fn value(&self) -> i64 {
        self.in_units_of(0)
    }

    fn in_units_of(&self, scale: i32) -> i64 {
        match &self.amount {
            Amount::Short { value, scale: from } if *from >= scale => {
                times_pow10_in_64_bits(*value, from.abs_diff(scale))
            }
            Amount::Long { value, scale: from } if *from < scale => {
                divided_in_64_bits(value, scale.abs_diff(*from))
            }
            amount => low_64_bits(&scaled_up(amount, scale).0),
        }
    }

    /// The sum, printed as the API server prints sums: in the notation of the first that is not 0.
    #[must_use]
    pub fn plus(&self, other: &Quantity<'_>) -> Quantity<'static> {
        let format = if self.sign() == Ordering::Equal { other.format } else { self.format };
        let (a, b, scale) = aligned(&self.amount, &other.amount);
        let amount = Amount::from_big(a + b, scale);
        let text = Cow::Owned(render(&amount, format));
        Quantity { amount, format, text }
    }

    /// The amount in one notation, whatever it was written in: equal amounts, equal texts.
    pub fn amount_key(&self) -> String {
        let (mantissa, exponent) = self.amount.stripped();
        format!("{mantissa}e{exponent}")
    }
}

impl Amount {
    fn from_big(value: BigInt, scale: i32) -> Amount {
        match i64::try_from(&value) {
            Ok(value) => Amount::Short { value, scale },
            Err(_) => Amount::Long { value: Box::new(value), scale },
        }
    }

    fn big(&self) -> (BigInt, i32) {
        match self {
            Amount::Short { value, scale } => (BigInt::from(*value), *scale),
            Amount::Long { value, scale } => ((**value).clone(), *scale),
        }
    }

    /// Mantissa without trailing zeros, and its power of ten.
    fn stripped(&self) -> (BigInt, i32) {
        let (mut mantissa, mut exponent) = match self {
            Amount::Short { value: 0, .. } => return (BigInt::ZERO, 0),
            Amount::Short { value, scale } => {
                let (mut value, mut scale) = (*value, *scale);
                while value % 10 == 0 {
                    value /= 10;
                    scale += 1;
                }
                return (BigInt::from(value), scale);
            }
            Amount::Long { .. } => self.big(),
        };
        if mantissa == BigInt::ZERO {
            return (mantissa, 0);
        }
        while &mantissa % 10 == BigInt::ZERO {
            mantissa /= 10;
            exponent += 1;
        }
        (mantissa, exponent)
    }
}

/// `value × 10^exponent` by the server's arithmetic: it multiplies by these powers at once and takes what
/// 64 bits keep of the product; to others it goes in steps and has 0 when one overflows.
fn times_pow10_in_64_bits(value: i64, exponent: u32) -> i64 {
    match 10_i64.checked_pow(exponent) {
        Some(factor) if matches!(exponent, 1 | 2 | 3 | 6 | 9) => value.wrapping_mul(factor),
        Some(factor) => value.checked_mul(factor).unwrap_or(0),
        None => 0,
    }
}

/// Divides by a power of ten, rounding up, as the server does it with numbers of any size: negative
/// ones it takes for small, however many bits they have.
fn divided_in_64_bits(value: &BigInt, exponent: u32) -> i64 {
    if *value < BigInt::from(i64::MAX)
        && let Some(by) = 10_i64.checked_pow(exponent)
    {
        let low = low_64_bits(value);
        return low / by + i64::from(low % by != 0);
    }
    low_64_bits(&div_away(value, &pow10(exponent)).0)
}

fn low_64_bits(value: &BigInt) -> i64 {
    let low = value.iter_u64_digits().next().unwrap_or(0).cast_signed();
    if value.sign() == Sign::Minus { low.wrapping_neg() } else { low }
}

fn pow10(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}

/// Both amounts at the finer of the two scales.
fn aligned(a: &Amount, b: &Amount) -> (BigInt, BigInt, i32) {
    let ((mut a, s), (mut b, t)) = (a.big(), b.big());
    let scale = s.min(t);
    a *= pow10(s.abs_diff(scale));
    b *= pow10(t.abs_diff(scale));
    (a, b, scale)
}

/// The amount in units of `10^scale`, rounded away from zero, and whether nothing was lost.
fn scaled_up(amount: &Amount, scale: i32) -> (BigInt, bool) {
    let (value, from) = amount.big();
    if from >= scale {
        return (value * pow10(from.abs_diff(scale)), true);
    }
    div_away(&value, &pow10(from.abs_diff(scale)))
}

fn div_away(value: &BigInt, by: &BigInt) -> (BigInt, bool) {
    let (quotient, rest) = (value / by, value % by);
    match rest.sign() {
        Sign::NoSign => (quotient, true),
        Sign::Plus => (quotient + 1, false),
        Sign::Minus => (quotient - 1, false),
    }
}

/// A quantity's text, taken apart.
struct Parts<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros; at least one.
    whole: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    /// Whether there is any digit at all.
    any_digit: bool,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Parts<'a>, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
        let (all, mut rest) = unsigned.split_at(digits(unsigned));
        let mut fraction = "";
        if let Some(after) = rest.strip_prefix('.') {
            (fraction, rest) = after.split_at(digits(after));
        }
        let letters = rest.bytes().take_while(|b| b"eEinumkKMGTP".contains(b)).count();
        let exponent = rest[letters..].strip_prefix(['-', '+']).unwrap_or(&rest[letters..]);
        if digits(exponent) != exponent.len() {
            return Err(QuantityError::Format);
        }
        let whole = all.trim_start_matches('0');
        Ok(Parts {
            negative,
            whole: if whole.is_empty() { "0" } else { whole },
            fraction,
            any_digit: !all.is_empty() || !fraction.is_empty(),
            suffix: rest,
        })
    }

    fn is_zero(&self) -> bool {
        self.whole == "0" && self.fraction.bytes().all(|b| b == b'0')
    }

    fn digits(&self) -> usize {
        self.whole.len() + self.fraction.len()
    }

    /// The amount where 64 bits hold it, and whether the text is in normal form.
    fn short(&self, format: Format, exponent: i32) -> Option<(Amount, bool)> {
        let digits = i32::try_from(self.digits()).unwrap_or(i32::MAX);
        let (factor, scale) = if format == Format::BinarySi {
            // 2^10 has some three decimal digits.
            let room = SHORT_DIGITS - 3 - digits - exponent * 3 / 10 - 1;
            if !self.fraction.is_empty() || room < 0 {
                return None;
            }
            (1_i64 << exponent, 0)
        } else {
            (1, exponent - i32::try_from(self.fraction.len()).ok()?)
        };
        if digits > SHORT_DIGITS || scale < NANO {
            return None;
        }
        let written = [self.whole, self.fraction].concat();
        let number: i64 = written.parse().ok()?;
        let value = number.checked_mul(factor)?;
        let normal = match format {
            Format::BinarySi => number & 7 != 0,
            _ => scale % 3 == 0 && !written.ends_with("000") && !written.starts_with('0'),
        };
        let value = if self.negative { -value } else { value };
        Some((Amount::Short { value, scale }, normal))
    }

    /// The amount with as many digits as it takes, in billionths.
    fn long(&self, format: Format, exponent: i32) -> Result<(Amount, Format), QuantityError> {
        if !self.any_digit {
            return Err(QuantityError::Number);
        }
        let written = [self.whole, self.fraction].concat();
        let mut value: BigInt = written.parse().map_err(|_| QuantityError::Number)?;
        let fraction = i32::try_from(self.fraction.len()).map_err(|_| QuantityError::Number)?;
        let mut scale = -fraction;
        if format == Format::BinarySi {
            value <<= exponent;
        } else {
            scale += exponent;
        }
        if value == BigInt::ZERO {
            return Ok((Amount::Short { value: 0, scale: 0 }, format));
        }
        let amount = Amount::Long { value: Box::new(value), scale };
        let (mut nano, _) = scaled_up(&amount, NANO);
        let one = pow10(9);
        let most = BigInt::from(i64::MAX) * &one;
        let mut format = format;
        if format == Format::BinarySi && nano > most {
            nano = most;
        } else if format == Format::BinarySi && nano < one {
            format = Format::DecimalSi;
        }
        if self.negative {
            nano = -nano;
        }
        Ok((Amount::Long { value: Box::new(nano), scale: NANO }, format))
    }
}

/// What a suffix means: the notation, and its power of ten or (binary) of two.
fn interpret(suffix: &str) -> Result<(Format, i64), QuantityError> {
    if let Some(i) = DECIMAL_SUFFIXES.iter().position(|s| *s == suffix) {
        return Ok((Format::DecimalSi, i64::from(NANO) + 3 * i as i64));
    }
    if let Some(i) = BINARY_SUFFIXES.iter().position(|s| *s == suffix) {
        return Ok((Format::BinarySi, 10 * i as i64));
    }
    let exponent = suffix.strip_prefix(['e', 'E']).ok_or(QuantityError::Suffix)?;
    let exponent = exponent.parse().map_err(|_| QuantityError::Suffix)?;
    Ok((Format::DecimalExponent, exponent))
}

/// The normal form.
fn render(amount: &Amount, format: Format) -> String {
    let (mut mantissa, mut exponent) = amount.stripped();
    if mantissa == BigInt::ZERO {
        return "0".into();
    }
    if format == Format::BinarySi && exponent >= 0 {
        let mut whole = &mantissa * pow10(exponent.unsigned_abs());
        let limit = BigInt::from(1024);
        if whole.magnitude() >= limit.magnitude() {
            let mut step = 0;
            while &whole % &limit == BigInt::ZERO {
                whole /= &limit;
                step += 1;
            }
            return format!("{whole}{}", BINARY_SUFFIXES.get(step).unwrap_or(&""));
        }
    }
    while exponent % 3 != 0 {
        mantissa *= 10;
        exponent -= 1;
    }
    if format == Format::DecimalExponent {
        return if exponent == 0 { mantissa.to_string() } else { format!("{mantissa}e{exponent}") };
    }
    // Beyond the table no suffix is printed at all.
    let suffix = usize::try_from((exponent - NANO) / 3).ok().and_then(|i| DECIMAL_SUFFIXES.get(i));
    format!("{mantissa}{}", suffix.unwrap_or(&""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        Quantity::parse(text).map_or_else(|e| e.to_string(), |q| q.text().to_owned())
    }

    #[test]
    fn normal_forms_are_upstream_s() {
        for (text, expected) in [
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("0.5Gi", "512Mi"),
            ("1.500", "1.500"),
            ("1e3", "1e3"),
            ("1e4", "10e3"),
            ("007", "007"),
            ("+5", "+5"),
            ("5.", "5."),
            ("Mi", "0"),
            ("m", "0"),
            ("-Ki", "0"),
            ("100Ti", "100Ti"),
            ("1Ei", "1Ei"),
            ("9Ei", "9223372036854775807"),
            ("1.0001Ki", "1024102400u"),
            ("0.0e99999", "0"),
            ("0e-99999", "0"),
            ("e99999", "0"),
            (" 1 ", "1"),
        ] {
            assert_eq!(normal(text), expected, "{text}");
        }
    }

    #[test]
    fn each_kind_of_mistake_has_its_text() {
        for (text, expected) in [
            ("", QuantityError::Format),
            ("1.2.3", QuantityError::Format),
            ("1 Gi", QuantityError::Format),
            ("1E5k", QuantityError::Format),
            ("1GB", QuantityError::Format),
            ("--1", QuantityError::Suffix),
            ("1-", QuantityError::Suffix),
            ("1e+", QuantityError::Suffix),
            ("1Gi1", QuantityError::Suffix),
            ("1mm", QuantityError::Suffix),
            ("1K", QuantityError::Suffix),
            ("1e99999999999", QuantityError::Suffix),
            ("e-12", QuantityError::Number),
            (".e-17", QuantityError::Number),
            ("Pi", QuantityError::Number),
        ] {
            assert_eq!(Quantity::parse(text).err(), Some(expected), "{text}");
        }
    }

    #[test]
    fn rounding_to_thousandths_goes_away_from_zero() {
        let milli = |text| {
            let mut q = Quantity::parse(text).expect("a quantity");
            q.round_up_to_milli();
            q.text().to_owned()
        };
        assert_eq!(milli("100u"), "1m");
        assert_eq!(milli("-100u"), "-1m");
        assert_eq!(milli("1.0001Ki"), "1024103m");
        assert_eq!(milli("5."), "5.");
    }

    #[test]
    fn whole_numbers_are_told_in_64_bits() {
        let whole = |text| Quantity::parse(text).is_ok_and(|q| q.is_whole());
        assert!(whole("2"));
        assert!(whole("2000m"));
        assert!(!whole("1500m"));
        assert!(whole("9e15"), "9e18 thousandths");
        assert!(!whole("999999999999999999"), "wraps around");
        assert!(!whole("9999999999999999999"));
        assert!(whole("1e30"), "counts as 0");
    }

    #[test]
    fn negative_amounts_round_by_how_they_were_written() {
        // By the oracle: the second is no multiple of a huge page, the first and the third count as 0.
        for (text, expected) in [("-1.6110000000", 0), ("-1611m", -2), ("-1611.0000000m", 0)] {
            let mut q = Quantity::parse(text).expect("a quantity");
            q.round_up_to_milli();
            assert_eq!(q.value(), expected, "{text}");
        }
    }

    #[test]
    fn sums_and_order_do_not_depend_on_notation() {
        let q = |t| Quantity::parse(t).expect("a quantity");
        assert_eq!(q("1Gi").cmp_amount(&q("1073741824")), Ordering::Equal);
        assert_eq!(q("1").cmp_amount(&q("1001m")), Ordering::Less);
        assert_eq!(q("512Mi").plus(&q("512Mi")).text(), "1Gi");
        assert_eq!(q("0").plus(&q("1Ki")).text(), "1Ki");
        assert_eq!(q("1Gi").amount_key(), q("1073741824").amount_key());
    }
}
