//! A certificate and its key, checked to belong together.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use rustls::crypto::ring;
use rustls::server::{ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{InconsistentKeys, RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// A certificate chain, the end entity's first, with the key of that one.
#[derive(Debug, Clone)]
pub struct Pair {
    key: Arc<CertifiedKey>,
    /// When the end entity's certificate expires.
    pub not_after: Timestamp,
}

/// Why a certificate and a key cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum BadPair {
    /// The PEM text of the certificate has none in it.
    #[error("there is no certificate in it")]
    NoCertificate,
    /// The PEM text of the key has none in it.
    #[error("there is no private key in it")]
    NoKey,
    /// The certificate cannot be read.
    #[error("the certificate cannot be read: {0}")]
    Certificate(String),
    /// The key is of another certificate.
    #[error("the private key does not belong to the certificate")]
    Mismatch,
    /// The TLS library takes it not.
    #[error("the pair cannot be used")]
    Tls(#[source] rustls::Error),
    /// The authorities that clients must show a certificate of cannot be used.
    #[error("the client authorities cannot be used: {0}")]
    Clients(String),
}

impl Pair {
    /// Reads both from PEM text.
    ///
    /// # Errors
    /// [`BadPair`]; see there.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, BadPair> {
        let chain = certificates(chain)?;
        let not_after = validity(chain.first().ok_or(BadPair::NoCertificate)?)?.1;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| BadPair::NoKey)?;
        let key = CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(|e| match e {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => BadPair::Mismatch,
            other => BadPair::Tls(other),
        })?;
        Ok(Pair { key: Arc::new(key), not_after })
    }

    /// TLS 1.3 and 1.2, HTTP/2 and HTTP/1.1, with this pair.
    ///
    /// # Errors
    /// [`BadPair::Clients`] when there is no authority among the clients' ones.
    pub fn server_config(&self, clients: Option<&Arc<RootCertStore>>) -> Result<ServerConfig, BadPair> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(BadPair::Tls)?;
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(roots) => builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(roots.clone(), provider)
                    .build()
                    .map_err(|e| BadPair::Clients(e.to_string()))?,
            ),
        };
        let resolver: Arc<dyn ResolvesServerCert> = Arc::new(SingleCertAndKey::from(self.key.clone()));
        let mut config = builder.with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    /// The chain, the end entity's certificate first.
    pub fn chain(&self) -> &[CertificateDer<'static>] {
        &self.key.cert
    }
}

/// The certificates in a PEM text.
///
/// # Errors
/// [`BadPair::Certificate`] when the text is broken.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, BadPair> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    found.map_err(|e| BadPair::Certificate(e.to_string()))
}

/// The certificates in a PEM text as authorities to check others by.
///
/// # Errors
/// [`BadPair::NoCertificate`] and [`BadPair::Certificate`].
pub fn authorities(pem: &[u8]) -> Result<Arc<RootCertStore>, BadPair> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        roots.add(certificate).map_err(|e| BadPair::Certificate(e.to_string()))?;
    }
    if roots.is_empty() { Err(BadPair::NoCertificate) } else { Ok(Arc::new(roots)) }
}

/// From when to when a certificate is valid.
///
/// # Errors
/// [`BadPair::Certificate`] when it cannot be read.
pub fn validity(certificate: &CertificateDer<'_>) -> Result<(Timestamp, Timestamp), BadPair> {
    let bad = |e: String| BadPair::Certificate(e);
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|e| bad(e.to_string()))?;
    let time = |t: x509_parser::time::ASN1Time| {
        Timestamp::from_second(t.timestamp()).map_err(|e| bad(e.to_string()))
    };
    Ok((time(parsed.validity().not_before)?, time(parsed.validity().not_after)?))
}
