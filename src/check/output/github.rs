//! GitHub workflow commands: each finding becomes an annotation of the file.

use std::fmt::Write as _;

use super::Printer;
use crate::check::report::{Entry, Level, Summary};

pub(super) struct Github;

impl Printer for Github {
    fn begin(&mut self, _: &mut String) {}

    fn entries(&mut self, file: &str, entries: &[Entry], out: &mut String) {
        for finding in entries.iter().flat_map(Entry::findings) {
            let command = match finding.level {
                Level::Refusal | Level::Unusable => "error",
                Level::Warning => "warning",
            };
            let region = finding.region;
            let _ = write!(out, "::{command} file={},", property(file));
            // Line 0 is the file as a whole.
            if region.line > 0 {
                let _ =
                    write!(out, "line={},endLine={},col={},", region.line, region.end_line, region.column);
                // GitHub takes an end column only for a place within one line.
                if region.end_line == region.line {
                    let _ = write!(out, "endColumn={},", region.end_column);
                }
            }
            let title = if finding.path.is_empty() { finding.rule.id() } else { &finding.path };
            let text = match finding.path.as_str() {
                "" => finding.message.clone(),
                path => format!("{path}: {}", finding.message),
            };
            let _ = writeln!(out, "title={}::{}", property(title), message(&text));
        }
    }

    fn end(&mut self, summary: &Summary, out: &mut String) {
        let _ = writeln!(
            out,
            "{} accepted, {} refused, {} left alone, {} unusable",
            summary.accepted, summary.refused, summary.left_alone, summary.unusable
        );
    }
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
