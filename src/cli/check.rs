//! `rollgate check`: judges manifests.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::ValueEnum;

use super::input::{self, Input, Job, Large, Text};
use super::progress::Progress;
use super::{Exit, parallel};
use crate::check::encoding;
use crate::check::manifest::{self, FieldValidation, OldObjects, Part, Settings};
use crate::check::output::{self, Format, Printer};
use crate::check::position::Region;
use crate::check::report::{Entry, Finding, Level, Rule, Summary};
use crate::verdict::Server;

/// Say what the API server would say about the Deployments in manifests
///
/// Reads YAML and JSON exactly as kubectl does and gives the verdict of a Kubernetes API server on
/// every apps/v1 Deployment: all faults at once, each with the place in the manifest. Needs no cluster
/// and no network. Objects of other kinds are counted and left alone.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Exit status:
  0  every Deployment is accepted
  1  at least one is refused, or has a warning and --fail-on-warnings is given
  2  some input could not be read or holds no object, or the command line is wrong

Examples:
  Judge a folder:
      rollgate check deploy/
  Judge what a chart or an overlay renders:
      helm template ./chart | rollgate check -
      kustomize build overlays/prod | rollgate check -
  Judge as an update of what runs now:
      kubectl get deployment web -o yaml > now.yaml
      rollgate check --old now.yaml web.yaml
  Annotate a pull request, or feed a code scanning service:
      rollgate check --output github deploy/
      rollgate check --output sarif deploy/ > rollgate.sarif")]
pub struct Args {
    /// Files and folders to judge; `-` is standard input
    ///
    /// Folders are searched for .yaml, .yml and .json files, with their subfolders.
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,

    /// How to print what was found
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,

    /// Judge requests to this namespace, instead of each object's own or `default`
    #[arg(short, long)]
    namespace: Option<String>,

    /// Judge Deployments as updates of those in this file, where it holds one of the same name
    #[arg(long, value_name = "FILE")]
    old: Option<PathBuf>,

    /// Also fail when the API server would only warn
    #[arg(long)]
    fail_on_warnings: bool,

    /// What to do about unknown and repeated fields, as with kubectl's --validate
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Fields::Strict)]
    field_validation: Fields,

    /// Whether the API server runs with --allow-privileged, as nearly all do
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    allow_privileged: bool,

    /// When to colour the text output
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Output {
    /// For people: each finding with the line it is about, then a summary
    Text,
    /// One JSON document with every object, its findings and the API server's Status
    Json,
    /// SARIF 2.1.0, for code scanning and editors
    Sarif,
    /// JUnit XML, a test case for each object
    Junit,
    /// GitHub workflow commands, which become annotations
    Github,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Fields {
    /// Refuse the object
    Strict,
    /// Warn
    Warn,
    /// Say nothing
    Ignore,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What a worker made of one piece of input.
enum Judged {
    Text {
        file: Arc<str>,
        entries: Vec<Entry>,
        /// Whether it is the first piece of its file.
        begins_file: bool,
    },
    /// Nothing yet: it is for all workers together.
    Large(Large),
}

/// The report as it is being made.
struct Run<'r> {
    settings: &'r Settings<'r>,
    workers: usize,
    progress: &'r Progress,
    printer: Box<dyn Printer>,
    summary: Summary,
    /// What is printed, but not written yet.
    text: String,
}

impl Args {
    /// Judges everything and prints the report.
    ///
    /// # Errors
    /// When the file of `--old` is unusable, nothing was found to judge, or the report cannot be
    /// written.
    pub fn run(self) -> anyhow::Result<Exit> {
        let old_text = match &self.old {
            Some(path) => {
                let bytes =
                    std::fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
                encoding::decode(bytes)
            }
            None => String::new(),
        };
        let old = self.old_objects(&old_text)?;
        let settings = Settings {
            server: Server::new(self.allow_privileged),
            namespace: self.namespace.as_deref(),
            field_validation: match self.field_validation {
                Fields::Strict => FieldValidation::Strict,
                Fields::Warn => FieldValidation::Warn,
                Fields::Ignore => FieldValidation::Ignore,
            },
            old: self.old.is_some().then_some(&old),
        };
        let summary = self.judge_all(&settings)?;
        self.exit(&summary)
    }

    fn old_objects<'t>(&self, text: &'t str) -> anyhow::Result<OldObjects<'t>> {
        let Some(path) = &self.old else { return Ok(OldObjects::default()) };
        let name = path.display();
        let old = OldObjects::read(text)
            .map_err(|f| anyhow::anyhow!("{name}:{}:{}: {}", f.region.line, f.region.column, f.message))?;
        if old.is_empty() {
            bail!("{name} holds no apps/v1 Deployment");
        }
        Ok(old)
    }

    fn format(&self) -> Format {
        let color = match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
                wanted && io::stdout().is_terminal()
            }
        };
        match self.output {
            Output::Text => Format::Text { color },
            Output::Json => Format::Json,
            Output::Sarif => Format::Sarif,
            Output::Junit => Format::Junit,
            Output::Github => Format::Github,
        }
    }

    fn judge_all(&self, settings: &Settings<'_>) -> anyhow::Result<Summary> {
        let progress = Progress::default();
        let mut run = Run {
            settings,
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            progress: &progress,
            printer: output::printer(self.format(), settings.server.table.release),
            summary: Summary::default(),
            text: String::new(),
        };
        run.printer.begin(&mut run.text);
        std::thread::scope(|scope| {
            scope.spawn(|| progress.draw(&self.paths));
            let outcome = run.judge_paths(self.paths.clone());
            progress.end();
            outcome
        })?;
        run.printer.end(&run.summary, &mut run.text);
        run.write_out()?;
        Ok(run.summary)
    }

    fn exit(&self, summary: &Summary) -> anyhow::Result<Exit> {
        let objects = summary.accepted + summary.refused + summary.left_alone;
        if objects + summary.unusable == 0 {
            bail!("there was no object to judge");
        }
        Ok(if summary.unusable > 0 {
            Exit::Unusable
        } else if summary.refused > 0 || (self.fail_on_warnings && summary.warnings > 0) {
            Exit::Refused
        } else {
            Exit::Fine
        })
    }
}

impl Run<'_> {
    fn judge_paths(&mut self, paths: Vec<PathBuf>) -> anyhow::Result<()> {
        let settings = self.settings;
        let judge = |job: Job| match job.read() {
            Input::Text(text) => judge(text, settings),
            Input::Large(large) => Judged::Large(large),
        };
        parallel::in_order(self.workers, input::jobs(paths), judge, |judged| self.take(judged))
    }

    fn take(&mut self, judged: Judged) -> anyhow::Result<()> {
        let (file, entries, begins_file) = match judged {
            Judged::Text { file, entries, begins_file } => (file, entries, begins_file),
            Judged::Large(large) => return self.judge_pieces(large),
        };
        let files = u64::from(begins_file);
        self.summary.files += files;
        self.summary.count(&entries);
        self.progress.add(files, entries.len() as u64);
        self.printer.entries(&file, &entries, &mut self.text);
        if self.text.is_empty() { Ok(()) } else { self.write_out() }
    }

    fn judge_pieces(&mut self, large: Large) -> anyhow::Result<()> {
        let settings = self.settings;
        let judge = |piece| judge(piece, settings);
        parallel::in_order(self.workers, large.pieces(), judge, |judged| self.take(judged))
    }

    fn write_out(&mut self) -> anyhow::Result<()> {
        let paused = self.progress.pause();
        io::stdout().write_all(self.text.as_bytes()).context("could not write to standard output")?;
        drop(paused);
        self.text.clear();
        Ok(())
    }
}

fn judge(input: Text, settings: &Settings<'_>) -> Judged {
    let begins_file = input.first_line == 1 && input.part == Part::Whole;
    let entries = match &input.text {
        Ok(text) => manifest::check(text, input.part, input.first_line, settings),
        Err(error) => vec![Entry::Unusable(Finding {
            level: Level::Unusable,
            rule: Rule::Unreadable,
            path: String::new(),
            message: format!("could not be read: {error}"),
            region: Region::default(),
            source: String::new(),
        })],
    };
    Judged::Text { file: input.file, entries, begins_file }
}
