//! `topologySpreadConstraints`.

use super::label_keys::{self, LabelKeys};
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;
use crate::validate::selector;

const POSITIVE: &str = "must be greater than zero";

/// Checks `topologySpreadConstraints` of the pod spec at `path`.
pub fn constraints(faults: &mut Faults, spec: View<'_>, path: &Path<'_>, rules: &Rules) {
    let list = path.field("topologySpreadConstraints");
    for (i, constraint) in spec.structs("topologySpreadConstraints").enumerate() {
        let path = list.index(i);
        required_fields(faults, constraint, &path);
        let mut later = spec.structs("topologySpreadConstraints").skip(i + 1);
        repeated(faults, constraint, &mut later, &path);
        min_domains(faults, constraint, &path);
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            if let Some(policy) = constraint.opt_str(field)
                && !matches!(policy, "Honor" | "Ignore")
            {
                faults.not_supported(&path.field(field), policy, &["Honor", "Ignore"]);
            }
        }
        if rules.exempt.spread_match_label_keys {
            label_keys::unmerged(faults, constraint, &path);
        } else {
            label_keys::label_keys(faults, LabelKeys::of_spread_constraint(constraint), &path);
        }
        if !rules.exempt.spread_selectors {
            label_selector(faults, constraint, &path);
        }
    }
}

fn required_fields(faults: &mut Faults, constraint: View<'_>, path: &Path<'_>) {
    let skew = constraint.int("maxSkew");
    if skew <= 0 {
        faults.invalid(&path.field("maxSkew"), skew, POSITIVE);
    }
    if constraint.str("topologyKey").is_empty() {
        faults.required(&path.field("topologyKey"), "can not be empty");
    }
    let action = constraint.str("whenUnsatisfiable");
    if !matches!(action, "DoNotSchedule" | "ScheduleAnyway") {
        let at = path.field("whenUnsatisfiable");
        faults.not_supported(&at, action, &["DoNotSchedule", "ScheduleAnyway"]);
    }
}

/// The earlier of two constraints for the same thing is the one that the server names.
fn repeated<'t>(
    faults: &mut Faults,
    constraint: View<'_>,
    later: &mut impl Iterator<Item = View<'t>>,
    path: &Path<'_>,
) {
    let pair = |c: View<'_>| format!("{{{}, {}}}", c.str("topologyKey"), c.str("whenUnsatisfiable"));
    let this = pair(constraint);
    if later.any(|other| pair(other) == this) {
        faults.duplicate(&path.field("{topologyKey, whenUnsatisfiable}"), &*this);
    }
}

fn min_domains(faults: &mut Faults, constraint: View<'_>, path: &Path<'_>) {
    let Some(domains) = constraint.opt_int("minDomains") else { return };
    let at = path.field("minDomains");
    if domains <= 0 {
        faults.invalid(&at, domains, POSITIVE);
    }
    let action = constraint.str("whenUnsatisfiable");
    if action != "DoNotSchedule" {
        let detail = format_args!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
        faults.invalid(&at, domains, detail);
    }
}

fn label_selector(faults: &mut Faults, constraint: View<'_>, path: &Path<'_>) {
    if let Some(given) = constraint.opt("labelSelector") {
        selector::label_selector(faults, given, &path.field("labelSelector"), false);
    }
}

/// Whether the label selector of some constraint is faulty.
pub fn has_bad_selector(spec: View<'_>) -> bool {
    any_fault(spec, label_selector)
}

/// Whether the `matchLabelKeys` of some constraint break the current rules.
pub fn has_bad_label_keys(spec: View<'_>) -> bool {
    any_fault(spec, |faults, constraint, path| {
        label_keys::label_keys(faults, LabelKeys::of_spread_constraint(constraint), path);
    })
}

fn any_fault(spec: View<'_>, check: impl Fn(&mut Faults, View<'_>, &Path<'_>)) -> bool {
    let mut found = Faults::default();
    for constraint in spec.structs("topologySpreadConstraints") {
        check(&mut found, constraint, &Path::root("constraint"));
    }
    !found.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    fn checked(list: &str) -> Vec<String> {
        let text = format!(r#"{{"topologySpreadConstraints":{list}}}"#);
        found("v1.PodSpec", &text, |faults, spec, path| {
            constraints(faults, spec, path, &Rules::default());
        })
        .into_iter()
        .map(|fault| fault.replace("C.topologySpreadConstraints", ""))
        .collect()
    }

    #[test]
    fn an_empty_constraint_lacks_three_things() {
        assert_eq!(
            checked("[{}]"),
            [
                "[0].maxSkew: Invalid value: 0: must be greater than zero",
                "[0].topologyKey: Required value: can not be empty",
                "[0].whenUnsatisfiable: Unsupported value: \"\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\"",
            ]
        );
    }

    #[test]
    fn the_earlier_of_two_for_the_same_is_named() {
        let one = r#"{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}"#;
        assert_eq!(
            checked(&format!("[{one},{one}]")),
            ["[0].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{zone, DoNotSchedule}\""]
        );
    }

    #[test]
    fn domains_count_only_for_hard_constraints() {
        assert_eq!(
            checked(
                r#"[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","minDomains":0,"nodeTaintsPolicy":"x"}]"#
            ),
            [
                "[0].minDomains: Invalid value: 0: must be greater than zero",
                "[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
                "[0].nodeTaintsPolicy: Unsupported value: \"x\": supported values: \"Honor\", \"Ignore\"",
            ]
        );
    }
}
