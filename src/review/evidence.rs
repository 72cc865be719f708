//! Whether an author chose a value, or the API server filled it in.
//!
//! The object alone cannot tell: it arrives defaulted. Two traces can: the annotation in which
//! `kubectl apply` keeps the manifest, and the `Apply` entries of `managedFields`, which list what a
//! server-side apply stated. An `Update` entry says nothing, as it is made from the object after
//! defaulting.
//!
//! Source: `spec/admission.md` 1.5.

use crate::schema::json;
use crate::schema::source::{Data, Node};

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Whether some trace shows that the author states the field at `path` (JSON names from the root).
///
/// A stated `null` asks for the default, so it is no choice.
pub fn states(object: &Node<'_>, path: &[&str]) -> bool {
    in_last_applied(object, path) || in_applied_fields(object, path)
}

fn in_last_applied(object: &Node<'_>, path: &[&str]) -> bool {
    let annotations = object.get("metadata").and_then(|m| m.get("annotations"));
    let Some(manifest) = annotations.and_then(|a| a.get(LAST_APPLIED)).and_then(Node::as_str) else {
        return false;
    };
    // The annotation is the author's to break; a broken one is no evidence.
    let Ok(manifest) = json::read(manifest.as_bytes()) else { return false };
    walk(&manifest, path.iter().copied()).is_some_and(|n| n.data != Data::Null)
}

fn in_applied_fields(object: &Node<'_>, path: &[&str]) -> bool {
    let Some(entries) = object.get("metadata").and_then(|m| m.get("managedFields")) else { return false };
    entries
        .items()
        .iter()
        .filter(|e| e.get("operation").and_then(Node::as_str) == Some("Apply"))
        .filter_map(|e| e.get("fieldsV1"))
        .any(|fields| path.iter().try_fold(fields, |at, name| managed(at, name)).is_some())
}

/// The sub-tree of a field in `fieldsV1`, where names are prefixed with `f:`.
fn managed<'n, 'a>(fields: &'n Node<'a>, name: &str) -> Option<&'n Node<'a>> {
    let Data::Object(members) = &fields.data else { return None };
    members.iter().find(|m| m.key.strip_prefix("f:") == Some(name)).map(|m| &m.value)
}

fn walk<'n, 'a, 'p>(node: &'n Node<'a>, mut path: impl Iterator<Item = &'p str>) -> Option<&'n Node<'a>> {
    path.try_fold(node, |at, name| at.get(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: &[&str] = &["spec", "progressDeadlineSeconds"];

    fn stated(object: &str) -> bool {
        states(&json::read(object.as_bytes()).unwrap(), DEADLINE)
    }

    fn applied_with_kubectl(manifest: &str) -> String {
        let manifest = serde_json::to_string(manifest).unwrap();
        format!(r#"{{"metadata":{{"annotations":{{"{LAST_APPLIED}":{manifest}}}}}}}"#)
    }

    fn managed_by(operation: &str, fields: &str) -> String {
        format!(r#"{{"metadata":{{"managedFields":[{{"operation":"{operation}","fieldsV1":{fields}}}]}}}}"#)
    }

    #[test]
    fn the_applied_manifest_is_evidence() {
        assert!(stated(&applied_with_kubectl(r#"{"spec":{"progressDeadlineSeconds":600}}"#)));
        assert!(!stated(&applied_with_kubectl(r#"{"spec":{"replicas":3}}"#)));
    }

    #[test]
    fn a_stated_null_and_a_broken_annotation_are_none() {
        assert!(!stated(&applied_with_kubectl(r#"{"spec":{"progressDeadlineSeconds":null}}"#)));
        assert!(!stated(&applied_with_kubectl("{")));
    }

    #[test]
    fn only_apply_entries_of_managed_fields_are_evidence() {
        let fields = r#"{"f:spec":{"f:progressDeadlineSeconds":{}}}"#;
        assert!(stated(&managed_by("Apply", fields)));
        assert!(!stated(&managed_by("Update", fields)));
        assert!(!stated(&managed_by("Apply", r#"{"f:spec":{"f:replicas":{}}}"#)));
        assert!(!stated(r#"{"metadata":{"managedFields":null}}"#));
        assert!(!stated("{}"));
    }
}
