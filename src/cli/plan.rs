//! `rollgate plan`: what the engine would do next about a Deployment, and why.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{Exit, cluster};
use crate::clock;
use crate::controller::api::Api;
use crate::controller::gather::gather;
use crate::kube_types::names;
use crate::rollout::{self, Snapshot};

/// Explain what the controller would do next about a Deployment
///
/// Reads a Deployment of a cluster (--live), or a snapshot from a file: a JSON object with `now` (a time),
/// `deployment`, `replica_sets` and `pods`, as the API server gives them. Nothing is written anywhere.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rollgate plan --live web --namespace shop
  rollgate plan --live deployment/web --context staging --output json
  rollgate plan --live web --output snapshot > web.json; rollgate plan web.json

A live Deployment takes the rights to get it and to list the ReplicaSets of its namespace, for the strategy
Recreate also the Pods.")]
pub struct Args {
    /// The file with the snapshot; `-` for standard input
    #[arg(default_value = "-", conflicts_with_all = ["name", "namespace", "context", "kubeconfig"])]
    file: PathBuf,
    #[command(flatten)]
    live: LiveArgs,
    /// How to print the plan
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

/// A Deployment of a cluster.
#[derive(Debug, clap::Args)]
struct LiveArgs {
    /// Read this Deployment from the cluster instead of a file; `deployment/NAME` is understood too
    #[arg(long = "live", value_name = "NAME", value_parser = deployment_name)]
    name: Option<String>,
    /// The namespace of the Deployment; by default the kubeconfig's
    #[arg(short, long, requires = "name", value_parser = object_name)]
    namespace: Option<String>,
    /// The context of the kubeconfig; by default its current one
    #[arg(long, requires = "name")]
    context: Option<String>,
    /// How to reach the cluster; by default as kubectl does
    #[arg(long, value_name = "FILE", requires = "name")]
    kubeconfig: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Output {
    /// In words
    Text,
    /// As JSON
    Json,
    /// No plan but the snapshot that it is made from, which other runs can read
    Snapshot,
}

impl Args {
    /// Prints the plan.
    ///
    /// # Errors
    /// When the Deployment or the snapshot cannot be read, or standard output cannot be written.
    pub fn run(self) -> anyhow::Result<Exit> {
        let json = match &self.live.name {
            Some(name) => self.live.read(name)?,
            None => read(&self.file).with_context(|| format!("could not read {}", self.file.display()))?,
        };
        let origin = || match &self.live.name {
            Some(name) => format!("Deployment {name} is not understood"),
            None => format!("{} holds no snapshot", self.file.display()),
        };
        let snapshot = Snapshot::read(&json).with_context(origin)?;
        let text = match self.output {
            Output::Text => rollout::explain(&snapshot.deployment, &snapshot.plan()),
            Output::Json => format!("{:#}\n", rollout::plan_json(&snapshot.deployment, &snapshot.plan())),
            Output::Snapshot => format!("{}\n", json.trim_end()),
        };
        io::stdout().write_all(text.as_bytes()).context("could not write to standard output")?;
        Ok(Exit::Fine)
    }
}

fn read(file: &Path) -> io::Result<String> {
    if file.as_os_str() == "-" { io::read_to_string(io::stdin()) } else { fs::read_to_string(file) }
}

impl LiveArgs {
    /// Reads the Deployment and what bears on it; a snapshot as JSON.
    fn read(&self, name: &str) -> anyhow::Result<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.context("could not start the runtime")?.block_on(async {
            let config = cluster::find(self.kubeconfig.as_deref(), self.context.as_deref()).await?;
            let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
            let namespace = self.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
            let api = Api::new(config).with_context(|| format!("{server} cannot be asked"))?;
            gather(&api, &namespace, name, clock::now())
                .await
                .with_context(|| format!("could not read Deployment {namespace}/{name} from {server}"))
        })
    }
}

/// A name as kubectl takes it.
fn deployment_name(text: &str) -> Result<String, String> {
    const KINDS: [&str; 5] = ["deployment", "deployments", "deploy", "deployment.apps", "deployments.apps"];
    match text.split_once('/') {
        Some((kind, name)) if KINDS.contains(&kind) => object_name(name),
        Some((kind, _)) => Err(format!("{kind} is no Deployment")),
        None => object_name(text),
    }
}

/// A name that can stand in a path of the API.
fn object_name(text: &str) -> Result<String, String> {
    match names::subdomain(text).first() {
        None => Ok(text.to_owned()),
        Some(fault) => Err(fault.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_is_named_as_for_kubectl() {
        for text in ["web", "deployment/web", "deploy/web", "deployments.apps/web"] {
            assert_eq!(deployment_name(text).as_deref(), Ok("web"), "{text}");
        }
        for text in ["pod/web", "./web.json", "web/", "Web", "web?x=y", ""] {
            assert!(deployment_name(text).is_err(), "{text}");
        }
    }
}
