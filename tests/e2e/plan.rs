//! `rollgate plan --live` on a real API server. No Deployment controller runs there but where a session
//! starts one, so what is planned does not happen meanwhile.
//!
//! The sessions are written by hand; names of ReplicaSets are the built-in controller's, as recorded in
//! `engine`.

use crate::control_plane::ControlPlane;
use crate::nodes::Nodes;
use crate::session::{Session, for_all, recording};
use crate::workplace::{cases, sources};

#[test]
fn what_is_next_is_told_in_words_and_nothing_is_written() {
    if recording() {
        return;
    }
    let plane = ControlPlane::start("plan");
    let _others = plane.start_other_controllers();
    let _nodes = Nodes::start(plane.kubectl("default").kubeconfig);
    let sessions: Vec<_> =
        cases(&sources().join("plan"), "md").iter().map(|path| Session::read(path)).collect();
    for_all(&sessions, sessions.len(), Session::name, |session| {
        session.compare(&session.replay(&plane.namespace(&session.name())), &plane.folder)
    });
}
