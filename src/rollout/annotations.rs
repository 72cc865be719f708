//! The annotations that the controller keeps its books in, and how their values are read.

use super::text_map::TextMap;

/// What `kubectl apply` last applied; never looked at, never copied.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The revision of a ReplicaSet, and of a Deployment that of its new ReplicaSet.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// The revisions that a ReplicaSet had before, with commas between.
pub const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The Deployment's replicas when a ReplicaSet was last sized.
pub const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
/// The Deployment's replicas and surge when a ReplicaSet was last sized.
pub const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
/// On a Deployment: asks for a rollback to a revision.
pub const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";

/// Whether an annotation belongs to the object it is on, so that it is neither copied from a Deployment to
/// its ReplicaSet nor taken back in a rollback.
pub(super) fn stays(key: &str) -> bool {
    [LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, ROLLBACK_TO].contains(&key)
}

/// Reads a base-10 integer as Go's `strconv.ParseInt` does: a sign and leading zeros are fine.
pub(super) fn parse_i64(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// The revision in these annotations; `Some(0)` without one, `None` for one that is no number.
pub(super) fn revision(annotations: &TextMap) -> Option<i64> {
    match annotations.get(REVISION) {
        Some(text) => parse_i64(text),
        None => Some(0),
    }
}

/// Reads `desired-replicas` or `max-replicas`: digits only, at most 2147483647. Without the annotation, or
/// with another text, there is no number.
pub(super) fn size(text: Option<&str>) -> Option<i32> {
    let text = text?;
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// The revision that the annotation `deprecated.deployment.rollback.to` asks for, if it asks for one.
pub(super) fn rollback_to(annotations: &TextMap) -> Option<i64> {
    annotations.get(ROLLBACK_TO).and_then(parse_i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_go_reads_them() {
        assert_eq!(parse_i64("+007"), Some(7));
        assert_eq!(parse_i64("-1"), Some(-1));
        for text in ["", " 1", "1 ", "0x1", "1_0", "9223372036854775808", "+"] {
            assert_eq!(parse_i64(text), None, "{text:?}");
        }
        assert_eq!(size(Some("007")), Some(7));
        for text in ["", "+5", "-0", "2147483648", " 5", "abc"] {
            assert_eq!(size(Some(text)), None, "{text:?}");
        }
    }

    #[test]
    fn a_missing_revision_is_0_and_a_bad_one_none() {
        assert_eq!(revision(&TextMap::default()), Some(0));
        assert_eq!(revision(&[(REVISION, "x")].into_iter().collect()), None);
    }
}
