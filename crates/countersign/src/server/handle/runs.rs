//! Run routes: start, show and stop runs of the built-in agent, and answer their approvals as
//! Hermes clients do.
//!
//! Unlike there, an answer without an id is taken only while exactly one question waits: with
//! several, the oldest is not what the person was looking at.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use countersign_agent::RunRequest;
use countersign_core::approval::Choice;
use countersign_core::id::ApprovalId;
use countersign_core::status::{RunPhase, RunStatus, Status};
use countersign_gate::GateError;
use countersign_gate::approvals::answer::ApprovalFilter;
use countersign_gate::history::traces::TraceFilter;
use countersign_gate::records::request::{GrantRequest, Reply};
use countersign_gate::records::view::ApprovalView;
use countersign_gate::runs::Run;
use serde_json::{Value, json};

use super::{Answer, Reach};
use crate::config::settings::Dialect;
use crate::server::App;
use crate::server::auth::Caller;
use crate::server::body::{JsonBody, Params};
use crate::server::events::dialect;
use crate::server::problem::Problem;
use crate::wire::requests::{RunApprovalBody, choice};
use crate::wire::runs::{Conversation, RunBody, RunQuery, SteerBody};
use crate::wire::shown::{RunList, RunStanding, RunView};

/// Headers that name the conversation, for clients that cannot say it in the body.
const SESSION_HEADERS: &[&str] = &["x-session-id", "x-hermes-session-id"];
/// What clients of Hermes know a run by.
const OBJECT: &str = "hermes.run";
/// Other words for *once*.
const ONCE: &[&str] = &["approve", "approved", "allow"];

/// Starts a run of the built-in agent
#[utoipa::path(post, path = "/v1/runs", request_body = RunBody,
    responses((status = 202, description = "started", body = RunStanding)))]
pub(crate) async fn start(
    State(app): Reach,
    caller: Caller,
    headers: HeaderMap,
    JsonBody(body): JsonBody<RunBody>,
) -> Result<(StatusCode, Json<RunStanding>), Problem> {
    let mut conversation = Conversation::of_run(&body.conversation_history, &body.input)?;
    conversation.instructions.extend(body.instructions);
    let session = body.session_id.or_else(|| named_session(&headers));
    conversation.model = body.model;
    let run = begin(&app, &caller, conversation, session, body.cwd).await?;
    let started = RunStanding {
        run_id: run.run_id,
        status: RunPhase::Started,
    };
    Ok((StatusCode::ACCEPTED, Json(started)))
}

/// Starts a run in `session`.
pub(crate) async fn begin(
    app: &App,
    caller: &Caller,
    conversation: Conversation,
    session: Option<String>,
    cwd: Option<String>,
) -> Result<Run, Problem> {
    let Conversation {
        mut said,
        instructions,
        model,
    } = conversation;
    if let Some(session) = &session
        && !app.gate.conversation(session).await?.is_empty()
    {
        // We have what was said before; clients that keep it themselves send it every time.
        said = said.pop().into_iter().collect();
    }
    let instructions = Some(instructions.join("\n\n")).filter(|text| !text.is_empty());
    let request = RunRequest {
        input: said,
        instructions,
        session,
        cwd: cwd.map(|cwd| directory(&cwd)).transpose()?,
        model,
    };
    Ok(app.agent.start(&caller.principal, request).await?)
}

/// Returns the conversation that the headers name.
pub(crate) fn named_session(headers: &HeaderMap) -> Option<String> {
    let named = SESSION_HEADERS.iter().find_map(|name| headers.get(*name));
    let named = named.and_then(|name| name.to_str().ok());
    named.filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns `cwd` written out: calls are judged by what a path says, so no part of it may be a link.
fn directory(cwd: &str) -> Result<String, Problem> {
    let wrong = |why: &str| Problem::invalid("cwd", "invalid_cwd", format!("`cwd` {why}"));
    let path = std::path::Path::new(cwd);
    if !path.is_absolute() {
        return Err(wrong("must begin with `/`"));
    }
    let path = path.canonicalize().map_err(|_| wrong("does not exist"))?;
    if !path.is_dir() {
        return Err(wrong("is not a directory"));
    }
    let path = path.into_os_string().into_string();
    path.map_err(|_| wrong("cannot be written as text"))
}

/// Lists runs, the newest first
#[utoipa::path(get, path = "/v1/runs", params(RunQuery),
    responses((status = 200, description = "runs", body = RunList)))]
pub(crate) async fn list(
    State(app): Reach,
    caller: Caller,
    Params(query): Params<RunQuery>,
) -> Answer<RunList> {
    let RunQuery {
        session_id,
        limit,
        behind,
    } = query;
    let who = &caller.principal;
    let page = app
        .gate
        .runs(who, session_id, limit, behind.as_deref())
        .await?;
    let waiting = waiting_of(&app, &caller, None).await?;
    let runs = page.items.iter().map(|run| {
        let waits = waiting.iter().any(|it| it.run_id == run.run_id);
        shown(&app, run, waits)
    });
    Ok(Json(RunList {
        runs: runs.collect(),
        next: page.next,
    }))
}

/// Shows one run, with its pending approvals
#[utoipa::path(get, path = "/v1/runs/{id}",
    params(("id" = String, Path, description = "the run")),
    responses((status = 200, description = "the run", body = RunView)))]
pub(crate) async fn one(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<RunView> {
    let waiting = waiting_of(&app, &caller, Some(&id)).await?;
    let mut run = match app.gate.run_of(&caller.principal, &id).await {
        Ok(run) => shown(&app, &run, !waiting.is_empty()),
        Err(GateError::NotFound { .. }) => {
            external(&app, &caller, &id, !waiting.is_empty()).await?
        }
        Err(error) => return Err(error.into()),
    };
    let questions = app.gate.clarifications(&caller.principal).await?.items;
    let questions = questions.into_iter().filter(|it| it.run_id == id);
    run.pending_clarifications = Some(questions.collect());
    run.pending_approvals = Some(waiting);
    Ok(Json(run))
}

/// Stops a run
#[utoipa::path(post, path = "/v1/runs/{id}/stop",
    params(("id" = String, Path, description = "the run")),
    responses((status = 200, description = "it is stopping, or has ended", body = RunStanding)))]
pub(crate) async fn stop(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<RunStanding> {
    let run = match app.agent.stop(&caller.principal, &id).await {
        Ok(run) => run,
        Err(GateError::NotFound { .. }) => return Err(no_run(&id)),
        Err(error) => return Err(error.into()),
    };
    Ok(Json(RunStanding {
        run_id: run.run_id,
        status: run.status.into(),
    }))
}

/// Sends a message into a run that is under way; the agent reads it before it asks the model again
#[utoipa::path(post, path = "/v1/runs/{id}/steer", request_body = SteerBody,
    params(("id" = String, Path, description = "the run")),
    responses((status = 200, description = "stored for the agent", body = RunStanding),
              (status = 409, description = "the run has ended or is stopping")))]
pub(crate) async fn steer(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
    JsonBody(body): JsonBody<SteerBody>,
) -> Answer<RunStanding> {
    let run = match app.agent.steer(&caller.principal, &id, &body.input).await {
        Ok(run) => run,
        Err(GateError::NotFound { .. }) => return Err(no_run(&id)),
        Err(error) => return Err(error.into()),
    };
    Ok(Json(RunStanding {
        run_id: run.run_id,
        status: run.status.into(),
    }))
}

/// Returns a run in the shape and the order that clients of Hermes know.
fn shown(app: &App, run: &Run, waits: bool) -> RunView {
    let is_waiting = waits && run.status == RunStatus::Running;
    let (status, last_event) = if is_waiting {
        (RunPhase::WaitingForApproval, "approval.required")
    } else {
        (run.status.into(), run.last_event.as_str())
    };
    let last_event = match app.dialect {
        Dialect::Native => last_event,
        Dialect::Hermes => dialect::name(last_event),
    };
    RunView {
        object: OBJECT.into(),
        run_id: run.run_id.clone(),
        status,
        updated_at: run.updated_at.as_seconds(),
        created_at: run.created_at.as_seconds(),
        session_id: run.session.clone(),
        model: Some(run.model.clone()),
        last_event: Some(last_event.to_owned()),
        output: run.output.clone(),
        usage: run.output.is_some().then(|| run.usage()),
        error: run.error.clone(),
        started_by: Some(run.starter.clone()),
        cwd: run.cwd.clone(),
        unread: run.unread.clone(),
        pending_approvals: None,
        pending_clarifications: None,
    }
}

/// Returns what is known of a run of another agent: its calls.
async fn external(app: &App, caller: &Caller, id: &str, waits: bool) -> Result<RunView, Problem> {
    let filter = TraceFilter {
        run: Some(id.to_owned()),
        limit: Some(500),
        ..TraceFilter::default()
    };
    let calls = app.gate.calls(&caller.principal, filter).await?.items;
    let (Some(newest), Some(oldest)) = (calls.first(), calls.last()) else {
        return Err(no_run(id));
    };
    let status = if waits {
        RunPhase::WaitingForApproval
    } else {
        RunPhase::Running
    };
    Ok(RunView {
        object: OBJECT.into(),
        run_id: id.to_owned(),
        status,
        updated_at: newest.created_at,
        created_at: oldest.created_at,
        session_id: newest.session_id.clone(),
        model: None,
        last_event: None,
        output: None,
        usage: None,
        error: None,
        started_by: None,
        cwd: None,
        unread: Vec::new(),
        pending_approvals: None,
        pending_clarifications: None,
    })
}

/// Returns what waits, of one run or of all, the oldest first.
async fn waiting_of(
    app: &App,
    caller: &Caller,
    run: Option<&str>,
) -> Result<Vec<ApprovalView>, Problem> {
    let filter = ApprovalFilter {
        status: Some(Status::Waiting),
        run: run.map(str::to_owned),
        limit: Some(500),
        ..ApprovalFilter::default()
    };
    let mut waiting = app.gate.approvals(&caller.principal, filter).await?.items;
    waiting.reverse();
    Ok(waiting)
}

fn no_run(id: &str) -> Problem {
    let message = format!("there is no run `{id}`");
    Problem::new(StatusCode::NOT_FOUND, "run_not_found", message)
}

/// Answers the waiting approval of a run
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
        let message = "`all` works only with `deny`";
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
async fn waiting(app: &App, caller: &Caller, run: &str, all: bool) -> Result<Vec<String>, Problem> {
    let waiting = waiting_of(app, caller, Some(run)).await?;
    let ids: Vec<String> = waiting.into_iter().map(|it| it.approval_id).collect();
    match ids.len() {
        0 => Err(not_waiting(app, caller, run).await?),
        1 => Ok(ids),
        _ if all => Ok(ids),
        _ => Err(GateError::Ambiguous(ids).into()),
    }
}

/// Returns what to say to an answer to a run that waits for none.
async fn not_waiting(app: &App, caller: &Caller, run: &str) -> Result<Problem, Problem> {
    let is_over = match app.gate.run_of(&caller.principal, run).await {
        Ok(run) => run.status.is_final(),
        Err(GateError::NotFound { .. }) => {
            external(app, caller, run, false).await?;
            false
        }
        Err(error) => return Err(error.into()),
    };
    let (code, message) = if is_over {
        ("approval_not_active", "this run has ended")
    } else {
        (
            "approval_not_pending",
            "this run is not waiting for an answer",
        )
    };
    Ok(Problem::new(StatusCode::CONFLICT, code, message))
}
