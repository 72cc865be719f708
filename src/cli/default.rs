//! `rollgate default`: prints manifests as the API server would fill them in.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ValueEnum;

use super::{Exit, input};
use crate::check::defaulted::Overlay;
use crate::check::manifest::{self, Content};
use crate::check::objects::{self, Found};
use crate::check::output::{self, Format};
use crate::check::report::{Entry, Finding, Level, Rule};
use crate::schema::source::{Data, Node};
use crate::schema::table::Table;
use crate::schema::{json, write};
use crate::verdict::{self, Operation, Question, Server, Target};

/// Print manifests with everything that the API server fills in
///
/// Every apps/v1 Deployment comes out as the API server decodes and defaults it, before any admission
/// plugin or webhook: fields left out are filled in, quantities are written in their normal form, and
/// unknown fields are gone. Keys keep their order; comments are lost. Objects of other kinds come out
/// unchanged. Whether the server would accept a Deployment is for `rollgate check` to say.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Exit status:
  0  everything was printed
  1  a Deployment cannot be decoded
  2  some input could not be read or holds no object, or the command line is wrong

Examples:
  See what defaulting adds:
      rollgate default --diff web.yaml
  Fill in what a chart renders:
      helm template ./chart | rollgate default - > filled-in.yaml")]
pub struct Args {
    /// Files and folders to read; `-` is standard input
    ///
    /// Folders are searched for .yaml, .yml and .json files, with their subfolders.
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,

    /// How to print the manifests
    #[arg(short, long, value_enum, default_value_t = Output::Yaml, conflicts_with = "diff")]
    output: Output,

    /// Print what defaulting adds (+), changes and drops (-), with some lines around it
    #[arg(long)]
    diff: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Output {
    /// YAML documents
    Yaml,
    /// JSON, one object a line
    Json,
}

/// What has been seen so far.
#[derive(Default)]
struct Seen {
    objects: u64,
    undecodable: u64,
    unusable: u64,
}

/// One piece of input, for messages about it.
struct Source<'s> {
    file: &'s str,
    text: &'s str,
    base: usize,
    first_line: u64,
}

impl Args {
    /// Prints everything.
    ///
    /// # Errors
    /// When nothing was found to print, or it cannot be written.
    pub fn run(self) -> anyhow::Result<Exit> {
        let mut seen = Seen::default();
        for input in input::texts(self.paths.clone()) {
            let text = match &input.text {
                Ok(text) => text,
                Err(error) => {
                    eprintln!("{}: could not be read: {error}", input.file);
                    seen.unusable += 1;
                    continue;
                }
            };
            let mut outcome = Ok(());
            manifest::each_document(text, input.part, &mut |document| {
                let source = |base| Source { file: &input.file, text, base, first_line: input.first_line };
                if outcome.is_ok() {
                    outcome = match document {
                        Ok((base, content)) => self.document(&source(base), &content, &mut seen),
                        Err((base, e)) => {
                            seen.unusable += 1;
                            source(base).unusable(Rule::Unreadable, &e.message, e.at);
                            Ok(())
                        }
                    };
                }
            });
            outcome?;
        }
        if seen.objects + seen.unusable == 0 {
            bail!("there was no object to print");
        }
        Ok(match seen {
            Seen { unusable: 1.., .. } => Exit::Unusable,
            Seen { undecodable: 1.., .. } => Exit::Refused,
            _ => Exit::Fine,
        })
    }

    fn document(&self, source: &Source<'_>, content: &Content<'_>, seen: &mut Seen) -> anyhow::Result<()> {
        let mut out = String::new();
        objects::each(&content.root, &mut |found| match found {
            Ok(found) => {
                seen.objects += 1;
                if !self.object(source, &found, seen.objects > 1, &mut out) {
                    seen.undecodable += 1;
                }
            }
            Err(e) => {
                seen.unusable += 1;
                source.unusable(Rule::NoObject, &e.message, e.at);
            }
        });
        io::stdout().write_all(out.as_bytes()).context("could not write to standard output")
    }

    /// Prints one object; says whether it could be decoded.
    fn object(&self, source: &Source<'_>, found: &Found<'_, '_>, more: bool, out: &mut String) -> bool {
        let node: &Node<'_> = &found.node;
        let defaulted = match manifest::is_deployment(found) {
            false => None,
            true => match defaulted(source, node) {
                Ok(text) => Some(text),
                Err(findings) => {
                    source.print(findings);
                    return false;
                }
            },
        };
        let read = defaulted
            .as_ref()
            .map(|text| json::read(text.as_bytes()).expect("what was written as JSON can be read as JSON"));
        let read = read.map(|new| without_empty_status(new, node));
        let overlay = Overlay::new(node, read.as_ref());
        match (self.diff, self.output) {
            (true, _) => {
                let diff = overlay.to_diff(io::stdout().is_terminal());
                if !diff.is_empty() {
                    let name = node.get("metadata").and_then(|m| m.get("name")).and_then(Node::as_str);
                    out.push_str(&format!("{}: {} {}\n{diff}", source.file, found.kind, name.unwrap_or("")));
                }
            }
            (false, Output::Yaml) => {
                if more {
                    out.push_str("---\n");
                }
                out.push_str(&overlay.to_yaml());
            }
            (false, Output::Json) => {
                out.push_str(&overlay.to_json());
                out.push('\n');
            }
        }
        true
    }
}

/// The defaulted object as JSON, or why it cannot be decoded.
fn defaulted(source: &Source<'_>, node: &Node<'_>) -> Result<String, Vec<Finding>> {
    let namespace = node.get("metadata").and_then(|m| m.get("namespace")).and_then(Node::as_str);
    let verdict = verdict::judge(
        &Server::new(true),
        &Question {
            operation: Operation::Create,
            target: Target::Deployment,
            namespace: namespace.unwrap_or("default"),
            object: node,
            old: None,
        },
    );
    match &verdict.defaulted {
        Some(object) => Ok(write::structure(object)),
        None => Err(manifest::decode_findings(source.text, source.base, source.first_line, node, &verdict)),
    }
}

/// Leaves out the empty status that Go writes for a manifest without one.
fn without_empty_status<'a>(mut new: Node<'a>, old: &Node<'_>) -> Node<'a> {
    if let Data::Object(members) = &mut new.data {
        let empty = |n: &Node<'_>| matches!(&n.data, Data::Object(m) if m.is_empty());
        members.retain(|m| m.key != "status" || old.get("status").is_some() || !empty(&m.value));
    }
    new
}

impl Source<'_> {
    fn unusable(&self, rule: Rule, message: &str, at: crate::schema::source::Span) {
        self.print(vec![manifest::unusable(self.text, self.base, self.first_line, rule, message, at)]);
    }

    /// Prints findings to standard error.
    fn print(&self, findings: Vec<Finding>) {
        let color = io::stderr().is_terminal();
        let mut printer = output::printer(Format::Text { color }, Table::newest().release);
        let mut out = String::new();
        for finding in findings {
            let entry = Entry::Unusable(Finding { level: Level::Refusal, ..finding });
            printer.entries(self.file, &[entry], &mut out);
        }
        eprint!("{out}");
    }
}
