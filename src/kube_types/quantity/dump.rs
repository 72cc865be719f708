//! A quantity as Go's `spew` prints its inside, which goes into `pod-template-hash`.

use std::borrow::Cow;
use std::fmt::{self, Write};

use num_bigint::Sign;

use super::{Amount, Format, Quantity};

impl Quantity<'_> {
    /// Appends the inside of a quantity that was just parsed.
    ///
    /// Amounts of up to 18 digits are a number and its power of ten; longer ones the 64-bit pieces of a big
    /// number, lowest first. The text is there only when it was kept, not when it was printed anew.
    pub(crate) fn dump(&self, out: &mut impl Write) -> fmt::Result {
        let kept = match &self.text {
            Cow::Borrowed(text) => *text,
            Cow::Owned(_) => "",
        };
        let format = match self.format {
            Format::DecimalSi => "DecimalSI",
            Format::DecimalExponent => "DecimalExponent",
            Format::BinarySi => "BinarySI",
        };
        let (short, exponent) = match self.amount {
            Amount::Short { value, scale } => (value, scale),
            Amount::Long { .. } => (0, 0),
        };
        write!(out, "{{i:(resource.int64Amount){{value:(int64){short} scale:(resource.Scale){exponent}}} ")?;
        out.write_str("d:(resource.infDecAmount){Dec:(*inf.Dec)")?;
        match &self.amount {
            Amount::Short { .. } => out.write_str("<nil>")?,
            Amount::Long { value, scale } => {
                let negative = value.sign() == Sign::Minus;
                write!(out, "{{unscaled:(big.Int){{neg:(bool){negative} abs:(big.nat)[")?;
                for (i, word) in value.iter_u64_digits().enumerate() {
                    let space = if i > 0 { " " } else { "" };
                    write!(out, "{space}{word}")?;
                }
                write!(out, "]}} scale:(inf.Scale){}}}", -scale)?;
            }
        }
        write!(out, "}} s:(string){kept} Format:(resource.Format){format}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dumped(text: &str) -> String {
        let mut out = String::new();
        Quantity::parse(text).unwrap().dump(&mut out).unwrap();
        out
    }

    #[test]
    fn short_amounts_keep_normal_text_only() {
        let inside = |value: i64, scale: i32, text: &str, format: &str| {
            format!(
                "{{i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}} \
                 d:(resource.infDecAmount){{Dec:(*inf.Dec)<nil>}} s:(string){text} Format:(resource.Format){format}}}"
            )
        };
        assert_eq!(dumped("0"), inside(0, 0, "0", "DecimalSI"));
        assert_eq!(dumped("100m"), inside(100, -3, "100m", "DecimalSI"));
        assert_eq!(dumped("1Gi"), inside(1 << 30, 0, "1Gi", "BinarySI"));
        assert_eq!(dumped("64Mi"), inside(64 << 20, 0, "", "BinarySI"));
        assert_eq!(dumped("1e3"), inside(1, 3, "1e3", "DecimalExponent"));
    }

    #[test]
    fn long_amounts_are_words() {
        assert!(dumped("100Ti").contains("abs:(big.nat)[8568098291072368640 5960]} scale:(inf.Scale)9}"));
    }
}
