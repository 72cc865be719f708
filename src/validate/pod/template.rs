//! The pod template: its metadata, and the order of everything in its pod spec.
//!
//! Source: kubernetes v1.37.2 `pkg/apis/core/validation`, `ValidatePodTemplateSpec` and
//! `ValidatePodSpec`. Parity: exact.

use super::{affinity, annotations, containers, dns, host, resources, scheduling, security, spread, volumes};
use crate::schema::value::View;
use crate::validate::fault::Faults;
use crate::validate::path::Path;
use crate::validate::selector::{self, Spot};
use crate::validate::{Rules, metadata};

/// Checks the template of a Deployment at `path`.
pub fn template(faults: &mut Faults, template: View<'_>, path: &Path<'_>, rules: &Rules) {
    let meta = template.nested("metadata");
    // Messages leave `metadata` out of these two paths.
    let spot = Spot { named: path, real: &path.field("metadata") };
    metadata::labels(faults, meta, spot);
    metadata::annotations(faults, meta, spot);
    let (spec, spec_path) = (template.nested("spec"), path.field("spec"));
    annotations::annotations(faults, meta, spec, spot, rules);
    pod_spec(faults, spec, &spec_path, rules);
    annotations::match_fields(faults, meta, spec, &spec_path);
    replica_set_rules(faults, spec, &spec_path);
}

/// What only holds for pods that a ReplicaSet makes.
fn replica_set_rules(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    if spec.structs("ephemeralContainers").len() > 0 {
        let at = path.field("ephemeralContainers");
        faults.forbidden(&at, "ephemeral containers not allowed in pod template");
    }
    let policy = spec.str("restartPolicy");
    if policy != "Always" {
        faults.not_supported(&path.field("restartPolicy"), policy, &["Always"]);
    }
    if spec.has("activeDeadlineSeconds") {
        let at = path.field("activeDeadlineSeconds");
        faults.forbidden(&at, "activeDeadlineSeconds in ReplicaSet is not Supported");
    }
}

fn pod_spec(faults: &mut Faults, spec: View<'_>, path: &Path<'_>, rules: &Rules) {
    let volumes = volumes::volumes(faults, spec, path, rules);
    resources::resource_claims(faults, spec, path);
    containers::containers(faults, spec, path, &volumes, rules);
    resources::pod_resources(faults, spec, path, rules);
    containers::host_network_ports(faults, spec, path);
    restart_policy(faults, spec, path);
    dns::policy(faults, spec, path);
    selector::labels(faults, spec.texts("nodeSelector"), &path.field("nodeSelector"));
    security::pod_security(faults, spec, path, rules);
    affinity::affinity(faults, spec, path, rules);
    dns::config(faults, spec, path);
    scheduling::readiness_gates(faults, spec, path);
    scheduling::scheduling_gates(faults, spec, path);
    spread::constraints(faults, spec, path, rules);
    security::windows_host_process(faults, spec, path, rules);
    security::host_users(faults, spec, path, rules);
    host::hostname_override(faults, spec, path);
    host::names(faults, spec, path);
    scheduling::tolerations(faults, spec.structs("tolerations"), &path.field("tolerations"), rules);
    dns::host_aliases(faults, spec, path);
    scheduling::classes(faults, spec, path);
    resources::overhead(faults, spec, path, rules);
    security::os(faults, spec, path);
    scheduling::scheduling_group(faults, spec, path);
    containers::file_key_volumes(faults, spec, path);
}

fn restart_policy(faults: &mut Faults, spec: View<'_>, path: &Path<'_>) {
    let at = path.field("restartPolicy");
    match spec.str("restartPolicy") {
        "Always" | "OnFailure" | "Never" => {}
        other => {
            let supported = ["Always", "OnFailure", "Never"];
            faults.not_supported(&at, other, &supported);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::pod::testing::found;

    #[test]
    fn metadata_is_left_out_of_two_paths_and_pods_run_for_ever() {
        let text = r#"{"metadata":{"labels":{"app":"web/"},"annotations":{"a//b":""}},"spec":{
            "restartPolicy":"never","dnsPolicy":"ClusterFirst","activeDeadlineSeconds":60,
            "nodeSelector":{"a":"b/"},"containers":[]}}"#;
        let faults = found("v1.PodTemplateSpec", text, |faults, given, path| {
            template(faults, given, path, &Rules::default());
        });
        let heads: Vec<String> =
            faults.iter().map(|f| f.split(": ").take(3).collect::<Vec<_>>().join(": ")).collect();
        assert_eq!(
            heads,
            [
                "C.labels: Invalid value: \"web/\"",
                "C.annotations: Invalid value: \"a//b\"",
                "C.spec.containers: Required value",
                "C.spec.restartPolicy: Unsupported value: \"never\"",
                "C.spec.nodeSelector: Invalid value: \"b/\"",
                "C.spec.restartPolicy: Unsupported value: \"never\"",
                "C.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported",
            ]
        );
        assert!(faults[0].ends_with(" @ C.metadata.labels[app]"), "{}", faults[0]);
        assert!(faults[1].ends_with(" @ C.metadata.annotations[a//b]"), "{}", faults[1]);
    }
}
