//! Which kind a body says it is, read as the API server reads it before anything else.

use super::Placed;
use crate::schema::decode;
use crate::schema::print::quoted;
use crate::schema::source::{Data, Node, Span};
use crate::schema::table::Table;

const BODY_TYPE: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
/// Where upstream's registry of kinds is made; part of its message.
const SCHEME: &str = "pkg/runtime/scheme.go:111";
/// Marks the form that objects have inside the server.
const INTERNAL: &str = "__internal";
const DEPLOYMENT_VERSION: &str = "apps/v1";

/// Kinds that the server knows in every version.
const UNVERSIONED_KINDS: &str = "Status APIVersions APIGroup APIGroupList APIResourceList";

/// Kinds that the server knows besides Deployments, by version; no conversion leads to a Deployment.
const OTHER_KINDS: &[(&str, &str)] = &[
    (
        "v1",
        "Binding ComponentStatus ComponentStatusList ConfigMap ConfigMapList Endpoints EndpointsList Event \
         EventList LimitRange LimitRangeList List Namespace NamespaceList Node NodeList NodeProxyOptions \
         PersistentVolume PersistentVolumeClaim PersistentVolumeClaimList PersistentVolumeList Pod \
         PodAttachOptions PodExecOptions PodList PodLogOptions PodPortForwardOptions PodProxyOptions \
         PodStatusResult PodTemplate PodTemplateList RangeAllocation ReplicationController \
         ReplicationControllerList ResourceQuota ResourceQuotaList Secret SecretList SerializedReference \
         Service ServiceAccount ServiceAccountList ServiceList ServiceProxyOptions CreateOptions \
         DeleteOptions GetOptions ListOptions PatchOptions UpdateOptions",
    ),
    (
        "apps/v1",
        "ControllerRevision ControllerRevisionList DaemonSet DaemonSetList DeploymentList ReplicaSet \
         ReplicaSetList StatefulSet StatefulSetList CreateOptions DeleteOptions GetOptions ListOptions \
         PatchOptions UpdateOptions",
    ),
    (
        "apps/v1beta1",
        "ControllerRevision ControllerRevisionList Deployment DeploymentList DeploymentRollback Scale \
         StatefulSet StatefulSetList",
    ),
    (
        "apps/v1beta2",
        "ControllerRevision ControllerRevisionList DaemonSet DaemonSetList Deployment DeploymentList \
         ReplicaSet ReplicaSetList Scale StatefulSet StatefulSetList",
    ),
];

/// The message for a body that is no JSON, or whose kind cannot be read.
pub(super) fn unreadable(error: &str) -> String {
    format!("couldn't get version/kind; json parse error: {error}")
}

/// Checks that the body is a Deployment, or does not say what it is.
pub(super) fn check(body: &Node<'_>, table: &Table) -> Result<(), Placed> {
    let (version, kind) = named(body)?;
    let version_at = version.map_or(body.at, |(_, at)| at);
    let refuse = |message: String, at: Span| Err(Placed { message, at });
    let version = version.map_or("", |(v, _)| v);
    let (group, number) = match version.split_once('/') {
        None => ("", version),
        Some((_, rest)) if rest.contains('/') => {
            return refuse(format!("unexpected GroupVersion string: {version}"), version_at);
        }
        Some(parts) => parts,
    };
    let (kind, kind_at) = match kind {
        Some((kind, at)) if !kind.is_empty() => (kind, at),
        _ => ("Deployment", version_at),
    };
    let group = if group.is_empty() && number.is_empty() { "apps" } else { group };
    let number = if number.is_empty() && group == "apps" { "v1" } else { number };
    let full = match (group, number) {
        ("", number) => number.to_owned(),
        (group, number) => format!("{group}/{number}"),
    };
    if full == DEPLOYMENT_VERSION && kind == "Deployment" {
        return Ok(());
    }
    if knows(UNVERSIONED_KINDS, kind) {
        return refuse(unconvertible("v1", kind), kind_at);
    }
    if number == INTERNAL {
        return refuse(internal(group, kind), kind_at);
    }
    if OTHER_KINDS.iter().any(|(v, kinds)| *v == full && knows(kinds, kind)) {
        // The server decodes first and converts then.
        let layout = table.find(&format!("{number}.{kind}")).filter(|_| number == "v1");
        if let Some(Err(mut errors)) = layout.map(|ty| decode::decode(body, ty).object) {
            return Err(errors.swap_remove(0));
        }
        return refuse(unconvertible(number, kind), kind_at);
    }
    let message = format!(
        "no kind {} is registered for version {} in scheme \"{SCHEME}\"",
        quoted(kind),
        quoted(&full)
    );
    refuse(message, kind_at)
}

/// The message for a body that says it is of an internal version, which is no version of the API.
fn internal(group: &str, kind: &str) -> String {
    let (version, package) = match group {
        "" => ("v1", "core"),
        "apps" => ("apps/v1", "apps"),
        _ => ("", ""),
    };
    if OTHER_KINDS.iter().any(|(v, kinds)| *v == version && knows(kinds, kind)) {
        return unconvertible(package, kind);
    }
    format!(
        "no kind {} is registered for the internal version of group {} in scheme \"{SCHEME}\"",
        quoted(kind),
        quoted(group)
    )
}

fn knows(kinds: &str, kind: &str) -> bool {
    kinds.split_ascii_whitespace().any(|k| k == kind)
}

fn unconvertible(package: &str, kind: &str) -> String {
    format!("converting ({package}.{kind}) to (v1.Deployment): unknown conversion")
}

type Named<'n> = Option<(&'n str, Span)>;

/// `apiVersion` and `kind`, whose keys may be spelt in any case here.
fn named<'n>(body: &'n Node<'_>) -> Result<(Named<'n>, Named<'n>), Placed> {
    let (mut version, mut kind) = (None, None);
    let found = |node: &Node<'_>| match &node.data {
        Data::Bool(_) => "bool",
        Data::Number(_) => "number",
        Data::String(_) => "string",
        Data::Deep(text) if text.starts_with('{') => "object",
        Data::Array(_) | Data::Deep(_) => "array",
        Data::Object(_) | Data::Null => "object",
    };
    let members = match &body.data {
        Data::Object(members) => members,
        Data::Null => return Ok((None, None)),
        _ => {
            let message = format!("json: cannot unmarshal {} into Go value of type {BODY_TYPE}", found(body));
            return Err(Placed { message: unreadable(&message), at: body.at });
        }
    };
    for member in members {
        let (name, slot) = if member.key.eq_ignore_ascii_case("apiVersion") {
            ("apiVersion", &mut version)
        } else if member.key.eq_ignore_ascii_case("kind") {
            ("kind", &mut kind)
        } else {
            continue;
        };
        match &member.value.data {
            Data::String(text) => *slot = Some((&**text, member.value.at)),
            Data::Null => {}
            _ => {
                let message = format!(
                    "json: cannot unmarshal {} into Go struct field .{name} of type string",
                    found(&member.value)
                );
                return Err(Placed { message: unreadable(&message), at: member.value.at });
            }
        }
    }
    Ok((version, kind))
}
