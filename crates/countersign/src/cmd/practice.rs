//! `countersign try`: a harmless practice card, the first one a person answers.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::approvals::segment;
use super::show::{print, print_json, text};
use crate::cli::Try;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::config::read::at;
use crate::wire::practice::{COMMAND, EXPLANATION};

/// Puts a practice card in front of people and waits for the answer.
pub(crate) fn run(args: &Try, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    // A person's key cannot ask, so the practice agent gets one of its own, for this card only.
    let made = client.post("/v1/keys", &json!({"name": "practice", "role": "agent"}))?;
    let id = text(&made, "id");
    let outcome = ask(args, &client, &text(&made, "key"));
    let revoked = client.delete(&format!("/v1/keys/{}", segment(&id)));
    let call = outcome?;
    revoked?;
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
            "Denied by {}. A real agent would be told so, with your note.\n",
            text(decision, "by")
        ),
        _ => "Nobody answered in time, so it would not have run.\n".to_owned(),
    };
    written(print(&line), ExitCode::from(code))
}

fn ask(args: &Try, client: &Client, key: &str) -> Result<Value, Complaint> {
    let agent = client.with_key(key);
    let session = format!("practice-{}", std::process::id());
    let call = agent.post(
        "/v1/calls",
        &json!({
            "tool": "terminal",
            "args": {"command": COMMAND},
            "session_id": session,
            "agent": "countersign try",
            "explanation": EXPLANATION,
        }),
    )?;
    if !args.json {
        print(&format!(
            "A practice card waits: {COMMAND}\nNothing runs, whatever you answer. Answer it in the browser, or here:\n\n  \
             countersign answer {} once\n\n",
            text(&call, "approval_id")
        ))
        .map_err(|error| Complaint::failed(error.to_string(), ""))?;
    }
    let path = format!("/v1/calls/{}", segment(&text(&call, "call_id")));
    let mut left = args.wait;
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
