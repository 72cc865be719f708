//! The refusal as the API server renders it: a `v1.Status`.

use serde_json::{Value as Json, json};

use super::{BadRequest, Target, Verdict};
use crate::schema::print;

impl Verdict<'_> {
    /// The `v1.Status` of the refusal; `None` when the object is allowed.
    ///
    /// Strict errors count only when `strict` says so (`fieldValidation=Strict`).
    pub fn status(&self, strict: bool) -> Option<Json> {
        if let Some(error) = &self.decode_error {
            return Some(bad_request(&self.decode_message(&error.message)));
        }
        if strict && !self.strict.is_empty() {
            let all: Vec<_> = self.strict.iter().map(|s| s.message.as_str()).collect();
            let text = format!("strict decoding error: {}", all.join(", "));
            return Some(bad_request(&self.decode_message(&text)));
        }
        match &self.bad_request {
            Some(BadRequest::Namespace(p)) => return Some(bad_request(&p.message)),
            Some(other) => return Some(bad_request(&self.decode_message(&other.placed().message))),
            None => {}
        }
        (!self.faults.is_empty()).then(|| self.invalid())
    }

    fn kind(&self) -> (&'static str, &'static str) {
        match self.about {
            Target::Scale => ("Scale", "autoscaling"),
            Target::Deployment | Target::Status => ("Deployment", "apps"),
        }
    }

    fn decode_message(&self, error: &str) -> String {
        let (kind, _) = self.kind();
        if error.starts_with("couldn't get version/kind") {
            return format!("the object provided is unrecognized (must be of type {kind}): {error}");
        }
        format!("{kind} in version \"v1\" cannot be handled as a {kind}: {error}")
    }

    fn invalid(&self) -> Json {
        let (kind, group) = self.kind();
        let mut message = format!("{kind}.{group} {} is invalid: ", print::quoted(&self.name));
        let texts: Vec<_> = self.faults.iter().map(|f| format!("{}: {}", f.field, f.message)).collect();
        match texts.as_slice() {
            [one] => message.push_str(one),
            several => message.push_str(&format!("[{}]", several.join(", "))),
        }
        let causes: Vec<_> = self
            .faults
            .iter()
            .map(|f| json!({"reason": f.kind.reason(), "message": f.message, "field": f.field}))
            .collect();
        let mut details = serde_json::Map::new();
        if !self.name.is_empty() {
            details.insert("name".into(), self.name.clone().into());
        }
        details.insert("group".into(), group.into());
        details.insert("kind".into(), kind.into());
        details.insert("causes".into(), causes.into());
        json!({
            "metadata": {}, "status": "Failure", "message": message, "reason": "Invalid",
            "details": details, "code": 422,
        })
    }
}

/// The `v1.Status` of a request that is refused before its object is judged.
pub fn bad_request(message: &str) -> Json {
    json!({"metadata": {}, "status": "Failure", "message": message, "reason": "BadRequest", "code": 400})
}
