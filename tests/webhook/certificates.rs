//! Certificates of a running server: bad ones, changed ones, and those that clients must show.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use rollgate::certs::issue;
use rollgate::certs::source::Source;
use rollgate::webhook::lifecycle::{Lifecycle, Stage};
use rollgate::webhook::server::{Options, Server};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::client::{Connection, Http, Pool, tls};
use super::running::{Folder, Running, good, is_allowed, issued, options, self_signed, write};

fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

async fn shown(running: &Running) -> CertificateDer<'static> {
    Connection::open(running.address, Http::One).await.unwrap().certificate
}

/// Waits until new connections are shown a certificate.
async fn until_shown(running: &Running, pem: &str) {
    let begin = Instant::now();
    while shown(running).await != der(pem) {
        assert!(begin.elapsed() < Duration::from_secs(10), "the certificate was not taken up");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn told(options: Options) -> String {
    let error = Server::bind(options, Lifecycle::default()).await.unwrap_err();
    format!("{:#}", anyhow::Error::from(error))
}

#[tokio::test]
async fn a_bad_pair_fails_at_start_and_says_why() {
    let folder = Folder::new("bad-pair");
    let at = || options(Source::Files(folder.0.clone()));
    assert!(told(at()).await.contains("tls.crt cannot be read"));
    write(&folder.0, &issued());
    fs::write(folder.0.join("tls.key"), issued().key).unwrap();
    assert!(told(at()).await.ends_with("the private key does not belong to the certificate"));
    fs::write(folder.0.join("tls.key"), "nonsense").unwrap();
    assert!(told(at()).await.ends_with("there is no private key in it"));
    fs::write(folder.0.join("tls.crt"), "nonsense").unwrap();
    assert!(told(at()).await.ends_with("there is no certificate in it"));
    let missing = Options { client_ca: Some(folder.0.join("none")), ..options(self_signed()) };
    assert!(told(missing).await.contains("the client authorities in "));
}

/// Lays a pair out as kubelet does.
fn mount(folder: &Path, version: &str, pair: &issue::Issued) {
    let real = folder.join(version);
    fs::create_dir(&real).unwrap();
    write(&real, pair);
    symlink(version, folder.join("..data_tmp")).unwrap();
    fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
}

/// Case 59: servers load the pair once, or watch the file while kubelet swaps a link.
#[tokio::test]
async fn a_mounted_secret_is_followed_again_and_again() {
    let folder = Folder::new("mounted");
    let first = issued();
    mount(&folder.0, "..2026_01", &first);
    for file in ["tls.crt", "tls.key"] {
        symlink(format!("..data/{file}"), folder.0.join(file)).unwrap();
    }
    let running = Running::start(options(Source::Files(folder.0.clone()))).await;
    let mut kept = Connection::open(running.address, Http::One).await.unwrap();
    assert_eq!(kept.certificate, der(&first.certificate));
    for round in 2..5 {
        let pair = issued();
        mount(&folder.0, &format!("..2026_0{round}"), &pair);
        fs::remove_dir_all(folder.0.join(format!("..2026_0{}", round - 1))).unwrap();
        until_shown(&running, &pair.certificate).await;
        let (_, body, _) = kept.post("/validate", good()).await.unwrap();
        assert!(is_allowed(&body), "the old connection goes on");
    }
    assert!(running.app.metrics.text().contains(r#"rollgate_certificate_reloads_total{result="success"} 3"#));
    running.stop().await;
}

#[tokio::test]
async fn a_certificate_without_its_key_is_not_taken_up() {
    let folder = Folder::new("torn");
    let (old, new) = (issued(), issued());
    write(&folder.0, &old);
    let running = Running::start(options(Source::Files(folder.0.clone()))).await;
    let expiry =
        |text: String| text.lines().find(|l| l.contains("expiry") && !l.starts_with('#')).map(str::to_owned);
    let before = expiry(running.app.metrics.text());
    assert!(before.is_some());
    fs::write(folder.0.join("tls.crt"), &new.certificate).unwrap();
    let failed = r#"rollgate_certificate_reloads_total{result="failure"}"#;
    while !running.app.metrics.text().contains(failed) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(shown(&running).await, der(&old.certificate));
    assert_eq!(running.app.lifecycle.stage(), Stage::Serving, "still ready");
    fs::write(folder.0.join("tls.key"), &new.key).unwrap();
    until_shown(&running, &new.certificate).await;
    running.stop().await;
}

#[tokio::test]
async fn both_versions_of_tls_are_served() {
    let running = Running::start(options(self_signed())).await;
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let tls = tls(Http::Two, version, None);
        let mut connection = Connection::open_with(running.address, Http::Two, tls).await.unwrap();
        assert!(is_allowed(&connection.post("/validate", good()).await.unwrap().1));
    }
    running.stop().await;
}

#[tokio::test]
async fn with_a_client_authority_only_its_clients_get_in() {
    let folder = Folder::new("clients");
    let now = rollgate::clock::now();
    let life = Duration::from_secs(3600);
    let authority = issue::authority(now, life).unwrap();
    let file = folder.0.join("clients.crt");
    fs::write(&file, &authority.certificate).unwrap();
    let running = Running::start(Options { client_ca: Some(file), ..options(self_signed()) }).await;
    let identity = |by: &issue::Issued| {
        let pair = issue::client(by, "kube-apiserver", now, life).unwrap();
        (vec![der(&pair.certificate)], PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap())
    };
    let stranger = issue::authority(now, life).unwrap();
    for (identity, gets_in) in
        [(None, false), (Some(identity(&stranger)), false), (Some(identity(&authority)), true)]
    {
        let tls = tls(Http::One, &rustls::version::TLS13, identity);
        // In TLS 1.3 the client learns of the refusal only when it reads.
        let answer = match Connection::open_with(running.address, Http::One, tls).await {
            Ok(mut connection) => connection.post("/validate", good()).await,
            Err(error) => Err(error),
        };
        assert_eq!(answer.is_ok_and(|(_, body, _)| is_allowed(&body)), gets_in);
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_of_ten_thousand_fails_while_the_certificate_rotates() {
    let folder = Folder::new("rotating");
    write(&folder.0, &issued());
    let running = Running::start(options(Source::Files(folder.0.clone()))).await;
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..4 {
        let http = if worker % 2 == 0 { Http::One } else { Http::Two };
        let mut pool = Pool::new(running.address, http);
        workers.spawn(async move {
            for i in 0..2500 {
                let (_, body) = pool.post("/validate", good()).await.unwrap();
                assert!(is_allowed(&body));
                if i % 50 == 0 {
                    pool.open = None; // the next one meets the certificate of the hour
                }
            }
        });
    }
    for _ in 0..20 {
        let pair = issued();
        write(&folder.0, &pair);
        until_shown(&running, &pair.certificate).await;
    }
    while let Some(done) = workers.join_next().await {
        done.unwrap();
    }
    running.stop().await;
}
