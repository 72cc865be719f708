//! Which cluster is meant, as kubectl finds it.

use std::net::IpAddr;
use std::path::Path;

use anyhow::Context;
use hyper_util::client::proxy::matcher::Matcher;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

/// The way to the API server: by a kubeconfig if one is named, else as kubectl finds it, else, where no
/// context is asked for, as the pod that this runs in does.
///
/// # Errors
/// When no way is found.
pub(super) async fn find(kubeconfig: Option<&Path>, context: Option<&str>) -> anyhow::Result<Config> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let config = match kubeconfig {
        Some(file) => {
            let unusable = || format!("{} cannot be used", file.display());
            let read = Kubeconfig::read_from(file).with_context(unusable)?;
            Config::from_custom_kubeconfig(read, &options).await.with_context(unusable)?
        }
        None if context.is_some() => {
            Config::from_kubeconfig(&options).await.context("the kubeconfig cannot be used")?
        }
        None => Config::infer().await.context("found no cluster to work in")?,
    };
    Ok(without_needless_proxy(config))
}

/// Drops a proxy that only the environment names where kubectl would use none: for what NO_PROXY lists, and
/// for this machine itself. `kube` takes it for every server.
fn without_needless_proxy(mut config: Config) -> Config {
    let named: Vec<http::Uri> = ["HTTPS_PROXY", "https_proxy"]
        .iter()
        .filter_map(|name| std::env::var(name).ok()?.parse().ok())
        .collect();
    let server = &config.cluster_url;
    let needless = is_this_machine(server) || Matcher::from_env().intercept(server).is_none();
    if needless && config.proxy_url.as_ref().is_some_and(|proxy| named.contains(proxy)) {
        config.proxy_url = None;
    }
    config
}

fn is_this_machine(server: &http::Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_name_and_by_address() {
        for (server, expected) in [
            ("https://localhost:6443", true),
            ("https://127.0.0.1:6443/path", true),
            ("https://[::1]:6443", true),
            ("https://10.0.0.1:443", false),
            ("https://localhost.example.com", false),
        ] {
            assert_eq!(is_this_machine(&server.parse().unwrap()), expected, "{server}");
        }
    }
}
