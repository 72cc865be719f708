//! What the servers log, and how.

use std::io::{self, IsTerminal as _};

use anyhow::Context;
use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

/// The client of `kube`, by which certificates are looked after, logs an error of its own for every answer 5xx.
/// Whoever made the call logs that too, and says what comes of it.
const DOUBLED: &str = "kube_client::client::builder";

/// What to log, and how.
#[derive(Debug, clap::Args)]
pub(super) struct LogArgs {
    /// What to log: error, warn, info, debug or trace, or a filter such as rollgate=debug,kube_client=debug
    #[arg(long = "log", env = "ROLLGATE_LOG", value_name = "FILTER", default_value = "info")]
    filter: String,

    /// How to log
    #[arg(long = "log-format", env = "ROLLGATE_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text)]
    format: LogFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    /// For people
    Text,
    /// For programs: an object a line
    Json,
}

impl LogArgs {
    /// Starts the log, on standard error.
    ///
    /// # Errors
    /// When the filter is none.
    pub(super) fn start(&self) -> anyhow::Result<()> {
        let filter = filter(&self.filter).context("--log cannot be understood")?;
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
        match self.format {
            LogFormat::Text => log.with_ansi(io::stderr().is_terminal()).init(),
            LogFormat::Json => log.json().flatten_event(true).init(),
        }
        Ok(())
    }
}

/// The filter, without what is logged twice unless it asks for the client's lines.
fn filter(text: &str) -> Result<EnvFilter, tracing_subscriber::filter::ParseError> {
    if text.contains("kube_client") {
        return EnvFilter::try_new(text);
    }
    EnvFilter::try_new(format!("{text},{DOUBLED}=off"))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// What a filter lets through of an error of the client and one of ours.
    fn logged(text: &str) -> String {
        #[derive(Clone, Default)]
        struct Lines(Arc<Mutex<Vec<u8>>>);
        impl io::Write for Lines {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let lines = Lines::default();
        let writer = lines.clone();
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter(text).unwrap())
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .without_time()
            .finish();
        tracing::subscriber::with_default(log, || {
            tracing::error!(target: DOUBLED, "failed with status 500");
            tracing::error!("round failed");
        });
        String::from_utf8(lines.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn a_failed_call_is_logged_once_unless_the_clients_lines_are_asked_for() {
        for text in ["info", "debug", "rollgate=debug,kube=warn", "warn,"] {
            let logged = logged(text);
            assert!(!logged.contains("failed with"), "{text}: {logged}");
            assert!(logged.contains("round failed"), "{text}: {logged}");
        }
        assert!(logged("info,kube_client=debug").contains("failed with"));
        assert!(filter("rollgate=loudly").is_err());
    }
}
