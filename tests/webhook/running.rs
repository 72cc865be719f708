//! A server with its ports, in this process or one of its own.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;
use rollgate::certs::issue::{self, Issued};
use rollgate::certs::source::Source;
use rollgate::webhook::lifecycle::{Lifecycle, Stage};
use rollgate::webhook::limits::Limits;
use rollgate::webhook::router::App;
use rollgate::webhook::server::{Options, Server};
use serde_json::Value;
use tokio::task::JoinHandle;

use super::support::{LIMITS, deployment, gate, review};

/// A folder that goes away with its owner.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A certificate for localhost by an authority of its own.
pub(crate) fn issued() -> Issued {
    let life = Duration::from_secs(3600);
    // Any time will do: clients here do not look.
    let now = Timestamp::from_second(1_796_083_200).unwrap();
    let authority = issue::authority(now, life).unwrap();
    issue::leaf(&authority, &["localhost".to_owned()], now, life).unwrap()
}

pub(crate) fn write(folder: &Path, pair: &Issued) {
    fs::write(folder.join("tls.crt"), &pair.certificate).unwrap();
    fs::write(folder.join("tls.key"), &pair.key).unwrap();
}

pub(crate) fn options(certificates: Source) -> Options {
    Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        plain_listen: Some("127.0.0.1:0".parse().unwrap()),
        certificates,
        client_ca: None,
        look_every: Duration::from_millis(20),
        gate: gate(),
        limits: LIMITS,
    }
}

pub(crate) fn self_signed() -> Source {
    Source::SelfSigned { names: vec!["localhost".to_owned()] }
}

/// A server in this process.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) app: Arc<App>,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(options: Options) -> Self {
        let server = Server::bind(options, Lifecycle::default()).await.unwrap();
        let (address, app) = (server.address().unwrap(), server.app());
        let task = tokio::spawn(async move { server.run().await.unwrap() });
        app.lifecycle.reached(Stage::Serving).await;
        Running { address, app, task }
    }

    pub(crate) async fn with(limits: Limits) -> Self {
        Running::start(Options { limits, ..options(self_signed()) }).await
    }

    pub(crate) async fn stop(self) {
        self.app.lifecycle.advance(Stage::Stopping);
        self.task.await.unwrap();
    }
}

/// A body that must be allowed.
pub(crate) fn good() -> Bytes {
    review("CREATE", &deployment(), &Value::Null).to_string().into()
}

pub(crate) fn is_allowed(body: &[u8]) -> bool {
    serde_json::from_slice(body).is_ok_and(|answer: Value| answer["response"]["allowed"] == true)
}

/// The program in a process of its own.
pub(crate) struct Program {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) plain: SocketAddr,
}

/// A port that was free a moment ago.
fn free() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

impl Program {
    pub(crate) fn start(drain_secs: u32) -> Self {
        let (address, plain) = (free(), free());
        let child = Command::new(env!("CARGO_BIN_EXE_rollgate"))
            .args(["serve", "--listen", &address.to_string(), "--plain-listen", &plain.to_string()])
            .args(["--drain-secs", &drain_secs.to_string(), "--log", "warn"])
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        Program { child, address, plain }
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([format!("-{name}"), pid]).status().unwrap().success());
    }

    pub(crate) async fn exit(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub(crate) async fn ready(&self) {
        while !is_ready(self.plain).await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether `/readyz` at this plain port says so.
pub(crate) async fn is_ready(plain: SocketAddr) -> bool {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(plain).await?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer.starts_with(b"HTTP/1.1 200"))
    };
    ask.await.unwrap_or(false)
}
