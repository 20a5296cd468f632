//! `countersign try`: a harmless practice card, the first one a person answers.

use std::process::ExitCode;

use countersign_core::status::Status;
use countersign_gate::people::NewKey;
use countersign_gate::records::view::CallView;
use serde_json::json;

use crate::cli::Try;
use crate::client::segment;
use crate::client::{Answer, Client, Reach};
use crate::complaint::{Complaint, written};
use crate::show::{maybe, print, print_json};
use crate::wire::practice::{COMMAND, EXPLANATION};

/// A practice card to be put in front of people.
pub(super) struct Practice<'a> {
    /// Wait at most so many seconds for the answer.
    pub(super) wait: u32,
    /// The claimed name of the asker.
    pub(super) agent: &'a str,
    /// The text printed once the card is waiting; `None` prints nothing.
    pub(super) hint: Option<String>,
}

/// Puts a practice card in front of people and waits for the answer.
pub(crate) fn run(args: &Try, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let answer = put(
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
    let call: CallView = answer.read()?;
    let code = match call.status {
        Status::Approved => 0,
        Status::Denied | Status::Refused => 20,
        Status::Waiting | Status::Allowed | Status::Expired | Status::Withdrawn => 21,
    };
    if args.json {
        return written(print_json(answer.json()), ExitCode::from(code));
    }
    let by = maybe(call.decision.as_ref().and_then(|it| it.by.as_deref()));
    let line = match code {
        0 => format!("Approved by {by}. A real agent would now run exactly that command, once.\n"),
        20 => format!("Denied by {by}. A real agent would get your note.\n"),
        _ => "Nobody answered in time, so it would not have run.\n".to_owned(),
    };
    written(print(&line), ExitCode::from(code))
}

/// Puts a practice card in front of people and returns how it ended.
pub(super) fn put(practice: &Practice<'_>, client: &Client) -> Result<Answer, Complaint> {
    // A person's key cannot ask, so the practice agent gets one of its own, for this card only.
    let made = client.post("/v1/keys", &json!({"name": "practice", "role": "agent"}))?;
    let made: NewKey = made.read()?;
    let outcome = ask(practice, client, &made.key);
    let revoked = client.delete(&format!("/v1/keys/{}", segment(&made.id)));
    let call = outcome?;
    revoked?;
    Ok(call)
}

fn ask(practice: &Practice<'_>, client: &Client, key: &str) -> Result<Answer, Complaint> {
    let agent = client.with_key(key);
    let session = format!("practice-{}", std::process::id());
    let answer = agent.post(
        "/v1/calls",
        &json!({
            "tool": "terminal",
            "args": {"command": COMMAND},
            "session_id": session,
            "agent": practice.agent,
            "explanation": EXPLANATION,
        }),
    )?;
    let call: CallView = answer.read()?;
    if let Some(hint) = &practice.hint {
        let hint = hint.replace("ID", &maybe(call.approval_id.as_deref()));
        print(&hint).map_err(|error| Complaint::failed(error.to_string(), ""))?;
    }
    let path = format!("/v1/calls/{}", segment(&call.call_id));
    let mut left = practice.wait;
    loop {
        let wait = left.min(30);
        let answer = agent.get(&format!("{path}?wait_seconds={wait}"))?;
        left -= wait;
        if !answer.read::<CallView>()?.is_waiting() {
            return Ok(answer);
        }
        if left == 0 {
            return agent.post(&format!("{path}/withdraw"), &json!({}));
        }
    }
}
