//! Manifests with positions to reports: what `rollgate check` says. Pure.
//!
//! [`encoding`] makes bytes text, [`documents`] separates the documents of a text, [`yaml`] reads one,
//! [`objects`] finds the objects in it, [`manifest`] judges them, [`report`] is what comes out, and
//! [`output`] prints it. [`defaulted`] shows what defaulting adds to a manifest. It opens no files and decides nothing about a Deployment: that is
//! [`crate::verdict`]'s.

pub mod defaulted;
pub mod documents;
pub mod encoding;
pub mod manifest;
pub mod objects;
pub mod output;
pub mod position;
pub mod report;
pub mod yaml;
