//! `rollgate controller`: the Deployment controller alone.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use anyhow::Context;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tracing::{info, warn};

use super::Exit;
use super::engine::{EngineArgs, on_this_thread};
use super::log::LogArgs;
use super::serve::MaybeAddress;
use crate::controller::{Controller, port};
use crate::webhook::lifecycle::{Lifecycle, Signals, Stage};

const DEFAULT_ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 8080));

/// Carry out rollouts: the Deployment controller
///
/// Takes the place of the one in kube-controller-manager, which must then run with
/// --controllers=*,-deployment-controller.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
On SIGTERM and SIGINT the rounds under way are finished, the Lease is let go, and the process ends with
status 0. A second SIGINT ends it at once.")]
pub struct Args {
    #[command(flatten)]
    engine: EngineArgs,

    /// Where to answer /livez, /readyz and /metrics; `none` to listen nowhere
    ///
    /// By default 0.0.0.0:8080, or nowhere when that is taken.
    #[arg(long, env = "ROLLGATE_PLAIN_LISTEN", value_name = "ADDRESS")]
    plain_listen: Option<MaybeAddress>,

    #[command(flatten)]
    log: LogArgs,
}

impl Args {
    /// Works until a signal ends it.
    ///
    /// # Errors
    /// When the API server's address is not to be found, or a part ends that should not.
    pub fn run(self) -> anyhow::Result<Exit> {
        self.log.start()?;
        on_this_thread(async {
            let listener = match self.plain_listen {
                Some(MaybeAddress(address)) => bind(address).await?,
                None => bind(Some(DEFAULT_ADDRESS)).await.unwrap_or_else(|e| {
                    warn!("{e:#}: /livez, /readyz and /metrics are answered nowhere");
                    None
                }),
            };
            work(self.engine, listener).await
        })?;
        Ok(Exit::Fine)
    }
}

/// Opens the port for health and metrics, if there is to be one.
pub(super) async fn bind(address: Option<SocketAddr>) -> anyhow::Result<Option<TcpListener>> {
    let Some(address) = address else { return Ok(None) };
    TcpListener::bind(address).await.map(Some).with_context(|| format!("cannot listen on {address}"))
}

/// Runs the engine, with a port for health and metrics, until a signal ends it.
pub(super) async fn work(engine: EngineArgs, listener: Option<TcpListener>) -> anyhow::Result<()> {
    let signals = Signals::listen().context("could not listen to signals")?;
    let lifecycle = Lifecycle::default();
    let conductor = tokio::spawn(signals.conduct(lifecycle.clone(), std::time::Duration::ZERO));
    let (config, options) = engine.read().await?;
    let mut registry = Registry::with_prefix("rollgate");
    let controller = Controller::new(config, options, &mut registry)?;
    let told = match listener {
        Some(tcp) => {
            info!(address = %tcp.local_addr()?, version = env!("CARGO_PKG_VERSION"), "listening");
            Some(port::serve(tcp, controller.health(), registry))
        }
        None => None,
    };
    let worked = controller.run(lifecycle.reached(Stage::Draining));
    let ended = match told {
        Some(told) => tokio::select! {
            ended = worked => ended.map_err(Into::into),
            failed = told => failed.context("the port failed"),
        },
        None => worked.await.map_err(Into::into),
    };
    conductor.abort();
    ended
}
