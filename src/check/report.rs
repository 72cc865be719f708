//! What a check found: the data that every output format prints.

use super::position::Region;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The API server refuses the object.
    Refusal,
    /// The API server takes the object with a warning.
    Warning,
    /// The input could not be read or judged.
    Unusable,
}

/// What kind of finding it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The text could not be read as YAML or JSON.
    Unreadable,
    /// What was read is no Kubernetes object.
    NoObject,
    /// The API server does not serve such a kind.
    UnknownKind,
    /// A value has the wrong type for its field.
    Decode,
    /// The request cannot be carried out on this object.
    BadRequest,
    /// A field is unknown or given twice.
    Strict,
    /// A rule of the API server is broken; the name is the reason of the cause.
    Fault(&'static str),
    /// The API server warns.
    Warning,
}

impl Rule {
    /// The identifier that machine-readable outputs carry.
    pub fn id(self) -> &'static str {
        match self {
            Rule::Unreadable => "Unreadable",
            Rule::NoObject => "NoObject",
            Rule::UnknownKind => "UnknownKind",
            Rule::Decode => "DecodeError",
            Rule::BadRequest => "BadRequest",
            Rule::Strict => "StrictDecodingError",
            Rule::Fault(reason) => reason,
            Rule::Warning => "Warning",
        }
    }
}

/// One thing found, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What kind it is.
    pub rule: Rule,
    /// The field path as the API server names it. Empty when the message says it all.
    pub path: String,
    /// What is wrong, in the API server's words.
    pub message: String,
    /// Where.
    pub region: Region,
    /// The text of the first line of the region.
    pub source: String,
}

/// What became of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The API server would take it.
    Accepted,
    /// The API server would refuse it.
    Refused,
    /// It is of a kind that is not judged.
    LeftAlone,
}

/// One object and what was found about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its `apiVersion`.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// The namespace that it would be in; empty for a kind that is not judged and names none.
    pub namespace: String,
    /// Its name, or its `generateName`.
    pub name: String,
    /// The line where it begins.
    pub line: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// What was found.
    pub findings: Vec<Finding>,
    /// The refusal as the API server would send it: a `v1.Status`.
    pub status: Option<serde_json::Value>,
}

/// One entry of a report, in the order of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// An object.
    Object(Object),
    /// Something that is no object.
    Unusable(Finding),
}

impl Entry {
    /// What was found.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Entry::Object(object) => &object.findings,
            Entry::Unusable(finding) => std::slice::from_ref(finding),
        }
    }
}

/// How much there was of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Files read, standard input included.
    pub files: u64,
    /// Deployments accepted.
    pub accepted: u64,
    /// Deployments refused.
    pub refused: u64,
    /// Objects of other kinds.
    pub left_alone: u64,
    /// Refusals found.
    pub refusals: u64,
    /// Warnings found.
    pub warnings: u64,
    /// Texts and files that could not be read or judged.
    pub unusable: u64,
}

impl Summary {
    /// Counts the entries of a file, or of a part of one.
    pub fn count(&mut self, entries: &[Entry]) {
        for entry in entries {
            if let Entry::Object(object) = entry {
                match object.outcome {
                    Outcome::Accepted => self.accepted += 1,
                    Outcome::Refused => self.refused += 1,
                    Outcome::LeftAlone => self.left_alone += 1,
                }
            }
            for finding in entry.findings() {
                match finding.level {
                    Level::Refusal => self.refusals += 1,
                    Level::Warning => self.warnings += 1,
                    Level::Unusable => self.unusable += 1,
                }
            }
        }
    }
}
