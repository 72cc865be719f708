//! The answer to one request: judge, and for the mutating webhook find what to change.

use json_patch::Patch;
use serde_json::Value;

use super::house::{self, House};
use super::patch;
use super::request::{Operation, Request, Subject};
use crate::verdict::{self, Question, Server, Target, Verdict, judge};

/// What the answers depend on besides the request.
#[derive(Debug)]
pub struct Gate {
    /// The API server that is spoken for.
    pub server: Server,
    /// What the cluster's owner wants where an author chose nothing.
    pub house: House,
    /// Whether the mutating webhook refuses what is invalid, instead of leaving it to the API server.
    pub refuse_early: bool,
}

/// Which of the two webhooks is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before the API server's own validation; may change the object.
    Mutate,
    /// After it; may only refuse.
    Validate,
}

/// What became of a request, for metrics, log and audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Judged and found good, nothing to change.
    Accepted,
    /// Let through with a patch.
    Changed,
    /// Found bad by the mutating webhook, which leaves the refusal to the API server.
    Passed,
    /// Refused: it cannot be judged, above all for being no object of its kind.
    BadRequest,
    /// Refused: it breaks rules.
    Invalid,
    /// Let through: nothing is stored, as for DELETE.
    NotJudged,
    /// Let through: not ours.
    Foreign,
}

/// The answer.
#[derive(Debug)]
pub struct Answer {
    /// What became of the request.
    pub decision: Decision,
    /// The refusal, as the API server would render it; `None` lets the request through.
    pub status: Option<Value>,
    /// What to change; empty on refusals and for the validating webhook.
    pub patch: Patch,
    /// For the author, in order.
    pub warnings: Vec<String>,
}

impl Answer {
    fn let_through(decision: Decision) -> Self {
        Answer { decision, status: None, patch: Patch(Vec::new()), warnings: Vec::new() }
    }

    fn refused(decision: Decision, status: Value) -> Self {
        Answer { status: Some(status), ..Answer::let_through(decision) }
    }
}

/// Answers one request.
pub fn answer(gate: &Gate, phase: Phase, request: &Request<'_, '_>) -> Answer {
    let target = match request.subject {
        Subject::Deployment => Target::Deployment,
        Subject::Status => Target::Status,
        Subject::Scale => Target::Scale,
        Subject::Foreign => return Answer::let_through(Decision::Foreign),
    };
    let operation = match request.operation {
        Operation::Create => verdict::Operation::Create,
        Operation::Update => verdict::Operation::Update,
        Operation::Delete | Operation::Other => return Answer::let_through(Decision::NotJudged),
    };
    let Some(object) = request.object else {
        return Answer::refused(Decision::BadRequest, verdict::bad_request("the request holds no object"));
    };
    // The old object of a Scale is a Scale, where judging wants the Deployment, which nobody sends.
    let old = request.old.filter(|_| target != Target::Scale);
    let question = Question { operation, target, namespace: request.namespace, object, old };
    match phase {
        Phase::Validate => validated(judge(&gate.server, &question)),
        Phase::Mutate => mutated(gate, &question),
    }
}

fn validated(verdict: Verdict<'_>) -> Answer {
    if let Some(refusal) = refusal(&verdict) {
        return refusal;
    }
    let warnings = warnings(verdict);
    Answer { warnings, ..Answer::let_through(Decision::Accepted) }
}

/// Defaults what can be defaulted, and leaves what is invalid to the API server. What cannot even be
/// decoded is refused here too: no API server sends it, so the caller is somebody who wants to know.
fn mutated(gate: &Gate, question: &Question<'_, '_>) -> Answer {
    let verdict = judge(&gate.server, question);
    if verdict.decode_error.is_some() {
        return refusal(&verdict).expect("what cannot be decoded is refused");
    }
    // Of a request to a subresource the API server keeps no other change.
    let Some(defaulted) = verdict.defaulted.as_ref().filter(|_| question.target == Target::Deployment) else {
        return finish(gate, &verdict, Patch(Vec::new()), Vec::new());
    };
    if question.operation == verdict::Operation::Create && !gate.house.is_empty() {
        let chosen = gate.house.choose(&gate.server, question, &verdict);
        if !chosen.is_empty() {
            return with_house_defaults(gate, question, &chosen);
        }
    }
    finish(gate, &verdict, patch::between(question.object, defaulted), Vec::new())
}

fn with_house_defaults(gate: &Gate, question: &Question<'_, '_>, chosen: &[&house::HouseDefault]) -> Answer {
    let object = house::put(question.object, chosen);
    let verdict = judge(&gate.server, &Question { object: &object, ..*question });
    let patch = match &verdict.defaulted {
        Some(defaulted) => patch::between(question.object, defaulted),
        None => Patch(Vec::new()),
    };
    let told = chosen.iter().map(|d| d.warning()).collect();
    finish(gate, &verdict, patch, told)
}

fn finish(gate: &Gate, verdict: &Verdict<'_>, patch: Patch, warnings: Vec<String>) -> Answer {
    if gate.refuse_early
        && let Some(refusal) = refusal(verdict)
    {
        return refusal;
    }
    let decision = match (patch.0.is_empty(), verdict.allowed()) {
        (false, _) => Decision::Changed,
        (true, true) => Decision::Accepted,
        (true, false) => Decision::Passed,
    };
    Answer { patch, warnings, ..Answer::let_through(decision) }
}

fn refusal(verdict: &Verdict<'_>) -> Option<Answer> {
    // Not strict: a field of a release newer than our table must not stop anybody.
    let status = verdict.status(false)?;
    let decision = match verdict.faults.is_empty() {
        true => Decision::BadRequest,
        false => Decision::Invalid,
    };
    Some(Answer::refused(decision, status))
}

/// Unknown and duplicate fields first, as the API server decodes before it judges.
fn warnings(verdict: Verdict<'_>) -> Vec<String> {
    let strict = verdict.strict.into_iter().map(|s| s.message);
    strict.chain(verdict.warnings.into_iter().map(|w| w.text)).collect()
}
