//! Reviews that a real API server sent, and objects as authors write them, against what upstream's
//! own code makes of them (`tests/data/reviews/make.py`).

use std::collections::BTreeSet;
use std::fs;

use rollgate::review::Gate;
use serde_json::{Map, Value};

use super::support::{ask, data, deployment, gate, get, patch, patched, prune, recorded, review, whole};

fn expected() -> Map<String, Value> {
    serde_json::from_slice(&fs::read(data("expected.json")).unwrap()).unwrap()
}

/// What is wrong with a response, if anything.
fn differs(response: &Value, expected: &Value) -> Option<String> {
    if response["allowed"] != expected["allowed"] {
        return Some(format!("allowed is {}", response["allowed"]));
    }
    let causes = |status: &Value| -> BTreeSet<String> {
        status["details"]["causes"].as_array().into_iter().flatten().map(Value::to_string).collect()
    };
    let (is, wanted) = (&response["status"], &expected["status"]);
    for key in ["code", "reason", "message", "status"] {
        if is[key] != wanted[key] {
            return Some(format!("{key} is {}, not {}", is[key], wanted[key]));
        }
    }
    if causes(is) != causes(wanted) || is["details"]["name"] != wanted["details"]["name"] {
        return Some(format!("details are {}, not {}", is["details"], wanted["details"]));
    }
    (response["warnings"] != expected["warnings"]).then(|| format!("warnings are {}", response["warnings"]))
}

#[tokio::test]
async fn every_recorded_review_has_an_expectation_and_meets_it() {
    let (expected, reviews) = (expected(), recorded());
    assert_eq!(reviews.len(), 61);
    assert_eq!(reviews.iter().map(|r| &r.0).collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    let early = whole(Gate { refuse_early: true, ..gate() });
    let router = whole(gate());
    let mut wrong = Vec::new();
    for (name, review) in &reviews {
        let expected = &expected[name];
        let said = ask(&router, "/validate", review).await;
        wrong.extend(differs(&said, expected).map(|d| format!("{name}: validate: {d}")));
        let said = ask(&early, "/mutate", review).await;
        // Warnings are the API server's to give, once the object is what it will be.
        let mut expected = expected.clone();
        expected.as_object_mut().unwrap().remove("warnings");
        wrong.extend(differs(&said, &expected).map(|d| format!("{name}: refuse early: {d}")));
        let said = ask(&router, "/mutate", review).await;
        if said["allowed"] != true || said.get("status").is_some() {
            wrong.push(format!("{name}: mutate refuses"));
        }
        // The API server sends objects that are defaulted already: nothing may change.
        if !patch(&said).is_empty() {
            wrong.push(format!("{name}: mutate changes: {:?}", patch(&said)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_raw_object_is_patched_into_what_the_server_makes_of_it() {
    let router = whole(gate());
    let lines = fs::read_to_string(data("raw.ndjson")).unwrap();
    let mut count = 0;
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let object = &case["object"];
        let mut review = review("CREATE", object, &Value::Null);
        let namespace = object["metadata"]["namespace"].as_str().filter(|n| !n.is_empty());
        review["request"]["namespace"] = namespace.unwrap_or("default").into();
        let said = ask(&router, "/mutate", &review).await;
        let made = patched(object, &said);
        assert_eq!(prune(&made), case["defaulted"], "{object}");
        // Idempotent: what was patched needs no more.
        review["request"]["object"] = made;
        assert!(patch(&ask(&router, "/mutate", &review).await).is_empty(), "{object}");
        count += 1;
    }
    assert_eq!(count, 120);
}

#[tokio::test]
async fn nothing_but_what_is_missing_is_patched() {
    let router = whole(gate());
    let said = ask(&router, "/mutate", &review("CREATE", &deployment(), &Value::Null)).await;
    let paths: Vec<String> = patch(&said).iter().map(|o| format!("{:?} {}", o, o.path())).collect();
    assert!(paths.iter().all(|p| p.starts_with("Add")), "{paths:?}");
    let mut paths: Vec<String> = patch(&said).iter().map(|o| o.path().to_string()).collect();
    paths.sort();
    assert_eq!(
        paths,
        [
            "/spec/progressDeadlineSeconds",
            "/spec/replicas",
            "/spec/revisionHistoryLimit",
            "/spec/strategy",
            "/spec/template/spec/containers/0/imagePullPolicy",
            "/spec/template/spec/containers/0/terminationMessagePath",
            "/spec/template/spec/containers/0/terminationMessagePolicy",
            "/spec/template/spec/dnsPolicy",
            "/spec/template/spec/restartPolicy",
            "/spec/template/spec/schedulerName",
            "/spec/template/spec/securityContext",
            "/spec/template/spec/terminationGracePeriodSeconds",
        ]
    );
}

#[tokio::test]
async fn what_became_of_reviews_is_counted() {
    let router = whole(gate());
    for (_, review) in recorded().iter().filter(|(name, _)| name.contains("replicasets-controller")) {
        ask(&router, "/validate", review).await;
    }
    let metrics = get(&router, "/metrics").await;
    let counted = r#"rollgate_verdicts_total{endpoint="validate",decision="foreign"} 4"#;
    assert!(metrics.text().contains(counted), "{}", metrics.text());
    let counted = r#"rollgate_requests_total{endpoint="validate",code="200"} 4"#;
    assert!(metrics.text().contains(counted), "{}", metrics.text());
}

#[tokio::test]
async fn the_answer_says_who_decided() {
    let said = ask(&whole(gate()), "/validate", &review("CREATE", &deployment(), &Value::Null)).await;
    let notes = &said["auditAnnotations"];
    assert_eq!(notes["version"], format!("rollgate {}", env!("CARGO_PKG_VERSION")));
    assert_eq!(notes["decided-by"], "the rules of validation: nothing to refuse");
}
