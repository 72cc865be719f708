//! The webhooks at the door of a real API server: kubectl must say the same as without them, except
//! where the house has defaults of its own.
//!
//! The sessions of `gate/same` are recorded from a server without rollgate
//! (`ROLLGATE_E2E_RECORD=1`); those of `gate/house` are written by hand.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, START_LIMIT};
use crate::process::Process;
use crate::session::{Session, for_all, recording};
use crate::workplace::{self, cases, free_ports, rollgate, sources, wait_for};

/// Sessions at a time: kubectl takes most of the processor.
const AT_A_TIME: usize = 4;

/// What the API server puts before a webhook's message; kubectl shows it where it lists no causes.
const DENIED: &str = "admission webhook \"gate.rollgate.dev\" denied the request: ";

#[test]
fn kubectl_says_the_same_with_the_gate() {
    let plane = ControlPlane::start("gate-same");
    if recording() {
        return replay(&plane, "same", "without");
    }
    let gate = Gate::install(&plane, &[]);
    replay(&plane, "same", "with");
    drop(gate);
    // Refusing early must not change what kubectl shows either, but for the server's own remark.
    let _gate = Gate::install(&plane, &["--refuse-early"]);
    replay(&plane, "same", "early");
}

#[test]
fn the_defaults_of_the_house_are_applied_and_told() {
    if recording() {
        return;
    }
    let plane = ControlPlane::start("gate-house");
    let config = sources().join("gate/house/config.yaml");
    let _gate =
        Gate::install(&plane, &["--config", config.to_str().expect("the sources are named in UTF-8")]);
    replay(&plane, "house", "with");
}

#[test]
fn every_manifest_is_used_by_a_session() {
    let sessions = cases(&sources().join("gate/same"), "md").iter().map(|p| read(p)).collect::<String>();
    for manifest in cases(&sources().join("gate/manifests"), "yaml") {
        let name = workplace::stem(&manifest);
        assert!(sessions.contains(&format!("manifests/{name}.yaml")), "no session uses {name}.yaml");
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a session can be read")
}

/// Replays the sessions of a folder, each in a namespace of its own.
fn replay(plane: &ControlPlane, folder: &str, run: &str) {
    let folder = sources().join("gate").join(folder);
    let sessions: Vec<_> = cases(&folder, "md").iter().map(|path| Session::read(path)).collect();
    for_all(&sessions, AT_A_TIME, Session::name, |session| {
        let replayed = session.replay(&plane.namespace(&format!("{}-{run}", session.name())));
        session.compare(&replayed.replace(DENIED, ""), &plane.folder)
    });
}

/// `rollgate serve`, with both webhooks installed.
struct Gate {
    _process: Process,
}

impl Gate {
    fn install(plane: &ControlPlane, arguments: &[&str]) -> Self {
        let [port, plain_port] = free_ports();
        let mut command = Command::new(rollgate());
        command
            .arg("serve")
            .args(["--listen", &format!("127.0.0.1:{port}")])
            .args(["--plain-listen", &format!("127.0.0.1:{plain_port}")])
            .args(["--certificates", &format!("files:{}", plane.folder.display())])
            .args(["--log", "info,rollgate=debug"])
            .args(arguments);
        let mut process = Process::start("rollgate-serve", &mut command, &plane.folder);
        let listens = wait_for(START_LIMIT, || {
            if let Some(status) = process.ended() {
                panic!("rollgate serve ended: {status}\n{}", process.tail());
            }
            std::net::TcpStream::connect(("127.0.0.1", port)).ok()
        });
        assert!(listens.is_some(), "rollgate serve does not listen\n{}", process.tail());
        let kubectl = plane.kubectl("default");
        let authority = std::fs::read(plane.file("ca.crt")).expect("the control plane wrote its authority");
        for (kind, path, resources) in [
            ("MutatingWebhookConfiguration", "mutate", json!(["deployments"])),
            ("ValidatingWebhookConfiguration", "validate", json!(["deployments", "deployments/scale"])),
        ] {
            let url = format!("https://127.0.0.1:{port}/{path}");
            kubectl.apply(&configuration(kind, &url, &resources, &base64(&authority)));
        }
        // A server takes a moment to see its webhooks; there is no telling from outside when it does.
        std::thread::sleep(Duration::from_secs(2));
        Self { _process: process }
    }
}

pub(crate) fn configuration(kind: &str, url: &str, resources: &Value, authority: &str) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "rollgate"},
        "webhooks": [{
            "name": "gate.rollgate.dev",
            "clientConfig": {"url": url, "caBundle": authority},
            "rules": [{
                "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": resources,
                "operations": ["CREATE", "UPDATE", "DELETE"],
            }],
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "timeoutSeconds": 10,
            "admissionReviewVersions": ["v1"],
        }],
    })
}

/// Standard base64 with padding, as JSON carries bytes.
fn base64(bytes: &[u8]) -> String {
    let bytes = k8s_openapi::ByteString(bytes.to_vec());
    match serde_json::to_value(bytes).expect("bytes can be written") {
        Value::String(text) => text,
        other => panic!("bytes are written as text, not {other}"),
    }
}
