//! IP addresses, as fields that are older than today's strictness take them.

use std::net::IpAddr;

/// What is wrong with an address, if anything; only ever the first of three texts.
///
/// Older servers took leading zeros (`010.0.0.1`, read as 10.0.0.1); those are told apart from what
/// never was an address. Zones are not accepted.
///
/// Source: kubernetes v1.37.2 `IsValidIPForLegacyField` with `StrictIPCIDRValidation` on. Parity: exact.
pub fn fault(text: &str) -> Option<&'static str> {
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            Some("must not be an IPv4-mapped IPv6 address")
        }
        Ok(_) => None,
        Err(_) if without_leading_zeros(text).parse::<IpAddr>().is_ok() => Some("must not have leading 0s"),
        Err(_) => Some("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
    }
}

/// The text with the leading zeros of every number in it taken away, one digit left.
fn without_leading_zeros(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut number_starts = true;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let skipped = number_starts && c == '0' && chars.peek().is_some_and(char::is_ascii_hexdigit);
        if !skipped {
            out.push(c);
            number_starts = !c.is_ascii_hexdigit();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const INVALID: Option<&str> = Some("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    const ZEROS: Option<&str> = Some("must not have leading 0s");

    #[test]
    fn addresses_are_taken_without_zones() {
        for valid in ["10.9.8.7", "0.0.0.0", "::", "2001:DB8::ffff", "::1.2.3.4", "1:2:3:4:5:6:7::"] {
            assert_eq!(fault(valid), None, "{valid}");
        }
        for bad in
            ["", "1.2.3", "1.2.3.256", "fe80::1%eth0", "1:2:3:4:5:6:7:8::", "a.b.c.d", "1.2.3.4 ", "1..2.3"]
        {
            assert_eq!(fault(bad), INVALID, "{bad}");
        }
    }

    #[test]
    fn leading_zeros_and_mapped_addresses_have_their_own_texts() {
        for zeros in ["010.0.0.1", "00000001.2.3.4", "::1.2.3.04", "00001::1", "::ffff:1.2.3.04"] {
            assert_eq!(fault(zeros), ZEROS, "{zeros}");
        }
        let mapped = Some("must not be an IPv4-mapped IPv6 address");
        assert_eq!(fault("::ffff:1.2.3.4"), mapped);
        assert_eq!(fault("::ffff:102:304"), mapped);
    }
}
