//! Reports to the gateway what came of the calls that were allowed.
//!
//! Separate because nobody waits for it: one thread of its own, with a short queue.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::json;

use super::message::Message;
use crate::client::{Client, Reach, segment};

/// Most calls whose end is waited for, and most reports that wait to be sent.
const CALLS_MAX: usize = 256;

/// The calls that were allowed and have not ended.
#[derive(Debug)]
pub(super) struct Reports {
    running: Mutex<BTreeMap<(String, String), String>>,
    queue: SyncSender<Report>,
}

#[derive(Debug)]
struct Report {
    id: String,
    failed: bool,
}

#[derive(Deserialize)]
struct Whole {
    params: Params,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: String,
    update: Update,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    tool_call_id: String,
    status: Status,
}

/// How a call stands, in the words of the protocol.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Completed,
    Failed,
    #[serde(other)]
    Other,
}

impl Reports {
    /// Starts the thread that sends reports. Without it nothing is reported, and nothing else is lost.
    pub(super) fn start(reach: &Reach) -> Self {
        let (queue, reports) = sync_channel(CALLS_MAX);
        let reach = reach.clone();
        let _started = std::thread::Builder::new().spawn(move || send(&reach, &reports));
        Self {
            running: Mutex::default(),
            queue,
        }
    }

    /// Expects the end of the agent's `call`, which is the gateway's call `id`.
    pub(super) fn expect(&self, session: &str, call: Option<&str>, id: String) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(call) = call.filter(|_| running.len() < CALLS_MAX) {
            running.insert((session.to_owned(), call.to_owned()), id);
        }
    }

    /// Looks whether a line from the agent says that such a call has ended.
    pub(super) fn look(&self, message: &Message, line: &[u8]) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let is_update = matches!(message, Message::Notification(it) if it == "session/update");
        if running.is_empty() || !is_update {
            return;
        }
        let Ok(Whole { params }) = serde_json::from_slice(line) else {
            return;
        };
        let failed = match params.update.status {
            Status::Completed => false,
            Status::Failed => true,
            Status::Other => return,
        };
        if let Some(id) = running.remove(&(params.session_id, params.update.tool_call_id)) {
            // A queue that is full belongs to a gateway that is away.
            let _queued = self.queue.try_send(Report { id, failed });
        }
    }
}

fn send(reach: &Reach, reports: &Receiver<Report>) {
    for report in reports {
        let path = format!("/v1/calls/{}/outcome", segment(&report.id));
        let body = json!({ "failed": report.failed });
        // Nobody is there to be told of a report that fails.
        let _reported = Client::new(reach).and_then(|client| client.post(&path, &body));
    }
}
