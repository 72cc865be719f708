//! Programs that a test starts and that never outlive it.
//!
//! A [`Process`] ends with its owner, also when a test panics. Should the test's own process be
//! killed, the reaper ends what is left: a shell that waits for the end of its standard input.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Mutex, OnceLock};
use std::thread;

/// Lines of a log that a failure shows.
const TAIL_LINES: usize = 15;

/// Kills, at the end of its input, what has started and not ended.
const REAPER: &str = r#"
trap '' INT TERM
pids=' '
while read -r what pid; do
  case $what in
    started) pids="$pids$pid " ;;
    ended) pids="${pids%% $pid *} ${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -9 "$pid"; done
"#;

/// A running program whose output goes to a log.
pub(crate) struct Process {
    name: String,
    child: Child,
    log: PathBuf,
    /// Whether the reaper still counts on it.
    is_watched: bool,
}

/// A signal by its name, as `kill -s` takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signal {
    /// End in order.
    Term,
    /// Freeze.
    Stop,
    /// Go on.
    Cont,
}

impl Process {
    /// Starts a program; its output is added to `FOLDER/NAME.log`.
    pub(crate) fn start(name: &str, command: &mut Command, folder: &Path) -> Self {
        let log = folder.join(format!("{name}.log"));
        let output = open_log(&log);
        let errors = output.try_clone().expect("a file has a second handle");
        let child = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        tell_reaper("started", child.id());
        Self { name: name.to_owned(), child, log, is_watched: true }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let name = match signal {
            Signal::Term => "TERM",
            Signal::Stop => "STOP",
            Signal::Cont => "CONT",
        };
        let status = Command::new("sh").arg("-c").arg(format!("kill -s {name} {}", self.child.id())).status();
        assert!(status.is_ok_and(|s| s.success()), "{} takes no {name}\n{}", self.name, self.tail());
    }

    /// How the program ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be waited for")
    }

    /// Ends the program at once, and waits for its end.
    pub(crate) fn kill(&mut self) {
        // It may have ended by itself: then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.forget();
    }

    /// Asks the program to end, and waits until it has.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        self.signal(Signal::Term);
        let status = self.child.wait().expect("a child can be waited for");
        self.forget();
        status
    }

    /// Tells the reaper, once, that the program has ended: its number may soon be another program's.
    fn forget(&mut self) {
        if std::mem::take(&mut self.is_watched) {
            tell_reaper("ended", self.child.id());
        }
    }

    /// What the program said so far.
    pub(crate) fn output(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// The last lines that the program said, under a heading.
    pub(crate) fn tail(&self) -> String {
        let output = self.output();
        let lines: Vec<_> = output.lines().collect();
        let shown = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
        format!("--- the end of {}\n{shown}", self.log.display())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if thread::panicking() {
            eprintln!("{}", self.tail());
        }
    }
}

fn open_log(path: &Path) -> File {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[expect(clippy::zombie_processes, reason = "the reaper outlives this process on purpose")]
fn tell_reaper(what: &str, pid: u32) {
    static INPUT: OnceLock<Mutex<ChildStdin>> = OnceLock::new();
    let input = INPUT.get_or_init(|| {
        let reaper = Command::new("sh")
            .args(["-c", REAPER])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell can be started");
        Mutex::new(reaper.stdin.expect("its input is piped"))
    });
    let mut input = input.lock().expect("nobody panics while telling");
    writeln!(input, "{what} {pid}").expect("the reaper reads until we end");
}
