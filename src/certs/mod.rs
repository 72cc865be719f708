//! The serving certificate: where it comes from, and how another takes its place without a restart.
//!
//! Start with [`source`]. [`pair`] checks that a certificate and a key belong together, [`files`]
//! follows a folder, [`issue`] makes certificates, [`rotation`] decides (purely) when to make which,
//! [`keyring`] is what the replicas of one cluster share, and [`cluster`] keeps it in a Secret.

pub mod cluster;
pub mod files;
pub mod issue;
pub mod keyring;
pub mod pair;
pub mod rotation;
pub mod source;

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use rustls::{RootCertStore, ServerConfig};

pub use pair::{BadPair, Pair};

/// What new connections are served with.
#[derive(Debug)]
pub struct Serving {
    /// Certificate, key, and who may connect.
    pub config: Arc<ServerConfig>,
    /// When the certificate expires.
    pub not_after: Timestamp,
}

impl Serving {
    /// Prepares a pair for serving; with `clients`, only to those who show a certificate that one of
    /// these authorities has signed.
    ///
    /// # Errors
    /// As [`Pair::server_config`].
    pub fn new(pair: &Pair, clients: Option<&Arc<RootCertStore>>) -> Result<Arc<Self>, BadPair> {
        let config = Arc::new(pair.server_config(clients)?);
        Ok(Arc::new(Serving { config, not_after: pair.not_after }))
    }
}
