//! What the commands behind a slash ask of the gateway, and how its answers are said. The chat on
//! the whole screen and the one in lines share it.

use countersign_core::command::{Command, TABLE};
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::segment;
use crate::config::read::at;
use crate::show::{ago, text};
use crate::words::{outcome, refusal};
use countersign_gate::runs::BUILTIN;

/// Standing permissions and waiting calls that are listed; `countersign` lists all.
const LISTED_MAX: usize = 20;

/// A request a command stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// By this its answer is known.
    pub(crate) what: &'static str,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
}

/// What a command comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Means {
    /// The gateway is asked; [`said`] words its answers.
    Ask(Vec<Request>),
    /// This is said.
    Say(String),
    /// The surface itself does it.
    Own(Command),
}

/// Returns what `command` comes to in the conversation `session`.
pub(crate) fn means(command: Command, session: Option<&str>) -> Means {
    let get = |what, path: &str| Means::Ask(vec![looked(what, path)]);
    match command {
        Command::Pending => get("pending", "/v1/approvals?status=waiting"),
        Command::Grants => Means::Ask(vec![
            looked("grants", "/v1/grants"),
            looked("overrides", "/v1/overrides"),
        ]),
        Command::Usage => get("usage", "/v1/usage"),
        Command::Whoami => get("whoami", "/v1/whoami"),
        Command::Status => Means::Ask(vec![
            looked("status", "/v1/capabilities"),
            looked("overrides", "/v1/overrides"),
        ]),
        Command::Model { name: None } => get("model", "/v1/models"),
        Command::Model { name: Some(_) } => Means::Say(
            "The model is the gateway's: `agent.model` in its configuration. An admin changes it with \
             `countersign config set agent.model NAME`."
                .to_owned(),
        ),
        Command::Revoke { id } => {
            let path = format!("/v1/grants/{}", segment(&id));
            ask("revoke", Method::DELETE, path, None)
        }
        Command::Lift { id } => {
            let path = format!("/v1/approvals/{}/lift", segment(&id));
            ask("lift", Method::POST, path, Some(json!({})))
        }
        Command::Deny {
            id: Some(id),
            note,
        } => {
            let path = format!("/v1/approvals/{}/resolve", segment(&id));
            let body = match note {
                Some(note) => json!({ "choice": "deny", "note": note }),
                None => json!({ "choice": "deny" }),
            };
            ask("answer", Method::POST, path, Some(body))
        }
        Command::Yolo { .. } | Command::YoloOff if session.is_none() => {
            Means::Say("There is no conversation yet; send a message first.".to_owned())
        }
        Command::Yolo { minutes, all } => {
            let path = format!("/v1/sessions/{}/yolo", segment(session.unwrap_or_default()));
            let reason = "typed in a chat";
            let body = json!({
                "minutes": minutes, "reason": reason, "all": all, "key_id": BUILTIN,
            });
            ask("yolo", Method::POST, path, Some(body))
        }
        Command::YoloOff => {
            let session = segment(session.unwrap_or_default());
            let path = format!("/v1/sessions/{session}/yolo?key_id={BUILTIN}");
            ask("yolo_off", Method::DELETE, path, None)
        }
        Command::Help => Means::Say(help()),
        Command::Approve { .. }
        | Command::Deny { id: None, .. }
        | Command::Show { .. }
        | Command::New
        | Command::Retry
        | Command::Stop => Means::Own(command),
    }
}

fn ask(what: &'static str, method: Method, path: String, body: Option<Value>) -> Means {
    Means::Ask(vec![Request {
        what,
        method,
        path,
        body,
    }])
}

fn looked(what: &'static str, path: &str) -> Request {
    Request {
        what,
        method: Method::GET,
        path: path.to_owned(),
        body: None,
    }
}

/// Returns the commands, one to a line.
pub(crate) fn help() -> String {
    let rows = TABLE.iter().map(|row| {
        let typed = format!("/{} {}", row.name, row.hint);
        format!("{:<36} {}", typed.trim_end(), row.does)
    });
    let leave = format!("{:<36} leave", "/quit");
    rows.chain([leave]).collect::<Vec<_>>().join("\n")
}

/// Returns what the gateway's answer to a [`Request`] says.
pub(crate) fn said(what: &str, status: u16, body: &Value) -> String {
    if !(200..300).contains(&status) {
        let decision = at(body, "decision");
        if decision.is_object() {
            return format!("{}; nothing was changed.", outcome(decision));
        }
        return format!("{}.", refusal(status, body).trim_end_matches('.'));
    }
    match what {
        "pending" => list(
            at(body, "approvals"),
            "No call is waiting for an answer.",
            |it| {
                let risk = text(at(it, "card"), "risk");
                format!(
                    "{}  {risk}  {}",
                    text(it, "approval_id"),
                    text(it, "command")
                )
            },
        ),
        "grants" => list(at(body, "grants"), "There are no grants.", |it| {
            format!("{}  {}", text(it, "grant_id"), shown(it, "words"))
        }),
        "usage" => usage(at(body, "usage")),
        "whoami" => format!(
            "You are {}, {}, through {} ({}).",
            text(body, "name"),
            text(body, "role"),
            text(body, "via"),
            text(body, "tier")
        ),
        "status" => format!(
            "Gateway {}, model {}.",
            text(body, "version"),
            text(body, "model")
        ),
        "model" => {
            let model = at(body, "data").get(0).unwrap_or(&Value::Null);
            format!("{} answers.", text(model, "id"))
        }
        "revoke" => format!("Revoked: {}.", shown(body, "words")),
        "lift" => "Denial lifted; the agent may ask again.".to_owned(),
        "answer" => answered(body),
        "overrides" => list(
            at(body, "overrides"),
            "No session runs without questions.",
            lifted,
        ),
        "yolo" => format!(
            "This session {}; that ends {}. Outbound calls, money, the firewall itself and crisis \
             still ask. /yolo off ends it.",
            shown(body, "words"),
            ago(body, "until")
        ),
        "yolo_off" => "This session asks questions again.".to_owned(),
        _ => "Done.".to_owned(),
    }
}

/// Returns a session that runs without questions, and how that is ended.
pub(crate) fn lifted(it: &Value) -> String {
    let session = text(it, "session_id");
    let whose = match at(it, "key_id").as_str() {
        Some(BUILTIN) | None => String::new(),
        Some(_) => format!(" --key-id {}", text(it, "key_id")),
    };
    format!(
        "Session {session} {} (started by {}: {}; ends {}). `countersign grants end {session}{whose}` \
         ends it now.",
        shown(it, "words"),
        text(it, "by"),
        text(it, "reason"),
        ago(it, "until"),
    )
}

/// Returns what became of an answer: it holds, or it can still be taken back.
fn answered(approval: &Value) -> String {
    let decision = at(approval, "decision");
    if decision.is_object() {
        return format!("{}.", outcome(decision));
    }
    "Your answer takes effect in a moment.".to_owned()
}

/// What the gateway has made safe already.
fn shown(value: &Value, key: &str) -> String {
    at(value, key).as_str().unwrap_or("-").to_owned()
}

fn list(items: &Value, none: &str, line: impl Fn(&Value) -> String) -> String {
    let items: Vec<&Value> = items.as_array().into_iter().flatten().collect();
    if items.is_empty() {
        return none.to_owned();
    }
    let mut lines: Vec<String> = items.iter().take(LISTED_MAX).map(|it| line(it)).collect();
    let more = items.len().saturating_sub(LISTED_MAX);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}

/// Returns what each model cost, all days together.
fn usage(rows: &Value) -> String {
    let mut sums: Vec<(String, u64, u64, u64)> = Vec::new();
    for row in rows.as_array().into_iter().flatten() {
        let name = text(row, "model");
        let count = |key: &str| at(row, key).as_u64().unwrap_or(0);
        let (calls, read, wrote) = (
            count("calls"),
            count("prompt_tokens"),
            count("completion_tokens"),
        );
        match sums.iter_mut().find(|(model, ..)| *model == name) {
            Some((_, asked, prompt, completion)) => {
                *asked += calls;
                *prompt += read;
                *completion += wrote;
            }
            None => sums.push((name, calls, read, wrote)),
        }
    }
    if sums.is_empty() {
        return "No model has been used yet.".to_owned();
    }
    let lines = sums.iter().map(|(model, calls, read, wrote)| {
        let requests = if *calls == 1 { "request" } else { "requests" };
        format!("{model}: {calls} {requests}, {read} tokens in, {wrote} tokens out")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_comes_to_something() {
        for row in TABLE {
            let id = if row.hint == "ID" { " appr_1" } else { "" };
            let command = Command::parse(&format!("/{}{id}", row.name)).unwrap();
            match means(command, Some("s")) {
                Means::Ask(requests) => {
                    let is_ours = |request: &Request| request.path.starts_with("/v1/");
                    assert!(requests.iter().all(is_ours), "{}", row.name);
                }
                Means::Say(words) => assert!(!words.is_empty(), "{}", row.name),
                Means::Own(_) => {}
            }
        }
    }

    #[test]
    fn answers_are_said_in_words() {
        let rows = [
            (
                "pending",
                200,
                json!({ "approvals": [] }),
                "No call is waiting for an answer.",
            ),
            (
                "whoami",
                200,
                json!({ "name": "ana", "role": "approver", "via": "cli", "tier": "T0" }),
                "You are ana, approver, through cli (T0).",
            ),
            (
                "answer",
                409,
                json!({ "error": { "message": "x" }, "decision": { "outcome": "approved", "by": "bo", "via": "page" } }),
                "Approved by bo via the page; nothing was changed.",
            ),
            (
                "revoke",
                404,
                json!({ "error": { "message": "there is no grant `g`" } }),
                "It no longer exists: there is no grant `g`.",
            ),
            (
                "usage",
                200,
                json!({ "usage": [
                    { "model": "m", "calls": 1, "prompt_tokens": 10, "completion_tokens": 5 },
                    { "model": "m", "calls": 2, "prompt_tokens": 1, "completion_tokens": 1 },
                ] }),
                "m: 3 requests, 11 tokens in, 6 tokens out",
            ),
        ];
        for (what, status, body, wanted) in rows {
            assert_eq!(said(what, status, &body), wanted, "{what}");
        }
    }
}
