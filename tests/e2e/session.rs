//! Shell sessions as cases: a Markdown file whose indented blocks show commands and what they print.
//!
//! ```text
//! Prose says what the session shows.
//!
//!     $ kubectl get deployments
//!     No resources found in default namespace.
//!     $ kubectl get deployment missing
//!     Error from server (NotFound): deployments.apps "missing" not found
//!     [1]
//! ```
//!
//! A command goes on in lines that start with `> `. Standard output and error come as one, and a last
//! line `[N]` tells an exit code other than 0; the session's own namespace shows as `NAMESPACE`.
//! Replaying a session gives the text that the file would
//! have if it told the truth; the session holds when that is the text it has.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use crate::kubectl::Kubectl;
use crate::workplace;

const INDENT: &str = "    ";

/// Seconds after which a command counts as stuck and is ended, with exit code 124.
const LIMIT_SECS: &str = "120";

/// Whether to write what the server says into the sessions, instead of comparing.
pub(crate) fn recording() -> bool {
    std::env::var_os("ROLLGATE_E2E_RECORD").is_some()
}

/// A session and where it stands.
pub(crate) struct Session {
    /// The file.
    pub(crate) path: PathBuf,
    text: String,
}

/// A run of lines of a session.
enum Part<'a> {
    Prose(&'a str),
    /// The lines of a command, without their marks.
    Command(Vec<&'a str>),
}

impl Session {
    /// Reads a session.
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path: path.to_owned(), text }
    }

    /// The name that tells the session from others of its folder.
    pub(crate) fn name(&self) -> String {
        workplace::stem(&self.path)
    }

    /// Runs the commands in the file's folder; the session's text with what they print now.
    pub(crate) fn replay(&self, kubectl: &Kubectl) -> String {
        let mut text = String::new();
        for part in self.parts() {
            match part {
                Part::Prose(line) => writeln!(text, "{line}").expect("a String takes all"),
                Part::Command(lines) => self.run(&lines, kubectl, &mut text),
            }
        }
        text
    }

    /// Compares a replay with the file; the difference, if there is one.
    ///
    /// When recording, writes the file instead.
    pub(crate) fn compare(&self, replayed: &str, folder: &Path) -> Result<(), String> {
        if recording() {
            fs::write(&self.path, replayed).expect("the sources can be written when recording");
            return Ok(());
        }
        difference(&self.text, replayed, &folder.join(self.name()))
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        for line in self.text.lines() {
            match line.strip_prefix(INDENT) {
                None => parts.push(Part::Prose(line)),
                Some(shown) => {
                    if let Some(command) = shown.strip_prefix("$ ") {
                        parts.push(Part::Command(vec![command]));
                    } else if let Some(more) = shown.strip_prefix("> ")
                        && let Some(Part::Command(lines)) = parts.last_mut()
                    {
                        lines.push(more);
                    }
                    // All else is output, which the replay prints anew.
                }
            }
        }
        parts
    }

    fn run(&self, lines: &[&str], kubectl: &Kubectl, text: &mut String) {
        let folder = self.path.parent().expect("a file lies in a folder");
        let script = format!("exec 2>&1 </dev/null\nset -o pipefail\n{}", lines.join("\n"));
        let output = kubectl
            .command("timeout")
            .args([LIMIT_SECS, "bash", "-c", &script])
            .current_dir(folder)
            .output()
            .expect("bash can be started");
        let shown = String::from_utf8_lossy(&output.stdout).replace(&kubectl.namespace, "NAMESPACE");
        let marks = ["$ "].into_iter().chain(std::iter::repeat("> "));
        let commands = lines.iter().zip(marks).map(|(line, mark)| format!("{mark}{line}"));
        let code = output.status.code().unwrap_or(-1);
        let code = (code != 0).then(|| format!("[{code}]"));
        // An empty line would end the block, so those of the output are left out.
        let output = shown.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned);
        for line in commands.chain(output).chain(code) {
            // A line's trailing blanks would not survive an editor.
            writeln!(text, "{}", format!("{INDENT}{line}").trim_end()).expect("a String takes all");
        }
    }
}

/// How two texts differ, as `diff` shows it; both are kept as `STEM.expected` and `STEM.actual`.
pub(crate) fn difference(expected: &str, actual: &str, stem: &Path) -> Result<(), String> {
    if expected == actual {
        return Ok(());
    }
    let files = [stem.with_extension("expected"), stem.with_extension("actual")];
    for (file, text) in files.iter().zip([expected, actual]) {
        fs::write(file, text).expect("the test's folder is writable");
    }
    let output = Command::new("diff").arg("-u").args(&files).output().expect("diff can be started");
    Err(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Does a piece of work for every case, some at a time; panics with all that failed, by name.
pub(crate) fn for_all<C: Sync>(
    cases: &[C],
    at_a_time: usize,
    name: impl Fn(&C) -> String,
    work: impl Fn(&C) -> Result<(), String> + Sync,
) {
    let queue = Mutex::new(cases.iter());
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                while let Some(case) = next(&queue) {
                    if let Err(failure) = work(case) {
                        failures.lock().expect("no worker panics while holding it").push((case, failure));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no worker panics while holding it");
    let report: Vec<_> =
        failures.iter().map(|(case, failure)| format!("{}\n{failure}", name(case))).collect();
    assert!(report.is_empty(), "{} of {} failed:\n{}", report.len(), cases.len(), report.join("\n"));
}

/// Takes the next case and lets go of the queue.
fn next<'a, C>(queue: &Mutex<std::slice::Iter<'a, C>>) -> Option<&'a C> {
    queue.lock().expect("no worker panics while holding it").next()
}
