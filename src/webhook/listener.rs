//! Accepting connections and serving HTTP on them, with or without TLS, over HTTP/1.1 or HTTP/2.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use super::lifecycle::{Lifecycle, Stage};
use super::metrics::{Counted, Metrics};
use crate::certs::Serving;

/// How long a client may take to get through the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long an HTTP/1.1 connection may idle, or take over a head. Longer than the 90 s after which
/// the API server's client gives an idle connection up, so that it is never we who close the
/// connection at the moment it sends a request.
const IDLE: Duration = Duration::from_secs(120);

/// How often an HTTP/2 connection is asked whether anybody is there, and how long it may take to
/// say so: half-open connections go away.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_WITHIN: Duration = Duration::from_secs(20);

/// How long requests in flight may take to end once connections are being closed.
const LAST_REQUESTS: Duration = Duration::from_secs(15);

/// How long a connection is left alone after it was opened, also when connections are being closed: a
/// request that is on its way on it would be lost.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// How much a client may send on one HTTP/2 connection before it is read: bounds the memory that a
/// connection can hold.
const WINDOW_BYTES: u32 = 1024 * 1024;
const STREAMS: u32 = 128;

/// One port.
#[derive(Debug)]
pub struct Listener {
    /// Bound already.
    pub tcp: TcpListener,
    /// The TLS side, which follows the certificate; `None` for plain HTTP.
    pub tls: Option<watch::Receiver<Arc<Serving>>>,
    /// How many connections may be open.
    pub connections: usize,
}

/// What a connection needs from its port.
#[derive(Clone)]
struct Port {
    http: Builder<TokioExecutor>,
    router: Router,
    metrics: Arc<Metrics>,
    lifecycle: Lifecycle,
}

impl Listener {
    /// Serves until the lifecycle comes to [`Stage::Stopping`], and then until the last connection
    /// is closed.
    pub async fn serve(self, router: Router, metrics: Arc<Metrics>, lifecycle: Lifecycle) {
        let port = Port { http: http(), router, metrics, lifecycle: lifecycle.clone() };
        let slots = Arc::new(Semaphore::new(self.connections));
        let mut tasks = JoinSet::new();
        let stop = lifecycle.reached(Stage::Stopping);
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(_) = tasks.join_next() => {}
                (slot, stream) = self.accept(&slots) => {
                    let tls = self.tls.as_ref().map(|t| TlsAcceptor::from(t.borrow().config.clone()));
                    tasks.spawn(port.clone().connection(stream, tls, slot));
                }
            }
        }
        drop(self.tcp); // from here on, connecting is refused
        let last = async { while tasks.join_next().await.is_some() {} };
        if timeout(LAST_REQUESTS, last).await.is_err() {
            warn!("requests were still in flight after {} s", LAST_REQUESTS.as_secs());
        }
        tasks.shutdown().await;
    }

    async fn accept(&self, slots: &Arc<Semaphore>) -> (OwnedSemaphorePermit, TcpStream) {
        let slot = slots.clone().acquire_owned().await.expect("the semaphore is never closed");
        loop {
            match self.tcp.accept().await {
                Ok((stream, _)) => return (slot, stream),
                // Out of descriptors, or a client that left again: neither is a reason to end.
                Err(error) => {
                    debug!(%error, "could not accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
}

fn http() -> Builder<TokioExecutor> {
    let mut http = Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(IDLE);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_WITHIN)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_concurrent_streams(STREAMS);
    http
}

impl Port {
    async fn connection(self, stream: TcpStream, tls: Option<TlsAcceptor>, _slot: OwnedSemaphorePermit) {
        let _open = Counted::new(&self.metrics.connections);
        // Answers are small: they must not wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let Some(tls) = tls else { return self.serve(stream, self.http.clone()).await };
        let done = tokio::select! {
            done = handshake(tls, stream) => done,
            () = self.is_to_close() => return,
        };
        match done {
            Ok(stream) => {
                let http = match stream.get_ref().1.alpn_protocol() {
                    Some(b"h2") => self.http.clone().http2_only(),
                    _ => self.http.clone().http1_only(),
                };
                self.serve(stream, http).await;
            }
            Err(error) => {
                debug!(%error, "TLS handshake failed");
                self.metrics.handshake_failed();
            }
        }
    }

    async fn serve<I>(&self, stream: I, http: Builder<TokioExecutor>)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = TowerToHyperService::new(self.router.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.is_to_close() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            debug!(error = &*error, "connection ended early");
        }
    }

    /// Waits until a connection that is opened now is to be closed.
    async fn is_to_close(&self) {
        let young_until = Instant::now() + FIRST_REQUEST;
        self.lifecycle.reached(Stage::Stopping).await;
        sleep_until(young_until).await;
    }
}

async fn handshake(
    tls: TlsAcceptor,
    stream: TcpStream,
) -> io::Result<tokio_rustls::server::TlsStream<TcpStream>> {
    match timeout(HANDSHAKE, tls.accept(stream)).await {
        Ok(done) => done,
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the client took too long")),
    }
}
