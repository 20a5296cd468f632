//! The agent loop: ask the model, run its tool calls, until it answers.
//!
//! Each turn looks at the run as it is kept and does the one thing that is next, so a run that was
//! interrupted anywhere goes on from there. Nothing is remembered between turns that is not kept.

use std::time::Duration;

use countersign_core::call::ToolCall;
use countersign_core::canonical;
use countersign_core::card::{Redacts, one_line};
use countersign_core::status::RunStatus;
use countersign_gate::GateError;
use countersign_gate::runs::event::RunEvent;
use countersign_gate::runs::{Run, RunEnd, RunStep};
use futures_util::future::join_all;
use serde_json::Value;

use crate::agent::Agent;
use crate::conversation::{Known, SYSTEM_PROMPT, fitted, turns, unanswered};
use crate::dispatch::{Asked, Drafted, call_id, dispatch, reply, tell};
use crate::feed::Feed;
use crate::guard::Guard;
use crate::message::{Ended, Message, ToolRequest};
use crate::model::{self, ChatRequest, Completion, Delta, ModelError};
use crate::tools::Around;

/// How often an answer that broke off is asked for again.
const BROKEN_MAX: u32 = 2;
/// How often storage that is away is tried before the run is left for later.
const STORE_TRIES_MAX: u32 = 20;
/// Pause between two such tries.
const STORE_PAUSE: Duration = Duration::from_millis(500);
/// Longest preview of a tool's arguments, in characters.
const PREVIEW_CHARS_MAX: usize = 120;

/// What is next.
enum Turn {
    /// More.
    Goes,
    /// Nothing.
    Ended,
}

impl Agent {
    /// Drives a run to its end, or until another gateway has it.
    pub(crate) async fn drive(&self, id: &str, around: &Around, feed: &Feed) {
        let mut failures = 0;
        let mut known = Known::default();
        loop {
            match Box::pin(self.turn(id, &mut known, around, feed)).await {
                Ok(Turn::Goes) => failures = 0,
                Ok(Turn::Ended) => return,
                Err(GateError::Store(error)) if failures < STORE_TRIES_MAX => {
                    tracing::warn!(%error, run = id, "the run waits for storage");
                    failures += 1;
                    tokio::time::sleep(STORE_PAUSE).await;
                }
                Err(error) => {
                    // It is where it was; a restart takes it up.
                    tracing::error!(%error, run = id, "the run cannot go on");
                    return;
                }
            }
        }
    }

    async fn turn(
        &self,
        id: &str,
        known: &mut Known,
        around: &Around,
        feed: &Feed,
    ) -> Result<Turn, GateError> {
        let gate = self.gate();
        let run = gate.run_of(&around.who, id).await?;
        if run.status.is_final() || !self.drives(&run) {
            return Ok(Turn::Ended);
        }
        let messages = known.caught_up(gate, &run).await?;
        let open = unanswered(messages);
        if run.status == RunStatus::Stopping {
            // It may have been stopped at another gateway.
            self.tell_stop(id);
        }
        if !open.is_empty() {
            // Also when it is stopped: each request gets its answer, and none is run.
            self.use_tools(&run, messages, &open, around).await?;
            return Ok(Turn::Goes);
        }
        if around.is_stopped() {
            return self.end(&run, RunEnd::Cancelled).await;
        }
        if !run.unread.is_empty() {
            self.read_unread(&run).await?;
            return Ok(Turn::Goes);
        }
        if let Some(Message::Assistant {
            content: Some(text),
            tool_calls,
        }) = messages.last()
            && tool_calls.is_empty()
        {
            // It was written down before the run could be ended.
            return self.end(&run, RunEnd::Completed(text.clone())).await;
        }
        if let Some(why) = self.used_up(&run) {
            return self.end(&run, RunEnd::Failed(why)).await;
        }
        Box::pin(self.think(&run, messages, around, feed)).await
    }

    /// Adds what the person said meanwhile to the conversation.
    async fn read_unread(&self, run: &Run) -> Result<(), GateError> {
        let said = run.unread.iter().map(|text| Message::User {
            content: text.clone(),
        });
        let said: Vec<Message> = said.collect();
        let count = u32::try_from(said.len()).unwrap_or(u32::MAX);
        let step = RunStep {
            messages: written(&said),
            read: said.len(),
            events: vec![RunEvent::Steered(count)],
            ..RunStep::default()
        };
        self.gate().advance_run(run, &step).await?;
        Ok(())
    }

    /// Runs what the model asked for, all of it at once, and writes down what came of each.
    async fn use_tools(
        &self,
        run: &Run,
        messages: &[Message],
        open: &[ToolRequest],
        around: &Around,
    ) -> Result<(), GateError> {
        let turns = turns(messages, &run.starter);
        // They run at once, and are written down one after the other.
        let pen = tokio::sync::Mutex::new(());
        let uses = open.iter().map(|request| async {
            let asked = Asked {
                run,
                request,
                turns: &turns,
            };
            let dispatched = Box::pin(dispatch(self.tools(), around, &asked)).await;
            let call = call_id(run, run.steps, &request.id);
            let ended = Ended {
                call_id: call.0,
                outcome: dispatched.ending.ended(),
                words: dispatched.ending.words(),
            };
            // Of what ran, the gate has told already.
            let told = (!dispatched.ran).then(|| not_run(request, &ended));
            let message = Message::Tool {
                tool_call_id: request.id.clone(),
                content: dispatched.outcome.text,
                ended: Some(ended),
            };
            let step = RunStep {
                messages: written(&[message]),
                reports: dispatched.report.into_iter().collect(),
                events: told.into_iter().collect(),
                ..RunStep::default()
            };
            let _writing = pen.lock().await;
            let advanced = self.gate().advance_run(run, &step).await;
            if advanced.is_err() {
                // It ran, whatever became of the run.
                for (call, report) in step.reports {
                    tell(around, &call, report).await;
                }
            }
            advanced
        });
        for advanced in join_all(uses).await {
            advanced?;
        }
        Ok(())
    }

    /// Asks the model, and takes its answer for what it is: requests, or the end.
    async fn think(
        &self,
        run: &Run,
        messages: &[Message],
        around: &Around,
        feed: &Feed,
    ) -> Result<Turn, GateError> {
        // What was said in earlier runs was heeded then, and that is kept.
        let earlier = messages.len().saturating_sub(run.messages as usize);
        let said = messages.iter().skip(earlier).filter_map(said_by_person);
        let said: Vec<&str> = said.collect();
        let crisis = self.gate().heed(&around.who, &run.session, &said).await?;
        let request = self.request(run, messages);
        let answered = match self.model_of(run) {
            Ok(model) => self.ask_model(&model, &request, crisis, around, feed).await,
            Err(error) => Err(error),
        };
        let (completion, mut guard) = match answered {
            Ok(Some(answered)) => answered,
            // It was stopped meanwhile.
            Ok(None) => return Ok(Turn::Goes),
            Err(error) => {
                feed.end();
                return self.end(run, RunEnd::Failed(error.to_string())).await;
            }
        };
        // Remembered before anything goes on, so that nothing streams from here on. Asked again in
        // any case: a message sent into the run meanwhile may have told of a crisis.
        let words = [completion.text.as_str()];
        let looks = guard.is_tripped() || guard.is_paused();
        let words = if looks { &words[..] } else { &[] };
        let heeded = self.gate().heed(&around.who, &run.session, words).await?;
        let is_held = crisis || guard.is_tripped() || heeded;
        if !is_held
            && guard.is_paused()
            && let Some(rest) = guard.resume()
        {
            feed.stream(rest);
        }
        let usage = completion.usage;
        let mut step = RunStep {
            tokens: (usage.prompt_tokens, usage.completion_tokens),
            usage: Some(("agent", completion.model)),
            asked: 1,
            ..RunStep::default()
        };
        if !completion.tool_requests.is_empty() {
            feed.end();
            step.events = completion
                .tool_requests
                .iter()
                .map(|request| started(run, request, is_held))
                .collect();
            step.messages = written(&[Message::Assistant {
                content: Some(completion.text).filter(|text| !text.is_empty()),
                tool_calls: completion.tool_requests,
            }]);
            self.gate().advance_run(run, &step).await?;
            return Ok(Turn::Goes);
        }
        if completion.text.trim().is_empty() {
            feed.end();
            step.end = Some(RunEnd::Failed("the model returned no text".to_owned()));
        } else {
            let text = if is_held {
                Box::pin(self.held_reply(run, messages, &completion.text, around, feed)).await?
            } else {
                completion.text
            };
            feed.end();
            step.messages = written(&[Message::Assistant {
                content: Some(text.clone()),
                tool_calls: Vec::new(),
            }]);
            step.end = Some(RunEnd::Completed(text));
        }
        let run = self.gate().advance_run(run, &step).await?;
        Ok(after(&run))
    }

    /// Law 1: in a conversation with a person in crisis, or with an answer about it, the draft is a
    /// card for somebody else, and only a fixed notice is shown meanwhile: that somebody was asked, or
    /// that nobody could be. Returns what the person is shown in the end.
    async fn held_reply(
        &self,
        run: &Run,
        messages: &[Message],
        draft: &str,
        around: &Around,
        feed: &Feed,
    ) -> Result<String, GateError> {
        let notices = &self.inner.parts.crisis_notices;
        let reached = self.gate().has_approver_other_than(&run.starter).await?;
        let notice = notices.of(reached);
        let held = RunEvent::MessageHeld {
            notice: notice.to_owned(),
            reached,
        };
        let step = RunStep {
            events: vec![held],
            ..RunStep::default()
        };
        let run = self.gate().advance_run(run, &step).await?;
        feed.notice(notice);
        let turns = turns(messages, &run.starter);
        let drafted = match Box::pin(reply(around, &run, &turns, draft)).await {
            Ok(drafted) => drafted,
            Err(instead) => {
                let why = instead.outcome.text;
                tracing::warn!(why, run = run.run_id, "the draft was not shown");
                Drafted::NobodyReached
            }
        };
        Ok(match drafted {
            Drafted::Allowed(text) => {
                feed.say(&text);
                text
            }
            Drafted::NotShown => notice.to_owned(),
            Drafted::NobodyReached => {
                let unreachable = notices.of(false);
                if reached {
                    // What was said before has turned out not to be so.
                    feed.notice(unreachable);
                }
                unreachable.to_owned()
            }
        })
    }

    fn request(&self, run: &Run, messages: &[Message]) -> ChatRequest {
        let mut system = SYSTEM_PROMPT.to_owned();
        if let Some(instructions) = &run.instructions {
            system.push_str("\n\n");
            system.push_str(instructions);
        }
        ChatRequest {
            messages: fitted(system, messages, self.inner.parts.limits.context_bytes),
            tools: self.tools().schemas(),
            max_tokens: Some(self.inner.parts.limits.answer_tokens),
        }
    }

    /// Returns the model a run asked for, as long as it is configured, else the usual one.
    fn model_of(&self, run: &Run) -> Result<model::Client, ModelError> {
        let model = self.inner.parts.models.current();
        let model = model.map_err(ModelError::Misconfigured)?;
        let model = model.ok_or(ModelError::NotConfigured)?;
        if self.inner.parts.models.others().contains(&run.model) {
            return Ok(model.named(&run.model));
        }
        Ok(model)
    }

    /// Returns the model's answer, and the guard that showed as much of it as may be shown; `None` if the run was
    /// stopped meanwhile.
    async fn ask_model(
        &self,
        model: &model::Client,
        request: &ChatRequest,
        crisis: bool,
        around: &Around,
        feed: &Feed,
    ) -> Result<Option<(Completion, Guard)>, ModelError> {
        let mut broken = 0;
        loop {
            let mut guard = Guard::new(self.gate().crisis_sensitivity(), self.gate().reads_again());
            let mut show = |delta: Delta<'_>| match delta {
                Delta::Text(piece) if !crisis => {
                    if let Some(text) = guard.push(piece) {
                        feed.stream(text);
                    }
                }
                Delta::Text(_) | Delta::Reasoning(_) => {}
            };
            let answered = tokio::select! {
                answered = model.complete(request, &mut show) => answered,
                () = around.stopped() => {
                    feed.end();
                    return Ok(None);
                }
            };
            match answered {
                Ok(completion) => {
                    if !crisis && let Some(rest) = guard.finish() {
                        feed.stream(rest);
                    }
                    return Ok(Some((completion, guard)));
                }
                Err(ModelError::BrokeOff(why)) if broken < BROKEN_MAX => {
                    tracing::warn!(why, "the model's answer was cut off; retrying");
                    broken += 1;
                    feed.end();
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn used_up(&self, run: &Run) -> Option<String> {
        let limits = self.inner.parts.limits;
        if run.steps >= limits.steps {
            return Some(format!("the run has used up its {} steps", limits.steps));
        }
        if run.prompt_tokens + run.completion_tokens >= limits.tokens {
            return Some(format!("the run has used up its {} tokens", limits.tokens));
        }
        let millis = self.gate().clock().now().since(run.created_at);
        let took = Duration::from_millis(u64::try_from(millis).unwrap_or(0));
        (took >= limits.time).then(|| "the run has used up its time".to_owned())
    }

    async fn end(&self, run: &Run, end: RunEnd) -> Result<Turn, GateError> {
        let step = RunStep {
            end: Some(end),
            ..RunStep::default()
        };
        let run = self.gate().advance_run(run, &step).await?;
        Ok(after(&run))
    }
}

/// A run that should have ended goes on if somebody spoke to it meanwhile.
fn after(run: &Run) -> Turn {
    if run.status.is_final() {
        Turn::Ended
    } else {
        Turn::Goes
    }
}

fn said_by_person(message: &Message) -> Option<&str> {
    match message {
        Message::User { content } => Some(content),
        Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    }
}

fn started(run: &Run, request: &ToolRequest, crisis: bool) -> RunEvent {
    let call = ToolCall {
        tool: request.name.clone(),
        args: canonical::parse(request.arguments.as_bytes()).unwrap_or_default(),
        ..ToolCall::default()
    };
    let line = one_line(&call, Redacts::Secrets);
    let preview: String = line.chars().take(PREVIEW_CHARS_MAX).collect();
    // The model wrote it, and nobody has looked at it.
    let preview = if crisis {
        request.name.clone()
    } else {
        preview
    };
    RunEvent::ToolStarted {
        tool: request.name.clone(),
        tool_call_id: request.id.clone(),
        // The answer that asks for it is counted when it is written down.
        call_id: call_id(run, run.steps.saturating_add(1), &request.id).0,
        preview,
    }
}

fn not_run(request: &ToolRequest, ended: &Ended) -> RunEvent {
    RunEvent::ToolNotRun {
        tool: request.name.clone(),
        tool_call_id: request.id.clone(),
        call_id: ended.call_id.clone(),
        outcome: ended.outcome,
        words: ended.words.clone(),
    }
}

/// Returns messages as they are kept.
fn written(messages: &[Message]) -> Vec<Value> {
    // Our own types with text keys; writing them to memory cannot fail.
    let write = |message| serde_json::to_value(message).unwrap_or_default();
    messages.iter().map(write).collect()
}
