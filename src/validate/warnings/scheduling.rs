//! Warnings about where pods may run: node labels that are on their way out, selectors that match
//! nothing.

use super::Warnings;
use crate::kube_types::names;
use crate::schema::value::View;
use crate::validate::path::Path;

const DEPRECATED_NODE_LABELS: &[(&str, &str)] = &[
    ("beta.kubernetes.io/arch", r#"deprecated since v1.14; use "kubernetes.io/arch" instead"#),
    ("beta.kubernetes.io/os", r#"deprecated since v1.14; use "kubernetes.io/os" instead"#),
    (
        "failure-domain.beta.kubernetes.io/region",
        r#"deprecated since v1.17; use "topology.kubernetes.io/region" instead"#,
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        r#"deprecated since v1.17; use "topology.kubernetes.io/zone" instead"#,
    ),
    (
        "beta.kubernetes.io/instance-type",
        r#"deprecated since v1.17; use "node.kubernetes.io/instance-type" instead"#,
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    ("node-role.kubernetes.io/master", r#"use "node-role.kubernetes.io/control-plane" instead"#),
];

const NULL_SELECTOR: &str = "a null labelSelector results in matching no pod";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

fn deprecation(label: &str) -> Option<&'static str> {
    DEPRECATED_NODE_LABELS.iter().find(|(name, _)| *name == label).map(|(_, text)| *text)
}

/// Warns about the node labels that the pod spec at `path` selects, prefers and spreads over.
pub(super) fn node_labels(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let selector = path.field("nodeSelector");
    for (label, _) in spec.texts("nodeSelector") {
        if let Some(text) = deprecation(label) {
            warnings.about(&selector.key(label), text);
        }
    }
    if let Some(affinity) = spec.opt("affinity").and_then(|affinity| affinity.opt("nodeAffinity")) {
        let here = path.field("affinity");
        node_affinity(warnings, affinity, &here.field("nodeAffinity"));
    }
    let constraints = path.field("topologySpreadConstraints");
    for (i, constraint) in spec.structs("topologySpreadConstraints").enumerate() {
        let here = constraints.index(i);
        let key = constraint.str("topologyKey");
        if let Some(text) = deprecation(key) {
            warnings.about(&here.field("topologyKey"), format_args!("{key} is {text}"));
        }
        if !constraint.has("labelSelector") {
            warnings.about(&here.field("labelSelector"), NULL_SELECTOR);
        }
    }
}

fn node_affinity(warnings: &mut Warnings, affinity: View<'_>, path: &Path<'_>) {
    if let Some(required) = affinity.opt(REQUIRED) {
        let terms = path.field(REQUIRED);
        let terms = terms.field("nodeSelectorTerms");
        for (i, term) in required.structs("nodeSelectorTerms").enumerate() {
            node_term(warnings, term, &terms.index(i), false);
        }
    }
    let preferred = path.field(PREFERRED);
    for (i, weighted) in affinity.structs(PREFERRED).enumerate() {
        let here = preferred.index(i);
        node_term(warnings, weighted.nested("preference"), &here.field("preference"), true);
    }
}

/// Values of required terms are faults when invalid, those of preferred ones only worth a warning.
fn node_term(warnings: &mut Warnings, term: View<'_>, path: &Path<'_>, check_values: bool) {
    let expressions = path.field("matchExpressions");
    for (i, expression) in term.structs("matchExpressions").enumerate() {
        let here = expressions.index(i);
        let key = expression.str("key");
        if let Some(text) = deprecation(key) {
            warnings.about(&here.field("key"), format_args!("{key} is {text}"));
        }
        let values = here.field("values");
        for (k, value) in expression.strings("values").enumerate().filter(|_| check_values) {
            for detail in names::label_value(value) {
                warnings.about(&values.index(k), format_args!("{value} is invalid, {detail}"));
            }
        }
    }
}

/// Warns about terms of pod affinity and anti-affinity that match no pod.
pub(super) fn pod_affinity(warnings: &mut Warnings, spec: View<'_>, path: &Path<'_>) {
    let Some(affinity) = spec.opt("affinity") else { return };
    let path = path.field("affinity");
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(rules) = affinity.opt(kind) else { continue };
        let path = path.field(kind);
        let required = path.field(REQUIRED);
        for (i, term) in rules.structs(REQUIRED).enumerate() {
            pod_term(warnings, term, &required.index(i));
        }
        let preferred = path.field(PREFERRED);
        for (i, weighted) in rules.structs(PREFERRED).enumerate() {
            let here = preferred.index(i);
            pod_term(warnings, weighted.nested("podAffinityTerm"), &here.field("podAffinityTerm"));
        }
    }
}

fn pod_term(warnings: &mut Warnings, term: View<'_>, path: &Path<'_>) {
    if !term.has("labelSelector") {
        warnings.about(&path.field("labelSelector"), NULL_SELECTOR);
    }
}
