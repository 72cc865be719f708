//! `evictionResponders`, which an update keeps when the stored template already had some.
//!
//! The only rules of a Deployment that the server states declaratively. Source: kubernetes v1.37.2
//! `pkg/apis/core/v1/zz_generated.validations.go`. Parity: exact.

use std::collections::HashSet;

use crate::kube_types::names::{self, NON_NEGATIVE};
use crate::schema::print;
use crate::schema::value::View;
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

const MAX_RESPONDERS: usize = 10;
const MAX_PRIORITY: i64 = 100_000;

/// Checks the responders of a new pod spec. What the old one has too is not looked at again.
pub fn responders(faults: &mut Faults, new: View<'_>, old: View<'_>) {
    let (spec, template) = (Path::root("spec"), "template");
    let template = spec.field(template);
    let pod = template.field("spec");
    let path = pod.field("evictionResponders");
    let count = new.structs("evictionResponders").len();
    let known: Vec<String> = old.structs("evictionResponders").map(print::api_json).collect();
    if new.structs("evictionResponders").map(print::api_json).eq(known.iter().cloned()) {
        return;
    }
    if count > MAX_RESPONDERS {
        faults.too_many(&path, count, MAX_RESPONDERS);
        return;
    }
    let mut seen = HashSet::new();
    for (i, responder) in new.structs("evictionResponders").enumerate() {
        if !seen.insert(responder.str("name")) {
            faults.duplicate(&path.index(i), Shown::Json(print::api_json(responder).into()));
        }
    }
    for (i, responder) in new.structs("evictionResponders").enumerate() {
        let name = responder.str("name");
        let before = old.structs("evictionResponders").find(|o| o.str("name") == name);
        changed(faults, responder, before, &path.index(i));
    }
}

fn changed(faults: &mut Faults, responder: View<'_>, before: Option<View<'_>>, path: &Path<'_>) {
    if before.is_none() {
        name(faults, responder.str("name"), &path.field("name"));
    }
    let Some(number) = responder.opt_int("priority") else {
        if before.is_none_or(|b| b.has("priority")) {
            faults.required(&path.field("priority"), "");
        }
        return;
    };
    if before.and_then(|b| b.opt_int("priority")) != Some(number) {
        priority(faults, number, &path.field("priority"));
    }
}

fn name(faults: &mut Faults, name: &str, path: &Path<'_>) {
    if name.is_empty() {
        faults.required(path, "");
        return;
    }
    let domain = name.split('/').next().unwrap_or("").to_lowercase();
    let domain = domain.trim().trim_end_matches('.');
    let reserved = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|r| domain.strip_suffix(r).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    if reserved {
        faults.invalid(path, name, "domain names *.k8s.io, *.kubernetes.io are reserved");
    }
    let messages = names::qualified_name(name);
    if messages.is_empty() && !name.contains('/') {
        faults.invalid(path, name, "must include a prefix (e.g. 'example.com/key')");
    }
    faults.invalid_each(path, name, &messages);
}

fn priority(faults: &mut Faults, priority: i64, path: &Path<'_>) {
    if (0..1000).contains(&priority) {
        let detail = "priorities 0-999 are reserved for responders with *.k8s.io suffix";
        faults.invalid(path, priority, detail);
    }
    if priority > MAX_PRIORITY {
        faults.invalid(path, priority, format_args!("must be less than or equal to {MAX_PRIORITY}"));
    }
    if priority < 0 {
        faults.invalid(path, priority, NON_NEGATIVE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    const OLD: &str = r#"[{"name":"example.com/a","priority":1000},{"name":"no.priority/a"}]"#;

    fn changed_to(new: &str) -> Vec<String> {
        let spec = |list: &str| format!(r#"{{"evictionResponders":{list}}}"#);
        let mut list = Vec::new();
        found("v1.PodSpec", &spec(OLD), |_, old, _| {
            list = found("v1.PodSpec", &spec(new), |faults, new, _| responders(faults, new, old));
        });
        list.iter().map(|f| f.replace("spec.template.spec.evictionResponders", "")).collect()
    }

    #[test]
    fn what_was_there_is_not_looked_at_again() {
        assert!(changed_to(OLD).is_empty());
        assert!(changed_to(r#"[{"name":"no.priority/a"}]"#).is_empty());
        assert_eq!(
            changed_to(r#"[{"name":"example.com/a","priority":999}]"#),
            [
                "[0].priority: Invalid value: 999: priorities 0-999 are reserved for responders with *.k8s.io suffix"
            ]
        );
        assert_eq!(changed_to(r#"[{"name":"example.com/a"}]"#), ["[0].priority: Required value"]);
    }

    #[test]
    fn names_have_a_prefix_that_is_not_kubernetes_own() {
        assert_eq!(
            changed_to(r#"[{"name":"X.K8S.io./a","priority":100001},{"name":"xk8s.io/a","priority":1000},{"name":"a","priority":-1}]"#)
                .iter()
                .filter(|f| !f.contains("prefix part"))
                .collect::<Vec<_>>(),
            [
                "[0].name: Invalid value: \"X.K8S.io./a\": domain names *.k8s.io, *.kubernetes.io are reserved",
                "[0].priority: Invalid value: 100001: must be less than or equal to 100000",
                "[2].name: Invalid value: \"a\": must include a prefix (e.g. 'example.com/key')",
                "[2].priority: Invalid value: -1: must be greater than or equal to 0",
            ]
        );
    }

    #[test]
    fn a_name_occurs_once_and_ten_are_enough() {
        assert_eq!(
            changed_to(
                r#"[{"name":"example.com/a","priority":1000},{"name":"example.com/a","priority":1000}]"#
            ),
            ["[1]: Duplicate value: {\"name\":\"example.com/a\",\"priority\":1000}"]
        );
        let many = [r#"{"name":"","priority":1}"#; 11].join(",");
        assert_eq!(changed_to(&format!("[{many}]")), [": Too many: 11: must have at most 10 items"]);
    }
}
