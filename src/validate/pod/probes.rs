//! Probes and lifecycle handlers.
//!
//! Source: kubernetes v1.37.2 `pkg/apis/core/validation`, `validateHandler` and the functions around
//! it. Parity: exact.

use super::containers::one_of;
use super::ports::port_number;
use crate::kube_types::names::{self, NON_NEGATIVE};
use crate::schema::value::{Value, View};
use crate::validate::fault::{Faults, Shown};
use crate::validate::path::Path;

/// The kinds of action, in the order in which they are checked: of all that are given the first one
/// counts, the others are refused.
const PROBE_ACTIONS: &[&str] = &["exec", "httpGet", "tcpSocket", "grpc"];
const LIFECYCLE_ACTIONS: &[&str] = &["exec", "httpGet", "tcpSocket", "sleep"];

const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];

const HEADER_TEXT: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

/// The signals that a Linux container may be stopped with, in byte order.
const LINUX_SIGNALS: &[&str] = &[
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCHLD",
    "SIGCLD",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGIO",
    "SIGIOT",
    "SIGKILL",
    "SIGPIPE",
    "SIGPOLL",
    "SIGPROF",
    "SIGPWR",
    "SIGQUIT",
    "SIGRTMAX",
    "SIGRTMAX-1",
    "SIGRTMAX-10",
    "SIGRTMAX-11",
    "SIGRTMAX-12",
    "SIGRTMAX-13",
    "SIGRTMAX-14",
    "SIGRTMAX-2",
    "SIGRTMAX-3",
    "SIGRTMAX-4",
    "SIGRTMAX-5",
    "SIGRTMAX-6",
    "SIGRTMAX-7",
    "SIGRTMAX-8",
    "SIGRTMAX-9",
    "SIGRTMIN",
    "SIGRTMIN+1",
    "SIGRTMIN+10",
    "SIGRTMIN+11",
    "SIGRTMIN+12",
    "SIGRTMIN+13",
    "SIGRTMIN+14",
    "SIGRTMIN+15",
    "SIGRTMIN+2",
    "SIGRTMIN+3",
    "SIGRTMIN+4",
    "SIGRTMIN+5",
    "SIGRTMIN+6",
    "SIGRTMIN+7",
    "SIGRTMIN+8",
    "SIGRTMIN+9",
    "SIGSEGV",
    "SIGSTKFLT",
    "SIGSTOP",
    "SIGSYS",
    "SIGTERM",
    "SIGTRAP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGUSR1",
    "SIGUSR2",
    "SIGVTALRM",
    "SIGWINCH",
    "SIGXCPU",
    "SIGXFSZ",
];
const WINDOWS_SIGNALS: &[&str] = &["SIGKILL", "SIGTERM"];

/// Checks `lifecycle` and the probes of a container that runs as long as its pod; `spec` is the pod's.
pub(super) fn lifecycle_and_probes(
    faults: &mut Faults,
    spec: View<'_>,
    container: View<'_>,
    path: &Path<'_>,
) {
    if let Some(lifecycle) = container.opt("lifecycle") {
        self::lifecycle(faults, spec, lifecycle, &path.field("lifecycle"));
    }
    for field in PROBES {
        let Some(probe) = container.opt(field) else { continue };
        let path = path.field(field);
        self::probe(faults, probe, &path);
        if field == "readinessProbe" {
            if let Some(seconds) = probe.opt_int("terminationGracePeriodSeconds") {
                let path = path.field("terminationGracePeriodSeconds");
                faults.invalid(&path, seconds, "must not be set for readinessProbes");
            }
        } else if probe.int("successThreshold") != 1 {
            faults.invalid(&path.field("successThreshold"), probe.int("successThreshold"), "must be 1");
        }
    }
}

/// Checks that an init container that ends has neither `lifecycle` nor probes.
pub(super) fn none_allowed(faults: &mut Faults, container: View<'_>, path: &Path<'_>) {
    for field in ["lifecycle"].into_iter().chain(PROBES) {
        if container.has(field) {
            let detail = "may not be set for init containers without restartPolicy=Always";
            faults.forbidden(&path.field(field), detail);
        }
    }
}

fn lifecycle(faults: &mut Faults, spec: View<'_>, lifecycle: View<'_>, path: &Path<'_>) {
    let grace_secs = spec.int("terminationGracePeriodSeconds");
    for field in ["postStart", "preStop"] {
        if let Some(handler) = lifecycle.opt(field) {
            self::handler(faults, handler, LIFECYCLE_ACTIONS, &path.field(field), grace_secs);
        }
    }
    if let Some(signal) = lifecycle.opt_str("stopSignal") {
        stop_signal(faults, signal, spec.opt("os"), &path.field("stopSignal"));
    }
}

/// `stopSignal`, which only an update can bring: its gate is off.
fn stop_signal(faults: &mut Faults, signal: &str, os: Option<View<'_>>, path: &Path<'_>) {
    let supported = match os.map(|os| os.str("name")) {
        None => {
            faults.forbidden(path, "may not be set for containers with empty `spec.os.name`");
            return;
        }
        Some("windows") => WINDOWS_SIGNALS,
        Some("linux") => LINUX_SIGNALS,
        Some(_) => return,
    };
    if !supported.contains(&signal) {
        faults.not_supported(path, signal, supported);
    }
}

fn probe(faults: &mut Faults, probe: View<'_>, path: &Path<'_>) {
    handler(faults, probe, PROBE_ACTIONS, path, 0);
    for field in
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
    {
        if probe.int(field) < 0 {
            faults.invalid(&path.field(field), probe.int(field), NON_NEGATIVE);
        }
    }
    if let Some(seconds) = probe.opt_int("terminationGracePeriodSeconds")
        && seconds <= 0
    {
        faults.invalid(&path.field("terminationGracePeriodSeconds"), seconds, "must be greater than 0");
    }
}

fn handler(
    faults: &mut Faults,
    handler: View<'_>,
    kinds: &'static [&'static str],
    path: &Path<'_>,
    grace_secs: i64,
) {
    let mut actions = kinds.iter().filter_map(|kind| handler.opt(kind).map(|action| (*kind, action)));
    let Some((kind, action)) = actions.next() else {
        faults.required(path, "must specify a handler type");
        return;
    };
    let action_path = path.field(kind);
    match kind {
        "exec" if action.list("command").is_empty() => {
            faults.required(&action_path.field("command"), "");
        }
        "httpGet" => http_get(faults, action, &action_path),
        "tcpSocket" => port(faults, action, &action_path),
        "grpc" => grpc(faults, action, &action_path),
        "sleep" => sleep(faults, action, &action_path, grace_secs),
        _ => {}
    }
    for (kind, _) in actions {
        faults.forbidden(&path.field(kind), "may not specify more than 1 handler type");
    }
}

fn http_get(faults: &mut Faults, action: View<'_>, path: &Path<'_>) {
    port(faults, action, path);
    one_of(faults, action, path, "scheme", &["HTTP", "HTTPS"]);
    let named = path.field("httpHeaders");
    for (j, header) in action.structs("httpHeaders").enumerate() {
        let name = header.str("name");
        if !is_header_name(name) {
            faults.invalid(&named, name, HEADER_TEXT).at(&named.index(j).field("name"));
        }
    }
    if action.has("protocol") {
        http_protocol(faults, action, path);
    }
}

/// `protocol`, which only an update can bring: its gate is off.
fn http_protocol(faults: &mut Faults, action: View<'_>, path: &Path<'_>) {
    let (protocol, host) = (action.str("protocol"), action.str("host"));
    one_of(faults, action, path, "protocol", &["HTTP1", "HTTP2"]);
    if protocol != "HTTP2" {
        return;
    }
    if action.str("scheme") != "HTTP" {
        let detail = "is only supported with HTTP (H2C)";
        faults.invalid(&path.field("protocol"), Shown::Named(protocol), detail);
    } else if !host.is_empty() {
        faults.invalid(&path.field("host"), host, "must be empty when `protocol` is \"HTTP2\"");
    }
}

fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// The `port` of the action at `path`, by number or by name; absent is 0.
fn port(faults: &mut Faults, action: View<'_>, path: &Path<'_>) {
    let path = path.field("port");
    match action.get("port") {
        Some(Value::Str(name)) => faults.invalid_each(&path, name, &names::port_name(name)),
        Some(Value::Number(number)) => port_number(faults, i64::from(*number), &path),
        _ => port_number(faults, 0, &path),
    }
}

fn grpc(faults: &mut Faults, action: View<'_>, path: &Path<'_>) {
    port_number(faults, action.int("port"), &path.field("port"));
    if action.has("mode") {
        one_of(faults, action, path, "mode", &["Plaintext", "TLS"]);
    }
}

fn sleep(faults: &mut Faults, action: View<'_>, path: &Path<'_>, grace_secs: i64) {
    let seconds = action.int("seconds");
    if seconds < 0 || seconds > grace_secs {
        let detail =
            format!("must be non-negative and less than terminationGracePeriodSeconds ({grace_secs})");
        faults.invalid(path, seconds, detail).at(&path.field("seconds"));
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::validate::pod::testing::found;

    /// What is found in a container of a pod with 30 seconds of grace, running `os`.
    fn faults_of(container: &str, os: &str) -> Vec<String> {
        let text = format!(r#"{{"terminationGracePeriodSeconds": 30, {os} "containers": [{container}]}}"#);
        found("v1.PodSpec", &text, |faults, spec, path| {
            let container = spec.structs("containers").next().expect("there is one");
            lifecycle_and_probes(faults, spec, container, path);
        })
    }

    #[test]
    fn the_first_action_by_kind_is_checked_and_the_others_are_refused() {
        let container = r#"{
        "livenessProbe": {"tcpSocket": {"port": "A"}, "exec": {}, "grpc": {"port": 0}, "successThreshold": -1},
        "readinessProbe": {
            "httpGet": {"port": "http--x", "scheme": "HTTP", "httpHeaders": [{"name": "X-A", "value": ""}, {"name": "X A", "value": ""}]},
            "terminationGracePeriodSeconds": 0
        },
        "startupProbe": {"successThreshold": 1},
        "lifecycle": {"preStop": {"sleep": {"seconds": 31}}}
    }"#;
        assert_eq!(
            faults_of(container, ""),
            [
                "C.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30) @ C.lifecycle.preStop.sleep.seconds",
                "C.livenessProbe.exec.command: Required value",
                "C.livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
                "C.livenessProbe.grpc: Forbidden: may not specify more than 1 handler type",
                "C.livenessProbe.successThreshold: Invalid value: -1: must be greater than or equal to 0",
                "C.livenessProbe.successThreshold: Invalid value: -1: must be 1",
                r#"C.readinessProbe.httpGet.port: Invalid value: "http--x": must not contain consecutive hyphens"#,
                r#"C.readinessProbe.httpGet.httpHeaders: Invalid value: "X A": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+') @ C.readinessProbe.httpGet.httpHeaders[1].name"#,
                "C.readinessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
                "C.readinessProbe.terminationGracePeriodSeconds: Invalid value: 0: must not be set for readinessProbes",
                "C.startupProbe: Required value: must specify a handler type",
            ]
        );
    }

    #[test]
    fn a_stop_signal_needs_an_operating_system() {
        let container = r#"{"lifecycle": {"stopSignal": "SIGHUP"}}"#;
        assert_eq!(
            faults_of(container, ""),
            ["C.lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"]
        );
        assert!(faults_of(container, r#""os": {"name": "linux"},"#).is_empty());
        assert_eq!(
            faults_of(container, r#""os": {"name": "windows"},"#),
            [
                r#"C.lifecycle.stopSignal: Unsupported value: "SIGHUP": supported values: "SIGKILL", "SIGTERM""#
            ]
        );
    }

    #[test]
    fn http2_goes_over_plain_http_without_a_host() {
        let probe = |scheme: &str| {
            format!(
                r#"{{"livenessProbe": {{"successThreshold": 1, "httpGet":
                {{"port": 80, "protocol": "HTTP2", "scheme": "{scheme}", "host": "h"}}}}}}"#
            )
        };
        assert_eq!(
            faults_of(&probe("HTTPS"), ""),
            [
                r#"C.livenessProbe.httpGet.protocol: Invalid value: "HTTP2": is only supported with HTTP (H2C)"#
            ]
        );
        assert_eq!(
            faults_of(&probe("HTTP"), ""),
            [r#"C.livenessProbe.httpGet.host: Invalid value: "h": must be empty when `protocol` is "HTTP2""#]
        );
    }
}
