//! A progress bar on standard error, for runs of more than a second on a terminal.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::input;

/// How long a run must take to get a bar.
const QUIET: Duration = Duration::from_secs(1);
/// How often the bar is drawn anew.
const REDRAW: Duration = Duration::from_millis(100);
const BAR_WIDTH: u64 = 30;

/// How far a run is.
#[derive(Debug, Default)]
pub(super) struct Progress {
    files: AtomicU64,
    objects: AtomicU64,
    over: AtomicBool,
    /// Whether the bar stands on the screen. Locked by whoever writes to the terminal.
    drawn: Mutex<bool>,
}

impl Progress {
    /// Notes that more was done.
    pub(super) fn add(&self, files: u64, objects: u64) {
        self.files.fetch_add(files, Ordering::Relaxed);
        self.objects.fetch_add(objects, Ordering::Relaxed);
    }

    /// Takes the bar off the screen, and keeps it off as long as the guard lives.
    pub(super) fn pause(&self) -> MutexGuard<'_, bool> {
        let mut drawn = self.drawn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *drawn {
            eprint!("\r\x1b[K");
            *drawn = false;
        }
        drawn
    }

    /// Ends the bar.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        drop(self.pause());
    }

    /// Draws the bar until [`Progress::end`]; returns at once if nobody would see it.
    pub(super) fn draw(&self, paths: &[PathBuf]) {
        if !io::stderr().is_terminal() {
            return;
        }
        let mut waited = Duration::ZERO;
        while waited < QUIET {
            if self.over.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(REDRAW / 10);
            waited += REDRAW / 10;
        }
        let total = input::count(paths);
        while !self.over.load(Ordering::Relaxed) {
            {
                let mut drawn = self.pause();
                eprint!("{}", self.line(total));
                let _ = io::stderr().flush();
                *drawn = true;
            }
            std::thread::sleep(REDRAW);
        }
        drop(self.pause());
    }

    fn line(&self, total: u64) -> String {
        let (files, objects) = (self.files.load(Ordering::Relaxed), self.objects.load(Ordering::Relaxed));
        let done = (files.min(total) * BAR_WIDTH).checked_div(total).unwrap_or(0);
        let bar: String = (0..BAR_WIDTH).map(|i| if i < done { '#' } else { '-' }).collect();
        format!("[{bar}] {files} of {total} files, {objects} objects")
    }
}
