//! JUnit XML: a suite for each file, a test case for each object.

use std::fmt::Write as _;

use super::Printer;
use crate::check::report::{Entry, Finding, Level, Object, Outcome, Summary};

pub(super) struct Junit;

impl Printer for Junit {
    fn begin(&mut self, out: &mut String) {
        out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rollgate\">\n");
    }

    fn entries(&mut self, file: &str, entries: &[Entry], out: &mut String) {
        if entries.is_empty() {
            return;
        }
        let count = |wanted: fn(&Entry) -> bool| entries.iter().filter(|e| wanted(e)).count();
        let failures = count(|e| matches!(e, Entry::Object(o) if o.outcome == Outcome::Refused));
        let skipped = count(|e| matches!(e, Entry::Object(o) if o.outcome == Outcome::LeftAlone));
        let errors = count(|e| matches!(e, Entry::Unusable(_)));
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" \
             skipped=\"{skipped}\" time=\"0\">",
            escaped(file),
            entries.len()
        );
        for entry in entries {
            match entry {
                Entry::Object(object) => case_of_object(file, object, out),
                Entry::Unusable(finding) => case_of_text(file, finding, out),
            }
        }
        out.push_str("  </testsuite>\n");
    }

    fn end(&mut self, _: &Summary, out: &mut String) {
        out.push_str("</testsuites>\n");
    }
}

fn case_of_object(file: &str, object: &Object, out: &mut String) {
    let name = match object.namespace.as_str() {
        "" => format!("{} {}", object.kind, object.name),
        namespace => format!("{} {namespace}/{}", object.kind, object.name),
    };
    let _ = write!(
        out,
        "    <testcase name=\"{}\" classname=\"{}\" time=\"0\"",
        escaped(&name),
        escaped(&class(file))
    );
    if object.outcome == Outcome::LeftAlone {
        let _ = writeln!(
            out,
            ">\n      <skipped message=\"{} is not judged\"/>\n    </testcase>",
            escaped(&object.kind)
        );
        return;
    }
    if object.findings.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    let of = |warning: bool| object.findings.iter().filter(move |f| (f.level == Level::Warning) == warning);
    if let Some(first) = of(false).next() {
        let all: String = of(false).map(|f| line(file, f)).collect();
        let more = match of(false).count() {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        let _ = writeln!(
            out,
            "      <failure type=\"{}\" message=\"{}{more}\">{}</failure>",
            escaped(first.rule.id()),
            escaped(&text(first)),
            content(&all)
        );
    }
    let warnings: String = of(true).map(|f| line(file, f)).collect();
    if !warnings.is_empty() {
        let _ = writeln!(out, "      <system-out>{}</system-out>", content(&warnings));
    }
    out.push_str("    </testcase>\n");
}

fn case_of_text(file: &str, finding: &Finding, out: &mut String) {
    let _ = writeln!(
        out,
        "    <testcase name=\"line {}\" classname=\"{}\" time=\"0\">\n      \
         <error type=\"{}\" message=\"{}\">{}</error>\n    </testcase>",
        finding.region.line,
        escaped(&class(file)),
        finding.rule.id(),
        escaped(&text(finding)),
        content(&line(file, finding))
    );
}

/// The file as a class name: viewers build a tree from what stands between full stops.
fn class(file: &str) -> String {
    file.strip_suffix(".yaml").or(file.strip_suffix(".yml")).unwrap_or(file).replace('.', "_")
}

fn text(finding: &Finding) -> String {
    match finding.path.as_str() {
        "" => finding.message.clone(),
        path => format!("{path}: {}", finding.message),
    }
}

fn line(file: &str, finding: &Finding) -> String {
    format!("{file}:{}:{}: {}\n", finding.region.line, finding.region.column, text(finding))
}

/// Text between tags, where line breaks are safe.
fn content(text: &str) -> String {
    escaped(text).replace("&#10;", "\n")
}

/// Text for XML 1.0, which has no way to write most control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            c if c < ' ' || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}
