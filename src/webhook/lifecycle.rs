//! Starting, serving, draining and stopping, and the signals that lead from one to the next.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tracing::{info, warn};

/// Where the process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Something that serving needs is still missing.
    Starting,
    /// Ready.
    Serving,
    /// No longer ready, so that no new traffic is sent here, but serving what still comes.
    Draining,
    /// Takes no more connections, and closes those it has.
    Stopping,
}

/// Says what keeps a part of the process from being ready, if anything does.
type Need = Box<dyn Fn() -> Result<(), &'static str> + Send + Sync>;

/// Knows the stage, and moves it forward only.
#[derive(Clone)]
pub struct Lifecycle {
    stage: watch::Sender<Stage>,
    need: Arc<OnceLock<Need>>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Lifecycle { stage: watch::Sender::new(Stage::Starting), need: Arc::default() }
    }
}

impl fmt::Debug for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lifecycle").field("stage", &self.stage()).finish_non_exhaustive()
    }
}

impl Lifecycle {
    /// The stage now.
    pub fn stage(&self) -> Stage {
        *self.stage.borrow()
    }

    /// Makes readiness depend on another part of the process too. The first such part counts.
    pub fn require(&self, need: impl Fn() -> Result<(), &'static str> + Send + Sync + 'static) {
        let _ = self.need.set(Box::new(need));
    }

    /// Whether to be sent traffic.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn ready(&self) -> Result<(), &'static str> {
        match self.stage() {
            Stage::Serving => self.need.get().map_or(Ok(()), |need| need()),
            Stage::Starting => Err("starting"),
            Stage::Draining | Stage::Stopping => Err("shutting down"),
        }
    }

    /// Goes on to a stage, unless it was passed already.
    pub fn advance(&self, to: Stage) {
        self.stage.send_if_modified(|stage| {
            let moves = *stage < to;
            *stage = (*stage).max(to);
            moves
        });
    }

    /// Waits until a stage is reached.
    pub async fn reached(&self, stage: Stage) {
        let mut seen = self.stage.subscribe();
        // The sender lives in `self`, so the wait cannot fail.
        let _ = seen.wait_for(|s| *s >= stage).await;
    }
}

/// The signals that end the process.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the system lets no handler be set.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the first signal, then drains and stops. An interrupt while that goes on comes from
    /// somebody who does not want to wait: the process exits at once.
    pub async fn conduct(mut self, lifecycle: Lifecycle, drain: Duration) {
        let name = tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        };
        info!(signal = name, drain_secs = drain.as_secs(), "shutting down: not ready, still serving");
        lifecycle.advance(Stage::Draining);
        tokio::select! {
            () = tokio::time::sleep(drain) => {}
            () = self.impatient() => {}
        }
        info!("closing connections");
        lifecycle.advance(Stage::Stopping);
        self.impatient().await;
    }

    async fn impatient(&mut self) {
        if self.interrupt.recv().await.is_some() {
            warn!("interrupted while shutting down: exiting at once");
            std::process::exit(130);
        }
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_part_can_stand_in_the_way_of_readiness() {
        let lifecycle = Lifecycle::default();
        lifecycle.require(|| Err("the caches are not filled yet"));
        assert_eq!(lifecycle.ready(), Err("starting"));
        lifecycle.advance(Stage::Serving);
        assert_eq!(lifecycle.ready(), Err("the caches are not filled yet"));
    }

    #[tokio::test]
    async fn stages_only_move_forward() {
        let lifecycle = Lifecycle::default();
        lifecycle.advance(Stage::Draining);
        lifecycle.advance(Stage::Serving);
        assert_eq!(lifecycle.stage(), Stage::Draining);
        lifecycle.reached(Stage::Serving).await;
        lifecycle.reached(Stage::Draining).await;
    }
}
