//! What others' webhooks were cursed for, one test each. The numbers are those of the reports that
//! the project collected.

use axum::body::Body;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Request, StatusCode};
use serde_json::{Value, json};

use super::support::{ask, deployment, gate, patch, post, review, send, whole};

/// Case 14: a strategy of type Recreate stays as it is.
#[tokio::test]
async fn recreate_gets_no_rolling_update() {
    let mut object = deployment();
    object["spec"]["strategy"] = json!({"type": "Recreate"});
    let said = ask(&whole(gate()), "/mutate", &review("CREATE", &object, &Value::Null)).await;
    assert!(patch(&said).iter().all(|o| !o.path().as_str().starts_with("/spec/strategy")), "{said}");
}

/// Case 24: a handler that wants an object refuses or crashes on every deletion, and a patch makes
/// the deletion fail.
#[tokio::test]
async fn a_deletion_has_no_object_and_gets_no_patch() {
    let router = whole(gate());
    for old in [deployment(), Value::Null] {
        for path in ["/mutate", "/validate"] {
            let said = ask(&router, path, &review("DELETE", &Value::Null, &old)).await;
            assert_eq!(said["allowed"], true);
            assert_eq!(said.get("patch"), None);
        }
    }
}

fn scale(replicas: Value) -> Value {
    let scale = |replicas| {
        json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "a", "namespace": "default"}, "spec": {"replicas": replicas}})
    };
    let mut review = review("UPDATE", &scale(replicas), &scale(json!(1)));
    review["request"]["kind"] = json!({"group": "autoscaling", "version": "v1", "kind": "Scale"});
    review["request"]["subResource"] = "scale".into();
    review
}

/// Case 25: a Scale is no Deployment.
#[tokio::test]
async fn a_scale_is_read_as_a_scale() {
    let router = whole(gate());
    for replicas in [json!(50), Value::Null] {
        for path in ["/mutate", "/validate"] {
            let said = ask(&router, path, &scale(replicas.clone())).await;
            assert_eq!((&said["allowed"], said.get("patch")), (&json!(true), None), "{said}");
        }
    }
    let said = ask(&router, "/validate", &scale(json!(-3))).await;
    assert_eq!(said["allowed"], false);
    assert_eq!(
        said["status"]["message"],
        "Scale.autoscaling \"a\" is invalid: spec.replicas: Invalid value: -3: must be greater than or equal to 0"
    );
    assert_eq!(said["status"]["code"], 422);
}

/// Case 27: an answer without the uid, or in another version, is told to users as a broken webhook.
#[tokio::test]
async fn every_answer_echoes_uid_and_version() {
    let router = whole(gate());
    for path in ["/mutate", "/validate"] {
        ask(&router, path, &review("CREATE", &deployment(), &Value::Null)).await; // checks both
        let mut undecodable = deployment();
        undecodable["spec"]["replicas"] = "three".into();
        let said = ask(&router, path, &review("CREATE", &undecodable, &Value::Null)).await;
        assert_eq!(said["allowed"], false);
        assert_eq!(said["status"]["code"], 400);
        assert_eq!(
            said["status"]["message"],
            "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal string \
             into Go struct field DeploymentSpec.spec.replicas of type int32"
        );
    }
}

/// Case 27, where there is no uid to echo.
#[tokio::test]
async fn what_is_no_review_gets_a_clear_400() {
    let router = whole(gate());
    let mut beta = review("CREATE", &deployment(), &Value::Null);
    beta["apiVersion"] = "admission.k8s.io/v1beta1".into();
    let no_request = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"});
    for (body, told) in [
        ("not JSON".to_owned(), "the body is not JSON"),
        (String::new(), "the body is not JSON"),
        (no_request.to_string(), "has no request"),
        (beta.to_string(), "admission.k8s.io/v1beta1"),
    ] {
        for path in ["/mutate", "/validate"] {
            let reply = post(&router, path, body.clone()).await;
            assert_eq!(reply.code, StatusCode::BAD_REQUEST, "{body}");
            assert!(reply.text().contains(told), "{body}: {}", reply.text());
        }
    }
}

fn with_env(entries: usize) -> Value {
    let mut object = deployment();
    let env = (0..entries).map(|i| json!({"name": format!("V{i}"), "value": "x".repeat(1000)}));
    object["spec"]["template"]["spec"]["containers"][0]["env"] = env.collect();
    object
}

/// Case 29: the largest legal updates must get through, and more must be refused unread.
#[tokio::test]
async fn megabytes_are_judged() {
    let router = whole(gate());
    let (large, larger) = (with_env(1350), with_env(2900));
    assert!(larger.to_string().len() > 2_900_000);
    let mut labelled = large.clone();
    labelled["metadata"]["labels"] = json!({"a": "b"});
    labelled["metadata"]["resourceVersion"] = "1".into();
    for review in [
        review("CREATE", &large, &Value::Null),
        review("UPDATE", &labelled, &large),
        review("CREATE", &larger, &Value::Null),
        review("UPDATE", &larger, &larger),
    ] {
        for path in ["/mutate", "/validate"] {
            assert_eq!(ask(&router, path, &review).await["allowed"], true);
        }
    }
}

/// Case 29, the other half.
#[tokio::test]
async fn a_body_too_large_or_of_another_type_is_not_read() {
    let router = whole(gate());
    // The body would never end: to answer, it must not be read.
    let endless = || Body::from_stream(futures::stream::pending::<Result<bytes::Bytes, std::io::Error>>());
    let request = Request::post("/validate").header(CONTENT_TYPE, "application/json");
    let request = request.header(CONTENT_LENGTH, "9000000").body(endless()).unwrap();
    assert_eq!(send(&router, request).await.code, StatusCode::PAYLOAD_TOO_LARGE);
    let request =
        Request::post("/validate").header(CONTENT_TYPE, "application/yaml").body(endless()).unwrap();
    assert_eq!(send(&router, request).await.code, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    // Not announced, but too large all the same.
    let chunks =
        futures::stream::repeat_with(|| Ok::<_, std::io::Error>(bytes::Bytes::from(vec![b' '; 1 << 20])));
    let request = Request::post("/validate").header(CONTENT_TYPE, "application/json");
    let request = request.body(Body::from_stream(chunks)).unwrap();
    assert_eq!(send(&router, request).await.code, StatusCode::PAYLOAD_TOO_LARGE);
}
