//! `rollgate controller`: the Deployment controller alone.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Context;
use kube::config::{KubeConfigOptions, Kubeconfig};
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use tracing::info;

use super::Exit;
use crate::controller::{Controller, Options, port};

/// Carry out rollouts: the Deployment controller
///
/// Takes the place of the one in kube-controller-manager, which must then run with
/// --controllers=*,-deployment-controller.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to reach the API server; by default as the pod that this runs in does, or as kubectl does
    #[arg(long, env = "ROLLGATE_KUBECONFIG", value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Work in these namespaces only
    #[arg(long, env = "ROLLGATE_NAMESPACES", value_name = "NAMESPACE", value_delimiter = ',')]
    namespaces: Vec<String>,

    /// Deployments to work on at once
    #[arg(long, env = "ROLLGATE_WORKERS", value_name = "COUNT", default_value_t = 5,
          value_parser = clap::value_parser!(u16).range(1..))]
    workers: u16,

    /// Let only one of several replicas work, by a Lease
    #[arg(long, env = "ROLLGATE_LEADER_ELECT", value_name = "BOOL", default_value_t = true,
          num_args = 0..=1, default_missing_value = "true", require_equals = true,
          action = clap::ArgAction::Set)]
    leader_elect: bool,

    /// Whether to make sure that no other Deployment controller is running before writing anything
    #[arg(long, env = "ROLLGATE_TAKEOVER_CHECK", value_enum, default_value_t = Switch::On)]
    takeover_check: Switch,

    /// The namespace of the Lease and of the probe; by default the one that this process lives in
    #[arg(long, env = "ROLLGATE_HOME_NAMESPACE", value_name = "NAMESPACE")]
    home: Option<String>,

    /// Where to answer /livez, /readyz and /metrics; `none` to listen nowhere
    #[arg(long, env = "ROLLGATE_PLAIN_LISTEN", value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    plain_listen: MaybeAddress,

    /// What to log: error, warn, info, debug or trace, or a filter such as rollgate=debug,kube=warn
    #[arg(long, env = "ROLLGATE_LOG", value_name = "FILTER", default_value = "info")]
    log: String,
}

/// An address, or `none`.
#[derive(Debug, Clone, Copy)]
struct MaybeAddress(Option<SocketAddr>);

impl FromStr for MaybeAddress {
    type Err = std::net::AddrParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "none" { Ok(MaybeAddress(None)) } else { Ok(MaybeAddress(Some(text.parse()?))) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Args {
    /// Works until a signal ends it.
    ///
    /// # Errors
    /// When the API server's address is not to be found, or a part ends that should not.
    pub fn run(self) -> anyhow::Result<Exit> {
        let filter =
            tracing_subscriber::EnvFilter::try_new(&self.log).context("--log cannot be understood")?;
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.context("could not start the runtime")?.block_on(self.work())?;
        Ok(Exit::Fine)
    }

    async fn work(self) -> anyhow::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        let config = config(self.kubeconfig).await?;
        let options = Options {
            namespaces: self.namespaces,
            workers: self.workers.into(),
            leader_elect: self.leader_elect,
            takeover_check: self.takeover_check == Switch::On,
            home: self.home.unwrap_or_else(|| config.default_namespace.clone()),
        };
        let mut registry = Registry::with_prefix("rollgate");
        let controller = Controller::new(config, options, &mut registry)?;
        if let Some(address) = self.plain_listen.0 {
            let tcp =
                TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
            info!(address = %tcp.local_addr()?, version = env!("CARGO_PKG_VERSION"), "listening");
            tokio::spawn(port::serve(tcp, controller.health(), registry, std::future::pending()));
        }
        controller.run(stop).await.map_err(Into::into)
    }
}

async fn config(file: Option<PathBuf>) -> anyhow::Result<kube::Config> {
    let Some(file) = file else {
        return kube::Config::infer().await.context("found no cluster to work in");
    };
    let read = Kubeconfig::read_from(&file).with_context(|| format!("{} cannot be used", file.display()))?;
    kube::Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
        .await
        .with_context(|| format!("{} cannot be used", file.display()))
}
