//! `rollgate run`: the gate and the engine in one process.

use anyhow::bail;

use super::engine::{EngineArgs, Switch, on_this_thread};
use super::{Exit, controller, serve};

/// Answer admission webhooks and carry out rollouts, in one process
///
/// As `rollgate serve` and `rollgate controller` together; either can be switched off.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Whether to answer admission webhooks and requests for validation
    #[arg(long, env = "ROLLGATE_GATE", value_enum, default_value_t = Switch::On)]
    gate: Switch,

    /// Whether to carry out rollouts
    #[arg(long, env = "ROLLGATE_ENGINE", value_enum, default_value_t = Switch::On)]
    engine: Switch,

    #[command(flatten)]
    serve: serve::Args,

    #[command(flatten)]
    controller: EngineArgs,
}

impl Args {
    /// Runs until a signal ends it.
    ///
    /// # Errors
    /// When either part cannot start, or ends before it should.
    pub fn run(self) -> anyhow::Result<Exit> {
        self.serve.log.start()?;
        let plain_listen = self.serve.plain_listen();
        match (self.gate, self.engine) {
            (Switch::On, Switch::On) => self.serve.serve_on_all_threads(Some(self.controller))?,
            (Switch::On, Switch::Off) => self.serve.serve_on_all_threads(None)?,
            (Switch::Off, Switch::On) => on_this_thread(async {
                controller::work(self.controller, controller::bind(plain_listen).await?).await
            })?,
            (Switch::Off, Switch::Off) => bail!("both the gate and the engine are off: nothing to do"),
        }
        Ok(Exit::Fine)
    }
}
