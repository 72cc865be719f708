//! `matchLabelKeys` and `mismatchLabelKeys`: keys whose values come from the pod itself.

use std::collections::HashSet;

use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::fault::Faults;
use crate::validate::path::Path;

const NO_SELECTOR: &str = "must not be specified when labelSelector is not set";
const IN_SELECTOR: &str = "exists in both matchLabelKeys and labelSelector";

/// The keys and the selector that they are added to.
#[derive(Debug, Clone, Copy)]
pub(super) struct LabelKeys<'t> {
    term: View<'t>,
    has_mismatch: bool,
}

impl<'t> LabelKeys<'t> {
    /// Those of a pod (anti-)affinity term.
    pub(super) fn of_affinity_term(term: View<'t>) -> Self {
        LabelKeys { term, has_mismatch: true }
    }

    /// Those of a topology spread constraint, which has no `mismatchLabelKeys`.
    pub(super) fn of_spread_constraint(constraint: View<'t>) -> Self {
        LabelKeys { term: constraint, has_mismatch: false }
    }

    fn mismatching(self) -> impl Iterator<Item = &'t str> + Clone {
        self.has_mismatch.then(|| self.term.strings("mismatchLabelKeys")).into_iter().flatten()
    }
}

/// Checks the keys of the term or constraint at `path`.
///
/// The server merges matching keys into the selector, as expressions, so a key in an expression is
/// only told to clash when it occurs once more before that expression.
pub(super) fn label_keys(faults: &mut Faults, keys: LabelKeys<'_>, path: &Path<'_>) {
    let selector = keys.term.opt("labelSelector");
    let matching = path.field("matchLabelKeys");
    valid_keys(faults, keys.term.strings("matchLabelKeys"), &matching, selector.is_some());
    let mismatching = path.field("mismatchLabelKeys");
    valid_keys(faults, keys.mismatching(), &mismatching, selector.is_some());
    if let Some(selector) = selector {
        clashes(faults, keys.term, selector, path);
    }
    for (i, key) in keys.term.strings("matchLabelKeys").enumerate() {
        if keys.mismatching().any(|k| k == key) {
            let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
            faults.invalid(&matching.index(i), key, detail);
        }
    }
}

fn valid_keys<'t>(
    faults: &mut Faults,
    keys: impl Iterator<Item = &'t str>,
    path: &Path<'_>,
    has_selector: bool,
) {
    for (i, key) in keys.enumerate() {
        if !has_selector {
            faults.forbidden(path, NO_SELECTOR);
            return;
        }
        faults.invalid_each(&path.index(i), key, &names::qualified_name(key));
    }
}

fn clashes(faults: &mut Faults, term: View<'_>, selector: View<'_>, path: &Path<'_>) {
    if term.list("matchLabelKeys").is_empty() {
        return;
    }
    let mut seen: HashSet<&str> = selector.texts("matchLabels").map(|(key, _)| key).collect();
    for expression in selector.structs("matchExpressions") {
        let key = expression.str("key");
        // Of a repeated key the last counts.
        let index = term.strings("matchLabelKeys").enumerate().filter(|(_, k)| *k == key).last();
        if !seen.insert(key)
            && let Some((i, _)) = index
        {
            // The server leaves `matchLabelKeys` out of the path.
            faults.invalid(&path.index(i), key, IN_SELECTOR).at(&path.field("matchLabelKeys").index(i));
        }
    }
}

/// Checks `matchLabelKeys` of the spread constraint at `path` by the rules of servers that did not yet
/// merge them into the selector.
pub(super) fn unmerged(faults: &mut Faults, constraint: View<'_>, path: &Path<'_>) {
    let at = path.field("matchLabelKeys");
    if constraint.list("matchLabelKeys").is_empty() {
        return;
    }
    let selector = constraint.opt("labelSelector");
    let mut taken = HashSet::new();
    match selector {
        Some(selector) => {
            taken.extend(selector.texts("matchLabels").map(|(key, _)| key));
            taken.extend(selector.structs("matchExpressions").map(|e| e.str("key")));
        }
        None => {
            faults.forbidden(&at, NO_SELECTOR);
        }
    }
    for (i, key) in constraint.strings("matchLabelKeys").enumerate() {
        let at = at.index(i);
        faults.invalid_each(&at, key, &names::qualified_name(key));
        if taken.contains(key) {
            faults.invalid(&at, key, IN_SELECTOR);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    fn affinity_keys(text: &str) -> Vec<String> {
        found("v1.PodAffinityTerm", text, |faults, term, path| {
            label_keys(faults, LabelKeys::of_affinity_term(term), path);
        })
    }

    #[test]
    fn keys_need_a_selector() {
        assert_eq!(
            affinity_keys(r#"{"matchLabelKeys":["a","b"],"mismatchLabelKeys":["c"]}"#),
            ["matchLabelKeys", "mismatchLabelKeys"].map(|f| format!("C.{f}: Forbidden: {NO_SELECTOR}"))
        );
    }

    #[test]
    fn a_key_clashes_with_an_expression_only_the_second_time() {
        let selector = |labels: &str, keys: &str| {
            affinity_keys(&format!(
                r#"{{"matchLabelKeys":{keys},"labelSelector":{{"matchLabels":{labels},"matchExpressions":[{{"key":"a","operator":"Exists"}}]}}}}"#
            ))
        };
        assert!(selector("{}", r#"["a"]"#).is_empty(), "it may be the merged key itself");
        assert_eq!(
            selector(r#"{"a":"1"}"#, r#"["a","b","a"]"#),
            [format!("C[2]: Invalid value: \"a\": {IN_SELECTOR} @ C.matchLabelKeys[2]")]
        );
    }

    #[test]
    fn a_key_does_not_match_and_mismatch() {
        assert_eq!(
            affinity_keys(r#"{"matchLabelKeys":["a"],"mismatchLabelKeys":["a"],"labelSelector":{}}"#),
            [
                "C.matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and mismatchLabelKeys"
            ]
        );
    }

    #[test]
    fn the_older_rules_know_no_merging() {
        let text = r#"{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","matchLabelKeys":["a"],
            "labelSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}"#;
        assert_eq!(
            found("v1.TopologySpreadConstraint", text, unmerged),
            [format!("C.matchLabelKeys[0]: Invalid value: \"a\": {IN_SELECTOR}")]
        );
    }
}
