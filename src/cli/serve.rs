//! `rollgate serve`: the admission webhooks and the validation service.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, bail};
use tracing::info;

use super::engine::{EngineArgs, on_own_thread};
use super::log::LogArgs;
use super::{Exit, cluster};
use crate::certs::cluster::{Cluster, Names};
use crate::certs::rotation::Lifetimes;
use crate::certs::source::Source;
use crate::check::{encoding, yaml};
use crate::controller::Controller;
use crate::review::{Gate, House};
use crate::schema::source::{Data, Node};
use crate::verdict::Server as ApiServer;
use crate::webhook::lifecycle::{Lifecycle, Signals, Stage};
use crate::webhook::limits::Limits;
use crate::webhook::server::{Options, Server};

/// Answer admission webhooks and requests for validation
///
/// Serves POST /mutate and POST /validate to the API server over TLS, and POST /v1/check, /livez,
/// /readyz, /metrics and /openapi.json on both ports.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
On SIGTERM and SIGINT the server is no longer ready, goes on serving for --drain-secs, closes its
connections and ends with status 0. A second SIGINT ends it at once.

The file of --config is YAML. Defaults of the house apply to new Deployments, where the author chose
nothing else:
    defaults:
      progressDeadlineSeconds: 300
      revisionHistoryLimit: 3
      strategy:
        rollingUpdate:
          maxUnavailable: 0")]
pub struct Args {
    /// Where to listen with TLS
    #[arg(long, env = "ROLLGATE_LISTEN", value_name = "ADDRESS", default_value = "0.0.0.0:8443")]
    listen: SocketAddr,

    /// Where to listen without TLS, for all but the webhooks; `none` to listen nowhere
    #[arg(long, env = "ROLLGATE_PLAIN_LISTEN", value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    plain_listen: MaybeAddress,

    /// Where the certificate comes from: self-signed, files:DIR or cluster
    ///
    /// self-signed makes one that nobody trusts, for development. files:DIR reads tls.crt and tls.key
    /// and follows their changes. cluster keeps an authority and a certificate in a Secret, renews
    /// them, and tells the two webhook configurations whom to trust.
    #[arg(long, env = "ROLLGATE_CERTIFICATES", value_name = "SOURCE", default_value = "self-signed")]
    certificates: Certificates,

    /// Names and addresses that a certificate made here is for
    #[arg(
        long,
        env = "ROLLGATE_CERTIFICATE_NAMES",
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "localhost,127.0.0.1,::1"
    )]
    certificate_names: Vec<String>,

    /// The Secret of `--certificates cluster`, as NAMESPACE/NAME
    #[arg(
        long,
        env = "ROLLGATE_CERTIFICATE_SECRET",
        value_name = "SECRET",
        default_value = "rollgate/rollgate-certificates"
    )]
    certificate_secret: String,

    /// The MutatingWebhookConfiguration that is told whom to trust
    #[arg(long, env = "ROLLGATE_MUTATING_CONFIGURATION", value_name = "NAME", default_value = "rollgate")]
    mutating_configuration: String,

    /// The ValidatingWebhookConfiguration that is told whom to trust
    #[arg(long, env = "ROLLGATE_VALIDATING_CONFIGURATION", value_name = "NAME", default_value = "rollgate")]
    validating_configuration: String,

    /// How often to look for another certificate, in seconds
    #[arg(long, env = "ROLLGATE_CERTIFICATE_LOOK_SECS", value_name = "SECONDS", default_value_t = 10)]
    certificate_look_secs: u64,

    /// Let in only TLS clients with a certificate that an authority in this file has signed
    #[arg(long, env = "ROLLGATE_CLIENT_CA", value_name = "FILE")]
    client_ca: Option<PathBuf>,

    /// A file with the defaults of the house
    #[arg(long, env = "ROLLGATE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,

    /// Refuse what is invalid in the mutating webhook already, with all that is wrong
    #[arg(long, env = "ROLLGATE_REFUSE_EARLY")]
    refuse_early: bool,

    /// Whether the API server runs with --allow-privileged, as nearly all do
    #[arg(
        long,
        env = "ROLLGATE_ALLOW_PRIVILEGED",
        value_name = "BOOL",
        default_value_t = true,
        action = clap::ArgAction::Set
    )]
    allow_privileged: bool,

    /// How long to go on serving after being told to end, in seconds
    #[arg(long, env = "ROLLGATE_DRAIN_SECS", value_name = "SECONDS", default_value_t = 10)]
    drain_secs: u64,

    /// How long a request may take, in seconds
    #[arg(long, env = "ROLLGATE_DEADLINE_SECS", value_name = "SECONDS", default_value_t = 8)]
    deadline_secs: u64,

    /// The largest request body, in MiB
    #[arg(long, env = "ROLLGATE_MAX_BODY_MIB", value_name = "MIB", default_value_t = 8)]
    max_body_mib: usize,

    /// How much of request bodies to hold at a time, in MiB; further requests are told to come again
    #[arg(long, env = "ROLLGATE_MAX_HELD_MIB", value_name = "MIB", default_value_t = 32)]
    max_held_mib: usize,

    /// How many requests to hold at a time; further ones are told to come again
    #[arg(long, env = "ROLLGATE_MAX_IN_FLIGHT", value_name = "COUNT", default_value_t = 512)]
    max_in_flight: usize,

    /// How many connections to keep open on each port; further ones wait
    #[arg(long, env = "ROLLGATE_MAX_CONNECTIONS", value_name = "COUNT", default_value_t = 1024)]
    max_connections: usize,

    #[command(flatten)]
    pub(super) log: LogArgs,
}

/// An address, or `none`.
#[derive(Debug, Clone, Copy)]
pub(super) struct MaybeAddress(pub(super) Option<SocketAddr>);

impl FromStr for MaybeAddress {
    type Err = std::net::AddrParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "none" { Ok(MaybeAddress(None)) } else { Ok(MaybeAddress(Some(text.parse()?))) }
    }
}

#[derive(Debug, Clone)]
enum Certificates {
    SelfSigned,
    Files(PathBuf),
    Cluster,
}

impl FromStr for Certificates {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "self-signed" => Ok(Certificates::SelfSigned),
            "cluster" => Ok(Certificates::Cluster),
            _ => match text.strip_prefix("files:") {
                Some(folder) if !folder.is_empty() => Ok(Certificates::Files(folder.into())),
                _ => Err("must be self-signed, files:DIR or cluster"),
            },
        }
    }
}

impl Args {
    /// Serves until a signal ends it.
    ///
    /// # Errors
    /// When there is no certificate, an address is taken, or the configuration is of no use.
    pub fn run(self) -> anyhow::Result<Exit> {
        self.log.start()?;
        self.serve_on_all_threads(None)?;
        Ok(Exit::Fine)
    }

    /// The address of the plain port, if there is to be one.
    pub(super) fn plain_listen(&self) -> Option<SocketAddr> {
        self.plain_listen.0
    }

    /// Serves until a signal ends it, and runs the engine beside that if one is given.
    pub(super) fn serve_on_all_threads(self, engine: Option<EngineArgs>) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.context("could not start the runtime")?.block_on(self.serve(engine))
    }

    async fn serve(self, engine: Option<EngineArgs>) -> anyhow::Result<()> {
        let signals = Signals::listen().context("could not listen to signals")?;
        let lifecycle = Lifecycle::default();
        let drain = Duration::from_secs(self.drain_secs);
        let conductor = tokio::spawn(signals.conduct(lifecycle.clone(), drain));
        let server = Server::bind(self.options().await?, lifecycle.clone()).await?;
        let address = server.address().context("the port has no address")?;
        info!(%address, plain_address = ?server.plain_address(), version = env!("CARGO_PKG_VERSION"), "listening");
        let ended = match engine {
            None => server.run().await.map_err(Into::into),
            Some(engine) => serve_and_work(server, engine, &lifecycle).await,
        };
        conductor.abort();
        ended
    }

    async fn options(self) -> anyhow::Result<Options> {
        let server = ApiServer::new(self.allow_privileged);
        let house = match &self.config {
            Some(path) => {
                house(path, &server).with_context(|| format!("{} cannot be used", path.display()))?
            }
            None => House::default(),
        };
        if self.max_held_mib < self.max_body_mib {
            bail!("--max-held-mib must be at least --max-body-mib, or the largest body never gets in");
        }
        let limits = Limits {
            body_bytes: self.max_body_mib << 20,
            held_bytes: (self.max_held_mib << 20) + 1024,
            in_flight: self.max_in_flight,
            connections: self.max_connections,
            deadline: Duration::from_secs(self.deadline_secs),
        };
        Ok(Options {
            listen: self.listen,
            plain_listen: self.plain_listen.0,
            certificates: self.source().await?,
            client_ca: self.client_ca,
            look_every: Duration::from_secs(self.certificate_look_secs.max(1)),
            gate: Gate { server, house, refuse_early: self.refuse_early },
            limits,
        })
    }

    async fn source(&self) -> anyhow::Result<Source> {
        Ok(match &self.certificates {
            Certificates::SelfSigned => Source::SelfSigned { names: self.certificate_names.clone() },
            Certificates::Files(folder) => Source::Files(folder.clone()),
            Certificates::Cluster => {
                let Some((namespace, secret)) = self.certificate_secret.split_once('/') else {
                    bail!("--certificate-secret must be NAMESPACE/NAME");
                };
                let names = Names {
                    namespace: namespace.to_owned(),
                    secret: secret.to_owned(),
                    mutating: self.mutating_configuration.clone(),
                    validating: self.validating_configuration.clone(),
                    certificate: self.certificate_names.clone(),
                };
                let config = cluster::find(None, None).await?;
                let client = kube::Client::try_from(config).context("the cluster cannot be reached")?;
                Source::Cluster(Box::new(Cluster::new(client, names, Lifetimes::default())))
            }
        })
    }
}

/// Runs both until both have ended, or until one has failed. The engine stops as soon as draining begins,
/// so that another replica takes over while this one sees its callers off.
async fn serve_and_work(server: Server, engine: EngineArgs, lifecycle: &Lifecycle) -> anyhow::Result<()> {
    let (config, options) = engine.read().await?;
    let app = server.app();
    let controller = Controller::new(config, options, &mut app.metrics.registry())?;
    let health = controller.health();
    lifecycle.require(move || health.ready());
    let serving = async { server.run().await.map_err(anyhow::Error::from) };
    let draining = lifecycle.clone();
    let working = on_own_thread(async move { Ok(controller.run(draining.reached(Stage::Draining)).await?) });
    tokio::try_join!(serving, working).map(|((), ())| ())
}

fn house(path: &Path, server: &ApiServer) -> anyhow::Result<House> {
    let text = encoding::decode(std::fs::read(path).context("it could not be read")?);
    let Some(root) = yaml::read(&text).context("it is no YAML")?.root else {
        return Ok(House::default());
    };
    let Data::Object(members) = &root.data else { bail!("it must be a mapping") };
    let mut house = House::default();
    for member in members {
        match &*member.key {
            "defaults" if member.value.data == Data::Null => {}
            "defaults" => house = defaults(&member.value, server)?,
            other => bail!("`{other}` is no setting; the one setting is `defaults`"),
        }
    }
    Ok(house)
}

fn defaults(spec: &Node<'_>, server: &ApiServer) -> anyhow::Result<House> {
    House::read(server, spec).context("defaults")
}
