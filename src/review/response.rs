//! Writing the answer as an AdmissionReview.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;

use super::answer::{Answer, Decision};
use super::request::API_VERSION;

/// How many characters of warnings the API server takes from all sources together. When there are
/// more it cuts every text to [`CUT_CHARS`].
const WARNING_CHARS_TOTAL: usize = 4096;

/// What the server cuts a text to when there is too much.
const CUT_CHARS: usize = 256;

/// Writes the answer for the request with this uid.
///
/// The answer is as small as the API server allows: no patch where nothing changes, no status where
/// nothing is refused.
pub fn write(uid: &str, answer: &Answer) -> Vec<u8> {
    let patch = (!answer.patch.0.is_empty()).then(|| STANDARD.encode(json(&answer.patch)));
    json(&Envelope {
        kind: "AdmissionReview",
        api_version: API_VERSION,
        response: Response {
            uid,
            allowed: answer.status.is_none(),
            status: answer.status.as_ref(),
            patch_type: patch.as_ref().map(|_| "JSONPatch"),
            patch,
            warnings: within_limits(&answer.warnings),
            audit_annotations: AuditAnnotations {
                version: concat!("rollgate ", env!("CARGO_PKG_VERSION")),
                decided_by: decided_by(answer.decision),
            },
        },
    })
}

/// What goes into the audit log of the API server, which puts the webhook's name before each key.
fn decided_by(decision: Decision) -> &'static str {
    match decision {
        Decision::Accepted => "the rules of validation: nothing to refuse",
        Decision::Changed => "the defaults: some were set",
        Decision::Passed => "the mutating webhook: left to the API server to judge",
        Decision::BadRequest => "decoding: not an object that can be judged",
        Decision::Invalid => "the rules of validation: at least one is broken",
        Decision::NotJudged => "the operation: it stores no new object",
        Decision::Foreign => "the resource: not one that rollgate judges",
    }
}

/// Cuts warnings to what the API server shows, so that it is we who choose what is lost: every text is
/// cut as the server would, and when that is not enough the last ones go.
fn within_limits(warnings: &[String]) -> Vec<&str> {
    let total: usize = warnings.iter().map(|w| w.chars().count()).sum();
    if total <= WARNING_CHARS_TOTAL {
        return warnings.iter().map(String::as_str).collect();
    }
    let mut left = WARNING_CHARS_TOTAL;
    let mut kept = Vec::new();
    for warning in warnings {
        let end = warning.char_indices().nth(CUT_CHARS).map_or(warning.len(), |(at, _)| at);
        let text = &warning[..end];
        let Some(rest) = left.checked_sub(text.chars().count()) else { break };
        left = rest;
        kept.push(text);
    }
    kept
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("texts and JSON values always serialize")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'r> {
    kind: &'static str,
    api_version: &'static str,
    response: Response<'r>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'r> {
    uid: &'r str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<&'r str>,
    audit_annotations: AuditAnnotations,
}

/// Keys must be qualified names.
#[derive(Serialize)]
struct AuditAnnotations {
    version: &'static str,
    #[serde(rename = "decided-by")]
    decided_by: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_warnings_go_out_whole() {
        let long = "x".repeat(1000);
        assert_eq!(within_limits(&[long.clone(), "b".to_owned()]), [long.as_str(), "b"]);
    }

    #[test]
    fn many_warnings_are_cut_by_characters_and_the_last_left_out() {
        let many: Vec<String> = (0..20).map(|_| "é".repeat(300)).collect();
        let kept = within_limits(&many);
        assert_eq!(kept.len(), 16, "16 times 256 is 4096");
        assert!(kept.iter().all(|w| w.chars().count() == 256));
    }
}
