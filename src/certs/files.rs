//! A certificate in a folder: `tls.crt` and `tls.key`, as cert-manager and mounted Secrets lay it out.
//!
//! The folder is read every few seconds. That sees every kind of change, the symbolic link that
//! kubelet swaps included, where a watch on a file goes stale with the file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::pair::{BadPair, Pair};

/// Why a folder gives no pair.
#[derive(Debug, thiserror::Error)]
pub enum BadFolder {
    /// A file cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The files hold no usable pair.
    #[error("{} holds no usable pair", folder.display())]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: BadPair,
    },
}

/// What a folder held when it was last looked at.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    seen: (Vec<u8>, Vec<u8>),
}

impl Folder {
    /// Reads the pair for the first time.
    ///
    /// # Errors
    /// [`BadFolder`]; see there.
    pub fn open(path: PathBuf) -> Result<(Self, Pair), BadFolder> {
        let seen = read(&path)?;
        let pair = parse(&path, &seen)?;
        Ok((Folder { path, seen }, pair))
    }

    /// The pair, if the files changed since they were last read with success.
    ///
    /// A certificate whose key is still to be written is an error until the key is there; it is never
    /// taken for a pair, since the two must match.
    ///
    /// # Errors
    /// [`BadFolder`]; see there.
    pub fn look_again(&mut self) -> Result<Option<Pair>, BadFolder> {
        let now = read(&self.path)?;
        if now == self.seen {
            return Ok(None);
        }
        let pair = parse(&self.path, &now)?;
        self.seen = now;
        Ok(Some(pair))
    }
}

fn parse(folder: &Path, (chain, key): &(Vec<u8>, Vec<u8>)) -> Result<Pair, BadFolder> {
    Pair::from_pem(chain, key).map_err(|source| BadFolder::Unusable { folder: folder.to_owned(), source })
}

/// Both files out of the same folder, even while a link is being swapped.
fn read(folder: &Path) -> Result<(Vec<u8>, Vec<u8>), BadFolder> {
    let chain = folder.join("tls.crt");
    // Where the certificate really lies, there its key lies too.
    let real = fs::canonicalize(&chain).map_err(|e| unreadable(&chain, e))?;
    let beside = real.parent().unwrap_or(folder).join("tls.key");
    let key = if beside.exists() { beside } else { folder.join("tls.key") };
    let chain = fs::read(&real).map_err(|e| unreadable(&real, e))?;
    Ok((chain, fs::read(&key).map_err(|e| unreadable(&key, e))?))
}

fn unreadable(path: &Path, source: io::Error) -> BadFolder {
    BadFolder::Unreadable { path: path.to_owned(), source }
}
