//! The options of the engine, shared by `rollgate controller` and `rollgate run`.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;

use super::cluster;
use crate::controller::Options;

/// How long the engine's thread, when it has nothing left to do, lets new things gather before it looks for
/// them.
///
/// Amid many rollouts something arrives every few hundred microseconds, and to wake up for it costs more than
/// to deal with it: with nothing gathered a rollout takes more than a quarter more processor time. What comes
/// after a longer silence is dealt with at once. How long a status may wait ([`crate::controller::pace`]) allows
/// for this.
const GATHER: Duration = Duration::from_millis(8);

/// How the engine works.
#[derive(Debug, clap::Args)]
pub struct EngineArgs {
    /// How to reach the API server; by default as the pod that this runs in does, or as kubectl does
    #[arg(long, env = "ROLLGATE_KUBECONFIG", value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Work in these namespaces only
    #[arg(long, env = "ROLLGATE_NAMESPACES", value_name = "NAMESPACE", value_delimiter = ',')]
    namespaces: Vec<String>,

    /// Deployments to work on at once
    ///
    /// The requests that this leads to are not limited further: the API server's own priority and
    /// fairness does that better than any client can.
    #[arg(
        long,
        env = "ROLLGATE_WORKERS",
        value_name = "COUNT",
        default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    workers: u16,

    /// Let only one of several replicas work, by a Lease
    #[arg(
        long,
        env = "ROLLGATE_LEADER_ELECT",
        value_name = "BOOL",
        default_value_t = true,
        num_args = 0..=1,
        default_missing_value = "true",
        require_equals = true,
        action = clap::ArgAction::Set
    )]
    leader_elect: bool,

    /// Whether to make sure that no other Deployment controller is running, before writing anything and
    /// as long as this one runs
    #[arg(long, env = "ROLLGATE_TAKEOVER_CHECK", value_enum, default_value_t = Switch::On)]
    takeover_check: Switch,

    /// The namespace of the Lease and of the take-over probe; by default the one that this process lives in
    #[arg(long, env = "ROLLGATE_HOME_NAMESPACE", value_name = "NAMESPACE")]
    home_namespace: Option<String>,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[allow(missing_docs, reason = "their help would say no more than their names")]
pub enum Switch {
    On,
    Off,
}

impl EngineArgs {
    /// The way to the API server, and the options.
    ///
    /// # Errors
    /// When no way is found.
    pub async fn read(self) -> anyhow::Result<(kube::Config, Options)> {
        let config = cluster::find(self.kubeconfig.as_deref(), None).await?;
        let options = Options {
            namespaces: self.namespaces,
            workers: self.workers.into(),
            leader_elect: self.leader_elect,
            takeover_check: self.takeover_check == Switch::On,
            home: self.home_namespace.unwrap_or_else(|| config.default_namespace.clone()),
        };
        Ok((config, options))
    }
}

/// Runs the engine, from its first task to its last, on the thread that this is called from.
///
/// It does very many very small things: with several threads, most of the time would go into waking one
/// another. One thread carries out thousands of rollouts a minute, more than any API server does.
///
/// # Errors
/// Those of the engine, and when no runtime can be started.
pub fn on_this_thread<T>(engine: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .on_thread_park(|| std::thread::sleep(GATHER))
        .build();
    runtime.context("could not start the runtime")?.block_on(engine)
}

/// The same, on a thread of the engine's own.
///
/// # Errors
/// As [`on_this_thread`], and when there can be no thread, or it dies.
pub async fn on_own_thread<T: Send + 'static>(
    engine: impl Future<Output = anyhow::Result<T>> + Send + 'static,
) -> anyhow::Result<T> {
    let (tell, told) = tokio::sync::oneshot::channel();
    std::thread::Builder::new()
        .name("engine".into())
        .spawn(move || tell.send(on_this_thread(engine)))
        .context("could not start the engine's thread")?;
    told.await.context("the engine's thread died")?
}
