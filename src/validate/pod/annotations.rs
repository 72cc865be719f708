//! Annotations of the template that the server reads, and how they go with the fields that took
//! their place.

use crate::kube_types::names;
use crate::schema::print;
use crate::schema::value::View;
use crate::validate::Rules;
use crate::validate::fault::Faults;
use crate::validate::path::Path;
use crate::validate::selector::Spot;

use super::annotated_tolerations;
use super::security::all_containers;

const MIRROR: &str = "kubernetes.io/config.mirror";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const LOCALHOST: &str = "localhost/";

/// Checks the annotations of a template that have a meaning. `spot` is where its metadata stands.
pub fn annotations(faults: &mut Faults, meta: View<'_>, spec: View<'_>, spot: Spot<'_>, rules: &Rules) {
    let spot = Spot { named: &spot.named.field("annotations"), real: &spot.real.field("annotations") };
    if let Some(value) = meta.text("annotations", MIRROR)
        && spec.str("nodeName").is_empty()
    {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        faults.invalid(&spot.named.key(MIRROR), value, detail).at(&spot.real.key(MIRROR));
    }
    annotated_tolerations::tolerations(faults, meta, spec, spot, rules);
    if !rules.exempt.deletion_cost && has_bad_deletion_cost(meta) {
        let value = meta.text("annotations", DELETION_COST).unwrap_or("");
        faults
            .invalid(&spot.named.key(DELETION_COST), value, "must be a 32bit integer")
            .at(&spot.real.key(DELETION_COST));
    }
    for (key, value) in meta.texts("annotations") {
        if key == SECCOMP_POD || key.starts_with(SECCOMP_CONTAINER) {
            seccomp(faults, key, value, spot);
        }
    }
    for (key, value) in meta.texts("annotations") {
        if let Some(container) = key.strip_prefix(APP_ARMOR) {
            app_armor(faults, key, value, spot, has_container(spec, container));
        }
    }
}

/// Whether the deletion cost is no 32-bit integer. A plus sign and leading zeros are refused, but not
/// after a minus sign: `-05` is fine.
pub fn has_bad_deletion_cost(meta: View<'_>) -> bool {
    let Some(value) = meta.text("annotations", DELETION_COST) else { return false };
    let begins_well = value == "0" || value.starts_with(|c: char| c == '-' || ('1'..='9').contains(&c));
    !begins_well || value.parse::<i32>().is_err()
}

fn seccomp(faults: &mut Faults, key: &str, value: &str, spot: Spot<'_>) {
    let (path, place) = (spot.named.field(key), spot.real.key(key));
    if matches!(value, "runtime/default" | "docker/default" | "unconfined") {
        return;
    }
    match value.strip_prefix(LOCALHOST) {
        Some(file) => {
            for message in names::relative_path(file) {
                faults.invalid(&path, file, message).at(&place);
            }
        }
        None => {
            faults.invalid(&path, value, "must be a valid seccomp profile").at(&place);
        }
    }
}

fn app_armor(faults: &mut Faults, key: &str, value: &str, spot: Spot<'_>, container_exists: bool) {
    let (path, place) = (spot.named.key(key), spot.real.key(key));
    if !container_exists {
        faults.invalid(&path, &key[APP_ARMOR.len()..], "container not found").at_key(&place);
    }
    let known = matches!(value, "" | "runtime/default" | "unconfined") || value.starts_with(LOCALHOST);
    if !known {
        let detail = format_args!("invalid AppArmor profile name: {}", print::quoted(value));
        faults.invalid(&path, value, detail).at(&place);
    }
}

fn has_container(spec: View<'_>, name: &str) -> bool {
    all_containers(spec).any(|(.., c)| c.str("name") == name)
}

/// Checks that annotations and the fields that took their place say the same.
pub fn match_fields(faults: &mut Faults, meta: View<'_>, spec: View<'_>, path: &Path<'_>) {
    if meta.map("annotations").is_empty() {
        return;
    }
    if let Some(profile) = SECCOMP.profile(spec)
        && let Some(annotation) = meta.text("annotations", SECCOMP_POD)
    {
        let at = path.field("securityContext");
        SECCOMP.compare(faults, annotation, profile, &at.field("seccompProfile"));
    }
    containers_match(faults, meta, spec, path, &SECCOMP);
    let windows = spec.opt("os").is_some_and(|os| os.str("name") == "windows");
    if !windows {
        containers_match(faults, meta, spec, path, &APP_ARMOR_KIND);
    }
}

fn containers_match(faults: &mut Faults, meta: View<'_>, spec: View<'_>, path: &Path<'_>, kind: &Kind) {
    let inherited = if kind.inherited { kind.profile(spec) } else { None };
    for (list, i, container) in all_containers(spec) {
        let key = format!("{}{}", kind.prefix, container.str("name"));
        if let Some(profile) = kind.profile(container).or(inherited)
            && let Some(annotation) = meta.text("annotations", &key)
        {
            let (list, context) = (path.field(list), "securityContext");
            let at = list.index(i);
            kind.compare(faults, annotation, profile, &at.field(context).field(kind.field));
        }
    }
}

/// A kind of profile that an annotation can name.
struct Kind {
    prefix: &'static str,
    field: &'static str,
    /// As messages call it.
    name: &'static str,
    /// Whether a container without a profile is compared by the pod's.
    inherited: bool,
    /// The annotation values that mean `RuntimeDefault`.
    defaults: &'static [&'static str],
}

const SECCOMP: Kind = Kind {
    prefix: SECCOMP_CONTAINER,
    field: "seccompProfile",
    name: "seccomp",
    inherited: false,
    defaults: &["runtime/default", "docker/default"],
};

const APP_ARMOR_KIND: Kind = Kind {
    prefix: APP_ARMOR,
    field: "appArmorProfile",
    name: "apparmor",
    inherited: true,
    defaults: &["runtime/default"],
};

impl Kind {
    /// The profile in the security context of a pod or container.
    fn profile<'t>(&self, owner: View<'t>) -> Option<View<'t>> {
        owner.opt("securityContext").and_then(|context| context.opt(self.field))
    }

    fn compare(&self, faults: &mut Faults, annotation: &str, profile: View<'_>, path: &Path<'_>) {
        let same_type = match profile.str("type") {
            "Unconfined" => annotation == "unconfined",
            "RuntimeDefault" => self.defaults.contains(&annotation),
            "Localhost" => annotation.starts_with(LOCALHOST),
            _ => return,
        };
        if !same_type {
            let detail = format!("{} type in annotation and field must match", self.name);
            faults.forbidden(&path.field("type"), &detail);
        } else if profile.str("type") == "Localhost"
            && profile.opt_str("localhostProfile") != Some(&annotation[LOCALHOST.len()..])
        {
            let detail = format!("{} profile in annotation and field must match", self.name);
            faults.forbidden(&path.field("localhostProfile"), &detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    fn annotated(key: &str, value: &str) -> Vec<String> {
        let text = format!(
            r#"{{"metadata":{{"annotations":{{"{key}":"{value}"}}}},"spec":{{"containers":[{{"name":"app"}}]}}}}"#
        );
        found("v1.PodTemplateSpec", &text, |faults, template, path| {
            let spot = Spot { named: path, real: &path.field("metadata") };
            let (meta, spec) = (template.nested("metadata"), template.nested("spec"));
            annotations(faults, meta, spec, spot, &Rules::default());
        })
    }

    #[test]
    fn deletion_costs_are_32_bit_numbers_without_frills() {
        for good in ["0", "-0", "-05", "2147483647", "-2147483648"] {
            assert!(annotated(DELETION_COST, good).is_empty(), "{good}");
        }
        for bad in ["", "05", "00", "+1", "2147483648", "1_0", "-", " 1"] {
            assert_eq!(
                annotated(DELETION_COST, bad),
                [format!(
                    "C.annotations[{DELETION_COST}]: Invalid value: \"{bad}\": must be a 32bit integer @ C.metadata.annotations[{DELETION_COST}]"
                )]
            );
        }
    }

    #[test]
    fn profiles_are_well_known_or_local_files() {
        for good in ["runtime/default", "docker/default", "unconfined", "localhost/a"] {
            assert!(annotated(SECCOMP_POD, good).is_empty(), "{good}");
        }
        assert_eq!(
            annotated(SECCOMP_POD, "localhost//../a"),
            ["must be a relative path", "must not contain '..'"].map(|detail| format!(
                "C.annotations.{SECCOMP_POD}: Invalid value: \"/../a\": {detail} @ C.metadata.annotations[{SECCOMP_POD}]"
            ))
        );
        let key = format!("{APP_ARMOR}nope");
        assert_eq!(
            annotated(&key, "docker/default"),
            [
                format!(
                    "C.annotations[{key}]: Invalid value: \"nope\": container not found @ C.metadata.annotations[{key}]"
                ),
                format!(
                    "C.annotations[{key}]: Invalid value: \"docker/default\": invalid AppArmor profile name: \"docker/default\" @ C.metadata.annotations[{key}]"
                ),
            ]
        );
    }

    fn compared(annotation: &str, spec: &str) -> Vec<String> {
        let text = format!(r#"{{"metadata":{{"annotations":{{{annotation}}}}},"spec":{spec}}}"#);
        found("v1.PodTemplateSpec", &text, |faults, template, path| {
            match_fields(faults, template.nested("metadata"), template.nested("spec"), path);
        })
    }

    #[test]
    fn annotation_and_field_say_the_same() {
        let spec = r#"{"securityContext":{"appArmorProfile":{"type":"Localhost","localhostProfile":"a"}},"containers":[{"name":"app"}]}"#;
        let key = format!("{APP_ARMOR}app");
        let app_armor = |value: &str, spec: &str| compared(&format!(r#""{key}":"{value}""#), spec);
        assert!(app_armor("localhost/a", spec).is_empty());
        assert_eq!(
            app_armor("localhost/b", spec),
            [
                "C.containers[0].securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match"
            ]
        );
        assert_eq!(
            app_armor("unconfined", spec),
            [
                "C.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match"
            ]
        );
        assert!(app_armor("unconfined", &spec.replacen('{', r#"{"os":{"name":"windows"},"#, 1)).is_empty());
    }

    #[test]
    fn a_container_s_seccomp_annotation_ignores_the_pod_s_profile() {
        let spec =
            r#"{"securityContext":{"seccompProfile":{"type":"Unconfined"}},"containers":[{"name":"app"}]}"#;
        assert!(compared(&format!(r#""{SECCOMP_CONTAINER}app":"runtime/default""#), spec).is_empty());
        assert_eq!(
            compared(&format!(r#""{SECCOMP_POD}":"docker/default""#), spec),
            [
                "C.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match"
            ]
        );
    }
}
