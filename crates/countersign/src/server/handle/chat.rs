//! Chat completions: the built-in agent for `OpenAI` clients.
//!
//! A request is a run. A call that needs a person is held meanwhile: the stream is kept alive and
//! says so, in an event of its own that other clients pass over. Whoever goes away before the end
//! stops the run: nobody would hear what it comes to.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use countersign_agent::feed::Piece;
use countersign_core::ledger::Entry;
use countersign_gate::runs::Run;
use futures_util::stream;
use serde_json::{Map, Value, json};

use super::Reach;
use super::runs::{begin, named_session};
use crate::server::App;
use crate::server::auth::Caller;
use crate::server::body::JsonBody;
use crate::server::events::follow::{Follower, Told, Which};
use crate::server::events::{now, sse};
use crate::server::problem::Problem;
use crate::wire::runs::{ChatBody, Conversation};

/// The separator between two messages of one answer.
const BETWEEN: &str = "\n\n";

/// Chat completions by the built-in agent, in `OpenAI`'s format
#[utoipa::path(post, path = "/v1/chat/completions", request_body = ChatBody,
    responses((status = 200, description = "the answer, or a stream of it", body = Object)))]
pub(crate) async fn completions(
    State(app): Reach,
    caller: Caller,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ChatBody>,
) -> Result<Response, Problem> {
    let conversation = Conversation::read(&body.messages)?;
    // Before the run begins, so that nothing of it is missed.
    let cursor = now(&app);
    let session = named_session(&headers);
    let run = begin(&app, &caller, conversation, session, None).await?;
    let which = Which::Run(run.run_id.clone());
    let listener = Listener {
        app: Arc::clone(&app),
        caller: caller.clone(),
        run: run.run_id.clone(),
        is_over: false,
    };
    let chat = Chat {
        follower: Follower::new(app, caller, cursor, which),
        created: run.created_at.seconds(),
        includes_usage: body.stream_options.is_some_and(|it| it.include_usage),
        begun: false,
        message: String::new(),
        said: String::new(),
        is_between: false,
        run,
        listener,
    };
    let session = HeaderValue::from_str(&chat.run.session).ok();
    let mut response = if body.stream {
        sse(stream::unfold(chat, |mut chat| async move {
            let text = chat.next().await?;
            Some((text, chat))
        }))
    } else {
        chat.whole().await.into_response()
    };
    if let Some(session) = session {
        for name in ["x-session-id", "x-hermes-session-id"] {
            let name = HeaderName::from_static(name);
            response.headers_mut().insert(name, session.clone());
        }
    }
    Ok(response)
}

/// An answer as it is written.
struct Chat {
    follower: Follower,
    run: Run,
    created: i64,
    includes_usage: bool,
    begun: bool,
    /// The message that is being written.
    message: String,
    /// The message that was written last.
    said: String,
    /// Whether the next piece begins another message.
    is_between: bool,
    listener: Listener,
}

/// Whoever waits for the answer. Who leaves before the end stops the run.
struct Listener {
    app: Arc<App>,
    caller: Caller,
    run: String,
    is_over: bool,
}

/// How a run ended.
enum End {
    Completed { output: String, usage: Value },
    Not { code: &'static str, why: String },
}

impl Chat {
    /// Returns the next part of the stream; `None` at its end.
    async fn next(&mut self) -> Option<String> {
        if self.listener.is_over {
            return None;
        }
        let mut out = String::new();
        if !self.begun {
            self.begun = true;
            self.chunk(
                &mut out,
                &json!({ "role": "assistant", "content": "" }),
                None,
            );
            return Some(out);
        }
        while out.is_empty() {
            for told in self.follower.next().await {
                self.write(&mut out, told).await;
                if self.listener.is_over {
                    break;
                }
            }
        }
        Some(out)
    }

    async fn write(&mut self, out: &mut String, told: Told) {
        match told {
            Told::Piece(piece) => self.write_piece(out, piece),
            Told::Beat => out.push_str(": keep-alive\n\n"),
            Told::Closed(why) => {
                self.listener.leave().await;
                self.write_end(out, not_ended(why));
            }
            Told::Entry(entry) => match ended(&entry) {
                Some(end) => self.write_end(out, end),
                None => self.write_event(out, &entry),
            },
        }
    }

    fn write_piece(&mut self, out: &mut String, piece: Piece) {
        let text = match piece {
            Piece::End => {
                self.said = std::mem::take(&mut self.message);
                self.is_between = true;
                return;
            }
            Piece::Text(text) | Piece::SoFar(text) | Piece::Notice(text) => text,
        };
        self.message.push_str(&text);
        let front = if std::mem::take(&mut self.is_between) {
            BETWEEN
        } else {
            ""
        };
        let content = format!("{front}{text}");
        self.chunk(out, &json!({ "content": content }), None);
    }

    /// People see that a person is asked, and tools at work, where their client shows it. For other
    /// clients it is a chunk without choices, such as every client knows one from the end.
    fn write_event(&self, out: &mut String, entry: &Entry) {
        let name = match entry.draft.event.as_str() {
            "approval.required" | "approval.resolved" => "countersign.approval",
            "clarify.required" | "clarify.resolved" => "countersign.clarification",
            "tool.started" | "tool.completed" => "countersign.tool",
            _ => return,
        };
        let told: Value = serde_json::from_str(&entry.draft.body).unwrap_or_default();
        let mut chunk = self.frame(json!([]));
        if let Value::Object(mut told) = told {
            // Clients look for the answer in `choices`; what may be chosen is called otherwise.
            if let Some(choices) = told.shift_remove("choices") {
                chunk.insert("offered".to_owned(), choices);
            }
            chunk.extend(told);
        }
        if name == "countersign.approval" {
            out.push_str(": a person is asked\n\n");
        }
        let _infallible = write!(out, "event: {name}\ndata: {}\n\n", Value::Object(chunk));
    }

    fn write_end(&mut self, out: &mut String, end: End) {
        self.listener.is_over = true;
        match end {
            End::Completed { output, usage } => {
                // What another gateway drove was not heard here.
                if self.said != output {
                    self.write_piece(out, Piece::Text(output));
                }
                self.chunk(out, &json!({}), Some("stop"));
                if self.includes_usage {
                    let mut chunk = self.frame(json!([]));
                    chunk.insert("usage".to_owned(), counted(&usage));
                    let _infallible = write!(out, "data: {}\n\n", Value::Object(chunk));
                }
            }
            End::Not { code, why } => {
                let error = json!({ "error": {
                    "message": why, "type": "server_error", "param": null, "code": code,
                } });
                let _infallible = write!(out, "data: {error}\n\n");
            }
        }
        out.push_str("data: [DONE]\n\n");
    }

    /// Waits for the end and returns all of the answer.
    async fn whole(mut self) -> Result<Json<Value>, Problem> {
        let end = loop {
            let mut end = None;
            for told in self.follower.next().await {
                end = match told {
                    Told::Entry(entry) => ended(&entry),
                    Told::Closed(why) => {
                        self.listener.leave().await;
                        Some(not_ended(why))
                    }
                    Told::Piece(_) | Told::Beat => None,
                };
                if end.is_some() {
                    break;
                }
            }
            if let Some(end) = end {
                break end;
            }
        };
        self.listener.is_over = true;
        match end {
            End::Completed { output, usage } => {
                let message = json!({ "role": "assistant", "content": output });
                let choices = json!([{ "index": 0, "message": message, "finish_reason": "stop" }]);
                let mut answer = self.frame(choices);
                answer.insert("object".to_owned(), json!("chat.completion"));
                answer.insert("usage".to_owned(), counted(&usage));
                Ok(Json(Value::Object(answer)))
            }
            End::Not { code, why } => Err(Problem::new(StatusCode::BAD_GATEWAY, code, why)),
        }
    }

    fn chunk(&self, out: &mut String, delta: &Value, finish: Option<&str>) {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        let _infallible = write!(out, "data: {}\n\n", Value::Object(self.frame(choices)));
    }

    fn frame(&self, choices: Value) -> Map<String, Value> {
        let id = self.run.run_id.trim_start_matches("run_");
        let mut frame = Map::new();
        frame.insert("id".to_owned(), json!(format!("chatcmpl-{id}")));
        frame.insert("object".to_owned(), json!("chat.completion.chunk"));
        frame.insert("created".to_owned(), json!(self.created));
        frame.insert("model".to_owned(), json!(self.run.model));
        frame.insert("choices".to_owned(), choices);
        frame
    }
}

impl Listener {
    /// Stops the run, because nobody will hear what it comes to.
    async fn leave(&mut self) {
        self.is_over = true;
        let stopped = self.app.agent.stop(&self.caller.principal, &self.run);
        if let Err(error) = stopped.await {
            tracing::warn!(%error, run = self.run, "a run nobody waits for could not be stopped");
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if self.is_over {
            return;
        }
        let mut gone = Self {
            app: Arc::clone(&self.app),
            caller: self.caller.clone(),
            run: self.run.clone(),
            is_over: true,
        };
        runtime.spawn(async move { gone.leave().await });
    }
}

/// Returns how the run ended, if `entry` says so.
fn ended(entry: &Entry) -> Option<End> {
    let body: Value = match entry.draft.event.as_str() {
        "run.completed" | "run.failed" | "run.cancelled" => {
            serde_json::from_str(&entry.draft.body).unwrap_or_default()
        }
        _ => return None,
    };
    let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
    Some(match entry.draft.event.as_str() {
        "run.completed" => End::Completed {
            output: text("output").to_owned(),
            usage: body.get("usage").cloned().unwrap_or_default(),
        },
        "run.failed" => End::Not {
            code: "run_failed",
            why: text("error").to_owned(),
        },
        _ => End::Not {
            code: "run_cancelled",
            why: "the run was stopped".to_owned(),
        },
    })
}

fn not_ended(why: &str) -> End {
    End::Not {
        code: "interrupted",
        why: why.to_owned(),
    }
}

/// Returns what a run cost, in the words of `OpenAI`.
fn counted(usage: &Value) -> Value {
    json!({
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "total_tokens": usage.get("total_tokens"),
    })
}
