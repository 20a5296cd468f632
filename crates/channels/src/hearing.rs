//! What chats need that ask their platform for what is new: how something heard is told, and how long
//! to wait after a failure.

use std::time::Duration;

use countersign_core::command::Command;
use tokio::sync::{mpsc, oneshot};

use crate::chat::{Heard, Received, Response, Route};

/// First pause after a poll that failed; it doubles up to the longest.
pub(crate) const PAUSE_FIRST: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Tells what arrived; the response comes later. `None` if nobody takes it.
pub(crate) async fn arrive(
    heard: &mpsc::Sender<Heard>,
    route: Route,
    received: Received,
) -> Option<oneshot::Receiver<Response>> {
    let (reply, response) = oneshot::channel();
    let arrived = Heard::Arrived {
        route,
        received,
        reply,
    };
    heard.send(arrived).await.ok()?;
    Some(response)
}

/// Waits before something is tried again; whether anybody still wants it.
pub(crate) async fn rest(heard: &mpsc::Sender<Heard>, pause: &mut Duration) -> bool {
    tokio::select! {
        () = tokio::time::sleep(*pause) => {
            *pause = (*pause * 2).min(PAUSE_MAX);
            true
        }
        () = heard.closed() => false,
    }
}

/// Whether a command is about a question, which it need not name below the card.
pub(crate) fn is_about_a_question(name: &str, rest: &str) -> bool {
    matches!(
        Command::of(name, rest),
        Ok(Command::Approve { .. }
            | Command::ApproveEdited { .. }
            | Command::Edit { .. }
            | Command::Deny { .. }
            | Command::Before { .. }
            | Command::Extend { .. })
    )
}
