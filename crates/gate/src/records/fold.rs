//! The fold rule: which pending approvals a client may show as one row.
//!
//! It is in the gate so that the page and the terminal fold the same cards.

use countersign_core::digest::Digest;
use countersign_core::record::AssessmentView;
use countersign_core::status::Status;

use crate::records::stored::StoredApproval;

/// The number of pending approvals with one fold key from which on clients show them as one row.
/// The page gets it through its generated types.
pub const FOLD_MIN: usize = 3;

/// Returns the key that `stored` shares with similar approvals; `None` if it must have its own row.
///
/// Two approvals are similar if the same agent key asks in the same run, for the same tool with the
/// same definition, executor and directory, of the same first word, at the same risk, by the same rule
/// and with the same findings. A folded row shows these once for all its members, so none of them may
/// differ. Only what follows may, and the row lists it when it is opened.
///
/// An approval that may affect a person in crisis never folds, nor does one whose assessment cannot
/// be read, nor one that is settled.
pub(crate) fn key(stored: &StoredApproval) -> Option<String> {
    let StoredApproval {
        approval,
        call,
        card,
        ..
    } = stored;
    let judged: AssessmentView = serde_json::from_str(call.assessment.get()).ok()?;
    if judged.crisis_sensitive || approval.status() != Status::Waiting {
        return None;
    }
    let mut findings: Vec<&str> = judged.findings.iter().map(|it| it.code.as_ref()).collect();
    findings.sort_unstable();
    findings.dedup();
    let similar = (
        &call.key,
        &call.run,
        (&call.tool, &call.tool_definition),
        (&call.executor, &call.cwd),
        card.risk.word(),
        judged.rule.number,
        findings,
        card.command.split_whitespace().next(),
    );
    // JSON, because a plain join of texts that agents choose could make different ones equal.
    let text = serde_json::to_string(&similar).ok()?;
    Some(Digest::of(text.as_bytes()).hex())
}
