//! What plays a part of the cluster within the test's own process.

use std::path::PathBuf;
use std::thread;

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::sync::oneshot;

/// A future that runs on a thread of its own; it rests when this is dropped.
pub(crate) struct Background {
    _stop: oneshot::Sender<()>,
}

impl Background {
    /// Runs what `start` makes, which may only be made on the thread that runs it.
    pub(crate) fn run<F: Future<Output = ()>>(start: impl FnOnce() -> F + Send + 'static) -> Self {
        let (stop, stopped) = oneshot::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime of one thread can be built");
            runtime.block_on(async {
                tokio::select! {
                    () = start() => {}
                    _ = stopped => {}
                }
            });
        });
        Self { _stop: stop }
    }
}

/// The way to the API server that a kubeconfig of the test names.
pub(crate) async fn config_of(kubeconfig: PathBuf) -> Config {
    let config = Kubeconfig::read_from(kubeconfig).expect("the test's kubeconfig is readable");
    Config::from_custom_kubeconfig(config, &KubeConfigOptions::default())
        .await
        .expect("the test's kubeconfig is complete")
}
