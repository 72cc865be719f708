//! What is particular about volumes: odd paths, and rules across fields. Expected texts are those of
//! kube-apiserver v1.37.2.

use super::*;
use crate::validate::pod::testing::found;

/// The faults of a list of volumes, below the path of that list.
fn faults_with(volumes_json: &str, rules: &Rules) -> Vec<String> {
    let text = format!(r#"{{"volumes":{volumes_json}}}"#);
    let found = found("v1.PodSpec", &text, |faults, spec, path| {
        volumes(faults, spec, path, rules);
    });
    found.into_iter().map(|fault| fault.replace("C.volumes", "")).collect()
}

fn faults(volumes_json: &str) -> Vec<String> {
    faults_with(volumes_json, &Rules::default())
}

#[test]
fn a_faulty_volume_does_not_take_its_name() {
    assert_eq!(
        faults(
            r#"[{"name":"a","hostPath":{"path":""}},{"name":"a","emptyDir":{}},{"name":"a","emptyDir":{}}]"#
        ),
        ["[0].hostPath.path: Required value", r#"[2].name: Duplicate value: "a""#]
    );
}

#[test]
fn further_sources_are_refused_in_the_servers_order_and_spelling() {
    assert_eq!(
        faults(r#"[{"name":"v","downwardAPI":{},"cephfs":{},"iscsi":{},"hostPath":{"path":"/a"}}]"#),
        [
            "[0].iscsi: Forbidden: may not specify more than 1 volume type",
            "[0].cephFS: Forbidden: may not specify more than 1 volume type @ [0].cephfs",
            "[0].downwarAPI: Forbidden: may not specify more than 1 volume type @ [0].downwardAPI",
        ]
    );
}

#[test]
fn an_iscsi_initiator_limits_the_name_even_beside_another_source() {
    assert_eq!(
        faults(
            r#"[{"name":"vvvvvvvvvvvvvvvvvvvv","emptyDir":{},"iscsi":{"initiatorName":"","targetPortal":"192.168.100.100.some.very.long.name.example.com:3260"}}]"#
        ),
        [
            "[0].iscsi: Forbidden: may not specify more than 1 volume type",
            r#"[0].name: Invalid value: "vvvvvvvvvvvvvvvvvvvv": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."#,
        ]
    );
}

#[test]
fn faults_lie_where_the_field_is_whatever_the_server_calls_it() {
    assert_eq!(
        faults(r#"[{"name":"v","gcePersistentDisk":{"pdName":"d","partition":256}}]"#),
        [
            "[0].persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive @ [0].gcePersistentDisk.partition"
        ]
    );
    assert_eq!(
        faults(
            r#"[{"name":"v","downwardAPI":{"items":[{"path":"a","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}},{"path":"../b"}]}}]"#
        ),
        [
            r#"[0].downwardAPI.path: Invalid value: "../b": must not contain '..' @ [0].downwardAPI.items[1].path"#,
            "[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required @ [0].downwardAPI.items[1]",
        ]
    );
}

#[test]
fn files_of_one_projected_volume_may_not_collide() {
    let secret = r#"{"secret":{"name":"s","items":[{"key":"k","path":"p"}]}}"#;
    let config_map = r#"{"configMap":{"name":"c","items":[{"key":"k","path":"p"}]}}"#;
    let bundle = r#"{"clusterTrustBundle":{"name":"b","path":"p"}}"#;
    let token = r#"{"serviceAccountToken":{"path":"p","expirationSeconds":600}}"#;
    assert_eq!(
        faults(&format!(
            r#"[{{"name":"v","projected":{{"sources":[{secret},{config_map},{bundle},{token}]}}}}]"#
        )),
        [
            r#"[0].projected: Invalid value: "c": conflicting duplicate paths @ [0].projected.sources[1].configMap.items[0].path"#,
            r#"[0].projected: Invalid value: "p": conflicting duplicate paths @ [0].projected.sources[2].clusterTrustBundle.path"#,
        ]
    );
}

#[test]
fn token_paths_are_excused_when_the_stored_object_has_such() {
    let volumes = r#"[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"..t","expirationSeconds":599}}]}}]"#;
    let lifetime = "[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes";
    assert_eq!(
        faults(volumes),
        [
            lifetime,
            r#"[0].projected.path: Invalid value: "..t": must not start with '..' @ [0].projected.sources[0].serviceAccountToken.path"#
        ]
    );
    let mut rules = Rules::default();
    rules.exempt.token_paths = true;
    assert_eq!(faults_with(volumes, &rules), [lifetime]);
}

#[test]
fn trust_bundles_are_named_or_signed_but_not_both() {
    let both = r#"{"clusterTrustBundle":{"name":"n","signerName":"a.b/c","path":"p","labelSelector":{"matchLabels":{"a":"<"}}}}"#;
    let slash = r#"{"clusterTrustBundle":{"name":"a/b:c","path":"q"}}"#;
    let unsigned = r#"{"clusterTrustBundle":{"name":":c","path":"r"}}"#;
    assert_eq!(
        faults(&format!(r#"[{{"name":"v","projected":{{"sources":[{both},{slash},{unsigned}]}}}}]"#)),
        [
            r#"[0].projected.sources[0].clusterTrustBundle: Invalid value: {"Name":"n","SignerName":"a.b/c","LabelSelector":{"matchLabels":{"a":"\u003c"}},"Optional":null,"Path":"p","User":null}: only one of name and signerName may be used"#,
            r#"[0].projected.sources[1].clusterTrustBundle.name: Invalid value: "a/b:c": not a valid clustertrustbundlename: ClusterTrustBundle for signerName a/b must be named with prefix a:b:"#,
            r#"[0].projected.sources[2].clusterTrustBundle.name: Invalid value: ":c": not a valid clustertrustbundlename: ClusterTrustBundle without signer name must not have ":" in its name"#,
        ]
    );
}

#[test]
fn pod_certificates_live_shorter_from_signers_of_kubernetes() {
    assert_eq!(
        faults(
            r#"[{"name":"v","projected":{"sources":[{"podCertificate":{"signerName":"a.kubernetes.io/c","keyType":"RSA","maxExpirationSeconds":86401,"userAnnotations":{"Example.com/A":"ok","Plain":"x"}}}]}}]"#
        ),
        [
            r#"[0].projected.sources[0].podCertificate.userAnnotations: Invalid value: "plain": must be a domain-prefixed key (such as "acme.io/foo") @ [0].projected.sources[0].podCertificate.userAnnotations[Plain]"#,
            r#"[0].projected.sources[0].podCertificate.keyType: Unsupported value: "RSA": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519""#,
            "[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400",
            "[0].projected.sources[0].podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
        ]
    );
}

#[test]
fn an_ephemeral_claim_is_checked_like_a_claim() {
    let at = "[0].ephemeral.volumeClaimTemplate";
    assert_eq!(
        faults(
            r#"[{"name":"v","ephemeral":{"volumeClaimTemplate":{"metadata":{"uid":"u","annotations":{"a":"b"}},"spec":{"accessModes":["ReadWriteOncePod","Sometimes","ReadWriteOnce"],"resources":{"requests":{"storage":"-1"}},"dataSource":{"apiGroup":"","kind":"PersistentVolumeClaim","name":"a"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"a"}}}}}]"#
        ),
        [
            format!("{at}.metadata.uID: Forbidden: cannot be set @ {at}.metadata.uid"),
            format!(
                r#"{at}.spec.accessModes: Unsupported value: "Sometimes": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod" @ {at}.spec.accessModes[1]"#
            ),
            format!("{at}.spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"),
            format!(
                r#"{at}.spec.resources[storage]: Invalid value: "-1": must be greater than zero @ {at}.spec.resources.requests[storage]"#
            ),
            format!("{at}.spec: Invalid value: {{}}: must match dataSourceRef @ {at}.spec.dataSource"),
        ]
    );
}

#[test]
fn iscsi_names_have_one_of_three_shapes() {
    let invalid = |name: &str| {
        faults(&format!(r#"[{{"name":"v","iscsi":{{"targetPortal":"p","iqn":"{name}"}}}}]"#)).pop()
    };
    for name in [
        "iqn.2001-04.com.example:storage",
        "iqnx iqn.2001-04.com:z",
        "eui.0123456789abcdef",
        "euié0123456789abcdef",
    ] {
        assert_eq!(invalid(name), None, "{name}");
    }
    for name in [
        "iqn.2001-04.com.example:a b",
        "iqn.2001-04.:x",
        "iqn.200a-04.com:z",
        "eui.0123",
        "naa.0123456789abcdef",
    ] {
        let text = format!(r#"[0].iscsi.iqn: Invalid value: "{name}": must be valid format"#);
        assert_eq!(invalid(name), Some(text));
    }
    assert_eq!(
        invalid("na"),
        Some(
            r#"[0].iscsi.iqn: Invalid value: "na": must be valid format starting with iqn, eui, or naa"#
                .into()
        )
    );
}

#[test]
fn quobyte_registries_are_split_as_go_splits_host_and_port() {
    let valid = |registry: &str| {
        faults(&format!(r#"[{{"name":"v","quobyte":{{"registry":"{registry}","volume":"x"}}}}]"#)).is_empty()
    };
    assert!([":", "h:", "[::1]:1", "h:1,g:2", "[]:1"].into_iter().all(valid));
    assert!(!["h", "::1:1", "[::1]", "[::1]x:1", "[a]b]:1", "a[:1", "h:1,"].into_iter().any(valid));
}

#[test]
fn values_print_as_the_server_prints_their_types() {
    assert_eq!(
        faults(r#"[{"name":"v","fc":{"targetWWNs":["a<b"],"wwids":["c"],"lun":0}}]"#),
        [
            r#"[0].fc.targetWWNs: Invalid value: ["a\u003cb"]: targetWWNs and wwids can not be specified simultaneously"#
        ]
    );
    assert_eq!(
        faults(r#"[{"name":"v","hostPath":{"path":"/<..>/..","type":"x<y"}}]"#),
        [
            r#"[0].hostPath.path: Invalid value: "/<..>/..": must not contain '..'"#,
            r#"[0].hostPath.type: Unsupported value: "x\u003cy": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket""#,
        ]
    );
    assert_eq!(
        faults(r#"[{"name":"v","flexVolume":{"driver":"d","options":{"storage.K8s.io/x":"1"}}}]"#),
        [
            r#"[0].flexVolume.options[storage.K8s.io/x]: Invalid value: "storage.K8s.io/x": kubernetes.io and k8s.io namespaces are reserved"#
        ]
    );
}
