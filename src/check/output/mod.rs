//! Prints reports: one file per format. Each format takes entries as they come, file by file, so that
//! nothing has to be kept.

mod github;
mod json;
mod junit;
mod sarif;
mod text;

use super::report::{Entry, Summary};

/// The formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text {
        /// Whether to colour it.
        color: bool,
    },
    /// One JSON document.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
    /// Workflow commands that GitHub turns into annotations.
    Github,
}

/// Prints a report in one format, piece by piece.
pub trait Printer {
    /// What comes before everything.
    fn begin(&mut self, out: &mut String);
    /// Entries of a file; a large file comes in several parts.
    fn entries(&mut self, file: &str, entries: &[Entry], out: &mut String);
    /// What comes last.
    fn end(&mut self, summary: &Summary, out: &mut String);
}

/// The printer of a format, for the release of Kubernetes that is spoken for (`v1.37.2`).
pub fn printer(format: Format, release: &'static str) -> Box<dyn Printer + Send> {
    match format {
        Format::Text { color } => Box::new(text::Text::new(color)),
        Format::Json => Box::new(json::Json::new(release)),
        Format::Sarif => Box::new(sarif::Sarif::new(release)),
        Format::Junit => Box::new(junit::Junit),
        Format::Github => Box::new(github::Github),
    }
}
