//! Puts a call to the gateway as a hook does, and turns the answer into the agent's.

use countersign_gate::records::view::CallView;
use serde_json::Value;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::adapter::{Answer, Wish};
use super::asking::{self, Asked, Decided};
use super::{Hook, outcome, spool};
use crate::client::{Client, page_of};
use crate::complaint::Complaint;

/// Submits the call of `body` and returns what the agent is told.
pub(super) fn ask(
    hook: &Hook,
    client: &Client,
    wish: &Wish,
    body: &Value,
) -> Result<Answer, Complaint> {
    let asked = client.block_on(async {
        spool::deliver(hook, client).await?;
        // Before it is sent: the agent may end the hook while the reply is on its way.
        let mut stop = Stop::new()?;
        asking::ask(client, body, Some(hook.deadline), stop.arrives()).await
    })?;
    Ok(match asked {
        Asked::Decided(Decided { id, answer }) => match answer {
            Ok(changed) => {
                outcome::expect(hook, wish, &id);
                changed.map_or(Answer::Allow, Answer::Change)
            }
            Err(reason) => Answer::Deny(reason),
        },
        Asked::Undecided(call) if hook.defers => Answer::Later(still_waiting(hook, &call)),
        Asked::Undecided(call) => Answer::Deny(still_waiting(hook, &call)),
        Asked::Stopped => {
            let reason = "The agent stopped waiting, so the question was withdrawn.";
            Answer::Deny(reason.to_owned())
        }
    })
}

fn still_waiting(hook: &Hook, call: &CallView) -> String {
    let id = call.approval_id.as_deref().unwrap_or(&call.call_id);
    let page = page_of(&hook.home).map(|url| format!(" or at {url}"));
    format!(
        "Nobody has answered yet, so this was not run. The question {id} stays open: answer it with `countersign` in \
         another terminal{}, then let the agent try the same call again.",
        page.unwrap_or_default()
    )
}

/// Tells when the agent ends its hook.
struct Stop {
    terminated: Signal,
    interrupted: Signal,
}

impl Stop {
    fn new() -> Result<Self, Complaint> {
        let failed = |error: std::io::Error| {
            Complaint::failed(format!("cannot handle signals: {error}"), "")
        };
        Ok(Self {
            terminated: signal(SignalKind::terminate()).map_err(failed)?,
            interrupted: signal(SignalKind::interrupt()).map_err(failed)?,
        })
    }

    async fn arrives(&mut self) {
        tokio::select! {
            _ = self.terminated.recv() => {}
            _ = self.interrupted.recv() => {}
        }
    }
}
