//! Runs kubectl, and scripts of kubectl commands, as one user in one namespace.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::workplace;

/// The token of who may do everything: a member of `system:masters`.
pub(crate) const ADMIN_TOKEN: &str = "test-token";

/// The token of who may do nothing, in the context `guest`.
pub(crate) const GUEST_TOKEN: &str = "guest-token";

/// kubectl with a kubeconfig of its own.
#[derive(Clone)]
pub(crate) struct Kubectl {
    /// The kubeconfig, its namespace that of the scenario.
    pub(crate) kubeconfig: PathBuf,
    /// The namespace where commands go that name none.
    pub(crate) namespace: String,
    folder: PathBuf,
}

impl Kubectl {
    /// kubectl against a server, for one namespace, with its files in `folder`.
    pub(crate) fn new(folder: &Path, server: &str, authority: &str, namespace: &str) -> Self {
        let kubeconfig = folder.join(format!("{namespace}.kubeconfig"));
        let config = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [
                {"name": "test", "context": {"cluster": "test", "user": "test", "namespace": namespace}},
                {"name": "guest", "context": {"cluster": "test", "user": "guest", "namespace": namespace}},
            ],
            "clusters": [{"name": "test", "cluster": {"server": server, "certificate-authority": authority}}],
            "users": [
                {"name": "test", "user": {"token": ADMIN_TOKEN}},
                {"name": "guest", "user": {"token": GUEST_TOKEN}},
            ],
        });
        // Somebody may be reading the one of before.
        if !kubeconfig.exists() {
            fs::write(&kubeconfig, config.to_string()).expect("the test's folder is writable");
        }
        Self { kubeconfig, namespace: namespace.to_owned(), folder: folder.to_owned() }
    }

    /// A kubeconfig that reaches the API server by another way, without credentials.
    pub(crate) fn through(&self, server: &str) -> PathBuf {
        let kubeconfig = self.folder.join(format!("{}.through.kubeconfig", self.namespace));
        let config = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test",
                "context": {"cluster": "test", "user": "test", "namespace": self.namespace}}],
            "clusters": [{"name": "test", "cluster": {"server": server}}],
            "users": [{"name": "test", "user": {}}],
        });
        fs::write(&kubeconfig, config.to_string()).expect("the test's folder is writable");
        kubeconfig
    }

    /// A command whose environment makes `kubectl` and `rollgate` mean the ones under test, and neither of them
    /// anything of the machine's own.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let programs = [workplace::program("kubectl"), workplace::rollgate()];
        let folders = programs.iter().map(|program| program.parent().expect("a program lies in a folder"));
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(folders.map(Path::to_owned).chain(env::split_paths(&path)))
            .expect("the parts of a path list join again");
        let mut command = Command::new(program);
        command
            .env("PATH", path)
            .env("HOME", &self.folder)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("NAMESPACE", &self.namespace)
            .env("LC_ALL", "C");
        command
    }

    /// Runs `kubectl ARGUMENTS`, whatever comes of it.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(workplace::program("kubectl")).args(arguments).output().expect("kubectl can be started")
    }

    /// Runs `kubectl ARGUMENTS` and gives its output, or what it complained of.
    pub(crate) fn try_get(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.run(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Runs `kubectl ARGUMENTS`, which must succeed.
    pub(crate) fn get(&self, arguments: &[&str]) -> String {
        self.try_get(arguments).unwrap_or_else(|error| panic!("kubectl {}: {error}", arguments.join(" ")))
    }

    /// Objects as JSON, through `kubectl get … -o json`.
    pub(crate) fn objects(&self, kinds: &str) -> Vec<Value> {
        let text = self.get(&["get", kinds, "-o", "json"]);
        let mut list: Value = serde_json::from_str(&text).expect("kubectl prints JSON");
        match list["items"].take() {
            Value::Array(items) => items,
            other => panic!("kubectl printed no list but {other}"),
        }
    }

    /// Creates objects from a manifest, or replaces what they ask for.
    pub(crate) fn apply(&self, manifest: &Value) {
        let file = self.folder.join(format!("{}.manifest.json", self.namespace));
        fs::write(&file, manifest.to_string()).expect("the test's folder is writable");
        self.get(&["apply", "-f", file.to_str().expect("the test's folder is named in UTF-8")]);
    }
}
