//! The defaults of the house: applied where an author chose nothing, and nowhere else.

use rollgate::review::{BadDefault, Gate, House};
use serde_json::{Value, json};

use super::support::{ask, deployment, gate, house, patch, patched, recorded, review, server, whole};

fn with(defaults: Value) -> axum::Router {
    whole(Gate { house: house(&defaults), ..gate() })
}

fn usual() -> Value {
    json!({"progressDeadlineSeconds": 300, "revisionHistoryLimit": 3, "minReadySeconds": 10,
        "strategy": {"rollingUpdate": {"maxUnavailable": 0}}})
}

/// A recorded review of `kubectl apply`, as the API server sends it: defaulted.
fn applied() -> Value {
    let name = "apply-create--mutating-create-deployments-user";
    recorded().into_iter().find(|(n, _)| n == name).unwrap().1
}

fn spec_after(review: &Value, said: &Value) -> Value {
    patched(&review["request"]["object"], said)["spec"].clone()
}

#[tokio::test]
async fn what_the_author_left_open_gets_the_house_value_and_a_warning() {
    let review = applied();
    let said = ask(&with(usual()), "/mutate", &review).await;
    assert_eq!(
        serde_json::to_value(patch(&said)).unwrap(),
        json!([
            {"op": "replace", "path": "/spec/strategy/rollingUpdate/maxUnavailable", "value": 0},
            {"op": "replace", "path": "/spec/revisionHistoryLimit", "value": 3},
            {"op": "replace", "path": "/spec/progressDeadlineSeconds", "value": 300},
            {"op": "add", "path": "/spec/minReadySeconds", "value": 10},
        ])
    );
    assert_eq!(
        said["warnings"][0],
        "spec.progressDeadlineSeconds is set to 300, the default of this cluster; state the field to choose \
         another value"
    );
    assert_eq!(said["warnings"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_second_call_changes_nothing() {
    let router = with(usual());
    let mut review = applied();
    let said = ask(&router, "/mutate", &review).await;
    review["request"]["object"] = patched(&review["request"]["object"], &said);
    let said = ask(&router, "/mutate", &review).await;
    assert_eq!((said.get("patch"), said.get("warnings")), (None, None));
}

#[tokio::test]
async fn what_the_applied_manifest_states_stays() {
    let mut review = applied();
    let manifest = json!({"spec": {"progressDeadlineSeconds": 600}}).to_string();
    review["request"]["object"]["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
        manifest.into();
    let said = ask(&with(usual()), "/mutate", &review).await;
    let spec = spec_after(&review, &said);
    assert_eq!((&spec["progressDeadlineSeconds"], &spec["revisionHistoryLimit"]), (&json!(600), &json!(3)));
}

#[tokio::test]
async fn what_a_server_side_apply_states_stays() {
    let mut review = applied();
    let metadata = &mut review["request"]["object"]["metadata"];
    metadata["annotations"] = Value::Null;
    metadata["managedFields"] = json!([{"manager": "x", "operation": "Apply", "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1", "time": "2026-11-30T21:14:28Z",
        "fieldsV1": {"f:spec": {"f:strategy": {"f:rollingUpdate": {"f:maxUnavailable": {}}}}}}]);
    let said = ask(&with(usual()), "/mutate", &review).await;
    let spec = spec_after(&review, &said);
    assert_eq!(spec["strategy"]["rollingUpdate"]["maxUnavailable"], "25%");
    assert_eq!(spec["progressDeadlineSeconds"], 300);
}

#[tokio::test]
async fn another_value_than_the_built_in_one_stays() {
    let mut object = deployment();
    object["spec"]["progressDeadlineSeconds"] = json!(700);
    let review = review("CREATE", &object, &Value::Null);
    let said = ask(&with(usual()), "/mutate", &review).await;
    assert_eq!(spec_after(&review, &said)["progressDeadlineSeconds"], 700);
}

#[tokio::test]
async fn an_update_is_left_alone() {
    let mut review = applied();
    review["request"]["operation"] = "UPDATE".into();
    review["request"]["oldObject"] = review["request"]["object"].clone();
    assert!(patch(&ask(&with(usual()), "/mutate", &review).await).is_empty());
}

#[tokio::test]
async fn no_struct_is_made_for_the_sake_of_a_default() {
    let mut object = deployment();
    object["spec"]["strategy"] = json!({"type": "Recreate"});
    let review = review("CREATE", &object, &Value::Null);
    let said = ask(&with(usual()), "/mutate", &review).await;
    assert_eq!(spec_after(&review, &said)["strategy"], json!({"type": "Recreate"}));
}

#[tokio::test]
async fn a_default_that_would_break_this_very_object_is_left_out() {
    // 300 is no more than the author's 400, and must be more; the other defaults still apply.
    let mut object = deployment();
    object["spec"]["minReadySeconds"] = json!(400);
    let review = review("CREATE", &object, &Value::Null);
    let said = ask(&with(usual()), "/mutate", &review).await;
    let spec = spec_after(&review, &said);
    assert_eq!((&spec["progressDeadlineSeconds"], &spec["revisionHistoryLimit"]), (&json!(600), &json!(3)));
    assert_eq!(said["warnings"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_invalid_object_gets_its_defaults_and_passes() {
    let mut object = deployment();
    object["spec"]["replicas"] = json!(-1);
    let review = review("CREATE", &object, &Value::Null);
    let said = ask(&with(usual()), "/mutate", &review).await;
    assert_eq!(said["allowed"], true);
    assert_eq!(spec_after(&review, &said)["revisionHistoryLimit"], 3);
}

fn refused(defaults: Value) -> BadDefault {
    let text = defaults.to_string();
    House::read(&server(), &rollgate::schema::json::read(text.as_bytes()).unwrap()).unwrap_err()
}

#[test]
fn unusable_defaults_are_refused_at_start() {
    assert_eq!(
        refused(json!({"progressDeadlineSeconds": 0})).to_string(),
        "the defaults would make a valid Deployment invalid: spec.progressDeadlineSeconds: Invalid value: 0: \
         must be greater than minReadySeconds"
    );
    let clash = refused(json!({"strategy": {"type": "Recreate"}})).to_string();
    assert!(clash.contains("spec.strategy.rollingUpdate: Forbidden"), "{clash}");
    assert_eq!(refused(json!({"replica": 1})).to_string(), "spec.replica: a Deployment has no such field");
    assert_eq!(
        refused(json!({"template": {"spec": {"containers": []}}})).to_string(),
        "spec.template.spec.containers: only texts, numbers and booleans can have a default"
    );
    assert_eq!(
        refused(json!({"strategy": 1})).to_string(),
        "spec.strategy: must be an object with fields of a Deployment"
    );
    assert_eq!(
        refused(json!({"replicas": "two"})).to_string(),
        "the defaults cannot be decoded: json: cannot unmarshal string into Go struct field \
         DeploymentSpec.spec.replicas of type int32"
    );
}
