//! Ledger entries about calls and approvals, built from their stored records as typed events.
//!
//! Separate from [`crate::records::event`] because it decides what of a record may be told: no secret
//! stands in an entry, arguments are shown redacted, and the ledger commits to the original by a
//! salted hash whose salt is kept with the call.

use countersign_core::approval::{Answer, State};
use countersign_core::assessment::Assessment;
use countersign_core::ending::Ending;
use countersign_core::judge::Judged;
use countersign_core::ledger::Draft;
use countersign_core::status::{Cause, Status};
use countersign_core::time::UnixMillis;

use crate::records::event::{
    ApprovalHappening, ApprovalRequired, ApprovalResolved, CallAssessed, Event, ToolCompleted,
};
use crate::records::request::Report;
use crate::records::stored::{Decision, StoredApproval, StoredCall};
use crate::records::view::DRAFT;

/// Where a model's answers come from. Has a space, so that no channel can be called so.
pub(crate) const SMART_VIA: &str = "smart mode";

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
    let event = Event::CallAssessed(CallAssessed {
        call_id: call.call_id.0.clone(),
        tool_call_id: call.tool_call_id.clone(),
        run_id: call.run.clone(),
        session_id: call.session.clone(),
        agent: call.agent.clone(),
        tool: call.tool.clone(),
        command: command.to_owned(),
        verdict: call.verdict,
        status,
        cause: call.decision.as_ref().map(|it| it.cause),
        risk_score: assessment.risk.as_fraction(),
        confidence: assessment.confidence.as_fraction(),
        side_effect: assessment.side_effect,
        outbound: assessment.outbound,
        crisis_sensitive: assessment.crisis_sensitive,
        reasons: assessment.reasons.clone(),
        rule: Some(ruling.rule.number()),
        finding: assessment.findings.first().map(|it| it.code.to_owned()),
        digest: call.digest,
        arguments_commitment: commitment.to_owned(),
        approval_id: call.approval.as_ref().map(|id| id.0.clone()),
        timestamp: call.at.as_seconds(),
    });
    about(call, call.call_id.as_str(), call.at, &event)
}

/// A question was put to people.
pub(crate) fn approval_required(stored: &StoredApproval, assessment: &Assessment) -> Draft {
    let StoredApproval { approval, call, .. } = stored;
    let (command, args) = if call.answers_starter {
        (DRAFT, &serde_json::Value::Null)
    } else {
        (stored.card.command.as_str(), &stored.shown_args)
    };
    let event = Event::ApprovalRequired(ApprovalRequired {
        run_id: call.run.clone(),
        approval_id: approval.id.0.clone(),
        command: command.to_owned(),
        description: description(stored).to_owned(),
        choices: approval.choices.clone(),
        tool: call.tool.clone(),
        args: args.clone(),
        risk_score: assessment.risk.as_fraction(),
        confidence: assessment.confidence.as_fraction(),
        reasons: stored.card.reasons.clone(),
        expires_at: approval.expires_at.as_seconds(),
        digest: approval.digest,
        timestamp: approval.asked_at.as_seconds(),
        call_id: call.call_id.0.clone(),
        tool_call_id: call.tool_call_id.clone(),
        session_id: call.session.clone(),
        agent: call.agent.clone(),
        risk: stored.card.risk,
        tier: call.tier,
    });
    about(call, approval.id.as_str(), approval.asked_at, &event)
}

/// A question is settled.
pub(crate) fn approval_resolved(stored: &StoredApproval, now: UnixMillis) -> Option<Draft> {
    let StoredApproval { approval, call, .. } = stored;
    let decision = decision(stored)?;
    let event = Event::ApprovalResolved(ApprovalResolved {
        approval_id: approval.id.0.clone(),
        run_id: call.run.clone(),
        outcome: decision.outcome,
        cause: decision.cause,
        choice: decision.choice,
        by: decision.by,
        via: decision.via,
        note: decision.note,
        timestamp: now.as_seconds(),
        session_id: call.session.clone(),
        call_id: call.call_id.0.clone(),
        tool_call_id: call.tool_call_id.clone(),
        digest: approval.digest,
        grant_id: decision.grant_id,
        edited: stored.edited.is_some(),
        tier: approval.answer().map(|answer| answer.tier),
    });
    Some(about(call, approval.id.as_str(), now, &event))
}

/// Something else happened to a question: it was opened, held, taken back, its token handed out or
/// used. `event` says which.
pub(crate) fn approval_happening(
    stored: &StoredApproval,
    event: fn(ApprovalHappening) -> Event,
    by: Option<&str>,
    detail: Option<&str>,
    now: UnixMillis,
) -> Draft {
    let StoredApproval { approval, call, .. } = stored;
    let event = event(ApprovalHappening {
        approval_id: approval.id.0.clone(),
        call_id: call.call_id.0.clone(),
        tool_call_id: call.tool_call_id.clone(),
        run_id: call.run.clone(),
        session_id: call.session.clone(),
        by: by.map(str::to_owned),
        detail: detail.map(str::to_owned),
        timestamp: now.as_seconds(),
    });
    about(call, approval.id.as_str(), now, &event)
}

/// The outcome of a call, as its asker reports it.
pub(crate) fn call_reported(call: &StoredCall, report: &Report, now: UnixMillis) -> Draft {
    let ending = if report.failed {
        let exit_code = report.exit_code;
        Ending::Failed { exit_code }
    } else {
        Ending::Done
    };
    let model_calls_it = report.tool_call_id.as_ref();
    let event = Event::ToolCompleted(ToolCompleted {
        call_id: Some(call.call_id.0.clone()),
        tool_call_id: model_calls_it.or(call.tool_call_id.as_ref()).cloned(),
        run_id: call.run.clone(),
        session_id: Some(call.session.clone()),
        tool: call.tool.clone(),
        error: Some(report.failed),
        outcome: Some(ending.ended()),
        words: Some(ending.words()),
        exit_code: report.exit_code,
        duration: report.duration_millis.map(in_seconds),
        timestamp: now.as_seconds(),
    });
    about(call, call.call_id.as_str(), now, &event)
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

/// Returns the entry of an event about `subject`, which belongs to `call`.
pub(crate) fn about(call: &StoredCall, subject: &str, at: UnixMillis, event: &Event) -> Draft {
    Draft {
        owner: call.key.0.clone(),
        run: call.run.clone(),
        session: call.session.clone(),
        ..event.draft(subject, at)
    }
}
