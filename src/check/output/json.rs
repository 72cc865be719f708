//! JSON for programs: one document, an entry for every object in the order of the input.

use serde_json::{Value, json};

use super::Printer;
use crate::check::report::{Entry, Finding, Level, Outcome, Summary};

pub(super) struct Json {
    release: &'static str,
    first: bool,
}

impl Json {
    pub(super) fn new(release: &'static str) -> Json {
        Json { release, first: true }
    }
}

impl Printer for Json {
    fn begin(&mut self, out: &mut String) {
        let (version, release) = (env!("CARGO_PKG_VERSION"), self.release);
        out.push_str(&format!("{{\"rollgate\":\"{version}\",\"kubernetes\":\"{release}\",\"results\":["));
    }

    fn entries(&mut self, file: &str, entries: &[Entry], out: &mut String) {
        for entry in entries {
            out.push_str(if self.first { "\n" } else { ",\n" });
            self.first = false;
            out.push_str(&result(file, entry).to_string());
        }
    }

    fn end(&mut self, summary: &Summary, out: &mut String) {
        let summary = json!({
            "files": summary.files,
            "accepted": summary.accepted,
            "refused": summary.refused,
            "leftAlone": summary.left_alone,
            "refusals": summary.refusals,
            "warnings": summary.warnings,
            "unusable": summary.unusable,
        });
        out.push_str(&format!("\n],\"summary\":{summary}}}\n"));
    }
}

fn result(file: &str, entry: &Entry) -> Value {
    let findings: Vec<Value> = entry.findings().iter().map(finding).collect();
    let object = match entry {
        Entry::Unusable(finding) => {
            let line = finding.region.line;
            return json!({"file": file, "line": line, "outcome": "unusable", "findings": findings});
        }
        Entry::Object(object) => object,
    };
    let mut result = json!({
        "file": file,
        "line": object.line,
        "apiVersion": object.api_version,
        "kind": object.kind,
        "namespace": object.namespace,
        "name": object.name,
        "outcome": match object.outcome {
            Outcome::Accepted => "accepted",
            Outcome::Refused => "refused",
            Outcome::LeftAlone => "left alone",
        },
        "findings": findings,
    });
    if let Some(status) = &object.status {
        result["status"] = status.clone();
    }
    result
}

fn finding(finding: &Finding) -> Value {
    let mut shown = json!({
        "level": match finding.level {
            Level::Refusal | Level::Unusable => "error",
            Level::Warning => "warning",
        },
        "rule": finding.rule.id(),
        "path": finding.path,
        "message": finding.message,
    });
    let region = finding.region;
    // Line 0 is the file as a whole.
    if region.line > 0 {
        shown["line"] = region.line.into();
        shown["column"] = region.column.into();
        shown["endLine"] = region.end_line.into();
        shown["endColumn"] = region.end_column.into();
    }
    shown
}
