//! How many reviews a second one core answers, over TLS and kept-open connections:
//! `cargo bench --bench gate`, on two cores.
//!
//! The server runs on the first core and the load on the second. Against `/validate` stand two bare
//! handlers on axum and tokio-rustls: one that reads the body into a `serde_json::Value` and answers a
//! constant, and one that only takes the body in, which is the limit. Besides throughput it tells the
//! server's processor time for a request, which does not depend on what else the machine does.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::routing::post;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use rollgate::certs::source::{Follower, Source};
use rollgate::review::{Gate, House};
use rollgate::verdict::Server as ApiServer;
use rollgate::webhook::lifecycle::Lifecycle;
use rollgate::webhook::limits::Limits;
use rollgate::webhook::server::{Options, Server};
use rustls::ClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::{DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::yield_now;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Connections that send one request after the other.
const CONNECTIONS: usize = 16;
/// How long each measurement takes.
const LONG: Duration = Duration::from_secs(3);
/// How often each is made. The handlers take turns, so that a busy machine slows all of them.
const ROUNDS: usize = 5;
const HANDLERS: [&str; 3] = ["validate", "value", "nothing"];
const KIBIBYTES: [usize; 2] = [2, 20];

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[1..] {
        ["serve", handler] => run(serve(handler)),
        ["load", address, kibibytes, rate] => run(load(address, kibibytes, rate)),
        ["flood", address] => run(flood(address)),
        _ => compare(),
    }
}

/// One thread, so that each side keeps to its core.
fn run(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(work);
}

// The comparison.

/// A server process on the first core.
struct Running {
    child: Child,
    address: String,
    _output: BufReader<ChildStdout>,
}

impl Running {
    fn start(handler: &str) -> Self {
        let mut child = pinned("0", &["serve", handler]).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        Running { child, address: address.trim().to_owned(), _output: output }
    }

    /// Processor time used so far, in seconds.
    fn used(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        // utime and stime, in the kernel's hundredths of a second.
        (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
    }

    /// A memory figure in MiB.
    fn mebibytes(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|l| l.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pinned(core: &str, args: &[&str]) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", core]).arg(std::env::current_exe().unwrap()).args(args);
    command
}

/// What one load came to.
struct Measured {
    /// Requests a second.
    rate: f64,
    /// The server's processor time for one, in microseconds.
    micros: f64,
    /// Percentiles of the time until the answer, in microseconds.
    p50: f64,
    p99: f64,
}

fn measure(running: &Running, kibibytes: usize, rate: f64) -> Measured {
    let args = ["load", &running.address, &kibibytes.to_string(), &rate.to_string()];
    let before = running.used();
    let output = pinned("1", &args).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the load failed");
    let text = String::from_utf8(output.stdout).unwrap();
    let figures: Vec<f64> = text.split_whitespace().map(|f| f.parse().unwrap()).collect();
    let [requests, p50, p99] = figures[..] else { panic!("the load told {text:?}") };
    let micros = (running.used() - before) / requests * 1e6;
    Measured { rate: requests / LONG.as_secs_f64(), micros, p50, p99 }
}

fn median(of: &[Measured], figure: fn(&Measured) -> f64) -> f64 {
    let mut figures: Vec<f64> = of.iter().map(figure).collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn compare() {
    for kibibytes in KIBIBYTES {
        println!("A Deployment of {kibibytes} KiB, medians of {ROUNDS} rounds");
        let servers = HANDLERS.map(Running::start);
        let [mut full, mut half] = [HANDLERS.map(|_| Vec::new()), HANDLERS.map(|_| Vec::new())];
        for round in 0..=ROUNDS {
            for (i, running) in servers.iter().enumerate() {
                let all = measure(running, kibibytes, 0.0);
                let part = measure(running, kibibytes, all.rate / 2.0);
                // The first round only warms up.
                if round > 0 {
                    full[i].push(all);
                    half[i].push(part);
                }
            }
        }
        for ((handler, full), half) in HANDLERS.iter().zip(&full).zip(&half) {
            println!(
                "  {handler:9}{:9.0}/s {:7.1} µs of processor each, p99 {:6.0} µs; at half of that p50 {:5.0} µs, p99 {:5.0} µs",
                median(full, |m| m.rate),
                median(full, |m| m.micros),
                median(full, |m| m.p99),
                median(half, |m| m.p50),
                median(half, |m| m.p99)
            );
        }
        for (what, figure) in
            [("requests", (|m| m.rate) as fn(&Measured) -> f64), ("processor time", |m| 1.0 / m.micros)]
        {
            let [validate, value, nothing] = [0, 1, 2].map(|i| median(&full[i], figure));
            println!(
                "  validate does {:.0}% of value and {:.0}% of nothing, by {what}",
                validate / value * 100.0,
                validate / nothing * 100.0
            );
        }
    }
    let running = Running::start("validate");
    std::thread::sleep(Duration::from_secs(1));
    println!("Memory at rest {:.1} MiB", running.mebibytes("VmRSS"));
    let output = pinned("1", &["flood", &running.address]).output().unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
    let (peak, after) = (running.mebibytes("VmHWM"), running.mebibytes("VmRSS"));
    println!("Memory at the most {peak:.1} MiB, afterwards {after:.1} MiB");
}

// The servers.

fn limits() -> Limits {
    Limits {
        body_bytes: 8 << 20,
        held_bytes: (32 << 20) + 1024,
        in_flight: 512,
        connections: 1024,
        deadline: Duration::from_secs(8),
    }
}

fn certificate() -> Source {
    Source::SelfSigned { names: vec!["localhost".to_owned()] }
}

async fn serve(handler: &str) {
    match handler {
        "validate" => {
            let options = Options {
                listen: "127.0.0.1:0".parse().unwrap(),
                plain_listen: None,
                certificates: certificate(),
                client_ca: None,
                look_every: Duration::from_secs(10),
                gate: Gate { server: ApiServer::new(true), house: House::default(), refuse_early: false },
                limits: limits(),
            };
            let server = Server::bind(options, Lifecycle::default()).await.unwrap();
            println!("{}", server.address().unwrap());
            server.run().await.unwrap();
        }
        "value" => {
            bare(post(|body: Bytes| async move {
                let _: Value = serde_json::from_slice(&body).unwrap();
                CONSTANT
            }))
            .await
        }
        _ => bare(post(|_: Bytes| async { CONSTANT })).await,
    }
}

const CONSTANT: &str = r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002","allowed":true}}"#;

async fn bare(handler: axum::routing::MethodRouter) {
    let router = Router::new().route("/validate", handler).layer(DefaultBodyLimit::disable());
    let follower = Follower::open(certificate(), None).await.unwrap();
    let tls = TlsAcceptor::from(follower.serving().unwrap().config.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (tls, service) = (tls.clone(), TowerToHyperService::new(router.clone()));
        tokio::spawn(async move {
            let stream = TokioIo::new(tls.accept(stream).await.unwrap());
            let http = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            let _ = http.serve_connection(stream, service).await;
        });
    }
}

// The load.

/// A review of a Deployment of about this size, as the API server sends it.
fn review(kibibytes: usize) -> String {
    let mut object = json!({"kind": "Deployment", "apiVersion": "apps/v1",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"},
            "creationTimestamp": "2026-11-30T21:14:28Z", "generation": 1, "uid": "8adb6f38-9318-4b6a-be5b-ab197a777ce5"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [], "restartPolicy": "Always",
                "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst", "securityContext": {},
                "schedulerName": "default-scheduler"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
            "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}, "status": {}});
    for i in 0.. {
        let probe = |path| {
            json!({"httpGet": {"path": path, "port": "http", "scheme": "HTTP"}, "timeoutSeconds": 1,
            "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3})
        };
        let container = json!({"name": format!("web-{i}"), "image": "registry.example/team/web:1.0",
            "ports": [{"name": format!("http-{i}"), "containerPort": 8080 + i, "protocol": "TCP"}],
            "env": [{"name": "MODE", "value": "production"}, {"name": "POD", "valueFrom": {"fieldRef":
                {"apiVersion": "v1", "fieldPath": "metadata.name"}}}, {"name": "LEVEL", "value": "information"}],
            "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}},
            "livenessProbe": probe("/livez"), "readinessProbe": probe("/readyz"),
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            "imagePullPolicy": "IfNotPresent"});
        let containers = object["spec"]["template"]["spec"]["containers"].as_array_mut().unwrap();
        let text = container.to_string().replace("\"http\"", &format!("\"http-{i}\""));
        containers.push(serde_json::from_str(&text).unwrap());
        if object.to_string().len() >= kibibytes * 1024 - 300 {
            break;
        }
    }
    json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
        "requestKind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "requestResource": {"group": "apps", "version": "v1", "resource": "deployments"},
        "name": "web", "namespace": "shop", "operation": "CREATE",
        "userInfo": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
        "object": object, "oldObject": null, "dryRun": false,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "kubectl-create"}}})
    .to_string()
}

fn request(body: &str) -> Vec<u8> {
    let head = format!(
        "POST /validate?timeout=10s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// Sends on all connections; with a rate, that many requests a second in all, and each is late from
/// when it was due.
async fn load(address: &str, kibibytes: &str, rate: &str) {
    let address: SocketAddr = address.parse().unwrap();
    let request: Arc<[u8]> = request(&review(kibibytes.parse().unwrap())).into();
    let rate: f64 = rate.parse().unwrap();
    let every = (rate > 0.0).then(|| Duration::from_secs_f64(CONNECTIONS as f64 / rate));
    let mut tasks = Vec::new();
    for i in 0..CONNECTIONS {
        let mut stream = connect(address).await;
        let request = request.clone();
        tasks.push(tokio::spawn(async move {
            let begin = Instant::now() + Duration::from_millis(100);
            let mut due = begin + every.unwrap_or_default().mul_f64(i as f64 / CONNECTIONS as f64);
            let mut took = Vec::new();
            let mut buffer = vec![0; 16 * 1024];
            while begin.elapsed() < LONG {
                let sent = match every {
                    Some(every) => {
                        // Timers are too coarse; the load has a core to itself.
                        while Instant::now() < due {
                            yield_now().await;
                        }
                        due += every;
                        due - every
                    }
                    None => Instant::now(),
                };
                assert!(ask(&mut stream, &request, &mut buffer).await.contains("\"allowed\":true"));
                took.push(sent.elapsed().as_micros() as u32);
            }
            took
        }));
    }
    let mut took = Vec::new();
    for task in tasks {
        took.extend(task.await.unwrap());
    }
    took.sort_unstable();
    let at = |part: f64| took[((took.len() - 1) as f64 * part) as usize];
    println!("{} {} {}", took.len(), at(0.5), at(0.99));
}

/// Bodies of 3 MiB on 64 connections at once, again and again.
async fn flood(address: &str) {
    let address: SocketAddr = address.parse().unwrap();
    let request: Arc<[u8]> = request(&review(3 * 1024)).into();
    let mut tasks = Vec::new();
    for _ in 0..64 {
        let request = request.clone();
        tasks.push(tokio::spawn(async move {
            let (mut served, mut shed) = (0, 0);
            let begin = Instant::now();
            while begin.elapsed() < LONG {
                let mut stream = connect(address).await;
                let mut buffer = vec![0; 16 * 1024];
                // Who is turned away may find the connection closed before all is sent.
                let _ = stream.write_all(&request).await;
                match stream.read(&mut buffer).await {
                    Ok(n) if buffer[..n].starts_with(b"HTTP/1.1 200") => served += 1,
                    _ => shed += 1,
                }
            }
            (served, shed)
        }));
    }
    let (mut served, mut shed) = (0, 0);
    for task in tasks {
        let (a, b) = task.await.unwrap();
        (served, shed) = (served + a, shed + b);
    }
    println!("Under a flood of 3 MiB bodies: {served} answered, {shed} turned away");
}

/// Sends one request and reads its answer, which fits the buffer.
async fn ask<'b>(stream: &mut TlsStream<TcpStream>, request: &[u8], buffer: &'b mut [u8]) -> &'b str {
    stream.write_all(request).await.unwrap();
    let mut have = 0;
    loop {
        let read = stream.read(&mut buffer[have..]).await.unwrap();
        assert!(read > 0, "the server closed the connection");
        have += read;
        if let Some(head) = buffer[..have].windows(4).position(|w| w == b"\r\n\r\n") {
            let text = std::str::from_utf8(&buffer[..head]).unwrap().to_ascii_lowercase();
            let (_, rest) = text.split_once("content-length: ").unwrap();
            let len: usize = rest.lines().next().unwrap().trim().parse().unwrap();
            if have >= head + 4 + len {
                break;
            }
        }
    }
    std::str::from_utf8(&buffer[..have]).unwrap()
}

async fn connect(address: SocketAddr) -> TlsStream<TcpStream> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Any))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let tcp = TcpStream::connect(address).await.unwrap();
    tcp.set_nodelay(true).unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(ServerName::try_from("localhost").unwrap(), tcp)
        .await
        .unwrap()
}

/// Trusts anybody: the certificate was made a moment ago.
#[derive(Debug)]
struct Any;

impl ServerCertVerifier for Any {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}
