//! RFC 3339 times, read with Go's error texts and written as the API server writes them.

const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";

/// Reads a time and gives it back in UTC, whole seconds; empty for Go's zero time.
///
/// # Errors
/// Go's text for a time that is none.
pub fn parse(text: &str) -> Result<String, String> {
    let mut reader = Reader { whole: text, rest: text };
    let time = reader.time()?;
    Ok(time.in_utc())
}

struct Reader<'a> {
    whole: &'a str,
    rest: &'a str,
}

struct Civil {
    year: i64,
    month: i64,
    day: i64,
    seconds: i64,
    offset_secs: i64,
}

impl Reader<'_> {
    fn time(&mut self) -> Result<Civil, String> {
        let year = self.digits(4, "2006")?;
        self.literal('-')?;
        let month = self.digits(2, "01")?;
        if !(1..=12).contains(&month) {
            return Err(self.out_of_range("month"));
        }
        self.literal('-')?;
        let day = self.digits(2, "02")?;
        self.literal('T')?;
        // Go takes an hour of one digit as well.
        let short = self.rest.as_bytes().get(1).is_none_or(|b| !b.is_ascii_digit());
        let hour = self.digits(if short { 1 } else { 2 }, "15")?;
        if hour > 23 {
            return Err(self.out_of_range("hour"));
        }
        self.literal(':')?;
        let minute = self.digits(2, "04")?;
        if minute > 59 {
            return Err(self.out_of_range("minute"));
        }
        self.literal(':')?;
        let second = self.digits(2, "05")?;
        if second > 59 {
            return Err(self.out_of_range("second"));
        }
        self.fraction();
        let offset_secs = self.zone()?;
        if !self.rest.is_empty() {
            let rest = quoted(self.rest);
            return Err(format!("parsing time {}: extra text: {rest}", quoted(self.whole)));
        }
        if day < 1 || day > days_in(year, month) {
            return Err(self.out_of_range("day"));
        }
        let seconds = hour * 3600 + minute * 60 + second;
        Ok(Civil { year, month, day, seconds, offset_secs })
    }

    fn digits(&mut self, n: usize, element: &str) -> Result<i64, String> {
        match self.rest.get(..n).filter(|d| d.bytes().all(|b| b.is_ascii_digit())) {
            Some(d) => {
                self.rest = &self.rest[n..];
                Ok(d.bytes().fold(0, |sum, b| sum * 10 + i64::from(b - b'0')))
            }
            None => Err(self.cannot_parse(self.rest, element)),
        }
    }

    fn literal(&mut self, c: char) -> Result<(), String> {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.cannot_parse(self.rest, &c.to_string())),
        }
    }

    /// A fraction of a second may follow although the layout has none; it is dropped.
    fn fraction(&mut self) {
        if let Some(after) = self.rest.strip_prefix(['.', ',']) {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 {
                self.rest = &after[digits..];
            }
        }
    }

    fn zone(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let shown = self.rest;
        let two = |s: &str| s.parse::<i64>().ok().filter(|_| s.bytes().all(|b| b.is_ascii_digit()));
        let parts = self.rest.get(..6).and_then(|z| {
            let sign = match z.as_bytes()[0] {
                b'+' => 1,
                b'-' => -1,
                _ => return None,
            };
            if z.as_bytes()[3] != b':' {
                return None;
            }
            Some((sign, two(z.get(1..3)?)?, two(z.get(4..6)?)?))
        });
        let Some((sign, hours, minutes)) = parts else {
            return Err(self.cannot_parse(shown, "Z07:00"));
        };
        if hours > 24 {
            return Err(self.out_of_range("time zone offset hour"));
        }
        if minutes > 60 {
            return Err(self.out_of_range("time zone offset minute"));
        }
        self.rest = &self.rest[6..];
        Ok(sign * (hours * 3600 + minutes * 60))
    }

    fn out_of_range(&self, what: &str) -> String {
        format!("parsing time {}: {what} out of range", quoted(self.whole))
    }

    fn cannot_parse(&self, value: &str, element: &str) -> String {
        format!(
            "parsing time {} as {}: cannot parse {} as {}",
            quoted(self.whole),
            quoted(LAYOUT),
            quoted(value),
            quoted(element)
        )
    }
}

impl Civil {
    fn in_utc(&self) -> String {
        let days = days_from_epoch(self.year, self.month, self.day);
        let unix = days * 86400 + self.seconds - self.offset_secs;
        if unix == days_from_epoch(1, 1, 1) * 86400 {
            return String::new();
        }
        let (year, month, day) = civil_from_days(unix.div_euclid(86400));
        let s = unix.rem_euclid(86400);
        format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", s / 3600, s / 60 % 60, s % 60)
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar, counted in years that begin in March.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Quoted as Go's time package does: bytes beyond ASCII in hexadecimal.
fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for b in s.bytes() {
        match b {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(b));
            }
            0x20..=0x7f => out.push(char::from(b)),
            _ => out.push_str(&format!("\\x{b:02x}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc_without_fractions() {
        let utc = |t| parse(t).expect("a time");
        assert_eq!(utc("2026-01-01T00:30:00.75+01:00"), "2025-12-31T23:30:00Z");
        assert_eq!(utc("2024-02-29T12:00:00Z"), "2024-02-29T12:00:00Z");
        assert_eq!(utc("2024-02-29T1:00:00Z"), "2024-02-29T01:00:00Z");
        assert_eq!(utc("0001-01-01T00:00:00Z"), "");
    }

    #[test]
    fn mistakes_get_go_s_words() {
        let layout = "as \"2006-01-02T15:04:05Z07:00\": cannot parse";
        for (text, expected) in [
            ("yesterday", format!("parsing time \"yesterday\" {layout} \"yesterday\" as \"2006\"")),
            ("2020-01-01", format!("parsing time \"2020-01-01\" {layout} \"\" as \"T\"")),
            ("2023-02-29T00:00:00Z", "parsing time \"2023-02-29T00:00:00Z\": day out of range".into()),
            ("2020-01-01T00:00:00ZZ", "parsing time \"2020-01-01T00:00:00ZZ\": extra text: \"Z\"".into()),
        ] {
            assert_eq!(parse(text), Err(expected));
        }
    }
}
