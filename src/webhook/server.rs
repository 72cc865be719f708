//! Puts the parts together: certificate, ports, handlers, lifecycle.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::info;

use super::lifecycle::{Lifecycle, Stage};
use super::limits::{Limits, Room};
use super::listener::Listener;
use super::metrics::Metrics;
use super::router::{self, App};
use crate::certs::Serving;
use crate::certs::source::{CertificateError, Follower, Source};
use crate::review::Gate;

/// What a server is made from.
#[derive(Debug)]
pub struct Options {
    /// Where to listen with TLS.
    pub listen: SocketAddr,
    /// Where to listen without, for health, metrics and the validation service.
    pub plain_listen: Option<SocketAddr>,
    /// Where the certificate comes from.
    pub certificates: Source,
    /// A file of authorities; with it, TLS clients must show a certificate that one of them signed.
    pub client_ca: Option<PathBuf>,
    /// How often to look for another certificate.
    pub look_every: Duration,
    /// What to answer by.
    pub gate: Gate,
    /// What to take on.
    pub limits: Limits,
}

/// Why a server cannot start, or ended before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No certificate.
    #[error("no certificate to serve with")]
    Certificate(#[from] CertificateError),
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A part of the server ended by itself.
    #[error("a part of the server ended unexpectedly")]
    Ended(#[source] Option<tokio::task::JoinError>),
}

/// A server that has its certificate and its ports, but answers nobody yet.
#[derive(Debug)]
pub struct Server {
    app: Arc<App>,
    follower: Follower,
    look_every: Duration,
    serving: watch::Sender<Arc<Serving>>,
    tls: TcpListener,
    plain: Option<TcpListener>,
}

impl Server {
    /// Gets the certificate, then the ports: a bad certificate is told before anybody can connect.
    ///
    /// # Errors
    /// [`ServeError`]; see there.
    pub async fn bind(options: Options, lifecycle: Lifecycle) -> Result<Self, ServeError> {
        let follower = Follower::open(options.certificates, options.client_ca).await?;
        let serving = follower.serving()?;
        let metrics = Arc::new(Metrics::new());
        metrics.serving_until(serving.not_after);
        let tls = listen(options.listen).await?;
        let plain = match options.plain_listen {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        let app = App { gate: options.gate, metrics, room: Room::new(options.limits), lifecycle };
        Ok(Server {
            app: Arc::new(app),
            follower,
            look_every: options.look_every,
            serving: watch::Sender::new(serving),
            tls,
            plain,
        })
    }

    /// The TLS address.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.tls.local_addr()
    }

    /// The plain address.
    pub fn plain_address(&self) -> Option<SocketAddr> {
        self.plain.as_ref().and_then(|p| p.local_addr().ok())
    }

    /// What the handlers share.
    pub fn app(&self) -> Arc<App> {
        self.app.clone()
    }

    /// Serves until the lifecycle has come to its end and the last connection is closed.
    ///
    /// # Errors
    /// [`ServeError::Ended`] when a part ends that should not.
    pub async fn run(self) -> Result<(), ServeError> {
        let Server { app, follower, look_every, serving, tls, plain } = self;
        let connections = app.room.limits().connections;
        let (metrics, lifecycle) = (app.metrics.clone(), app.lifecycle.clone());
        let mut ports = JoinSet::new();
        let listener = Listener { tcp: tls, tls: Some(serving.subscribe()), connections };
        ports.spawn(listener.serve(router::whole(app.clone()), metrics.clone(), lifecycle.clone()));
        if let Some(tcp) = plain {
            let listener = Listener { tcp, tls: None, connections };
            ports.spawn(listener.serve(router::plain(app), metrics.clone(), lifecycle.clone()));
        }
        let mut following = JoinSet::new();
        following.spawn(follower.follow(look_every, serving, metrics));
        info!("serving");
        lifecycle.advance(Stage::Serving);
        loop {
            tokio::select! {
                ended = ports.join_next() => match ended {
                    None => return Ok(()),
                    Some(Ok(())) if lifecycle.stage() == Stage::Stopping => {}
                    Some(ended) => return Err(ServeError::Ended(ended.err())),
                },
                Some(ended) = following.join_next() => return Err(ServeError::Ended(ended.err())),
            }
        }
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|source| ServeError::Bind { address, source })
}
