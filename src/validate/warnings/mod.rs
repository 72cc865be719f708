//! What the API server warns about although it accepts it. Nothing here changes a verdict.
//!
//! Start with [`warnings`]. Holds for an object that validation has passed; for one that it has not,
//! the server does not get as far.
//!
//! Source: kubernetes v1.37.2 `pkg/registry/apps/deployment/strategy.go` and `pkg/api/pod/warnings.go`.
//! Parity: exact up to [`MOST`] warnings; those that the server draws from a map in random order come
//! in the order given.

mod containers;
mod files;
mod owners;
mod pod;
mod ports;
mod scheduling;
mod volumes;

use std::collections::HashSet;
use std::fmt::Display;

use super::path::Path;
use crate::kube_types::names;
use crate::schema::equality::same_field;
use crate::schema::print::quoted;
use crate::schema::value::View;
use crate::verdict::Warning;

pub use owners::drop_repeated_owners;

/// How many warnings are kept. The server stops sending them after 4096 characters, which is about a
/// hundred; more than this many only cost time.
pub const MOST: usize = 1000;

/// The warnings about a Deployment that is created, or updated from `old`.
///
/// Both are as the server holds them before it stores them: defaulted, and without the fields behind
/// gates that are off. An update that changes neither `spec` nor annotations warns about nothing.
pub fn warnings(new: View<'_>, old: Option<View<'_>>) -> Vec<Warning> {
    let mut warnings = Warnings::default();
    if old.is_some_and(|old| !raises_generation(new, old)) {
        return warnings.list;
    }
    if old.is_none() {
        name(&mut warnings, new.nested("metadata").str("name"));
    }
    let spec = Path::root("spec");
    pod::template(&mut warnings, new.nested("spec").nested("template"), &spec.field("template"));
    warnings.list
}

/// Whether an update makes a new generation.
pub(crate) fn raises_generation(new: View<'_>, old: View<'_>) -> bool {
    !same_field(new, old, "spec")
        || !same_field(new.nested("metadata"), old.nested("metadata"), "annotations")
}

/// Pods get names and hostnames that begin with the Deployment's.
fn name(warnings: &mut Warnings, name: &str) {
    let details = names::label(name);
    if !details.is_empty() {
        let metadata = Path::root("metadata");
        let details = details.join(" ");
        warnings.about(
            &metadata.field("name"),
            format_args!("this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [{details}]"),
        );
    }
}

/// The warnings so far, each text once.
#[derive(Default)]
struct Warnings {
    list: Vec<Warning>,
    seen: HashSet<String>,
}

impl Warnings {
    /// Warns about what lies at `path`: `path: detail`.
    fn about(&mut self, path: &Path<'_>, detail: impl Display) {
        self.say(format!("{path}: {detail}"), path);
    }

    /// Warns in words of its own about what lies at `place`.
    fn say(&mut self, text: String, place: &Path<'_>) {
        if !self.is_full() && self.seen.insert(text.clone()) {
            self.list.push(Warning { text, place: place.steps() });
        }
    }

    /// Whether looking further is in vain.
    fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }
}

#[cfg(test)]
mod tests;
