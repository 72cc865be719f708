//! Where the serving certificate comes from, and following it there.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rustls::RootCertStore;
use tokio::sync::watch;
use tracing::{info, warn};

use super::cluster::{Cluster, ClusterError};
use super::files::{BadFolder, Folder};
use super::issue::{self, CannotIssue, Issued};
use super::pair::{self, BadPair, Pair};
use super::rotation::{self, Lifetimes};
use super::{Serving, keyring};
use crate::clock;
use crate::webhook::metrics::Metrics;

/// Where the certificate comes from.
#[derive(Debug)]
pub enum Source {
    /// From an authority made at start that nobody else knows: for development.
    SelfSigned {
        /// What it is for.
        names: Vec<String>,
    },
    /// From a folder with `tls.crt` and `tls.key`.
    Files(PathBuf),
    /// From the Secret that the replicas in a cluster share.
    Cluster(Box<Cluster>),
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The folder holds no pair.
    #[error(transparent)]
    Folder(#[from] BadFolder),
    /// The pair cannot be used.
    #[error(transparent)]
    Pair(#[from] BadPair),
    /// The cluster gives none.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// None can be made.
    #[error(transparent)]
    Issue(#[from] CannotIssue),
    /// The file with the client authorities cannot be used.
    #[error("the client authorities in {} cannot be used", path.display())]
    Clients {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A source that was opened, and what it gave last.
#[derive(Debug)]
pub struct Follower {
    origin: Origin,
    clients: Option<Clients>,
    pair: Pair,
}

#[derive(Debug)]
enum Origin {
    SelfSigned { names: Vec<String>, issued: Issued },
    Files(Folder),
    Cluster { cluster: Box<Cluster>, served: Issued },
}

/// The authorities whose clients get in, in a file.
#[derive(Debug)]
struct Clients {
    path: PathBuf,
    seen: Vec<u8>,
    roots: Arc<RootCertStore>,
}

impl Follower {
    /// Gets the first certificate. With `clients`, a file of authorities, only those get in who show
    /// a certificate that one of these has signed.
    ///
    /// # Errors
    /// [`CertificateError`]; see there.
    pub async fn open(source: Source, clients: Option<PathBuf>) -> Result<Self, CertificateError> {
        let clients = clients.map(Clients::read).transpose()?;
        let (origin, pair) = match source {
            Source::Files(path) => {
                let (folder, pair) = Folder::open(path)?;
                (Origin::Files(folder), pair)
            }
            Source::SelfSigned { names } => {
                let issued = self_signed(&names, clock::now())?;
                let pair = parse(&issued)?;
                (Origin::SelfSigned { names, issued }, pair)
            }
            Source::Cluster(cluster) => {
                let served = cluster.round(clock::now()).await?.leaf;
                let pair = parse(&served)?;
                (Origin::Cluster { cluster, served }, pair)
            }
        };
        Ok(Follower { origin, clients, pair })
    }

    /// What to serve with now.
    ///
    /// # Errors
    /// [`CertificateError::Pair`] when it cannot be used.
    pub fn serving(&self) -> Result<Arc<Serving>, CertificateError> {
        Ok(Serving::new(&self.pair, self.clients.as_ref().map(|c| &c.roots))?)
    }

    /// Looks every so often, and passes on what is new, for ever. Where that fails, what was served
    /// before goes on being served.
    pub async fn follow(mut self, every: Duration, to: watch::Sender<Arc<Serving>>, metrics: Arc<Metrics>) {
        let mut last_error = String::new();
        loop {
            tokio::time::sleep(every).await;
            match self.look_again().await {
                Ok(None) => last_error.clear(),
                Ok(Some(serving)) => {
                    info!(not_after = %serving.not_after, "serving with another certificate");
                    metrics.reloaded(true);
                    metrics.serving_until(serving.not_after);
                    to.send_replace(serving);
                    last_error.clear();
                }
                Err(error) => {
                    metrics.reloaded(false);
                    let error = format!("{:#}", anyhow::Error::from(error));
                    if error != last_error {
                        warn!(error, "could not take up another certificate; the one before is kept");
                    }
                    last_error = error;
                }
            }
        }
    }

    async fn look_again(&mut self) -> Result<Option<Arc<Serving>>, CertificateError> {
        let pair = self.origin.look_again(clock::now()).await?;
        let clients = self.clients.as_mut().map(Clients::look_again).transpose()?.unwrap_or(false);
        if pair.is_none() && !clients {
            return Ok(None);
        }
        self.pair = pair.unwrap_or_else(|| self.pair.clone());
        self.serving().map(Some)
    }
}

impl Origin {
    async fn look_again(&mut self, now: Timestamp) -> Result<Option<Pair>, CertificateError> {
        match self {
            Origin::Files(folder) => Ok(folder.look_again()?),
            Origin::SelfSigned { names, issued } => {
                if !rotation::is_due(keyring::lifetime(&issued.certificate)?, now) {
                    return Ok(None);
                }
                *issued = self_signed(names, now)?;
                Ok(Some(parse(issued)?))
            }
            Origin::Cluster { cluster, served } => {
                let leaf = cluster.round(now).await?.leaf;
                if leaf == *served {
                    return Ok(None);
                }
                let pair = parse(&leaf)?;
                *served = leaf;
                Ok(Some(pair))
            }
        }
    }
}

impl Clients {
    fn read(path: PathBuf) -> Result<Self, CertificateError> {
        match std::fs::read(&path) {
            Ok(seen) => match pair::authorities(&seen) {
                Ok(roots) => Ok(Clients { path, seen, roots }),
                Err(source) => Err(CertificateError::Clients { path, source: source.into() }),
            },
            Err(source) => Err(CertificateError::Clients { path, source: source.into() }),
        }
    }

    /// Whether the authorities changed.
    fn look_again(&mut self) -> Result<bool, CertificateError> {
        let now = Clients::read(self.path.clone())?;
        let changed = now.seen != self.seen;
        *self = now;
        Ok(changed)
    }
}

fn self_signed(names: &[String], now: Timestamp) -> Result<Issued, CannotIssue> {
    let life = Lifetimes::default();
    let authority = issue::authority(now, life.authority)?;
    issue::leaf(&authority, names, now, life.leaf)
}

fn parse(issued: &Issued) -> Result<Pair, BadPair> {
    Pair::from_pem(issued.certificate.as_bytes(), issued.key.as_bytes())
}
