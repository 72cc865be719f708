//! `rollgate run`: the gate and the engine in one process.

use anyhow::{Context, bail};

use super::engine::{EngineArgs, Switch};
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
        self.serve.start_log()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.context("could not start the runtime")?;
        match (self.gate, self.engine) {
            (Switch::On, Switch::On) => runtime.block_on(self.serve.serve(Some(self.controller)))?,
            (Switch::On, Switch::Off) => runtime.block_on(self.serve.serve(None))?,
            (Switch::Off, Switch::On) => {
                runtime.block_on(controller::work(self.controller, self.serve.plain_listen()))?;
            }
            (Switch::Off, Switch::Off) => bail!("both the gate and the engine are off: nothing to do"),
        }
        Ok(Exit::Fine)
    }
}
