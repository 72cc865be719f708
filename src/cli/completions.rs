//! `rollgate completions`: scripts that make a shell complete rollgate's command line.

use std::io::{self, Write};

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Exit};

/// Print a script that makes your shell complete rollgate's command line
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Bash, for this user:
      rollgate completions bash > ~/.local/share/bash-completion/completions/rollgate
  Zsh, into a folder of your $fpath:
      rollgate completions zsh > ~/.zfunc/_rollgate
  Fish:
      rollgate completions fish > ~/.config/fish/completions/rollgate.fish")]
pub struct Args {
    /// The shell to write for
    #[arg(value_enum)]
    shell: Shell,
}

impl Args {
    /// Prints the script.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn run(self) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "rollgate", &mut script);
        io::stdout().write_all(&script).context("could not write to standard output")?;
        Ok(Exit::Fine)
    }
}
