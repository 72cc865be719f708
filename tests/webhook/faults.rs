//! Clients that misbehave do not keep the server from serving others.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use rollgate::webhook::limits::Limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::client::{Connection, Http, Pool, tls};
use super::running::{Running, good, is_allowed};
use super::support::LIMITS;

async fn serves_others(running: &Running) {
    for http in [Http::One, Http::Two] {
        let mut connection = Connection::open(running.address, http).await.unwrap();
        assert!(is_allowed(&connection.post("/validate", good()).await.unwrap().1));
    }
}

async fn raw_tls(running: &Running) -> TlsStream<TcpStream> {
    let tcp = TcpStream::connect(running.address).await.unwrap();
    let tls = TlsConnector::from(tls(Http::One, &rustls::version::TLS13, None));
    tls.connect("localhost".try_into().unwrap(), tcp).await.unwrap()
}

#[tokio::test]
async fn garbage_and_silence_before_tls() {
    let running = Running::with(LIMITS).await;
    let mut garbage = TcpStream::connect(running.address).await.unwrap();
    garbage.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let silent: Vec<_> =
        futures::future::join_all((0..50).map(|_| TcpStream::connect(running.address))).await;
    serves_others(&running).await;
    // The one that spoke no TLS is closed.
    let mut rest = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(5), garbage.read_to_end(&mut rest)).await.unwrap();
    assert!(running.app.metrics.text().contains("rollgate_tls_handshakes_failed_total 1"));
    drop(silent);
    running.stop().await;
}

#[tokio::test]
async fn bodies_that_trickle_or_end_early() {
    let running = Running::with(Limits { deadline: Duration::from_millis(300), ..LIMITS }).await;
    let head = "POST /validate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";
    let mut cut = raw_tls(&running).await;
    cut.write_all(head.as_bytes()).await.unwrap();
    drop(cut);
    let mut slow = raw_tls(&running).await;
    slow.write_all(head.as_bytes()).await.unwrap();
    serves_others(&running).await;
    let mut answer = vec![0; 12];
    slow.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 408");
    // A head that never ends.
    let mut slow = raw_tls(&running).await;
    slow.write_all(b"POST /validate HTTP/1.1\r\nhost").await.unwrap();
    serves_others(&running).await;
    running.stop().await;
}

/// Waits until a gauge or counter has a value.
async fn until(running: &Running, line: &str) {
    for _ in 0..500 {
        if running.app.metrics.text().lines().any(|l| l == line) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no {line} in\n{}", running.app.metrics.text());
}

#[tokio::test]
async fn what_is_in_flight_ends_before_the_server_does() {
    let running = Running::with(LIMITS).await;
    let body = good();
    let mut stream = raw_tls(&running).await;
    let head = format!(
        "POST /validate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body[..10]).await.unwrap();
    until(&running, "rollgate_requests_in_flight 1").await;
    let address = running.address;
    let stopping = tokio::spawn(running.stop());
    while TcpStream::connect(address).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stream.write_all(&body[10..]).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let text = String::from_utf8(answer).unwrap();
    assert!(text.starts_with("HTTP/1.1 200") && text.contains(r#""allowed":true"#), "{text}");
    stopping.await.unwrap();
}

#[tokio::test]
async fn clients_that_go_away_leave_nothing_behind() {
    let running = Running::with(LIMITS).await;
    for _ in 0..20 {
        let mut stream = raw_tls(&running).await;
        let head = "POST /validate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.unwrap();
    }
    until(&running, "rollgate_requests_in_flight 0").await;
    until(&running, "rollgate_connections 0").await;
    running.stop().await;
}

#[tokio::test]
async fn too_many_connections_wait_for_a_place() {
    let running = Running::with(Limits { connections: 2, ..LIMITS }).await;
    let mut first = Pool::new(running.address, Http::One);
    let mut second = Pool::new(running.address, Http::Two);
    first.post("/validate", good()).await.unwrap();
    second.post("/validate", good()).await.unwrap();
    let mut third = Pool::new(running.address, Http::One);
    let waiting = tokio::spawn(async move { third.post("/validate", good()).await.is_ok() });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());
    drop(first);
    assert!(waiting.await.unwrap());
    running.stop().await;
}

/// Bodies beyond what is held at a time are turned away, and those within still judged.
#[tokio::test]
async fn a_flood_of_large_bodies_is_shed() {
    let running = Running::with(Limits { held_bytes: (3 << 20) + 4096, body_bytes: 3 << 20, ..LIMITS }).await;
    let body = Bytes::from(vec![b' '; 1 << 20]);
    let mut senders = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (address, body) = (running.address, body.clone());
        senders.spawn(async move {
            let mut connection = Connection::open(address, Http::Two).await.unwrap();
            connection.post("/validate", body).await.map(|(code, ..)| code)
        });
    }
    let mut codes = Vec::new();
    while let Some(done) = senders.join_next().await {
        codes.extend(done.unwrap());
    }
    let allowed = [StatusCode::BAD_REQUEST, StatusCode::TOO_MANY_REQUESTS];
    assert!(codes.iter().all(|c| allowed.contains(c)), "{codes:?}");
    assert!(codes.contains(&StatusCode::BAD_REQUEST), "some were read, and found to be no JSON");
    serves_others(&running).await;
    running.stop().await;
}
