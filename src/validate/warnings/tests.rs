//! Expected texts are those of kube-apiserver v1.37.2.

use super::*;
use crate::schema::decode::decode;
use crate::schema::json;
use crate::schema::table::Table;
use crate::schema::value::Struct;
use crate::validate::path::Step;

fn with_deployment<T>(text: &str, act: impl FnOnce(&mut Struct<'_>) -> T) -> T {
    let node = json::read(text.as_bytes()).expect("test data is JSON");
    let decoded = decode(&node, Table::newest().of("v1.Deployment"));
    assert!(decoded.strict.is_empty(), "{:?}", decoded.strict);
    act(&mut decoded.object.expect("test data is a Deployment"))
}

fn with_pod(metadata: &str, spec: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"web"}},"spec":{{"template":{{"metadata":{metadata},"spec":{spec}}}}}}}"#
    )
}

/// The warnings about a pod spec, without the path that they all begin with.
fn about_pod(spec: &str) -> Vec<String> {
    let warnings = with_deployment(&with_pod("{}", spec), |d| warnings(d.view(), None));
    warnings.into_iter().map(|w| w.text.replace("spec.template.spec.", "")).collect()
}

/// The warnings about annotations of the template beside a pod spec.
fn about_annotations(annotations: &str, spec: &str) -> Vec<String> {
    let text = with_pod(&format!(r#"{{"annotations":{annotations}}}"#), spec);
    let warnings = with_deployment(&text, |d| warnings(d.view(), None));
    warnings.into_iter().map(|w| w.text.replace("spec.template.metadata.annotations", "")).collect()
}

#[test]
fn names_that_are_no_dns_label_are_worth_a_warning() {
    let found = with_deployment(r#"{"metadata":{"name":"web.v1"}}"#, |d| warnings(d.view(), None));
    assert_eq!(
        found[0].text,
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"
    );
    assert_eq!(found[0].place, [Step::Field("metadata".into()), Step::Field("name".into())]);
}

#[test]
fn updates_warn_only_when_they_make_a_new_generation() {
    let old = with_pod("{}", r#"{"terminationGracePeriodSeconds":-1}"#);
    let warned = |new: &str| {
        with_deployment(&old, |old| with_deployment(new, |new| warnings(new.view(), Some(old.view())).len()))
    };
    assert_eq!(warned(&old), 0);
    assert_eq!(warned(&old.replace(r#""name":"web""#, r#""name":"web","labels":{"a":"b"}"#)), 0);
    assert_eq!(warned(&old.replace(r#""name":"web""#, r#""name":"web","annotations":{"a":"b"}"#)), 1);
    assert_eq!(warned(&old.replace(r#""spec":{"template""#, r#""spec":{"paused":true,"template""#)), 1);
    assert_eq!(warned(&old.replace(r#""spec":{"template""#, r#""spec":{"paused":false,"template""#)), 0);
}

#[test]
fn node_labels_and_null_selectors() {
    let affinity = r#""affinity":{
        "nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[
            {"key":"beta.kubernetes.io/arch","operator":"In","values":["a b"]}]}}]},
        "podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
            {"weight":1,"podAffinityTerm":{"topologyKey":"zone"}}]}}"#;
    let spread = r#""topologySpreadConstraints":[{"topologyKey":"zone"}]"#;
    let selector = r#""nodeSelector":{"beta.kubernetes.io/os":"linux"}"#;
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution[0]";
    let expression = format!("affinity.nodeAffinity.{preferred}.preference.matchExpressions[0]");
    assert_eq!(
        about_pod(&format!("{{{affinity},{spread},{selector}}}")),
        [
            r#"nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead"#
                .to_owned(),
            format!(
                r#"{expression}.key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead"#
            ),
            format!(
                "{expression}.values[0]: a b is invalid, a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            ),
            "topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod"
                .to_owned(),
            format!(
                "affinity.podAntiAffinity.{preferred}.podAffinityTerm.labelSelector: a null labelSelector results in matching no pod"
            ),
        ]
    );
}

#[test]
fn files_overlap_when_one_would_be_the_directory_of_the_other() {
    let config_map = r#"{"name":"c","configMap":{"name":"m","items":[
        {"key":"k","path":"a/b/"},{"key":"l","path":"a"},{"key":"m","path":"ab"},{"key":"n","path":"a/b"}]}}"#;
    let projected = r#"{"name":"p","projected":{"sources":[{},
        {"clusterTrustBundle":{"signerName":"a.b/c","path":"x"}},
        {"secret":{"name":"s","items":[{"key":"k","path":"x/y"}]}}]}}"#;
    assert_eq!(
        about_pod(&format!(r#"{{"volumes":[{config_map},{projected}]}}"#)),
        [
            r#"volume "c" (ConfigMap "m"): overlapping paths: "a" with "a/b""#,
            r#"volume "c" (ConfigMap "m"): overlapping paths: "a/b" with "a/b""#,
            r#"volume "c" (ConfigMap "m"): overlapping paths: "a/b" with "a""#,
            r#"volume "p" (Projected) has no sources provided"#,
            r#"volume "p" (Projected): overlapping paths: "x/y" (Secret "s") with "x" (ClusterTrustBundle "a.b/c")"#,
        ]
    );
}

#[test]
fn plugins_that_are_gone_are_named_as_the_server_names_them() {
    let text = with_pod("{}", r#"{"volumes":[{"name":"v","storageos":{"volumeName":"a"}}]}"#);
    let found = with_deployment(&text, |d| warnings(d.view(), None));
    assert_eq!(
        found[0].text,
        "spec.template.spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+"
    );
    assert_eq!(found[0].place.last(), Some(&Step::Field("storageos".into())));
}

#[test]
fn ports_of_all_containers_are_held_against_each_other() {
    let sidecar = r#"{"name":"i","ports":[{"containerPort":80,"hostPort":81,"protocol":"TCP"},{"containerPort":81,"name":"http","protocol":"TCP"}]}"#;
    let container = r#"{"name":"a","ports":[
        {"containerPort":80,"hostPort":80,"name":"http","protocol":"TCP"},
        {"containerPort":80,"hostIP":"10.0.0.1","protocol":"TCP"},
        {"containerPort":80,"hostPort":80,"hostIP":"10.0.0.1","protocol":"TCP"}]}"#;
    assert_eq!(
        about_pod(&format!(r#"{{"containers":[{container}],"initContainers":[{sidecar}]}}"#)),
        [
            "containers[0].ports[1]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:10.0.0.1}",
            "containers[0].ports[1]: overlapping port definition with initContainers[0].ports[0]",
            "containers[0].ports[1]: overlapping port definition with containers[0].ports[0]",
            "containers[0].ports[2]: dangerously ambiguous port definition with containers[0].ports[0]",
            "containers[0].ports[2]: overlapping port definition with containers[0].ports[1]",
            r#"containers[0].ports[0]: duplicate port name "http" with initContainers[0].ports[1], services and probes that select ports by name will use initContainers[0].ports[1]"#,
        ]
    );
}

#[test]
fn variables_and_bytes_of_a_container() {
    assert_eq!(
        about_pod(
            r#"{"containers":[{"name":"a","resources":{"limits":{"memory":"1500m"}},"env":[
                {"name":"A","value":"1"},{"name":"A","value":"$(A)"},{"name":"A","value":"$(A):x"}]}]}"#
        ),
        [
            r#"containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer"#,
            r#"containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply"#,
        ]
    );
}

#[test]
fn addresses_and_secrets_of_the_pod() {
    assert_eq!(
        about_pod(
            r#"{"hostAliases":[{"ip":"2001:DB8::1"},{"ip":"::1.2.3.4"},{"ip":"::1"},{"ip":"::1"}],
                "imagePullSecrets":[{},{"name":""}]}"#
        ),
        [
            r#"hostAliases[3].ip: duplicate ip "::1""#,
            r#"imagePullSecrets[1].name: duplicate name """#,
            r#"imagePullSecrets[0].name: invalid empty name """#,
            r#"imagePullSecrets[1].name: invalid empty name """#,
            r#"hostAliases[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")"#,
            r#"hostAliases[1].ip: IPv6 address "::1.2.3.4" should be in RFC 5952 canonical format ("::102:304")"#,
        ]
    );
}

#[test]
fn an_app_armor_annotation_may_repeat_the_profile_of_the_pod() {
    let key = "container.apparmor.security.beta.kubernetes.io/a";
    let deprecated = format!(r#"[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead"#);
    let spec = |context: &str, of_container: &str| {
        format!(
            r#"{{"securityContext":{context},"containers":[{{"name":"a","securityContext":{of_container}}}]}}"#
        )
    };
    let default = r#"{"appArmorProfile":{"type":"RuntimeDefault"}}"#;
    let about = |value: &str, spec: &str| about_annotations(&format!(r#"{{"{key}":"{value}"}}"#), spec);
    assert_eq!(about("runtime/default", &spec("{}", "{}")), [&*deprecated]);
    assert_eq!(about("unconfined", &spec(default, "{}")), [&*deprecated]);
    assert!(about("runtime/default", &spec(default, "{}")).is_empty());
    assert!(about("unconfined", &spec("{}", default)).is_empty());
}

#[test]
fn repeated_owners_are_dropped_when_all_of_them_is_the_same() {
    let owner = |name: &str, uid: &str| {
        format!(r#"{{"apiVersion":"v1","kind":"Pod","name":"{name}","uid":"{uid}"}}"#)
    };
    let owners = [owner("a", "1"), owner("a", "1"), owner("b", "1"), owner("b", "1"), owner("c", "2")];
    let text = format!(r#"{{"metadata":{{"ownerReferences":[{}]}}}}"#, owners.join(","));
    with_deployment(&text, |deployment| {
        let warning = drop_repeated_owners(deployment).expect("two references are repeated");
        assert_eq!(
            warning.text,
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: 1, 1"
        );
        assert_eq!(warning.place.last(), Some(&Step::Index(1)));
        let names: Vec<_> =
            deployment.view().nested("metadata").structs("ownerReferences").map(|o| o.str("name")).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(drop_repeated_owners(deployment), None);
    });
}

#[test]
fn warnings_end_long_after_a_client_has_stopped_reading() {
    let ports = vec![r#"{"containerPort":80}"#; 20_000].join(",");
    let found = about_pod(&format!(r#"{{"containers":[{{"name":"a","ports":[{ports}]}}]}}"#));
    assert_eq!(found.len(), MOST);
}
