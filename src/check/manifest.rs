//! Judges every object of a text: documents in, report entries out.

use std::borrow::Cow;

use super::documents::{Document, Documents};
use super::objects::{self, Found, NoObject};
use super::position::{Lines, locate};
use super::report::{Entry, Finding, Level, Object, Outcome, Rule};
use super::yaml::{self, Unreadable};
use crate::schema::json;
use crate::schema::source::{Data, Node, Span};
use crate::validate::path::Step;
use crate::verdict::{self, BadRequest, Operation, Placed, Question, Server, Target, Verdict};

/// The namespace of objects that name none, unless another is asked for.
const DEFAULT_NAMESPACE: &str = "default";

/// The kinds of `apps/v1`, the one version whose kinds are all known here.
const APPS_KINDS: [&str; 5] = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision"];

/// What to do about unknown and repeated fields; kubectl's `--validate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValidation {
    /// Refuse the object.
    Strict,
    /// Warn.
    Warn,
    /// Say nothing.
    Ignore,
}

/// How to judge.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'s> {
    /// The server that is spoken for.
    pub server: Server,
    /// The namespace of the requests. None: each object's own, or `default`.
    pub namespace: Option<&'s str>,
    /// What to do about unknown and repeated fields.
    pub field_validation: FieldValidation,
    /// Stored objects: those that have one are judged as updates.
    pub old: Option<&'s OldObjects<'s>>,
}

/// The part of a file that a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// A part of a YAML file that begins after a separator.
    Yaml,
    /// A part of a JSON stream after its second value.
    Json,
}

/// The Deployments of a text, to judge others as updates of them.
#[derive(Debug, Default)]
pub struct OldObjects<'t> {
    objects: Vec<Node<'t>>,
}

impl<'t> OldObjects<'t> {
    /// Reads the Deployments of a text.
    ///
    /// # Errors
    /// [`Finding`] when any part of the text cannot be read.
    pub fn read(text: &'t str) -> Result<OldObjects<'t>, Box<Finding>> {
        let lines = Lines::new(text, 1);
        let mut old = OldObjects::default();
        for document in Documents::of(text) {
            let unreadable =
                |base, e: Unreadable| Box::new(finding(&lines, base, Rule::Unreadable, "", e.message, e.at));
            let document = document.map_err(|e| unreadable(0, e))?;
            let base = document.start;
            let Some(content) = read(&document).map_err(|e| unreadable(base, e))? else { continue };
            let mut broken = None;
            objects::each(&content.root, &mut |found| match found {
                Ok(f) if is_deployment(&f) => old.objects.push(f.node.into_owned()),
                Ok(_) => {}
                Err(e) => broken = Some(e),
            });
            if let Some(e) = broken {
                return Err(Box::new(finding(&lines, base, Rule::NoObject, "", e.message, e.at)));
            }
        }
        Ok(old)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    fn find(&self, namespace: &str, name: &str) -> Option<&Node<'t>> {
        self.objects.iter().find(|o| {
            metadata(o, "name") == name
                && matches!(metadata(o, "namespace"), n if n == namespace || n.is_empty())
        })
    }
}

/// Judges all objects of a text whose first line has the number `first_line` in its file.
pub fn check(text: &str, part: Part, first_line: u64, settings: &Settings<'_>) -> Vec<Entry> {
    let lines = Lines::new(text, first_line);
    let mut entries = Vec::new();
    each_document(text, part, &mut |document| match document {
        Ok((base, content)) => {
            let judge = Judge { lines: &lines, base, settings, repeated: &content.repeated };
            objects::each(&content.root, &mut |found| {
                entries.push(match found {
                    Ok(found) => Entry::Object(judge.object(&found)),
                    Err(e) => Entry::Unusable(no_object(&lines, base, e)),
                });
            });
        }
        Err((base, e)) => {
            entries.push(Entry::Unusable(finding(&lines, base, Rule::Unreadable, "", e.message, e.at)));
        }
    });
    entries
}

/// A document that was read: its root, and the keys that it repeats.
pub struct Content<'t> {
    /// The value.
    pub root: Node<'t>,
    /// Keys given twice in YAML.
    pub repeated: Vec<Placed>,
}

/// A document and where it begins in the text, or why it could not be read and what the places in
/// that error count from.
pub type DocumentRead<'t> = Result<(usize, Content<'t>), (usize, Unreadable)>;

/// Reads the documents of a text in turn; empty ones are left out.
pub fn each_document<'t>(text: &'t str, part: Part, visit: &mut dyn FnMut(DocumentRead<'t>)) {
    let documents = match part {
        Part::Whole => Documents::of(text),
        Part::Yaml => Documents::of_yaml_part(text),
        Part::Json => Documents::of_json_part(text),
    };
    for document in documents {
        match document {
            Ok(document) => match read(&document) {
                Ok(Some(content)) => visit(Ok((document.start, content))),
                Ok(None) => {}
                Err(e) => {
                    visit(Err((document.start, e)));
                    if document.json {
                        // What follows a broken JSON value cannot be told apart.
                        return;
                    }
                }
            },
            Err(e) => visit(Err((0, e))),
        }
    }
}

/// Why an object cannot be decoded, if so, as findings.
pub fn decode_findings(
    text: &str,
    base: usize,
    first_line: u64,
    node: &Node<'_>,
    verdict: &Verdict<'_>,
) -> Vec<Finding> {
    let lines = Lines::new(text, first_line);
    let errors = verdict.decode_error.iter().chain(&verdict.more_decode_errors);
    errors.map(|e| finding(&lines, base, Rule::Decode, "", &e.message, shown(node, e.at))).collect()
}

/// Why a document, or something in it, is not usable, as a finding.
pub fn unusable(text: &str, base: usize, first_line: u64, rule: Rule, message: &str, at: Span) -> Finding {
    finding(&Lines::new(text, first_line), base, rule, "", message, at)
}

fn read<'t>(document: &Document<'t>) -> Result<Option<Content<'t>>, Unreadable> {
    let content = if document.json {
        let root = json::read(document.text.as_bytes()).map_err(|e| {
            let at = u32::try_from(e.offset).unwrap_or(u32::MAX);
            Unreadable { message: e.message, at: Span { start: at, end: at } }
        })?;
        Some(Content { root: as_sent(root)?, repeated: Vec::new() })
    } else {
        let reading = yaml::read(document.text).map_err(|e| match &document.not_json {
            Some(json) => Unreadable { message: json.message.clone(), at: relative(json.at, document.start) },
            None => e,
        })?;
        reading.root.map(|root| Content { root, repeated: reading.repeated })
    };
    Ok(content.filter(|c| c.root.data != Data::Null))
}

/// A place in the whole text as a place in a document.
fn relative(at: Span, start: usize) -> Span {
    let start = start as u32;
    Span { start: at.start.saturating_sub(start), end: at.end.saturating_sub(start) }
}

/// JSON as kubectl sends it on: members sorted, numbers as it holds them. Repeated members are kept,
/// for the API server to complain about.
fn as_sent(mut node: Node<'_>) -> Result<Node<'_>, Unreadable> {
    match &mut node.data {
        Data::Number(text) => {
            let plain = text.len() < 18 && text.bytes().all(|b| b.is_ascii_digit());
            if !plain {
                let Some(number) = yaml::canonical_number(text) else {
                    let message =
                        format!("json: cannot unmarshal number {text} into Go value of type float64");
                    return Err(Unreadable { message, at: node.at });
                };
                *text = Cow::Owned(number);
            }
        }
        Data::Array(items) => {
            for item in items.iter_mut() {
                *item = as_sent(std::mem::replace(item, nothing()))?;
            }
        }
        Data::Object(members) => {
            if !members.is_sorted_by(|a, b| a.key <= b.key) {
                members.sort_by(|a, b| a.key.cmp(&b.key));
            }
            for member in members.iter_mut() {
                member.value = as_sent(std::mem::replace(&mut member.value, nothing()))?;
            }
        }
        _ => {}
    }
    Ok(node)
}

fn nothing() -> Node<'static> {
    Node { at: Span::default(), data: Data::Null }
}

fn metadata<'n>(node: &'n Node<'_>, field: &str) -> &'n str {
    node.get("metadata").and_then(|m| m.get(field)).and_then(Node::as_str).unwrap_or("")
}

/// Whether an object is a Deployment of the version that is judged.
pub fn is_deployment(found: &Found<'_, '_>) -> bool {
    found.kind == "Deployment" && found.api_version == "apps/v1"
}

/// Whether the API server is known not to serve such a kind: a Deployment of a version gone by, or a
/// kind that `apps/v1` does not have. Only groups without a full stop cannot be added to a cluster.
fn is_not_served(found: &Found<'_, '_>) -> bool {
    match (found.api_version, found.kind) {
        ("apps/v1", kind) => !APPS_KINDS.contains(&kind.strip_suffix("List").unwrap_or(kind)),
        (version, "Deployment") => {
            let group = version.split_once('/').map_or("", |(group, _)| group);
            matches!(group, "" | "apps" | "extensions")
        }
        _ => false,
    }
}

fn finding(
    lines: &Lines<'_>,
    base: usize,
    rule: Rule,
    path: &str,
    message: impl Into<String>,
    at: Span,
) -> Finding {
    let level = match rule {
        Rule::Unreadable | Rule::NoObject => Level::Unusable,
        Rule::Warning => Level::Warning,
        _ => Level::Refusal,
    };
    let region = lines.region(base, at);
    let source = lines.line(region.line).to_owned();
    Finding { level, rule, path: path.to_owned(), message: message.into(), region, source }
}

fn no_object(lines: &Lines<'_>, base: usize, e: NoObject) -> Finding {
    finding(lines, base, Rule::NoObject, "", e.message, e.at)
}

/// Judges the objects of one document.
struct Judge<'j, 't> {
    lines: &'j Lines<'t>,
    base: usize,
    settings: &'j Settings<'j>,
    repeated: &'j [Placed],
}

impl Judge<'_, '_> {
    fn object(&self, found: &Found<'_, '_>) -> Object {
        let node: &Node<'_> = &found.node;
        let name = match metadata(node, "name") {
            "" => metadata(node, "generateName"),
            name => name,
        };
        let mut object = Object {
            api_version: found.api_version.to_owned(),
            kind: found.kind.to_owned(),
            namespace: metadata(node, "namespace").to_owned(),
            name: name.to_owned(),
            line: self.lines.region(self.base, Span { start: node.at.start, end: node.at.start }).line,
            outcome: Outcome::LeftAlone,
            findings: Vec::new(),
            status: None,
        };
        if is_deployment(found) {
            self.deployment(node, &mut object);
        } else if is_not_served(found) {
            let message =
                format!("no matches for kind \"{}\" in version \"{}\"", found.kind, found.api_version);
            let at = locate(node, &[Step::Field("apiVersion".into())], false);
            object.findings.push(self.finding(Rule::UnknownKind, "", message, at));
            object.outcome = Outcome::Refused;
        }
        object
    }

    fn finding(&self, rule: Rule, path: &str, message: impl Into<String>, at: Span) -> Finding {
        finding(self.lines, self.base, rule, path, message, at)
    }

    fn deployment(&self, node: &Node<'_>, object: &mut Object) {
        let own = metadata(node, "namespace");
        let fallback = if own.is_empty() { DEFAULT_NAMESPACE } else { own };
        let namespace = self.settings.namespace.unwrap_or(fallback);
        let old = self.settings.old.and_then(|old| old.find(namespace, metadata(node, "name")));
        let question = Question {
            operation: if old.is_some() { Operation::Update } else { Operation::Create },
            target: Target::Deployment,
            namespace,
            object: node,
            old,
        };
        let mut verdict = verdict::judge(&self.settings.server, &question);
        let within = |p: &&Placed| node.at.start <= p.at.start && p.at.end <= node.at.end;
        verdict.strict.extend(self.repeated.iter().filter(within).cloned());
        object.namespace = namespace.to_owned();
        self.findings(node, &verdict, &mut object.findings);
        let strict = self.settings.field_validation == FieldValidation::Strict;
        object.status = verdict.status(strict);
        object.outcome = match object.status {
            Some(_) => Outcome::Refused,
            None => Outcome::Accepted,
        };
    }

    fn findings(&self, node: &Node<'_>, verdict: &Verdict<'_>, out: &mut Vec<Finding>) {
        for e in verdict.decode_error.iter().chain(&verdict.more_decode_errors) {
            out.push(self.finding(Rule::Decode, "", &e.message, shown(node, e.at)));
        }
        let strict = match self.settings.field_validation {
            FieldValidation::Strict => Some(Level::Refusal),
            FieldValidation::Warn => Some(Level::Warning),
            FieldValidation::Ignore => None,
        };
        if let Some(level) = strict {
            let placed = verdict.strict.iter().map(|p| self.finding(Rule::Strict, "", &p.message, p.at));
            out.extend(placed.map(|f| Finding { level, ..f }));
        }
        match &verdict.bad_request {
            Some(BadRequest::Old(p)) => {
                let at = locate(node, &[], false);
                let unusable = self.finding(Rule::BadRequest, "", &p.message, at);
                out.push(Finding { level: Level::Unusable, ..unusable });
            }
            Some(other) => {
                let p = other.placed();
                out.push(self.finding(Rule::BadRequest, "", &p.message, shown(node, p.at)));
            }
            None => {}
        }
        for fault in &verdict.faults {
            let at = locate(node, &fault.place, fault.on_key);
            out.push(self.finding(Rule::Fault(fault.kind.reason()), &fault.field, &fault.message, at));
        }
        for warning in &verdict.warnings {
            let at = locate(node, &warning.place, false);
            out.push(self.finding(Rule::Warning, "", &warning.text, at));
        }
    }
}

/// A place to show, not all of the object.
fn shown(node: &Node<'_>, at: Span) -> Span {
    if at == node.at { locate(node, &[], false) } else { at }
}
