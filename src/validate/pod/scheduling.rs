//! Tolerations, gates, classes and groups: what schedulers read besides affinity and spreading.

use std::collections::HashSet;

use crate::kube_types::names;
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
    if let Err(error) = value.parse::<i64>() {
        use std::num::IntErrorKind::{NegOverflow, PosOverflow};
        let mut detail = String::from("strconv.ParseInt: parsing ");
        crate::schema::print::go_quote(&mut detail, value);
        detail.push_str(match error.kind() {
            PosOverflow | NegOverflow => ": value out of range",
            _ => ": invalid syntax",
        });
        faults.invalid(path, value, detail);
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
            faults.invalid(&name_at, null, "must specify one of: `podGroupName`").at(&at);
        }
    }
    if spec.structs("evictionResponders").len() > 0 {
        faults.forbidden(&at, "may not be set when evictionResponders is set");
    }
}
