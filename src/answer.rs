//! Answers to recorded questions, in the shape that the oracles document. Pure.

use std::fmt::Write as _;

use crate::schema::print::json_quote;
use crate::schema::source::{Data, Node};
use crate::schema::{json, write};
use crate::verdict::{self, BadRequest, Operation, Question, Server, Target, Verdict};

/// The verdict on one admission question:
/// `{"id":…,"operation":"CREATE|UPDATE","subresource":""|"status"|"scale","namespace":…,
/// "object":{…}|"object_text":"…","old_object":{…}}`.
///
/// The server spoken for runs without `--allow-privileged`, its default. A line that is no question
/// is answered with `oracle_error`.
pub fn admission(line: &[u8]) -> String {
    let question = match json::read(line) {
        Ok(q) => q,
        Err(e) => return unusable("", &format!("the line is no JSON: {e}")),
    };
    let id = question.get("id").and_then(Node::as_str).unwrap_or("");
    let text = question.get("object_text").and_then(Node::as_str).unwrap_or("");
    let parsed;
    let object = if text.is_empty() {
        match question.get("object") {
            Some(object) => object,
            None => return answer(id, &Verdict::unreadable(&empty_body())),
        }
    } else {
        match json::read(text.as_bytes()) {
            Ok(object) => {
                parsed = object;
                &parsed
            }
            Err(e) => return answer(id, &Verdict::unreadable(&e)),
        }
    };
    let operation = match question.get("operation").and_then(Node::as_str).unwrap_or("") {
        "CREATE" | "" => Operation::Create,
        "UPDATE" => Operation::Update,
        other => return unusable(id, &format!("unknown operation {other}")),
    };
    let target = match question.get("subresource").and_then(Node::as_str) {
        Some("status") => Target::Status,
        _ => Target::Deployment,
    };
    let namespace = question.get("namespace").and_then(Node::as_str).filter(|n| !n.is_empty());
    let old = question.get("old_object").filter(|o| o.data != Data::Null);
    let server = Server { cuts_generated_names: false, ..Server::new(false) };
    let asked = Question { operation, target, namespace: namespace.unwrap_or("default"), object, old };
    answer(id, &verdict::judge(&server, &asked))
}

fn empty_body() -> json::SyntaxError {
    json::SyntaxError { message: "unexpected end of JSON input".into(), offset: 0 }
}

fn unusable(id: &str, why: &str) -> String {
    let mut out = String::from("{\"id\":");
    json_quote(&mut out, id);
    out.push_str(",\"allowed\":false,\"oracle_error\":");
    json_quote(&mut out, why);
    out.push('}');
    out
}

fn answer(id: &str, verdict: &Verdict<'_>) -> String {
    let mut out = String::from("{\"id\":");
    json_quote(&mut out, id);
    let _ = write!(out, ",\"allowed\":{}", verdict.allowed());
    if let Some(e) = &verdict.decode_error {
        text(&mut out, "decode_error", &e.message);
        out.push('}');
        return out;
    }
    list(&mut out, "strict_errors", verdict.strict.iter().map(|s| s.message.as_str()));
    match &verdict.bad_request {
        Some(BadRequest::Old(p) | BadRequest::Rollback(p)) => text(&mut out, "oracle_error", &p.message),
        _ => {
            if let Some(status) = verdict.status(false) {
                let _ = write!(out, ",\"status\":{status}");
            }
        }
    }
    list(&mut out, "warnings", verdict.warnings.iter().map(|w| w.text.as_str()));
    if let Some(object) = &verdict.defaulted {
        let _ = write!(out, ",\"defaulted\":{}", write::structure(object));
    }
    if let Some(stored) = &verdict.stored {
        let _ = write!(out, ",\"stored_spec\":{}", write::object(stored.view().nested("spec")));
    }
    out.push('}');
    out
}

fn text(out: &mut String, key: &str, value: &str) {
    let _ = write!(out, ",\"{key}\":");
    json_quote(out, value);
}

fn list<'t>(out: &mut String, key: &str, values: impl Iterator<Item = &'t str>) {
    let mut first = true;
    for value in values {
        if first {
            let _ = write!(out, ",\"{key}\":[");
        } else {
            out.push(',');
        }
        first = false;
        json_quote(out, value);
    }
    if !first {
        out.push(']');
    }
}
