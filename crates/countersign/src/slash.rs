//! Slash commands: the requests they stand for, and the words for the answers.
//!
//! The full-screen chat and the chat in lines share it.

use countersign_core::command::{Command, TABLE};
use countersign_gate::history::before::BeforeView;
use countersign_gate::records::view::{ApprovalView, GrantView};
use countersign_gate::runs::BUILTIN;
use countersign_gate::runs::usage::UsageView;
use countersign_gate::sessions::OverrideView;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Answer, segment};
use crate::show::{ago, count, maybe_ago, text};
use crate::wire::lists::{ApprovalList, GrantList, OverrideList, UsageList};
use crate::wire::shown::{Capabilities, Identity, ModelList};
use crate::words::{before, outcome, refusal, sentence};

/// Standing permissions and waiting calls that are listed; `countersign` lists all.
const LISTED_MAX: usize = 20;

/// The reply if the agent can do nothing.
pub(crate) const NO_SKILLS: &str =
    "The built-in agent has no model, so it does nothing. `agent.model` names one.";

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
        Command::Model { name: None } => get("model", MODELS),
        Command::Skills => get("skills", "/v1/capabilities"),
        Command::Revoke { id } => {
            let path = format!("/v1/grants/{}", segment(&id));
            ask("revoke", Method::DELETE, path, None)
        }
        Command::Lift { id } => {
            let path = format!("/v1/approvals/{}/lift", segment(&id));
            ask("lift", Method::POST, path, Some(json!({})))
        }
        Command::Extend { id: Some(id) } => {
            let path = format!("/v1/approvals/{}/extend", segment(&id));
            ask("extend", Method::POST, path, Some(json!({})))
        }
        Command::Before { id: Some(id) } => {
            let path = format!("/v1/approvals/{}/before", segment(&id));
            get("before", &path)
        }
        Command::Deny { id: Some(id), note } => {
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
        | Command::ApproveEdited { .. }
        | Command::Edit { .. }
        | Command::Before { id: None }
        | Command::Deny { id: None, .. }
        | Command::Extend { id: None }
        | Command::Steer { .. }
        | Command::Model { name: Some(_) }
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
pub(crate) fn said(what: &str, answer: &Answer) -> String {
    if !answer.is_success() {
        if let Some(decision) = answer.refusal().decision {
            return format!("{}; nothing was changed.", outcome(&decision));
        }
        return format!("{}.", refusal(answer).trim_end_matches('.'));
    }
    let words = match what {
        "pending" => answer.read().map(|it: ApprovalList| pending(&it)),
        "grants" => answer.read().map(|it: GrantList| grants(&it)),
        "usage" => answer.read().map(|it: UsageList| usage(&it.usage)),
        "whoami" => answer.read().map(|it: Identity| {
            let (name, via) = (text(&it.name), text(&it.via));
            let (role, tier) = (it.role.word(), it.tier.word());
            format!("You are {name}, {role}, through {via} ({tier}).")
        }),
        "status" => answer.read().map(|it: Capabilities| {
            let (version, model) = (text(&it.version), text(&it.model));
            format!("Gateway {version}, model {model}.")
        }),
        "model" => answer.read().map(|it: ModelList| models(&it)),
        "skills" => answer.read().map(|it: Capabilities| skills(&it)),
        // The gateway has made these words safe already.
        "revoke" => answer
            .read()
            .map(|it: GrantView| format!("Revoked: {}.", it.words)),
        "extend" => answer
            .read()
            .map(|it: ApprovalView| format!("It now expires {}.", ago(it.expires_at))),
        "before" => answer.read().map(|it: BeforeView| before(&it, ago)),
        "lift" => Ok("Denial lifted; the agent may ask again.".to_owned()),
        "answer" => answer.read().map(|it: ApprovalView| answered(&it)),
        "overrides" => answer.read().map(|it: OverrideList| {
            list(&it.overrides, "No session runs without questions.", lifted)
        }),
        "yolo" => answer.read().map(|it: OverrideView| {
            format!(
                "This session {}; that ends {}. Outbound calls, money, the firewall itself and \
                 crisis still ask. /yolo off ends it.",
                it.words,
                maybe_ago(it.until)
            )
        }),
        "yolo_off" => Ok("This session asks questions again.".to_owned()),
        _ => Ok("Done.".to_owned()),
    };
    words.unwrap_or_else(|complaint| format!("{}.", sentence(complaint.message())))
}

fn pending(page: &ApprovalList) -> String {
    list(&page.approvals, "No call is waiting for an answer.", |it| {
        let (id, command) = (text(&it.approval_id), text(&it.command));
        format!("{id}  {}  {command}", it.card.risk)
    })
}

fn grants(page: &GrantList) -> String {
    list(&page.grants, "No active grants.", |it| {
        format!("{}  {}", text(&it.grant_id), it.words)
    })
}

/// The path of the models that can be chosen.
pub(crate) const MODELS: &str = "/v1/models";

fn models(list: &ModelList) -> String {
    let names: Vec<String> = list.data.iter().map(|model| text(&model.id)).collect();
    match names.split_first() {
        None => "No model is configured.".to_owned(),
        Some((usual, [])) => {
            format!("{usual} answers. `agent.models` names others to choose from.")
        }
        Some((usual, others)) => {
            format!(
                "{usual} answers, if no other is chosen: /model {}",
                others.join(", /model ")
            )
        }
    }
}

/// Returns what the agent can do, a line each.
fn skills(it: &Capabilities) -> String {
    if it.skills.is_empty() {
        return NO_SKILLS.to_owned();
    }
    let lines = it.skills.iter().map(|skill| {
        let (name, does, asks) = (text(&skill.name), text(&skill.does), text(&skill.asks));
        format!("{name}: {does} ({asks})")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns whether `name` is one of the models in `answer`, and the words for the person.
pub(crate) fn chosen_model(name: &str, answer: &Answer) -> (bool, String) {
    let list: ModelList = match answer.read() {
        Ok(list) => list,
        Err(_) => return (false, said("model", answer)),
    };
    let shown = text(name);
    if list.data.iter().any(|model| model.id == name) {
        return (true, format!("{shown} answers your next messages here."));
    }
    let known: Vec<String> = list.data.iter().map(|model| text(&model.id)).collect();
    let known = known.join(", ");
    (
        false,
        format!("{shown} is not configured. Configured: {known} (`agent.model`, `agent.models`)."),
    )
}

/// Returns a session that runs without questions, and how that is ended.
pub(crate) fn lifted(it: &OverrideView) -> String {
    let session = text(&it.session_id);
    let whose = match it.key_id.as_str() {
        BUILTIN => String::new(),
        key => format!(" --key-id {}", text(key)),
    };
    format!(
        "Session {session} {} (started by {}: {}; ends {}). `countersign grants end {session}{whose}` \
         ends it now.",
        it.words,
        text(&it.by),
        text(&it.reason),
        maybe_ago(it.until),
    )
}

/// Returns what became of an answer: it holds, or it can still be taken back.
fn answered(approval: &ApprovalView) -> String {
    approval.decision.as_ref().map_or_else(
        || "Your answer takes effect in a moment.".to_owned(),
        |decision| format!("{}.", outcome(decision)),
    )
}

fn list<T>(items: &[T], none: &str, line: impl Fn(&T) -> String) -> String {
    if items.is_empty() {
        return none.to_owned();
    }
    let mut lines: Vec<String> = items.iter().take(LISTED_MAX).map(line).collect();
    let more = items.len().saturating_sub(LISTED_MAX);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}

/// Returns what each model cost, all days together.
fn usage(rows: &[UsageView]) -> String {
    let mut sums: Vec<UsageView> = Vec::new();
    for row in rows {
        match sums.iter_mut().find(|sum| sum.model == row.model) {
            Some(sum) => {
                sum.calls += row.calls;
                sum.prompt_tokens += row.prompt_tokens;
                sum.completion_tokens += row.completion_tokens;
            }
            None => sums.push(row.clone()),
        }
    }
    if sums.is_empty() {
        return "No model has been used yet.".to_owned();
    }
    let lines = sums.iter().map(|sum| {
        format!(
            "{}: {}, {} tokens in, {} tokens out",
            text(&sum.model),
            count(sum.calls, "request", "requests"),
            sum.prompt_tokens,
            sum.completion_tokens
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn every_command_comes_to_something() {
        for row in TABLE {
            let rest = match row.hint {
                "ID" => " appr_1",
                "TEXT" => " leave the logs",
                _ => "",
            };
            let command = Command::parse(&format!("/{}{rest}", row.name)).unwrap();
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
                json!({ "approvals": [], "next": null }),
                "No call is waiting for an answer.",
            ),
            (
                "whoami",
                200,
                json!({ "key_id": "key_1", "name": "ana", "role": "approver", "via": "cli", "tier": "T0" }),
                "You are ana, approver, through cli (T0).",
            ),
            (
                "skills",
                200,
                samples::capabilities(&[("terminal", "Runs a command.", "asks if it is risky")]),
                "terminal: Runs a command. (asks if it is risky)",
            ),
            ("skills", 200, samples::capabilities(&[]), NO_SKILLS),
            (
                "answer",
                409,
                json!({ "error": { "message": "x" }, "decision": samples::decision(json!({ "by": "bo", "via": "page" })) }),
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
                json!({ "next": null, "usage": [
                    { "task": "agent", "day": 0, "model": "m", "calls": 1, "prompt_tokens": 10, "completion_tokens": 5 },
                    { "task": "title", "day": 0, "model": "m", "calls": 2, "prompt_tokens": 1, "completion_tokens": 1 },
                ] }),
                "m: 3 requests, 11 tokens in, 6 tokens out",
            ),
        ];
        for (what, status, body, wanted) in rows {
            assert_eq!(
                said(what, &Answer::scripted(status, body)),
                wanted,
                "{what}"
            );
        }
    }
}
