//! Responds to reactions and commands: the card as it is now, and words for one person alone.

use std::time::Duration;

use tokio::sync::oneshot;

use super::Matrix;
use super::api::ApiError;
use super::send::{LOUD, QUIET};
use super::sync::UnderWay;
use crate::chat::{Response, Typed};
use crate::press::READ_AGAIN;

/// Most answers that wait to be sent: anybody in a room can react and write.
pub(super) const ANSWERS_MAX: usize = 256;
/// How long it is tried to answer.
const ANSWERED_WITHIN: Duration = Duration::from_mins(3);

/// What has to be answered.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) room: String,
    pub(super) event: String,
    pub(super) account: String,
}

impl Matrix {
    /// Answers once the gate has responded, beside all others.
    pub(super) fn answer_soon(
        &self,
        asked: Asked,
        response: oneshot::Receiver<Response>,
    ) -> UnderWay {
        let (sender, taken) = oneshot::channel();
        let bot = self.clone();
        let answered = tokio::spawn(async move {
            let Ok(response) = response.await else {
                return;
            };
            drop(sender);
            let answered = bot.answer(&asked, response);
            if tokio::time::timeout(ANSWERED_WITHIN, answered)
                .await
                .is_err()
            {
                tracing::warn!("an answer could not be sent in time");
            }
        });
        UnderWay { taken, answered }
    }

    async fn answer(&self, asked: &Asked, response: Response) {
        let (words, kind) = match response {
            Response::Counted {
                order,
                delivered,
                words,
            } => {
                note(self.paint_again(&delivered, &order).await);
                // The card shows it already.
                (words, QUIET)
            }
            Response::Words(words) | Response::Over(words) | Response::DialogError(words) => {
                (words, LOUD)
            }
            Response::Nothing => return,
        };
        if words.is_empty() {
            return;
        }
        let Ok(_turn) = self.inner.answers.try_acquire() else {
            tracing::warn!("too many answers wait; one more is left out");
            return;
        };
        let to = (asked.room.as_str(), asked.event.as_str());
        note(self.tell_alone(to, &asked.account, &words, kind).await);
    }

    /// Answers a command with a text for its author alone.
    pub(super) async fn answer_typed(&self, typed: &Typed, text: &str) -> Result<(), ApiError> {
        let ticket = typed.ticket.as_deref().unwrap_or_default();
        let event = ticket.strip_prefix(READ_AGAIN).unwrap_or_default();
        let to = (typed.place.as_str(), event);
        self.tell_alone(to, &typed.clicker.account, text, QUIET)
            .await
    }
}

fn note(done: Result<(), ApiError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "an answer could not be sent");
    }
}
