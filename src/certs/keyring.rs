//! What the replicas in one cluster share: the authorities and the serving certificate, as the data
//! of a Secret.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::jiff::Timestamp;

use super::issue::Issued;
use super::pair::{BadPair, certificates, validity};

/// Keys in the Secret. `tls.crt` and `tls.key` are named as in every Secret with a certificate, so
/// that other tools can show it.
const SIGNING: [&str; 2] = ["ca.crt", "ca.key"];
const NEXT: [&str; 2] = ["next-ca.crt", "next-ca.key"];
const LEAF: [&str; 2] = ["tls.crt", "tls.key"];
const RETIRED: &str = "retired-ca.crt";
const NAMES: &str = "names";

/// All certificates of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyring {
    /// The authority that signs.
    pub signing: Issued,
    /// The one that will: callers must come to know it first.
    pub next: Option<Issued>,
    /// Certificates of authorities that signed before: callers go on trusting them until they expire.
    pub retired: Vec<String>,
    /// The serving certificate.
    pub leaf: Issued,
    /// What the serving certificate is for, in order.
    pub names: Vec<String>,
}

impl Keyring {
    /// The authorities that callers must trust, as PEM text.
    pub fn bundle(&self) -> String {
        let next = self.next.iter().map(|n| n.certificate.as_str());
        let retired = self.retired.iter().map(String::as_str);
        let all = std::iter::once(self.signing.certificate.as_str()).chain(next).chain(retired);
        all.map(|pem| format!("{}\n", pem.trim_end())).collect()
    }

    /// As the data of a Secret.
    pub fn to_data(&self) -> BTreeMap<String, ByteString> {
        let mut data = BTreeMap::new();
        let mut put =
            |key: &str, text: &str| data.insert(key.to_owned(), ByteString(text.as_bytes().to_vec()));
        for (keys, issued) in
            [(SIGNING, Some(&self.signing)), (NEXT, self.next.as_ref()), (LEAF, Some(&self.leaf))]
        {
            if let Some(issued) = issued {
                put(keys[0], &issued.certificate);
                put(keys[1], &issued.key);
            }
        }
        put(RETIRED, &self.retired.concat());
        put(NAMES, &self.names.join("\n"));
        data
    }

    /// Out of the data of a Secret; `None` when something that must be there is not, as in a Secret
    /// that somebody made empty for us to fill.
    pub fn from_data(data: &BTreeMap<String, ByteString>) -> Option<Self> {
        let text = |key: &str| String::from_utf8(data.get(key)?.0.clone()).ok();
        let issued = |keys: [&str; 2]| Some(Issued { certificate: text(keys[0])?, key: text(keys[1])? });
        Some(Keyring {
            signing: issued(SIGNING)?,
            next: issued(NEXT),
            retired: split(&text(RETIRED).unwrap_or_default()),
            leaf: issued(LEAF)?,
            names: text(NAMES).unwrap_or_default().lines().map(str::to_owned).collect(),
        })
    }
}

/// The certificates in a PEM text, each with its own markers.
fn split(pem: &str) -> Vec<String> {
    const END: &str = "-----END CERTIFICATE-----";
    pem.split_inclusive(END).filter(|p| p.contains(END)).map(|p| format!("{}\n", p.trim())).collect()
}

/// From when to when the first certificate in a PEM text is valid.
///
/// # Errors
/// [`BadPair::NoCertificate`] and [`BadPair::Certificate`].
pub fn lifetime(pem: &str) -> Result<(Timestamp, Timestamp), BadPair> {
    validity(certificates(pem.as_bytes())?.first().ok_or(BadPair::NoCertificate)?)
}
