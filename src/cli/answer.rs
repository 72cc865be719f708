//! `rollgate answer KIND`: questions in, answers out, one JSON object a line.

use std::io::{self, BufRead, BufWriter, Write};

use super::Exit;
use crate::{answer, rollout};

/// Answer recorded questions, one JSON object a line.
///
/// Reads NDJSON questions on standard input and writes NDJSON answers on standard output, one line
/// each, in order. A line that is no question is answered with an error; reading goes on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What the questions are about.
    kind: Kind,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Kind {
    /// What the API server says to a Deployment.
    Admission,
    /// What the Deployment controller does next.
    Rollout,
}

impl Args {
    /// Answers until the input ends.
    ///
    /// # Errors
    /// When standard input or output fails.
    pub fn run(self) -> anyhow::Result<Exit> {
        let mut input = io::stdin().lock();
        let mut output = BufWriter::new(io::stdout().lock());
        let mut line = Vec::new();
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let answer = match self.kind {
                Kind::Admission => answer::admission(&line),
                Kind::Rollout => rollout::answer(&String::from_utf8_lossy(&line)),
            };
            output.write_all(answer.as_bytes())?;
            output.write_all(b"\n")?;
        }
        output.flush()?;
        Ok(Exit::Fine)
    }
}
