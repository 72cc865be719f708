//! The Deployment controller against the built-in one: each session of `engine` runs under both, and
//! both must leave the same output, the same objects and the same events.
//!
//! What kubectl prints is recorded in the sessions from the built-in controller
//! (`ROLLGATE_E2E_RECORD=1`). Sessions wait for states that last, never for the moment after.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use crate::control_plane::ControlPlane;
use crate::nodes::Nodes;
use crate::process::Process;
use crate::session::{Session, difference, for_all, recording};
use crate::state;
use crate::workplace::{cases, rollgate, sources};

/// Sessions at a time: most of them wait most of the time.
const AT_A_TIME: usize = 6;

#[test]
fn the_engine_leaves_what_the_built_in_controller_leaves() {
    let plane = ControlPlane::start("engine");
    let _others = plane.start_other_controllers();
    let _nodes = Nodes::start(plane.kubectl("default").kubeconfig);
    let folder = sources().join("engine");
    let sessions: Vec<_> = cases(&folder, "md").iter().map(|path| Session::read(path)).collect();

    let built_in = plane.start_built_in();
    let expected = play(&plane, &sessions, "built-in");
    drop(built_in);
    if recording() {
        return;
    }
    let _engine = start_engine(&plane, "engine", ALONE);
    let actual = play(&plane, &sessions, "rollgate");
    for_all(&sessions, 1, Session::name, |session| {
        let name = session.name();
        difference(&expected[&name], &actual[&name], &plane.folder.join(format!("{name}.state")))
    });
    // What was settled when the engine took over had nothing to be done about.
    for_all(&sessions, 1, Session::name, |session| {
        let name = session.name();
        let later = state::of(&plane.kubectl(&format!("{name}-built-in")));
        difference(&expected[&name], &later, &plane.folder.join(format!("{name}.later")))
    });
}

/// The argument for an engine that nobody shares the work with.
pub(crate) const ALONE: &[&str] = &["--leader-elect=false"];

/// Starts `rollgate controller` without take-over checks.
pub(crate) fn start_engine(plane: &ControlPlane, name: &str, arguments: &[&str]) -> Process {
    start_engine_with(&plane.kubectl("default").kubeconfig, &plane.folder, name, arguments)
}

/// The same with another kubeconfig.
pub(crate) fn start_engine_with(kubeconfig: &Path, folder: &Path, name: &str, arguments: &[&str]) -> Process {
    let mut command = Command::new(rollgate());
    command
        .args(["controller", "--takeover-check=off", "--plain-listen=none"])
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(arguments);
    Process::start(name, &mut command, folder)
}

/// Replays the sessions, each in a namespace of its own; the state that each leaves, by its name.
fn play(plane: &ControlPlane, sessions: &[Session], engine: &str) -> BTreeMap<String, String> {
    let left = Mutex::new(BTreeMap::new());
    for_all(sessions, AT_A_TIME, Session::name, |session| {
        let kubectl = plane.namespace(&format!("{}-{engine}", session.name()));
        let replayed = session.replay(&kubectl);
        let state = state::once_settled(&kubectl);
        state::events_are_certain(&state)?;
        left.lock().expect("no worker panics while holding it").insert(session.name(), state);
        session.compare(&replayed, &plane.folder)
    });
    left.into_inner().expect("no worker panics while holding it")
}
