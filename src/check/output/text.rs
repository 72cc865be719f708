//! The output for people: a finding a line, the line of the manifest with the place marked, a summary.

use std::fmt::Write as _;

use super::Printer;
use crate::check::position::Region;
use crate::check::report::{Entry, Finding, Level, Summary};

/// The longest piece of a line that is shown, in characters.
const SHOWN_CHARS: usize = 120;

pub(super) struct Text {
    color: bool,
}

impl Text {
    pub(super) fn new(color: bool) -> Text {
        Text { color }
    }

    fn painted(&self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn finding(&self, file: &str, finding: &Finding, out: &mut String) {
        let place = match finding.region {
            Region { line: 0, .. } => format!("{}:", visible(file)),
            Region { line, column, .. } => format!("{}:{line}:{column}:", visible(file)),
        };
        let _ = write!(out, "{} ", self.painted("1", &place));
        let (code, word) = match finding.level {
            Level::Refusal => ("1;31", ""),
            Level::Warning => ("1;33", "warning: "),
            Level::Unusable => ("1;31", "unusable: "),
        };
        if !word.is_empty() {
            let _ = write!(out, "{}", self.painted(code, word));
        }
        if !finding.path.is_empty() {
            let _ = write!(out, "{}: ", self.painted("36", &visible(&finding.path)));
        }
        let _ = writeln!(out, "{}", visible(&finding.message));
        self.excerpt(finding, code, out);
    }

    fn excerpt(&self, finding: &Finding, code: &str, out: &mut String) {
        let chars: Vec<char> = finding.source.chars().collect();
        if chars.iter().all(|c| c.is_whitespace()) {
            return;
        }
        let start = (finding.region.column as usize - 1).min(chars.len());
        let end = match finding.region.end_line == finding.region.line {
            true => (finding.region.end_column as usize - 1).clamp(start, chars.len()),
            false => chars.len(),
        };
        // Of a long line, the part around the place.
        let from = if start + 40 > SHOWN_CHARS { start - 40.min(start) } else { 0 };
        let to = chars.len().min(from + SHOWN_CHARS);
        let shown: String = chars[from..to].iter().collect();
        let (before, after) = (if from > 0 { "…" } else { "" }, if to < chars.len() { "…" } else { "" });
        let margin = finding.region.line.to_string();
        let bar = self.painted("34", &format!("  {margin} |"));
        let _ = writeln!(out, "{bar} {before}{}{after}", visible(&shown));
        let blank = self.painted("34", &format!("  {} |", " ".repeat(margin.len())));
        let mut indent = " ".repeat(before.chars().count());
        indent.extend(chars[from..start].iter().map(|&c| if c == '\t' { '\t' } else { ' ' }));
        let marks = "^".repeat(end.min(to).saturating_sub(start).max(1));
        let _ = writeln!(out, "{blank} {indent}{}", self.painted(code, &marks));
    }
}

impl Printer for Text {
    fn begin(&mut self, _: &mut String) {}

    fn entries(&mut self, file: &str, entries: &[Entry], out: &mut String) {
        for finding in entries.iter().flat_map(Entry::findings) {
            self.finding(file, finding, out);
        }
    }

    fn end(&mut self, summary: &Summary, out: &mut String) {
        let count = |n: u64, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        let judged = summary.accepted + summary.refused;
        let mut parts = vec![
            format!("{} accepted", summary.accepted),
            match summary.refused {
                0 => "0 refused".to_owned(),
                n => self.painted("1;31", &format!("{n} refused")),
            },
        ];
        if summary.warnings > 0 {
            parts.push(self.painted("1;33", &count(summary.warnings, "warning", "warnings")));
        }
        let _ = write!(
            out,
            "{} in {}: {}",
            count(judged, "Deployment", "Deployments"),
            count(summary.files, "file", "files"),
            parts.join(", ")
        );
        if summary.left_alone > 0 {
            let others = count(summary.left_alone, "object of another kind", "objects of other kinds");
            let _ = write!(out, "; {others} left alone");
        }
        if summary.unusable > 0 {
            let text = count(summary.unusable, "unusable input", "unusable inputs");
            let _ = write!(out, "; {}", self.painted("1;31", &text));
        }
        out.push('\n');
    }
}

/// Text from a manifest must not steer the terminal.
fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control() && c != '\t' || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
