//! What the ledger says happened, in the words of the wire: an entry's body is the event that
//! readers of the stream are sent. No secret stands in it: arguments are shown redacted, and the
//! ledger commits to the original by a salted hash whose salt is kept with the call.

use countersign_core::approval::{Answer, Choice, State};
use countersign_core::assessment::Assessment;
use countersign_core::ending::Ending;
use countersign_core::id::ApprovalId;
use countersign_core::judge::Judged;
use countersign_core::ledger::Draft;
use countersign_core::status::{Cause, Outcome, Risk, Status};
use countersign_core::time::UnixMillis;
use countersign_core::verdict::Verdict;
use serde::Serialize;

use crate::records::request::Report;
use crate::records::stored::{Decision, StoredApproval, StoredCall, written};
use crate::records::view::DRAFT;

/// Where a model's answers come from. Has a space, so that no channel can be called so.
pub(crate) const SMART_VIA: &str = "smart mode";

#[derive(Serialize)]
struct Assessed<'a> {
    event: &'static str,
    call_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    run_id: &'a str,
    session_id: &'a str,
    agent: Option<&'a str>,
    tool: &'a str,
    command: &'a str,
    verdict: Verdict,
    status: Status,
    cause: Option<Cause>,
    risk_score: f64,
    confidence: f64,
    side_effect: &'static str,
    outbound: bool,
    crisis_sensitive: bool,
    reasons: &'a [String],
    rule: u8,
    finding: Option<&'static str>,
    digest: String,
    arguments_commitment: &'a str,
    approval_id: Option<&'a str>,
    timestamp: f64,
}

/// A call was judged.
pub(crate) fn call_assessed(
    call: &StoredCall,
    status: Status,
    judged: &Judged,
    command: &str,
    commitment: &str,
) -> Draft {
    let Judged { assessment, ruling } = judged;
    // Everybody follows the ledger, a person in crisis who talks to the agent included, and nobody
    // has looked at what the model wrote there.
    let is_unseen = call.starter.is_some() && assessment.crisis_sensitive;
    let command = if call.answers_starter {
        DRAFT
    } else if is_unseen {
        &call.tool
    } else {
        command
    };
    let body = Assessed {
        event: "call.assessed",
        call_id: call.call_id.as_str(),
        tool_call_id: call.tool_call_id.as_deref(),
        run_id: &call.run,
        session_id: &call.session,
        agent: call.agent.as_deref(),
        tool: &call.tool,
        command,
        verdict: call.verdict,
        status,
        cause: call.decision.as_ref().map(|it| it.cause),
        risk_score: assessment.risk.as_fraction(),
        confidence: assessment.confidence.as_fraction(),
        side_effect: assessment.side_effect.word(),
        outbound: assessment.outbound,
        crisis_sensitive: assessment.crisis_sensitive,
        reasons: &assessment.reasons,
        rule: ruling.rule.number(),
        finding: assessment.findings.first().map(|it| it.code),
        digest: call.digest.to_string(),
        arguments_commitment: commitment,
        approval_id: call.approval.as_ref().map(ApprovalId::as_str),
        timestamp: call.at.as_seconds(),
    };
    about(
        call,
        "call.assessed",
        call.call_id.as_str(),
        call.at,
        written(&body),
    )
}

#[derive(Serialize)]
struct Required<'a> {
    event: &'static str,
    run_id: &'a str,
    approval_id: &'a str,
    command: &'a str,
    description: &'a str,
    choices: &'a [Choice],
    tool: &'a str,
    args: &'a serde_json::Value,
    risk_score: f64,
    confidence: f64,
    reasons: &'a [String],
    expires_at: f64,
    digest: String,
    timestamp: f64,
    call_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    session_id: &'a str,
    agent: Option<&'a str>,
    risk: Risk,
    tier: &'static str,
}

/// A question was put to people.
pub(crate) fn approval_required(stored: &StoredApproval, assessment: &Assessment) -> Draft {
    let StoredApproval { approval, call, .. } = stored;
    let (command, args) = if call.answers_starter {
        (DRAFT, &serde_json::Value::Null)
    } else {
        (stored.card.command.as_str(), &stored.shown_args)
    };
    let body = Required {
        event: "approval.required",
        run_id: &call.run,
        approval_id: approval.id.as_str(),
        command,
        description: description(stored),
        choices: &approval.choices,
        tool: &call.tool,
        args,
        risk_score: assessment.risk.as_fraction(),
        confidence: assessment.confidence.as_fraction(),
        reasons: &stored.card.reasons,
        expires_at: approval.expires_at.as_seconds(),
        digest: approval.digest.to_string(),
        timestamp: approval.asked_at.as_seconds(),
        call_id: call.call_id.as_str(),
        tool_call_id: call.tool_call_id.as_deref(),
        session_id: &call.session,
        agent: call.agent.as_deref(),
        risk: stored.card.risk,
        tier: call.tier.word(),
    };
    about(
        call,
        "approval.required",
        approval.id.as_str(),
        approval.asked_at,
        written(&body),
    )
}

#[derive(Serialize)]
struct Resolved<'a> {
    event: &'static str,
    approval_id: &'a str,
    run_id: &'a str,
    outcome: Outcome,
    cause: Cause,
    choice: Option<Choice>,
    by: Option<&'a str>,
    via: Option<&'a str>,
    note: Option<&'a str>,
    timestamp: f64,
    session_id: &'a str,
    call_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    digest: String,
    grant_id: Option<&'a str>,
    edited: bool,
    tier: Option<&'static str>,
}

/// A question is settled.
pub(crate) fn approval_resolved(stored: &StoredApproval, now: UnixMillis) -> Option<Draft> {
    let StoredApproval { approval, call, .. } = stored;
    let decision = decision(stored)?;
    let body = Resolved {
        event: "approval.resolved",
        approval_id: approval.id.as_str(),
        run_id: &call.run,
        outcome: decision.outcome,
        cause: decision.cause,
        choice: decision.choice,
        by: decision.by.as_deref(),
        via: decision.via.as_deref(),
        note: decision.note.as_deref(),
        timestamp: now.as_seconds(),
        session_id: &call.session,
        call_id: call.call_id.as_str(),
        tool_call_id: call.tool_call_id.as_deref(),
        digest: approval.digest.to_string(),
        grant_id: decision.grant_id.as_deref(),
        edited: stored.edited.is_some(),
        tier: approval.answer().map(|answer| answer.tier.word()),
    };
    Some(about(
        call,
        "approval.resolved",
        approval.id.as_str(),
        now,
        written(&body),
    ))
}

#[derive(Serialize)]
struct Happening<'a> {
    event: &'a str,
    approval_id: &'a str,
    call_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    run_id: &'a str,
    session_id: &'a str,
    by: Option<&'a str>,
    detail: Option<&'a str>,
    timestamp: f64,
}

/// Something else happened to a question: it was opened, held, taken back, its token handed out or
/// used.
pub(crate) fn approval_happening(
    stored: &StoredApproval,
    event: &str,
    by: Option<&str>,
    detail: Option<&str>,
    now: UnixMillis,
) -> Draft {
    let StoredApproval { approval, call, .. } = stored;
    let body = Happening {
        event,
        approval_id: approval.id.as_str(),
        call_id: call.call_id.as_str(),
        tool_call_id: call.tool_call_id.as_deref(),
        run_id: &call.run,
        session_id: &call.session,
        by,
        detail,
        timestamp: now.as_seconds(),
    };
    about(call, event, approval.id.as_str(), now, written(&body))
}

/// What came of a call, as its asker reports.
pub(crate) fn call_reported(call: &StoredCall, report: &Report, now: UnixMillis) -> Draft {
    let ending = if report.failed {
        let exit_code = report.exit_code;
        Ending::Failed { exit_code }
    } else {
        Ending::Done
    };
    let model_calls_it = report.tool_call_id.as_ref();
    let body = serde_json::json!({
        "event": "tool.completed",
        "call_id": call.call_id.as_str(),
        "tool_call_id": model_calls_it.or(call.tool_call_id.as_ref()),
        "run_id": call.run,
        "session_id": call.session,
        "tool": call.tool,
        "error": report.failed,
        "outcome": ending.ended(),
        "words": ending.words(),
        "exit_code": report.exit_code,
        "duration": report.duration_millis.map(in_seconds),
        "timestamp": now.as_seconds(),
    });
    about(
        call,
        "tool.completed",
        call.call_id.as_str(),
        now,
        body.to_string(),
    )
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds stay exact")]
fn in_seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}

/// Returns how a question ended, or `None` while it waits.
pub(crate) fn decision(stored: &StoredApproval) -> Option<Decision> {
    let by_person = |outcome, answer: &Answer| {
        let cause = if answer.via == SMART_VIA {
            Cause::Model
        } else {
            Cause::Person
        };
        Decision {
            choice: Some(answer.choice),
            by: Some(answer.by.clone()),
            via: Some(answer.via.clone()),
            note: answer.note.clone(),
            grant_id: answer.grant_id.as_ref().map(|id| id.0.clone()),
            args: stored.edited.clone(),
            ..Decision::new(outcome, cause, answer.at)
        }
    };
    let outcome = stored.approval.outcome()?;
    match &stored.approval.state {
        State::Waiting | State::Held { .. } => None,
        State::Approved { answer, .. }
        | State::Consumed { answer, .. }
        | State::Denied { answer } => Some(by_person(outcome, answer)),
        State::Expired { cause, at } => Some(Decision::new(outcome, (*cause).into(), *at)),
        State::Withdrawn { at, note } => Some(Decision {
            note: note.clone(),
            ..Decision::new(outcome, Cause::Withdrawal, *at)
        }),
    }
}

/// Returns the first reason, in words.
pub(crate) fn description(stored: &StoredApproval) -> &str {
    stored
        .card
        .reasons
        .first()
        .map_or(stored.card.title.as_str(), String::as_str)
}

fn about(call: &StoredCall, event: &str, subject: &str, at: UnixMillis, body: String) -> Draft {
    Draft {
        at,
        event: event.to_owned(),
        owner: call.key.0.clone(),
        run: call.run.clone(),
        session: call.session.clone(),
        subject: subject.to_owned(),
        body,
    }
}
