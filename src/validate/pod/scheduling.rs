//! Tolerations, gates, classes and groups: what schedulers read besides affinity and spreading.

use std::collections::HashSet;

use crate::kube_types::names;
use crate::schema::print::parse_int_error;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

/// Checks a list of tolerations at `path`.
pub fn tolerations<'t>(
    faults: &mut Faults,
    list: impl Iterator<Item = View<'t>>,
    path: &Path<'_>,
    rules: &Rules,
) {
    for (i, toleration) in list.enumerate() {
        let path = path.index(i);
        toleration_key(faults, toleration, &path);
        toleration_operator(faults, toleration, &path, rules);
        let effect = toleration.str("effect");
        if !matches!(effect, "" | "NoSchedule" | "PreferNoSchedule" | "NoExecute") {
            let supported = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
            faults.not_supported(&path.field("effect"), effect, &supported);
        }
    }
}

fn toleration_key(faults: &mut Faults, toleration: View<'_>, path: &Path<'_>) {
    let (key, operator) = (toleration.str("key"), toleration.str("operator"));
    if !key.is_empty() {
        faults.invalid_each(&path.field("key"), key, &names::qualified_name(key));
    } else if operator != "Exists" {
        let detail =
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        faults.invalid(&path.field("operator"), Shown::Named(operator), detail);
    }
    let effect = toleration.str("effect");
    if toleration.has("tolerationSeconds") && effect != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        faults.invalid(&path.field("effect"), Shown::Named(effect), detail);
    }
}

fn toleration_operator(faults: &mut Faults, toleration: View<'_>, path: &Path<'_>, rules: &Rules) {
    let value = toleration.str("value");
    let (at, value_at) = (path.field("operator"), path.field("value"));
    match toleration.str("operator") {
        "" | "Equal" => {
            let messages = names::label_value(value);
            if !messages.is_empty() {
                faults.invalid(&at, value, messages.join(";")).at(&value_at);
            }
        }
        "Exists" if value.is_empty() => {}
        "Exists" => {
            let detail = "value must be empty when `operator` is 'Exists'";
            faults.invalid(&at, value, detail).at(&value_at);
        }
        "Lt" | "Gt" if rules.exempt.toleration_comparison => whole_number(faults, value, &value_at),
        other @ ("Lt" | "Gt") => {
            faults.not_supported(&at, other, &["Equal", "Exists", "Lt", "Gt"]);
        }
        other => {
            faults.not_supported(&at, other, &["Equal", "Exists"]);
        }
    }
}

/// A number to compare with: canonical decimal, 64 bits.
fn whole_number(faults: &mut Faults, value: &str, path: &Path<'_>) {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let canonical = value == "0"
        || (digits.starts_with(|c: char| ('1'..='9').contains(&c))
            && digits.bytes().all(|b| b.is_ascii_digit()));
    if value.is_empty() {
        faults.invalid(path, value, "must be non-empty");
    } else if !canonical {
        faults.invalid(path, value, "must be a valid decimal integer in canonical form");
    }
    if let Some(error) = parse_int_error(value) {
        faults.invalid(path, value, error);
    }
}

/// Checks `readinessGates` of the pod spec at `path`.
pub fn readiness_gates(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let list = path.field("readinessGates");
    for (i, gate) in spec.structs("readinessGates").enumerate() {
        let condition = gate.str("conditionType");
        let messages = names::qualified_name(condition);
        faults.invalid_each(&list.index(i).field("conditionType"), condition, &messages);
    }
}

/// Checks `schedulingGates` of the pod spec at `path`.
pub fn scheduling_gates(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let list = path.field("schedulingGates");
    let mut seen = HashSet::new();
    for (i, gate) in spec.structs("schedulingGates").enumerate() {
        let (name, at) = (gate.str("name"), list.index(i));
        faults.invalid_each(&at, name, &names::qualified_name(name));
        if !seen.insert(name) {
            faults.duplicate(&at, name);
        }
    }
}

/// Checks `priorityClassName`, `runtimeClassName` and `preemptionPolicy` of the pod spec at `path`.
pub fn classes(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let priority = spec.str("priorityClassName");
    if !priority.is_empty() {
        let at = path.field("priorityClassName");
        faults.invalid_each(&at, priority, &names::subdomain(priority));
    }
    if let Some(runtime) = spec.opt_str("runtimeClassName") {
        faults.invalid_each(&path.field("runtimeClassName"), runtime, &names::subdomain(runtime));
    }
    let at = path.field("preemptionPolicy");
    match spec.opt_str("preemptionPolicy") {
        None | Some("PreemptLowerPriority" | "Never") => {}
        Some("") => {
            faults.required(&at, "");
        }
        Some(other) => {
            faults.not_supported(&at, other, &["PreemptLowerPriority", "Never"]);
        }
    }
}

/// Checks `schedulingGroup` of the pod spec at `path`.
pub fn scheduling_group(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let Some(group) = spec.opt("schedulingGroup") else { return };
    let at = path.field("schedulingGroup");
    let name_at = at.field("podGroupName");
    match group.opt_str("podGroupName") {
        Some(name) => faults.invalid_each(&name_at, name, &names::subdomain(name)),
        None => {
            let null = Shown::Json("null".into());
            faults.invalid(&name_at, null, "must specify one of: `podGroupName`");
        }
    }
    if spec.structs("evictionResponders").len() > 0 {
        faults.forbidden(&at, "may not be set when evictionResponders is set");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::exemptions::Exemptions;
    use crate::validate::pod::testing::found;

    fn tolerated(toleration: &str, rules: &Rules) -> Vec<String> {
        let text = format!(r#"{{"tolerations":[{toleration}]}}"#);
        found("v1.PodSpec", &text, |faults, spec, path| {
            tolerations(faults, spec.structs("tolerations"), path, rules);
        })
    }

    #[test]
    fn a_toleration_of_everything_says_so() {
        assert!(tolerated(r#"{"operator":"Exists"}"#, &Rules::default()).is_empty());
        assert_eq!(
            tolerated(r#"{"effect":"noexecute","tolerationSeconds":1}"#, &Rules::default()),
            [
                "C[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
                "C[0].effect: Invalid value: \"noexecute\": effect must be 'NoExecute' when `tolerationSeconds` is set",
                "C[0].effect: Unsupported value: \"noexecute\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"",
            ]
        );
    }

    #[test]
    fn a_bad_value_is_told_at_the_operator() {
        assert_eq!(
            tolerated(r#"{"key":"k","operator":"Exists","value":"v"}"#, &Rules::default()),
            [
                "C[0].operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists' @ C[0].value"
            ]
        );
        let long = format!("{} b", "a".repeat(63));
        let list = tolerated(&format!(r#"{{"key":"k","value":"{long}"}}"#), &Rules::default());
        assert_eq!(list.len(), 1);
        assert!(list[0].contains("must be no more than 63 bytes;a valid label must be"), "{}", list[0]);
    }

    #[test]
    fn comparisons_need_an_older_one_and_whole_numbers() {
        let text = |value: &str| format!(r#"{{"key":"k","operator":"Gt","value":"{value}"}}"#);
        assert_eq!(
            tolerated(&text("1"), &Rules::default()),
            [
                "C[0].operator: Unsupported value: \"Gt\": supported values: \"Equal\", \"Exists\", \"Lt\", \"Gt\""
            ]
        );
        let exempt = Exemptions { toleration_comparison: true, ..Exemptions::default() };
        let lax = Rules { exempt, ..Rules::default() };
        let canonical = "must be a valid decimal integer in canonical form";
        for good in ["0", "-1", "9223372036854775807"] {
            assert!(tolerated(&text(good), &lax).is_empty(), "{good}");
        }
        for (value, details) in [
            ("01", vec![canonical]),
            ("-0", vec![canonical]),
            ("", vec!["must be non-empty", "strconv.ParseInt: parsing \"\": invalid syntax"]),
            ("abc", vec![canonical, "strconv.ParseInt: parsing \"abc\": invalid syntax"]),
            (
                "99999999999999999999",
                vec!["strconv.ParseInt: parsing \"99999999999999999999\": value out of range"],
            ),
        ] {
            let expected: Vec<String> =
                details.iter().map(|d| format!("C[0].value: Invalid value: \"{value}\": {d}")).collect();
            assert_eq!(tolerated(&text(value), &lax), expected);
        }
    }

    #[test]
    fn gates_are_told_apart_and_classes_known() {
        let gates = r#"{"schedulingGates":[{"name":"a"},{"name":"b"},{"name":"a"}]}"#;
        assert_eq!(
            found("v1.PodSpec", gates, scheduling_gates),
            ["C.schedulingGates[2]: Duplicate value: \"a\""]
        );
        assert_eq!(
            found("v1.PodSpec", r#"{"preemptionPolicy":"","priorityClassName":""}"#, classes),
            ["C.preemptionPolicy: Required value"]
        );
        assert_eq!(
            found("v1.PodSpec", r#"{"preemptionPolicy":"Always"}"#, classes),
            [
                "C.preemptionPolicy: Unsupported value: \"Always\": supported values: \"PreemptLowerPriority\", \"Never\""
            ]
        );
    }

    #[test]
    fn a_group_has_a_name_and_no_responders() {
        assert_eq!(
            found(
                "v1.PodSpec",
                r#"{"schedulingGroup":{},"evictionResponders":[{"name":"example.com/a","priority":1000}]}"#,
                scheduling_group
            ),
            [
                "C.schedulingGroup.podGroupName: Invalid value: null: must specify one of: `podGroupName`",
                "C.schedulingGroup: Forbidden: may not be set when evictionResponders is set",
            ]
        );
    }
}
