//! The verdicts recorded in `tests/data/admission` are rollgate's own.
//!
//! Each line there is a question with the answer of Kubernetes v1.37.2's own code. Together they
//! show every refusal, decode error, strict error, warning and default of the recorded corpus; how
//! they were chosen says `tests/differential/README.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rollgate::answer;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// One line of a file. The question stays text: it has numbers that no other type can hold.
#[derive(Deserialize)]
struct Case<'t> {
    #[serde(borrow)]
    question: &'t RawValue,
    answer: Value,
}

#[test]
fn every_recorded_verdict_is_ours() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/admission");
    let mut cases = 0;
    let mut wrong = Vec::new();
    for file in fs::read_dir(&folder).expect("the folder of recorded verdicts") {
        let path = file.expect("a readable folder").path();
        let text = fs::read_to_string(&path).expect("a readable file");
        for line in text.lines() {
            let case: Case<'_> = serde_json::from_str(line).expect("a case is one line of JSON");
            cases += 1;
            let question = case.question.get();
            let got: Value =
                serde_json::from_str(&answer::admission(question.as_bytes())).expect("an answer is JSON");
            let differences = differences(&outcome(&case.answer), &outcome(&got));
            if !differences.is_empty() {
                wrong.push(format!("{question}\n  {}", differences.join("\n  ")));
            }
        }
    }
    assert!(cases > 1000, "only {cases} cases");
    assert!(wrong.is_empty(), "{} of {cases} verdicts differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// What of an answer counts. The order of causes, strict errors and warnings does not, for upstream's
/// own depends on the order of Go's maps.
fn outcome(answer: &Value) -> BTreeMap<&'static str, Value> {
    let status = &answer["status"];
    let causes = status["details"]["causes"].as_array().cloned().unwrap_or_default();
    let causes = causes.iter().map(|c| json!([c["reason"], c["message"], c["field"]])).collect();
    let mut out = BTreeMap::from([
        ("allowed", answer["allowed"].clone()),
        ("decode_error", answer["decode_error"].clone()),
        ("strict_errors", sorted(answer["strict_errors"].as_array().cloned().unwrap_or_default())),
        ("warnings", sorted(answer["warnings"].as_array().cloned().unwrap_or_default())),
        ("causes", sorted(causes)),
        ("reason", status["reason"].clone()),
        ("code", status["code"].clone()),
        ("stored_spec", pruned(&answer["stored_spec"])),
    ]);
    // A refused object is not recorded: what defaulting makes of it shows in the accepted ones.
    if answer["allowed"] == json!(true) {
        out.insert("defaulted", pruned(&answer["defaulted"]));
    }
    out
}

fn sorted(mut list: Vec<Value>) -> Value {
    list.sort_by_key(Value::to_string);
    Value::Array(list)
}

/// A value without what is null or empty in objects: absent means the same.
fn pruned(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().map(|(k, v)| (k.clone(), pruned(v)));
            Value::Object(kept.filter(|(_, v)| !is_empty(v)).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(pruned).collect()),
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(s) => s.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn differences(want: &BTreeMap<&str, Value>, got: &BTreeMap<&str, Value>) -> Vec<String> {
    let mut out = Vec::new();
    for key in want.keys().chain(got.keys().filter(|k| !want.contains_key(*k))) {
        let (w, g) = (want.get(key).unwrap_or(&Value::Null), got.get(key).unwrap_or(&Value::Null));
        if w != g {
            out.push(format!("{key}: want {w}\n    got {g}"));
        }
    }
    out
}
