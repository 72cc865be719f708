//! The `rollgate` program: parses the command line, runs one subcommand and turns the outcome into an
//! exit code.

use std::process::ExitCode;

use clap::Parser;
use rollgate::cli::{Cli, Exit};

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("rollgate: {error:#}");
            Exit::Unusable.into()
        }
    }
}
