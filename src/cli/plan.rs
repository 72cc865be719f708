//! `rollgate plan`: what the engine would do next about a Deployment, and why.

use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use anyhow::Context;

use super::Exit;
use crate::rollout::{self, Snapshot};

/// Explain what the controller would do next about a Deployment
///
/// Reads a snapshot: a JSON object with `now` (a time), `deployment`, `replica_sets` and `pods`, as the API
/// server gives them. Nothing is written anywhere.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file with the snapshot; `-` for standard input
    #[arg(default_value = "-")]
    file: PathBuf,
    /// How to print the plan
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Output {
    /// In words.
    Text,
    /// As JSON.
    Json,
}

impl Args {
    /// Prints the plan.
    ///
    /// # Errors
    /// When the snapshot cannot be read, or standard output cannot be written.
    pub fn run(self) -> anyhow::Result<Exit> {
        let name = self.file.display();
        let json = if self.file.as_os_str() == "-" {
            let mut json = String::new();
            io::stdin().read_to_string(&mut json).map(|_| json)
        } else {
            fs::read_to_string(&self.file)
        };
        let json = json.with_context(|| format!("could not read {name}"))?;
        let snapshot = Snapshot::read(&json).with_context(|| format!("{name} holds no snapshot"))?;
        let plan = snapshot.plan();
        let text = match self.output {
            Output::Text => rollout::explain(&snapshot.deployment, &plan),
            Output::Json => format!("{:#}\n", rollout::plan_json(&snapshot.deployment, &plan)),
        };
        io::stdout().write_all(text.as_bytes()).context("could not write to standard output")?;
        Ok(Exit::Fine)
    }
}
