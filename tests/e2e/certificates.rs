//! Certificates that the replicas of rollgate keep in the cluster themselves.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, START_LIMIT};
use crate::gate::configuration;
use crate::kubectl::Kubectl;
use crate::process::Process;
use crate::workplace::{free_ports, rollgate, wait_for};

const KINDS: [(&str, &str); 2] =
    [("MutatingWebhookConfiguration", "mutate"), ("ValidatingWebhookConfiguration", "validate")];

fn start(plane: &ControlPlane, kubectl: &Kubectl, name: &str, port: u16) -> Process {
    let mut command = Command::new(rollgate());
    command
        .args([
            "serve",
            "--plain-listen",
            "none",
            "--certificates",
            "cluster",
            "--certificate-names",
            "127.0.0.1",
        ])
        .args(["--listen", &format!("127.0.0.1:{port}"), "--certificate-look-secs", "1", "--drain-secs", "0"])
        .args(["--certificate-secret", &format!("{}/certificates", kubectl.namespace)])
        .env("KUBECONFIG", &kubectl.kubeconfig);
    Process::start(name, &mut command, &plane.folder)
}

/// What the webhooks of a configuration trust.
fn bundle(kubectl: &Kubectl, kind: &str, name: &str) -> String {
    kubectl.get(&["get", kind, name, "-o", "jsonpath={.webhooks[*].clientConfig.caBundle}"])
}

/// Points both configurations at a replica, trusting nobody yet unless they did before.
fn point(kubectl: &Kubectl, name: &str, port: u16, authority: &Value) {
    for (kind, path) in KINDS {
        let url = format!("https://127.0.0.1:{port}/{path}");
        let mut configuration = configuration(kind, &url, &json!(["deployments"]), "");
        configuration["metadata"]["name"] = name.into();
        configuration["webhooks"][0]["clientConfig"]["caBundle"] = authority.clone();
        kubectl.apply(&configuration);
    }
}

/// Whether a Deployment can be created, which it can only through the webhooks.
fn gets_through(kubectl: &Kubectl) -> Option<()> {
    kubectl.try_get(&["create", "deployment", "probe", "--image=a", "--dry-run=server"]).ok().map(drop)
}

#[test]
fn replicas_share_a_secret_and_tell_their_webhooks_whom_to_trust() {
    let plane = ControlPlane::start("certificates");
    let kubectl = plane.namespace("rollgate");
    let [first, second, nowhere] = free_ports();
    point(&kubectl, "rollgate", first, &Value::Null);
    // Somebody else's webhook, which is none of our business.
    let mut other = configuration(
        "ValidatingWebhookConfiguration",
        &format!("https://127.0.0.1:{nowhere}/"),
        &json!(["statefulsets"]),
        "",
    );
    other["metadata"]["name"] = "other".into();
    other["webhooks"][0]["clientConfig"]["caBundle"] = Value::Null;
    kubectl.apply(&other);

    let mut replicas = [("first", first), ("second", second)].map(|(n, p)| start(&plane, &kubectl, n, p));
    let through = wait_for(START_LIMIT, || gets_through(&kubectl));
    assert!(through.is_some(), "no way through\n{}\n{}", replicas[0].tail(), replicas[1].tail());

    let bundles: BTreeSet<_> = KINDS.iter().map(|(kind, _)| bundle(&kubectl, kind, "rollgate")).collect();
    assert_eq!(bundles.len(), 1, "both trust the same");
    let bundle_is = bundles.first().expect("there is one").clone();
    assert!(!bundle_is.is_empty());
    assert_eq!(bundle(&kubectl, KINDS[1].0, "other"), "", "others are left alone");
    let secret = kubectl.get(&["get", "secret", "certificates", "-o", "jsonpath={.data.ca\\.crt}"]);
    assert_eq!(secret, bundle_is, "the Secret holds the authority that is trusted");

    // The second replica serves by the same authority.
    point(&kubectl, "rollgate", second, &bundle_is.into());
    replicas[0].kill();
    assert!(wait_for(START_LIMIT, || gets_through(&kubectl)).is_some(), "{}", replicas[1].tail());

    // A bundle that somebody emptied is filled again.
    point(&kubectl, "rollgate", second, &Value::Null);
    assert!(wait_for(START_LIMIT, || gets_through(&kubectl)).is_some(), "{}", replicas[1].tail());
    assert_eq!(replicas[1].stop().code(), Some(0));
}
