//! The `rollgate` program: parses the command line, runs one subcommand and turns the outcome into an
//! exit code.

use std::process::ExitCode;

use clap::Parser;
use rollgate::cli::{Cli, Exit};

/// What a shell reports for a program that SIGPIPE ended.
const BROKEN_PIPE: u8 = 128 + 13;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(exit) => exit.into(),
        // Whoever read the output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::from(BROKEN_PIPE),
        Err(error) => {
            eprintln!("rollgate: {error:#}");
            Exit::Unusable.into()
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
