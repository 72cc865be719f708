//! The name of a Deployment in its cluster.

use std::fmt;
use std::sync::Arc;

/// Namespace and name of a Deployment. Cheap to copy.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    text: Arc<str>,
    /// Where the slash is.
    slash: u32,
}

impl Key {
    /// Of a Deployment.
    pub fn new(namespace: &str, name: &str) -> Key {
        let slash = u32::try_from(namespace.len()).expect("names have at most 253 bytes");
        Key { text: format!("{namespace}/{name}").into(), slash }
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.text[..self.slash as usize]
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.text[self.slash as usize + 1..]
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
