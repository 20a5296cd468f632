//! Answers to a run's questions as clients of Hermes give them.
//!
//! Unlike there, an answer without an id is taken only while exactly one question waits: with
//! several, the oldest is not what the person was looking at.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use countersign_core::approval::Choice;
use countersign_core::id::ApprovalId;
use countersign_gate::GateError;
use countersign_gate::answer::ApprovalFilter;
use countersign_gate::request::{GrantRequest, Reply};
use serde_json::{Value, json};

use super::{Answer, Reach};
use crate::server::auth::Caller;
use crate::server::body::JsonBody;
use crate::server::problem::Problem;
use crate::wire::requests::{RunApprovalBody, choice};

/// Other words for *once*.
const ONCE: &[&str] = &["approve", "approved", "allow"];

/// Answers the question a run waits for
#[utoipa::path(post, path = "/v1/runs/{id}/approval", request_body = RunApprovalBody,
    params(("id" = String, Path, description = "the run")),
    responses((status = 200, description = "answered", body = Object)))]
pub(crate) async fn approval(
    State(app): Reach,
    caller: Caller,
    Path(run): Path<String>,
    JsonBody(body): JsonBody<RunApprovalBody>,
) -> Answer<Value> {
    let word = body.choice.trim().to_ascii_lowercase();
    let chosen = if ONCE.contains(&word.as_str()) {
        Some(Choice::Once)
    } else {
        choice(&word)
    };
    let chosen = chosen.ok_or_else(|| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_approval_choice",
            "`choice` must be `once`, `session`, `always` or `deny`",
        )
    })?;
    let all = body.all || body.resolve_all;
    if all && chosen != Choice::Deny {
        let message = "`all` only denies: nobody reads several questions at once";
        return Err(Problem::invalid("all", "all_only_denies", message));
    }
    let named = body.approval_id.or(body.request_id);
    let ids = match named {
        Some(id) => {
            let approval = app.gate.approval(&caller.principal, &id).await?;
            if approval.run_id != run {
                return Err(GateError::NotFound {
                    kind: "approval",
                    id,
                }
                .into());
            }
            vec![id]
        }
        None => waiting(&app, &caller, &run, all).await?,
    };
    let mut resolved = 0_u32;
    for id in ids {
        let reply = Reply {
            approval: ApprovalId(id),
            choice: chosen,
            note: None,
            grant: matches!(chosen, Choice::Session | Choice::Always).then(GrantRequest::default),
            args: None,
        };
        match app.gate.answer(&caller.principal, reply).await {
            Ok(_) => resolved += 1,
            // Of several, one may be answered elsewhere meanwhile.
            Err(GateError::AlreadyResolved(_) | GateError::Gone(_)) if all => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Json(json!({
        "object": "hermes.run.approval_response",
        "run_id": run,
        "choice": chosen.word(),
        "resolved": resolved,
    })))
}

/// Returns the questions of `run` an answer without an id is meant for.
async fn waiting(
    app: &crate::server::App,
    caller: &Caller,
    run: &str,
    all: bool,
) -> Result<Vec<String>, Problem> {
    let filter = ApprovalFilter {
        status: Some("waiting".to_owned()),
        run: Some(run.to_owned()),
        ..ApprovalFilter::default()
    };
    let page = app.gate.approvals(&caller.principal, filter).await?;
    let ids: Vec<String> = page.items.into_iter().map(|it| it.approval_id).collect();
    match ids.len() {
        0 => Err(Problem::new(
            StatusCode::CONFLICT,
            "approval_not_pending",
            "this run waits for no answer",
        )),
        1 => Ok(ids),
        _ if all => Ok(ids),
        _ => Err(GateError::Ambiguous(ids).into()),
    }
}
