//! The command line: one file per subcommand, each with its `Args` and a `run`. The only place, with
//! `main.rs`, where errors lose their type.
//!
//! To add a subcommand: write its file, add a variant to `Command` and an arm to [`Cli::run`].

pub mod answer;
pub mod check;
mod cluster;
pub mod completions;
pub mod controller;
pub mod default;
pub mod engine;
mod input;
mod log;
mod parallel;
pub mod plan;
mod progress;
pub mod run;
pub mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A gate in front of every Kubernetes Deployment, and the engine behind it.
#[derive(Debug, Parser)]
#[command(name = "rollgate", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Default(default::Args),
    Serve(Box<serve::Args>),
    Answer(answer::Args),
    Completions(completions::Args),
    Plan(plan::Args),
    Controller(Box<controller::Args>),
    Run(Box<run::Args>),
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All went well, and everything judged was accepted.
    Fine,
    /// Something judged was refused.
    Refused,
    /// The input or the command line was unusable.
    Unusable,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Refused => 1,
            Exit::Unusable => 2,
        })
    }
}

impl Cli {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// Whatever kept it from doing its work; the exit code is then [`Exit::Unusable`].
    pub fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            Command::Check(args) => args.run(),
            Command::Default(args) => args.run(),
            Command::Serve(args) => args.run(),
            Command::Answer(args) => args.run(),
            Command::Completions(args) => args.run(),
            Command::Plan(args) => args.run(),
            Command::Controller(args) => args.run(),
            Command::Run(args) => args.run(),
        }
    }
}
