//! Making keys and certificates.
//!
//! The time comes in as a value. The keys are random, which is why this is not part of the deciding
//! code.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use time::OffsetDateTime;

/// How much earlier than now a certificate begins to be valid, for the sake of clocks that are slow.
pub const BACKDATED: Duration = Duration::from_secs(3600);

/// A certificate and its key, as PEM text.
#[derive(Clone, PartialEq, Eq)]
pub struct Issued {
    /// The certificate.
    pub certificate: String,
    /// The key.
    pub key: String,
}

/// Keeps the key out of logs.
impl std::fmt::Debug for Issued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Issued").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

/// Why a certificate cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CannotIssue {
    /// A name, a key or the time is unusable.
    #[error("the certificate cannot be made")]
    Generator(#[from] rcgen::Error),
    /// The lifetime leaves the calendar.
    #[error("the time {0} cannot stand in a certificate")]
    Time(Timestamp),
}

/// A new authority that signs itself.
///
/// # Errors
/// [`CannotIssue`]; see there.
pub fn authority(now: Timestamp, life: Duration) -> Result<Issued, CannotIssue> {
    let mut params = params(&format!("rollgate authority {now}"), now, life)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    Ok(Issued { certificate: certificate.pem(), key: key.serialize_pem() })
}

/// A new serving certificate for these DNS names and IP addresses.
///
/// # Errors
/// [`CannotIssue`]; see there.
pub fn leaf(by: &Issued, names: &[String], now: Timestamp, life: Duration) -> Result<Issued, CannotIssue> {
    let mut params = params("rollgate", now, life)?;
    for name in names {
        params.subject_alt_names.extend(CertificateParams::new(vec![name.clone()])?.subject_alt_names);
    }
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    sign(params, by)
}

/// A new certificate for a client that calls itself `name`, as the API server needs where servers let
/// in only clients with one.
///
/// # Errors
/// [`CannotIssue`]; see there.
pub fn client(by: &Issued, name: &str, now: Timestamp, life: Duration) -> Result<Issued, CannotIssue> {
    let mut params = params(name, now, life)?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    sign(params, by)
}

fn sign(mut params: CertificateParams, by: &Issued) -> Result<Issued, CannotIssue> {
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    let issuer = Issuer::from_ca_cert_pem(&by.certificate, KeyPair::from_pem(&by.key)?)?;
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &issuer)?;
    Ok(Issued { certificate: certificate.pem(), key: key.serialize_pem() })
}

fn params(name: &str, now: Timestamp, life: Duration) -> Result<CertificateParams, CannotIssue> {
    let mut params = CertificateParams::default();
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    params.distinguished_name = subject;
    params.not_before = date(now, -(BACKDATED.as_secs() as i64))?;
    params.not_after = date(now, life.as_secs() as i64)?;
    Ok(params)
}

fn date(now: Timestamp, offset_secs: i64) -> Result<OffsetDateTime, CannotIssue> {
    OffsetDateTime::from_unix_timestamp(now.as_second() + offset_secs).map_err(|_| CannotIssue::Time(now))
}
