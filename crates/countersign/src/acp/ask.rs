//! Puts a question for permission to the gateway and waits for the answer.
//!
//! Separate from the relay, which knows lines and threads and nothing of the gateway.

use serde_json::{Value, json};

use super::held::Stopped;
use super::permission::Permission;
use super::sessions::Session;
use crate::client::{Client, Reach};
use crate::complaint::Complaint;
use crate::hook::asking::{self, Asked};

/// What came of a question.
#[derive(Debug)]
pub(super) enum Answer {
    /// The call may be made; the gateway's id of it.
    Allowed(String),
    /// It must not be made, for this reason.
    Rejected(String),
    /// Nobody waits for the answer any more.
    Gone,
}

/// Submits the call of `permission` and waits until it is decided or `stopped`.
pub(super) fn ask(
    reach: &Reach,
    permission: &Permission,
    session: &Session,
    agent: &str,
    stopped: Stopped,
) -> Answer {
    let asked = Client::new(reach).and_then(|client| {
        let body = body(permission, session, agent);
        let stopped = async move {
            // The sender sends nothing; it is dropped.
            let _dropped = stopped.await;
        };
        client.block_on(asking::ask(&client, &body, None, stopped))
    });
    match asked {
        Ok(Asked::Decided(call)) => match call.answer {
            Ok(None) => Answer::Allowed(call.id),
            // It was not offered, because the protocol has no way to say it.
            Ok(Some(_)) => Answer::Rejected(
                "A person allowed this with other arguments, which the agent cannot be given."
                    .to_owned(),
            ),
            Err(reason) => Answer::Rejected(reason),
        },
        Ok(Asked::Undecided(_)) => Answer::Rejected("Nobody has answered in time.".to_owned()),
        Ok(Asked::Stopped) => Answer::Gone,
        Err(complaint) => Answer::Rejected(why(&complaint)),
    }
}

fn why(complaint: &Complaint) -> String {
    format!(
        "Countersign did not let this run: {}",
        complaint.in_one_line()
    )
}

fn body(permission: &Permission, session: &Session, agent: &str) -> Value {
    let turns: Vec<Value> = session
        .said
        .iter()
        .map(|text| json!({ "from": "user", "text": text }))
        .collect();
    json!({
        "tool": permission.tool,
        "args": permission.args,
        "session_id": permission.session,
        "agent": agent,
        "cwd": permission.cwd.as_ref().or(session.cwd.as_ref()),
        "workspace": session.cwd,
        "annotations": permission.annotations,
        "explanation": permission.title,
        "replying_to": turns,
        "takes_changes": false,
    })
}
