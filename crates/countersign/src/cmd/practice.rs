//! `countersign try`: a harmless practice card, the first one a person answers.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::Try;
use crate::client::segment;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::read::at;
use crate::show::{print, print_json, text};
use crate::wire::practice::{COMMAND, EXPLANATION};

/// A practice card to be put in front of people.
pub(super) struct Practice<'a> {
    /// Wait at most so many seconds for the answer.
    pub(super) wait: u32,
    /// Who says to be asking.
    pub(super) agent: &'a str,
    /// What is printed once the card waits; `None` prints nothing.
    pub(super) hint: Option<String>,
}

/// Puts a practice card in front of people and waits for the answer.
pub(crate) fn run(args: &Try, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let call = put(
        &Practice {
            wait: args.wait,
            agent: "countersign try",
            hint: (!args.json).then(|| {
                format!(
                    "A practice card is waiting: {COMMAND}\nNothing runs, whatever you answer. Answer it in the browser, or here:\n\n  \
                     countersign answer ID once\n\n"
                )
            }),
        },
        &client,
    )?;
    let code = match at(&call, "status").as_str() {
        Some("approved") => 0,
        Some("denied" | "refused") => 20,
        _ => 21,
    };
    if args.json {
        return written(print_json(&call), ExitCode::from(code));
    }
    let decision = at(&call, "decision");
    let line = match code {
        0 => format!(
            "Approved by {}. A real agent would now run exactly that command, once.\n",
            text(decision, "by")
        ),
        20 => format!(
            "Denied by {}. A real agent would get your note.\n",
            text(decision, "by")
        ),
        _ => "Nobody answered in time, so it would not have run.\n".to_owned(),
    };
    written(print(&line), ExitCode::from(code))
}

/// Puts a practice card in front of people and returns how it ended.
pub(super) fn put(practice: &Practice<'_>, client: &Client) -> Result<Value, Complaint> {
    // A person's key cannot ask, so the practice agent gets one of its own, for this card only.
    let made = client.post("/v1/keys", &json!({"name": "practice", "role": "agent"}))?;
    let id = text(&made, "id");
    let outcome = ask(practice, client, &text(&made, "key"));
    let revoked = client.delete(&format!("/v1/keys/{}", segment(&id)));
    let call = outcome?;
    revoked?;
    Ok(call)
}

fn ask(practice: &Practice<'_>, client: &Client, key: &str) -> Result<Value, Complaint> {
    let agent = client.with_key(key);
    let session = format!("practice-{}", std::process::id());
    let call = agent.post(
        "/v1/calls",
        &json!({
            "tool": "terminal",
            "args": {"command": COMMAND},
            "session_id": session,
            "agent": practice.agent,
            "explanation": EXPLANATION,
        }),
    )?;
    if let Some(hint) = &practice.hint {
        let hint = hint.replace("ID", &text(&call, "approval_id"));
        print(&hint).map_err(|error| Complaint::failed(error.to_string(), ""))?;
    }
    let path = format!("/v1/calls/{}", segment(&text(&call, "call_id")));
    let mut left = practice.wait;
    loop {
        let wait = left.min(30);
        let call = agent.get(&format!("{path}?wait_seconds={wait}"))?;
        left -= wait;
        if at(&call, "status") != "waiting" {
            return Ok(call);
        }
        if left == 0 {
            return agent.post(&format!("{path}/withdraw"), &json!({}));
        }
    }
}
