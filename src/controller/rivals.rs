//! Tells from a Deployment whether somebody else writes Deployments' statuses.
//!
//! The API server notes in `metadata.managedFields` who wrote what when. A manager other than ours that has
//! written the controller's own part of a status, after we had made sure that nobody does, is a rival. The
//! times compared are all the API server's.

use std::borrow::Cow;

use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The manager that our own writes are noted under: the first part of our user agent.
pub const OURS: &str = "rollgate";

#[derive(Deserialize)]
struct Marked<'a> {
    #[serde(borrow)]
    metadata: MarkedMeta<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MarkedMeta<'a> {
    #[serde(borrow, default)]
    managed_fields: Option<Vec<Mark<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mark<'a> {
    #[serde(borrow, default)]
    manager: Cow<'a, str>,
    #[serde(borrow, default)]
    subresource: Cow<'a, str>,
    #[serde(borrow, default)]
    time: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    fields_v1: Option<&'a RawValue>,
}

/// The manager that has written a Deployment's status as a controller does, later than `since`.
pub fn rival(deployment: &str, since: Timestamp) -> Option<String> {
    let marked: Marked<'_> = serde_json::from_str(deployment).ok()?;
    let marks = marked.metadata.managed_fields?;
    let rival = marks.into_iter().find(|mark| {
        mark.subresource == "status"
            && mark.manager != OURS
            && mark.fields_v1.is_some_and(|fields| is_controllers(fields.get()))
            && mark
                .time
                .as_ref()
                .and_then(|time| time.parse().ok())
                .is_some_and(|time: Timestamp| time > since)
    })?;
    Some(rival.manager.into_owned())
}

/// Whether these are fields that a Deployment controller writes. Others may add conditions of their own.
fn is_controllers(fields: &str) -> bool {
    ["f:observedGeneration", "eplicas\"", "Progressing"].iter().any(|part| fields.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(manager: &str, subresource: &str, time: &str, fields: &str) -> String {
        format!(
            r#"{{"metadata":{{"name":"d","managedFields":[{{"manager":"{manager}","operation":"Update",
            "apiVersion":"apps/v1","subresource":"{subresource}","time":"{time}","fieldsType":"FieldsV1",
            "fieldsV1":{{"f:status":{{{fields}}}}}}}]}},"spec":{{}}}}"#
        )
    }

    #[test]
    fn a_rival_is_who_writes_counters_after_we_have_looked() {
        let since = "2026-12-01T10:00:00Z".parse().unwrap();
        let counters = r#""f:readyReplicas":{}"#;
        let found = |manager, part, time, fields| rival(&deployment(manager, part, time, fields), since);
        let later = "2026-12-01T10:00:01Z";
        assert_eq!(
            found("kube-controller-manager", "status", later, counters).as_deref(),
            Some("kube-controller-manager")
        );
        assert_eq!(found("kube-controller-manager", "status", "2026-12-01T10:00:00Z", counters), None);
        assert_eq!(found(OURS, "status", later, counters), None);
        assert_eq!(found("kubectl", "", later, counters), None);
        assert_eq!(
            found("canary", "status", later, r#""f:conditions":{"k:{\"type\":\"Canary\"}":{}}"#),
            None
        );
        assert_eq!(rival(r#"{"metadata":{}}"#, since), None);
    }
}
