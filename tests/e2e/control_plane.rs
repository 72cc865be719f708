//! A control plane of one test: etcd, the API server and what else is asked for, on free ports of
//! 127.0.0.1, their data and logs in one folder.
//!
//! The tests may do anything, a guest nothing. Nothing is kept safe on disk: a test needs no second life.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::kubectl::{ADMIN_TOKEN, GUEST_TOKEN, Kubectl};
use crate::process::Process;
use crate::workplace::{self, free_ports, wait_for};

/// How long a program may take until it serves, on a busy machine.
pub(crate) const START_LIMIT: Duration = Duration::from_secs(90);

/// The controllers that scenarios need beside the Deployment controller.
const OTHER_CONTROLLERS: &str = "replicaset-controller,garbage-collector-controller,namespace-controller,\
resourcequota-controller";

/// A running control plane; it ends when dropped.
pub(crate) struct ControlPlane {
    /// Where data and logs lie.
    pub(crate) folder: PathBuf,
    api_port: u16,
    etcd_port: u16,
    api_server: Process,
    _etcd: Process,
}

impl ControlPlane {
    /// Starts etcd and the API server, and waits until it is ready.
    pub(crate) fn start(test: &str) -> Self {
        let folder = workplace::folder(test);
        write_credentials(&folder);
        let [etcd_port, peer_port, api_port] = free_ports();
        let etcd = start_etcd(&folder, etcd_port, peer_port);
        let api_server = start_api_server(&folder, etcd_port, api_port);
        let mut plane = Self { folder, api_port, etcd_port, api_server, _etcd: etcd };
        plane.wait_until_ready();
        plane
    }

    /// kubectl for a namespace, which must exist or be created by the first command.
    pub(crate) fn kubectl(&self, namespace: &str) -> Kubectl {
        let server = format!("https://127.0.0.1:{}", self.api_port);
        Kubectl::new(&self.folder, &server, &self.file("ca.crt"), namespace)
    }

    /// Creates a namespace; kubectl for it.
    pub(crate) fn namespace(&self, name: &str) -> Kubectl {
        let kubectl = self.kubectl(name);
        kubectl.get(&["create", "namespace", name]);
        kubectl
    }

    /// Starts the controllers that are not under test.
    pub(crate) fn start_other_controllers(&self) -> Process {
        self.start_controllers("other-controllers", OTHER_CONTROLLERS)
    }

    /// Starts the built-in Deployment controller, alone in its process.
    pub(crate) fn start_built_in(&self) -> Process {
        self.start_controllers("built-in", "deployment-controller")
    }

    /// Kills the API server and starts it again on the same port.
    pub(crate) fn restart_api_server(&mut self) {
        self.api_server.kill();
        self.api_server = start_api_server(&self.folder, self.etcd_port, self.api_port);
        self.wait_until_ready();
    }

    /// The path of one of the control plane's files.
    pub(crate) fn file(&self, name: &str) -> String {
        self.folder.join(name).to_str().expect("the build's folder is named in UTF-8").to_owned()
    }

    fn start_controllers(&self, name: &str, controllers: &str) -> Process {
        let kubeconfig = self.kubectl("default").kubeconfig;
        let mut command = Command::new(workplace::program("kube-controller-manager"));
        command.arg("--kubeconfig").arg(kubeconfig).arg(format!("--controllers={controllers}")).args([
            "--leader-elect=false",
            "--secure-port=0",
            "--kube-api-qps=1000",
            "--kube-api-burst=2000",
        ]);
        Process::start(name, &mut command, &self.folder)
    }

    fn wait_until_ready(&mut self) {
        let kubectl = self.kubectl("default");
        let ready = wait_for(START_LIMIT, || {
            if let Some(status) = self.api_server.ended() {
                panic!("the API server ended: {status}\n{}", self.api_server.tail());
            }
            let served = kubectl.try_get(&["get", "--raw", "/readyz"]).is_ok();
            (served && kubectl.try_get(&["get", "namespace", "default"]).is_ok()).then_some(())
        });
        assert!(ready.is_some(), "the API server is not ready in time\n{}", self.api_server.tail());
    }
}

fn start_etcd(folder: &Path, port: u16, peer_port: u16) -> Process {
    let client = format!("http://127.0.0.1:{port}");
    let peer = format!("http://127.0.0.1:{peer_port}");
    let mut command = Command::new(workplace::program("etcd"));
    command
        .args(["--unsafe-no-fsync", "--log-level=warn", "--data-dir"])
        .arg(folder.join("etcd"))
        .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
        .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
        .args(["--initial-cluster", &format!("default={peer}")]);
    Process::start("etcd", &mut command, folder)
}

fn start_api_server(folder: &Path, etcd_port: u16, port: u16) -> Process {
    let file = |flag: &str, name: &str| format!("--{flag}={}", folder.join(name).display());
    let mut command = Command::new(workplace::program("kube-apiserver"));
    command
        .args(["--bind-address=127.0.0.1", "--service-cluster-ip-range=10.0.0.0/24"])
        .args(["--allow-privileged=true", "--authorization-mode=RBAC"])
        // No controller makes service accounts here, and Pods would wait for theirs.
        .args(["--disable-admission-plugins=ServiceAccount", "--service-account-issuer=https://test"])
        .arg(format!("--etcd-servers=http://127.0.0.1:{etcd_port}"))
        .arg(format!("--secure-port={port}"))
        .arg(file("cert-dir", "api-server"))
        .arg(file("tls-cert-file", "tls.crt"))
        .arg(file("tls-private-key-file", "tls.key"))
        .arg(file("token-auth-file", "tokens.csv"))
        .arg(file("service-account-key-file", "tokens.pub"))
        .arg(file("service-account-signing-key-file", "tls.key"));
    Process::start("kube-apiserver", &mut command, folder)
}

/// Writes an authority (`ca.crt`), a certificate for 127.0.0.1 (`tls.crt`, `tls.key`), which serves the
/// API server and rollgate alike, and the token.
fn write_credentials(folder: &Path) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let made = "keys and certificates of known parameters can be made";
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect(made)).expect(made);
    let key = KeyPair::generate().expect(made);
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let certificate =
        CertificateParams::new(names).and_then(|params| params.signed_by(&key, &authority)).expect(made);
    let tokens = format!("{ADMIN_TOKEN},admin,admin,system:masters\n{GUEST_TOKEN},guest,guest\n");
    let files = [
        ("ca.crt", authority.pem()),
        ("tls.crt", certificate.pem()),
        ("tls.key", key.serialize_pem()),
        ("tokens.csv", tokens),
        ("tokens.pub", key.public_key_pem()),
    ];
    for (name, content) in files {
        fs::write(folder.join(name), content).expect("the test's folder is writable");
    }
}
