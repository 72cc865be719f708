//! Which cluster is meant, as kubectl finds it.

use std::path::Path;

use anyhow::Context;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

/// The way to the API server: by a kubeconfig if one is named, else as kubectl finds it, else, where no
/// context is asked for, as the pod that this runs in does.
///
/// # Errors
/// When no way is found.
pub(super) async fn find(kubeconfig: Option<&Path>, context: Option<&str>) -> anyhow::Result<Config> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    match kubeconfig {
        Some(file) => {
            let unusable = || format!("{} cannot be used", file.display());
            let read = Kubeconfig::read_from(file).with_context(unusable)?;
            Config::from_custom_kubeconfig(read, &options).await.with_context(unusable)
        }
        None if context.is_some() => {
            Config::from_kubeconfig(&options).await.context("the kubeconfig cannot be used")
        }
        None => Config::infer().await.context("found no cluster to work in"),
    }
}
