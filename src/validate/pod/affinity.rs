//! `affinity`: to nodes, and to or away from other pods.

use super::label_keys::{self, LabelKeys};
use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;
use crate::validate::selector::{self, BAD_OPERATOR, VALUES_FORBIDDEN, VALUES_REQUIRED};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// The two fields that hold pod affinity terms.
const POD_KINDS: [&str; 2] = ["podAffinity", "podAntiAffinity"];

/// Checks `affinity` of the pod spec at `path`.
pub fn affinity(faults: &mut Faults, spec: View<'_>, path: &Path<'_>, rules: &Rules) {
    let Some(affinity) = spec.opt("affinity") else { return };
    let path = path.field("affinity");
    if let Some(node) = affinity.opt("nodeAffinity") {
        let path = path.field("nodeAffinity");
        if let Some(selector) = node.opt(REQUIRED) {
            required_nodes(faults, selector, &path.field(REQUIRED), rules);
        }
        preferred_nodes(faults, node, &path.field(PREFERRED));
    }
    for kind in POD_KINDS {
        if let Some(pods) = affinity.opt(kind) {
            pod_terms(faults, pods, &path.field(kind), rules);
        }
    }
}

fn required_nodes(faults: &mut Faults, selector: View<'_>, path: &Path<'_>, rules: &Rules) {
    let list = path.field("nodeSelectorTerms");
    if selector.list("nodeSelectorTerms").is_empty() {
        faults.required(&list, "must have at least one node selector term");
    }
    for (i, term) in selector.structs("nodeSelectorTerms").enumerate() {
        node_term(faults, term, &list.index(i), rules.exempt.node_affinity_values);
    }
}

fn preferred_nodes(faults: &mut Faults, node: View<'_>, path: &Path<'_>) {
    for (i, preferred) in node.structs(PREFERRED).enumerate() {
        let at = path.index(i);
        weight(faults, preferred, &at);
        // Bad values only warn here: with one node such a preference changes nothing.
        node_term(faults, preferred.nested("preference"), &at.field("preference"), true);
    }
}

fn weight(faults: &mut Faults, preferred: View<'_>, path: &Path<'_>) {
    let weight = preferred.int("weight");
    if !(1..=100).contains(&weight) {
        faults.invalid(&path.field("weight"), weight, "must be in the range 1-100");
    }
}

fn node_term(faults: &mut Faults, term: View<'_>, path: &Path<'_>, lax_values: bool) {
    let list = path.field("matchExpressions");
    for (i, requirement) in term.structs("matchExpressions").enumerate() {
        node_expression(faults, requirement, &list.index(i), lax_values);
    }
    let list = path.field("matchFields");
    for (i, requirement) in term.structs("matchFields").enumerate() {
        node_field(faults, requirement, &list.index(i));
    }
}

fn node_expression(faults: &mut Faults, requirement: View<'_>, path: &Path<'_>, lax_values: bool) {
    let values = path.field("values");
    let count = requirement.list("values").len();
    match requirement.str("operator") {
        "In" | "NotIn" if count == 0 => {
            faults.required(&values, VALUES_REQUIRED);
        }
        "Exists" | "DoesNotExist" if count > 0 => {
            faults.forbidden(&values, VALUES_FORBIDDEN);
        }
        "Gt" | "Lt" if count != 1 => {
            let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            faults.required(&values, detail);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => {
            faults.invalid(&path.field("operator"), Shown::Named(other), BAD_OPERATOR);
        }
    }
    let key = requirement.str("key");
    faults.invalid_each(&path.field("key"), key, &names::qualified_name(key));
    if !lax_values {
        for (i, value) in requirement.strings("values").enumerate() {
            faults.invalid_each(&values.index(i), value, &names::label_value(value));
        }
    }
}

fn node_field(faults: &mut Faults, requirement: View<'_>, path: &Path<'_>) {
    let values = path.field("values");
    match requirement.str("operator") {
        "In" | "NotIn" if requirement.list("values").len() == 1 => {}
        "In" | "NotIn" => {
            let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            faults.required(&values, detail);
        }
        other => {
            faults.invalid(&path.field("operator"), Shown::Named(other), BAD_OPERATOR);
        }
    }
    let key = requirement.str("key");
    if key != "metadata.name" {
        faults.invalid(&path.field("key"), key, "not a valid field selector key");
        return;
    }
    for (i, value) in requirement.strings("values").enumerate() {
        faults.invalid_each(&values.index(i), value, &names::subdomain(value));
    }
}

fn pod_terms(faults: &mut Faults, pods: View<'_>, path: &Path<'_>, rules: &Rules) {
    let list = path.field(REQUIRED);
    for (i, term) in pods.structs(REQUIRED).enumerate() {
        pod_term(faults, term, &list.index(i), rules);
    }
    let list = path.field(PREFERRED);
    for (i, preferred) in pods.structs(PREFERRED).enumerate() {
        let at = list.index(i);
        weight(faults, preferred, &at);
        pod_term(faults, preferred.nested("podAffinityTerm"), &at.field("podAffinityTerm"), rules);
    }
}

fn pod_term(faults: &mut Faults, term: View<'_>, path: &Path<'_>, rules: &Rules) {
    term_selectors(faults, term, path, rules.exempt.affinity_selector_values);
    let namespaces = path.field("namespaces");
    for (i, namespace) in term.strings("namespaces").enumerate() {
        // The server names a field that does not exist.
        for message in names::label(namespace) {
            faults.invalid(&path.field("namespace"), namespace, message).at(&namespaces.index(i));
        }
    }
    label_keys::label_keys(faults, LabelKeys::of_affinity_term(term), path);
    let (key, at) = (term.str("topologyKey"), path.field("topologyKey"));
    if key.is_empty() {
        faults.required(&at, "can not be empty");
    }
    faults.invalid_each(&at, key, &names::qualified_name(key));
}

fn term_selectors(faults: &mut Faults, term: View<'_>, path: &Path<'_>, lax_values: bool) {
    for field in ["labelSelector", "namespaceSelector"] {
        if let Some(selector) = term.opt(field) {
            selector::label_selector(faults, selector, &path.field(field), lax_values);
        }
    }
}

/// Whether the selector of some pod (anti-)affinity term is faulty.
pub fn has_bad_selector(spec: View<'_>) -> bool {
    let (mut found, path) = (Faults::default(), Path::root("term"));
    let Some(affinity) = spec.opt("affinity") else { return false };
    for pods in POD_KINDS.into_iter().filter_map(|kind| affinity.opt(kind)) {
        let preferred = pods.structs(PREFERRED).map(|p| p.nested("podAffinityTerm"));
        for term in pods.structs(REQUIRED).chain(preferred) {
            term_selectors(&mut found, term, &path, false);
        }
    }
    !found.is_empty()
}

/// Whether a required node affinity expression has a value that no label can have.
pub fn has_bad_node_value(spec: View<'_>) -> bool {
    let required = spec.opt("affinity").and_then(|a| a.opt("nodeAffinity")).and_then(|n| n.opt(REQUIRED));
    required.is_some_and(|selector| {
        selector
            .structs("nodeSelectorTerms")
            .flat_map(|term| term.structs("matchExpressions"))
            .flat_map(|expression| expression.strings("values"))
            .any(|value| !names::label_value(value).is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::exemptions::Exemptions;
    use crate::validate::pod::testing::found;

    const KEY_TEXT: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

    fn checked(affinity_text: &str, exempt: Exemptions) -> Vec<String> {
        let rules = Rules { exempt, ..Rules::default() };
        let text = format!(r#"{{"affinity":{affinity_text}}}"#);
        found("v1.PodSpec", &text, |faults, spec, path| affinity(faults, spec, path, &rules))
            .into_iter()
            .map(|fault| {
                let short = fault.replace("C.affinity.", "").replace(KEY_TEXT, "KEY");
                short.replace(REQUIRED, "required").replace(PREFERRED, "preferred")
            })
            .collect()
    }

    fn required_expression(expression: &str) -> String {
        format!(
            r#"{{"nodeAffinity":{{"{REQUIRED}":{{"nodeSelectorTerms":[{{"matchExpressions":[{expression}]}}]}}}}}}"#
        )
    }

    #[test]
    fn each_operator_takes_its_number_of_values() {
        let at = "nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0]";
        for (operator, values, fault) in [
            ("In", "[]", format!("{at}.values: Required value: {VALUES_REQUIRED}")),
            ("Exists", r#"["a"]"#, format!("{at}.values: Forbidden: {VALUES_FORBIDDEN}")),
            (
                "Gt",
                r#"["1","2"]"#,
                format!(
                    "{at}.values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"
                ),
            ),
            ("Is", "[]", format!("{at}.operator: Invalid value: \"Is\": {BAD_OPERATOR}")),
        ] {
            let text =
                required_expression(&format!(r#"{{"key":"a","operator":"{operator}","values":{values}}}"#));
            assert_eq!(checked(&text, Exemptions::default()), [fault]);
        }
    }

    #[test]
    fn bad_values_are_only_refused_in_required_terms() {
        let expression = r#"{"key":"a","operator":"In","values":["a b"]}"#;
        let required = required_expression(expression);
        assert_eq!(checked(&required, Exemptions::default()).len(), 1);
        let exempt = Exemptions { node_affinity_values: true, ..Exemptions::default() };
        assert!(checked(&required, exempt).is_empty());
        let preferred = format!(
            r#"{{"nodeAffinity":{{"{PREFERRED}":[{{"weight":0,"preference":{{"matchExpressions":[{expression}]}}}}]}}}}"#
        );
        assert_eq!(
            checked(&preferred, Exemptions::default()),
            ["nodeAffinity.preferred[0].weight: Invalid value: 0: must be in the range 1-100"]
        );
    }

    #[test]
    fn node_fields_are_only_names() {
        let text = format!(
            r#"{{"nodeAffinity":{{"{REQUIRED}":{{"nodeSelectorTerms":[{{"matchFields":[
                {{"key":"metadata.name","operator":"In","values":["a","b"]}},
                {{"key":"spec.x","operator":"Exists"}}]}}]}}}}}}"#
        );
        let at = "nodeAffinity.required.nodeSelectorTerms[0].matchFields";
        assert_eq!(
            checked(&text, Exemptions::default()),
            [
                format!(
                    "{at}[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
                ),
                format!("{at}[1].operator: Invalid value: \"Exists\": not a valid selector operator"),
                format!("{at}[1].key: Invalid value: \"spec.x\": not a valid field selector key"),
            ]
        );
    }

    #[test]
    fn a_term_without_topology_is_told_three_times() {
        let text = format!(r#"{{"podAntiAffinity":{{"{REQUIRED}":[{{"namespaces":["a.b"]}}]}}}}"#);
        let at = "podAntiAffinity.required[0]";
        assert_eq!(
            checked(&text, Exemptions::default()),
            [
                format!("{at}.namespace: Invalid value: \"a.b\": must not contain dots @ {at}.namespaces[0]"),
                format!("{at}.topologyKey: Required value: can not be empty"),
                format!("{at}.topologyKey: Invalid value: \"\": name part must be non-empty"),
                format!("{at}.topologyKey: Invalid value: \"\": KEY"),
            ]
        );
    }
}
