//! SARIF 2.1.0, for code scanning services and editors.

use serde_json::{Value, json};

use super::Printer;
use crate::check::report::{Entry, Finding, Level, Rule, Summary};

/// Every rule that a finding can have, with what it stands for.
const RULES: &[(Rule, &str)] = &[
    (Rule::Unreadable, "The text cannot be read as YAML or JSON"),
    (Rule::NoObject, "The document is no Kubernetes object"),
    (Rule::UnknownKind, "The API server does not serve this kind"),
    (Rule::Decode, "A value has the wrong type for its field"),
    (Rule::BadRequest, "The request cannot be carried out on this object"),
    (Rule::Strict, "A field is unknown or given twice"),
    (Rule::Fault("FieldValueRequired"), "A required value is missing"),
    (Rule::Fault("FieldValueInvalid"), "A value breaks a rule"),
    (Rule::Fault("FieldValueNotSupported"), "A value is not one of those supported"),
    (Rule::Fault("FieldValueForbidden"), "A field may not be used here"),
    (Rule::Fault("FieldValueDuplicate"), "A value occurs twice"),
    (Rule::Fault("FieldValueNotFound"), "A value names nothing"),
    (Rule::Fault("FieldValueTooLong"), "A text is too long"),
    (Rule::Fault("FieldValueTooMany"), "A list has too many items"),
    (Rule::Fault("InternalError"), "The API server cannot judge a value"),
    (Rule::Warning, "The API server takes the object with a warning"),
];

pub(super) struct Sarif {
    release: &'static str,
    first: bool,
}

impl Sarif {
    pub(super) fn new(release: &'static str) -> Sarif {
        Sarif { release, first: true }
    }
}

impl Printer for Sarif {
    fn begin(&mut self, out: &mut String) {
        let rules: Vec<Value> = RULES.iter().map(|(rule, text)| rule_description(*rule, text)).collect();
        let driver = json!({
            "name": "rollgate",
            "version": env!("CARGO_PKG_VERSION"),
            "informationUri": "https://rollgate.dev/",
            "properties": {"kubernetes": self.release},
            "rules": rules,
        });
        let schema =
            "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
        out.push_str(&format!(
            "{{\"$schema\":\"{schema}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{driver}}},\
             \"columnKind\":\"unicodeCodePoints\",\"results\":["
        ));
    }

    fn entries(&mut self, file: &str, entries: &[Entry], out: &mut String) {
        for entry in entries {
            let object = match entry {
                Entry::Object(object) => format!("{}/{}/{}", object.kind, object.namespace, object.name),
                Entry::Unusable(_) => String::new(),
            };
            for finding in entry.findings() {
                out.push_str(if self.first { "\n" } else { ",\n" });
                self.first = false;
                out.push_str(&result(file, &object, finding).to_string());
            }
        }
    }

    fn end(&mut self, _: &Summary, out: &mut String) {
        out.push_str("\n]}]}\n");
    }
}

fn rule_description(rule: Rule, text: &str) -> Value {
    let level = if rule == Rule::Warning { "warning" } else { "error" };
    json!({
        "id": rule.id(),
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": level},
    })
}

fn result(file: &str, object: &str, finding: &Finding) -> Value {
    let region = finding.region;
    let text = match finding.path.as_str() {
        "" => finding.message.clone(),
        path => format!("{path}: {}", finding.message),
    };
    let mut result = json!({
        "ruleId": finding.rule.id(),
        "level": match finding.level {
            Level::Refusal | Level::Unusable => "error",
            Level::Warning => "warning",
        },
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(file)}}}],
    });
    // Line 0 is the file as a whole.
    if region.line > 0 {
        result["locations"][0]["physicalLocation"]["region"] = json!({
            "startLine": region.line,
            "startColumn": region.column,
            "endLine": region.end_line,
            "endColumn": region.end_column,
        });
        result["locations"][0]["physicalLocation"]["contextRegion"] = json!({
            "startLine": region.line,
            "endLine": region.end_line,
            "snippet": {"text": finding.source},
        });
    }
    if let Some(index) = RULES.iter().position(|(rule, _)| *rule == finding.rule) {
        result["ruleIndex"] = index.into();
    }
    if !object.is_empty() {
        let place =
            if finding.path.is_empty() { object.to_owned() } else { format!("{object}#{}", finding.path) };
        result["locations"][0]["logicalLocations"] = json!([{"fullyQualifiedName": place}]);
    }
    result
}

/// The path of a file as a URI reference.
fn uri(file: &str) -> String {
    let mut uri = String::from(if file.starts_with('/') { "file://" } else { "" });
    for (i, b) in file.bytes().enumerate() {
        match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(b));
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            // In the first segment of a relative reference a colon would make it a scheme.
            b':' if i > 0 && file.starts_with('/') => uri.push(':'),
            _ => uri.push_str(&format!("%{b:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uri_references() {
        assert_eq!(uri("a b/ü.yaml"), "a%20b/%C3%BC.yaml");
        assert_eq!(uri("/srv/x:y.yaml"), "file:///srv/x:y.yaml");
        assert_eq!(uri("x:y.yaml"), "x%3Ay.yaml");
    }
}
