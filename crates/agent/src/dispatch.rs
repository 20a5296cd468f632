//! Dispatches a tool call: submit to the gate, wait, take the permit, run the stored call, report.
//! There is no other way to run a tool.
//!
//! What the model asked for is only ever a submission. What runs is the permit's call: the stored
//! bytes, with a person's changes. A call that was begun before a crash is not begun again.

use std::time::{Duration, Instant};

use countersign_core::call::{ToolCall, Turn};
use countersign_core::canonical;
use countersign_core::digest::Digest;
use countersign_core::ending::Ending;
use countersign_core::id::CallId;
use countersign_gate::calls::permit::{Permit, Presented, Progress};
use countersign_gate::calls::submit::Submitted;
use countersign_gate::records::request::{Report, Submission};
use countersign_gate::records::view::CallView;
use countersign_gate::runs::Run;
use countersign_gate::{Gate, GateError};
use serde_json::{Value, json};

use crate::message::ToolRequest;
use crate::outbound::{APPROVAL_REQUIRED, split_token};
use crate::toolbox::Toolbox;
use crate::tools::{Around, Outcome, Tool, attached, on_disk};

/// How long one wait for a person lasts before it is looked whether anything else has changed.
const WAIT: Duration = Duration::from_secs(30);
/// Longest part of a result that is reported, in bytes.
const REPORT_BYTES_MAX: usize = 4096;

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dispatched {
    /// For the model.
    pub(crate) outcome: Outcome,
    /// For people.
    pub(crate) ending: Ending,
    /// Whether it ran, so that the gate tells of it.
    pub(crate) ran: bool,
    /// What is to be reported of which call.
    pub(crate) report: Option<(String, Report)>,
}

impl Dispatched {
    fn ran(outcome: Outcome) -> Self {
        let exit_code = outcome.exit_code;
        Self {
            ending: if outcome.failed {
                Ending::Failed { exit_code }
            } else {
                Ending::Done
            },
            outcome,
            ran: true,
            report: None,
        }
    }

    /// It ran just now and took this long.
    fn ran_now(call: String, asked: &Asked<'_>, outcome: Outcome, took: Duration) -> Self {
        let report = report(Some(&asked.request.id), &outcome, took);
        Self {
            report: Some((call, report)),
            ..Self::ran(outcome)
        }
    }

    fn not_run(text: impl Into<String>, ending: Ending) -> Self {
        Self {
            outcome: Outcome::failed(text),
            ending,
            ran: false,
            report: None,
        }
    }
}

/// A request of the model, and what is known around it.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) run: &'a Run,
    pub(crate) request: &'a ToolRequest,
    /// Earlier messages, for judging the reply.
    pub(crate) turns: &'a [Turn],
}

impl Asked<'_> {
    /// Names the request. Models may number their requests anew with every answer, so the answer it
    /// belongs to is part of the name.
    fn key(&self) -> String {
        key(self.run, self.run.steps, &self.request.id)
    }
}

fn key(run: &Run, step: u32, request: &str) -> String {
    format!("{}/{step}/{request}", run.run_id)
}

/// Returns the call that the request `id` of the answer number `step` becomes. It is known before
/// the call is submitted, so that everything that is told of it can name it; and it is the same after
/// a crash. Nobody can guess it who does not know the run.
pub(crate) fn call_id(run: &Run, step: u32, request: &str) -> CallId {
    let name = format!("countersign/v1/call\0{}", key(run, step, request));
    let mut random = [0; 10];
    for (to, from) in random.iter_mut().zip(Digest::of(name.as_bytes()).0) {
        *to = from;
    }
    CallId::fresh(run.created_at, random)
}

/// Runs what the model asked for, if the gate lets it.
pub(crate) async fn dispatch(tools: &Toolbox, around: &Around, asked: &Asked<'_>) -> Dispatched {
    match let_through(tools, around, asked).await {
        Ok((tool, permit)) => {
            let started = Instant::now();
            let call = permit.call_id().to_owned();
            // What leaves with a call is compared by who sends it.
            let sends = !tool.attachments(permit.args()).is_empty();
            let unchanged = if sends {
                Ok(())
            } else {
                on_disk::check_unchanged(permit.action()).await
            };
            let outcome = match unchanged {
                Ok(()) => tool.run(permit, around).await,
                Err(why) => Outcome::failed(why),
            };
            Dispatched::ran_now(call, asked, outcome, started.elapsed())
        }
        Err(instead) => instead,
    }
}

/// Returns the tool and the permit to run it, or what came of the request instead.
async fn let_through<'a>(
    tools: &'a Toolbox,
    around: &Around,
    asked: &Asked<'_>,
) -> Result<(&'a dyn Tool, Permit), Dispatched> {
    let request = asked.request;
    let tool = tools.get(&request.name).ok_or_else(|| {
        let known = tools.names().join(", ");
        Dispatched::not_run(
            format!("There is no tool `{}`. Tools: {known}.", request.name),
            Ending::NotRun("there is no such tool"),
        )
    })?;
    let gate = &around.gate;
    let before = gate.submitted(&around.who, &asked.key()).await;
    // The same request is the same call, also after a crash, and whatever it would be made of now.
    let call = match before.map_err(|error| not_run(&error))? {
        Some(call) => call,
        None => match first(around, asked, tool).await? {
            First::Submitted(call) => *call,
            First::Permitted(permit) => return Ok((tool, *permit)),
        },
    };
    let call = wait(around, call).await?;
    if !call.status.runs() {
        let ending = call.ending().unwrap_or(Ending::Unknown);
        return Err(Dispatched::not_run(call.message, ending));
    }
    let progress = gate.progress(&around.who, &call.call_id).await;
    match progress.map_err(|error| not_run(&error))? {
        Progress::NotBegun => {}
        Progress::Begun => return Err(interrupted(around, asked, tool, &call.call_id).await),
        // It ran before a crash, and was told of then.
        Progress::Reported(outcome) => return Err(Dispatched::ran(reported(&outcome))),
    }
    if around.is_stopped() {
        return Err(stopped());
    }
    let permit = gate
        .take_up(&around.who, &call.call_id, call.token.as_deref())
        .await
        .map_err(|error| not_run(&error))?;
    Ok((tool, permit))
}

/// What becomes of a request that is made for the first time.
enum First {
    /// It was submitted.
    Submitted(Box<CallView>),
    /// It has begun: it needs nobody's yes, or came with one.
    Permitted(Box<Permit>),
}

async fn first(around: &Around, asked: &Asked<'_>, tool: &dyn Tool) -> Result<First, Dispatched> {
    if around.is_stopped() {
        return Err(stopped());
    }
    let request = asked.request;
    let do_not_fit = |why| Dispatched::not_run(why, Ending::NotRun("its arguments do not fit"));
    let args = arguments(&request.arguments).map_err(do_not_fit)?;
    let (args, token) = if tool.approval_required() {
        split_token(args)
    } else {
        (args, None)
    };
    let args = tool.resolved(args).map_err(do_not_fit)?;
    let attachments = attached(tool, &args, &around.cwd).await;
    let attachments = attachments.map_err(do_not_fit)?;
    let Some(token) = token else {
        let submitted = submit(around, asked, tool, args, attachments).await?;
        return Ok(match submitted.permit {
            Some(permit) => First::Permitted(Box::new(permit)),
            None => First::Submitted(Box::new(submitted.view)),
        });
    };
    let action = Presented {
        executor: format!("tool:{}", request.name),
        tool: request.name.clone(),
        args,
        cwd: Some(around.cwd.display().to_string()),
        attachments,
    };
    let redeemed = around
        .gate
        .redeem(&around.who, &around.session, action, &token)
        .await;
    redeemed
        .map(|permit| First::Permitted(Box::new(permit)))
        .map_err(|_| {
            let ending = Ending::NotRun("the approval it came with does not fit");
            Dispatched::not_run(APPROVAL_REQUIRED, ending)
        })
}

/// What is said of a call that was begun before a crash. Of what is sent it is known whether it had
/// left our hands.
async fn interrupted(
    around: &Around,
    asked: &Asked<'_>,
    tool: &dyn Tool,
    call: &str,
) -> Dispatched {
    if let Some(outcome) = tool.taken_up(call, around).await {
        return Dispatched::ran_now(call.to_owned(), asked, outcome, Duration::ZERO);
    }
    if !tool.approval_required() {
        return unknown_outcome();
    }
    match around.gate.is_handed_over(&around.who, call).await {
        Ok(false) => Dispatched::not_run(
            "It was not sent: the agent was interrupted before it was handed over. The approval is \
             used up; a new call asks again.",
            Ending::NotRun("the agent was interrupted before it was sent"),
        ),
        Ok(true) | Err(_) => unknown_outcome(),
    }
}

async fn submit(
    around: &Around,
    asked: &Asked<'_>,
    tool: &dyn Tool,
    args: Value,
    attachments: Vec<Digest>,
) -> Result<Submitted, Dispatched> {
    let Asked {
        run,
        request,
        turns,
    } = asked;
    let schema = tool.schema();
    let cwd = Some(around.cwd.display().to_string());
    let call = ToolCall {
        tool: request.name.clone(),
        args,
        cwd,
        // What is not sent to anybody answers nothing.
        replying_to: if tool.approval_required() {
            turns.to_vec()
        } else {
            Vec::new()
        },
        ..ToolCall::default()
    };
    let on_disk = on_disk::looked_at(&call).await;
    let submission = Submission {
        call,
        on_disk,
        session: run.session.clone(),
        run: Some(run.run_id.clone()),
        agent: Some("countersign agent".to_owned()),
        tool_definition: Some(json!({
            "name": schema.name,
            "description": schema.description,
            "parameters": schema.parameters,
        })),
        attachments,
        starter: Some(run.starter.clone()),
        call_id: Some(call_id(run, run.steps, &request.id)),
        tool_call_id: Some(request.id.clone()),
        idempotency_key: Some(asked.key()),
        ..Submission::default()
    };
    let gate = &around.gate;
    let submitted = gate.submit_and_begin(&around.who, submission).await;
    submitted.map_err(|error| not_run(&error))
}

/// Waits until a call is decided; takes it back if the run is stopped.
async fn wait(around: &Around, mut call: CallView) -> Result<CallView, Dispatched> {
    while call.is_waiting() {
        let looked = tokio::select! {
            looked = around.gate.call(&around.who, &call.call_id, WAIT) => looked,
            () = around.stopped() => {
                let note = Some("the run was stopped".to_owned());
                let gate = &around.gate;
                let withdrawn = gate.withdraw(&around.who, &call.call_id, note).await;
                call = withdrawn.map_err(|error| not_run(&error))?;
                return if call.is_waiting() { Err(stopped()) } else { Ok(call) };
            }
        };
        call = looked.map_err(|error| not_run(&error))?;
    }
    Ok(call)
}

fn report(request: Option<&String>, outcome: &Outcome, took: Duration) -> Report {
    let end = outcome.text.floor_char_boundary(REPORT_BYTES_MAX);
    Report {
        failed: outcome.failed,
        summary: outcome.text.get(..end).map(str::to_owned),
        duration_millis: u64::try_from(took.as_millis()).ok(),
        exit_code: outcome.exit_code,
        tool_call_id: request.cloned(),
    }
}

/// Tells the gate alone what came of a call.
pub(crate) async fn tell(around: &Around, call: &str, report: Report) {
    if let Err(error) = around.gate.report(&around.who, call, report).await {
        // It ran; that nobody wrote down what came of it does not change that.
        tracing::error!(%error, call, "the outcome could not be reported");
    }
}

/// Reads arguments as the model wrote them. A key that stands twice could be read in two ways: one
/// by people, one by the tool.
fn arguments(text: &str) -> Result<Value, String> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let value = canonical::parse(text.as_bytes())
        .map_err(|error| format!("The arguments are not valid JSON ({error}). Nothing was run."))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err("The arguments must be a JSON object. Nothing was run.".to_owned())
    }
}

fn not_run(error: &GateError) -> Dispatched {
    let ending = Ending::NotRun("the gateway could not decide about it");
    Dispatched::not_run(format!("The call was not run: {error}."), ending)
}

fn stopped() -> Dispatched {
    let ending = Ending::NotRun("the run was stopped");
    Dispatched::not_run("The run was stopped; the call was not run.", ending)
}

/// The result of a call that was running when the process ended.
fn unknown_outcome() -> Dispatched {
    Dispatched::not_run(
        "Outcome unknown: the call was under way when the agent was interrupted. It may or may not \
         have taken effect, and it is not repeated. Check before doing anything that depends on it.",
        Ending::Unknown,
    )
}

fn reported(outcome: &Value) -> Outcome {
    let text = outcome.get("summary").and_then(Value::as_str);
    Outcome {
        text: text.unwrap_or_default().to_owned(),
        failed: outcome.get("failed").and_then(Value::as_bool) == Some(true),
        exit_code: outcome
            .get("exit_code")
            .and_then(Value::as_i64)
            .and_then(|code| i32::try_from(code).ok()),
    }
}

/// What became of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Drafted {
    /// Somebody allowed this.
    Allowed(String),
    /// Somebody was asked, and it is not shown.
    NotShown,
    /// Nobody could be asked.
    NobodyReached,
}

/// Submits the agent's own reply as a call that another person than `run.starter` must allow, and
/// returns what became of it.
pub(crate) async fn reply(
    around: &Around,
    run: &Run,
    turns: &[Turn],
    text: &str,
) -> Result<Drafted, Dispatched> {
    let gate: &Gate = &around.gate;
    let key = format!("{}/reply/{}", run.run_id, run.messages);
    let submission = Submission {
        call: ToolCall {
            tool: "reply".to_owned(),
            args: json!({ "to": run.starter, "text": text }),
            cwd: None,
            replying_to: turns.to_vec(),
            ..ToolCall::default()
        },
        session: run.session.clone(),
        run: Some(run.run_id.clone()),
        agent: Some("countersign agent".to_owned()),
        starter: Some(run.starter.clone()),
        answers_starter: true,
        idempotency_key: Some(key.clone()),
        ..Submission::default()
    };
    // A draft people were asked about before a crash is the one that counts.
    let before = gate.submitted(&around.who, &key).await;
    let call = if let Some(call) = before.map_err(|error| not_run(&error))? {
        call
    } else {
        let submitted = gate.submit(&around.who, submission).await;
        submitted.map_err(|error| not_run(&error))?
    };
    let call = wait(around, call).await?;
    if !call.status.runs() {
        return Ok(match call.ending() {
            Some(Ending::Expired { reached: false } | Ending::Refused(_)) => Drafted::NobodyReached,
            Some(_) | None => Drafted::NotShown,
        });
    }
    let taken = gate
        .take_up(&around.who, &call.call_id, call.token.as_deref())
        .await;
    let action = match taken {
        Ok(permit) => permit.action().clone(),
        // It was allowed and taken up before a crash; showing it is no second message.
        Err(GateError::TokenUsed | GateError::TokenInvalid | GateError::AlreadySettled { .. }) => {
            let kept = gate.kept_action(&around.who, &call.call_id).await;
            kept.map_err(|error| not_run(&error))?
        }
        Err(error) => return Err(not_run(&error)),
    };
    let allowed = action.args.get("text").and_then(Value::as_str);
    let shown = report(None, &Outcome::done("shown"), Duration::ZERO);
    tell(around, &call.call_id, shown).await;
    Ok(allowed.map_or(Drafted::NotShown, |text| Drafted::Allowed(text.to_owned())))
}
