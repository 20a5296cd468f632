//! Answers presses and words: what Telegram shows to one person, and the card as it is now.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::SemaphorePermit;

use super::Telegram;
use super::api::ApiError;
use super::updates::{conversation, is_about};
use super::wire::{Pressed, Said};
use crate::chat::Response;
use crate::data::Data;
use crate::press::Proof;
use crate::rich::Rich;

/// How long it is tried to answer a press, which is soon too old for it, and words.
const PRESS_ANSWERED_WITHIN: Duration = Duration::from_secs(20);
const WORDS_ANSWERED_WITHIN: Duration = Duration::from_mins(3);
/// Longest text of a reply to a press, in characters.
const ALERT_CHARS_MAX: usize = 200;

/// What has to be answered.
#[derive(Debug)]
pub(super) enum Asked {
    Press(Pressed),
    Words {
        said: Said,
        /// Whether somebody in a group wants to know who they are.
        is_whoami: bool,
    },
}

/// Whether something is answered.
#[derive(Debug)]
enum Turn<'a> {
    /// Always: it counted, and the card changes with it.
    Any,
    /// While not too many answers wait.
    OneOfMany(SemaphorePermit<'a>),
    /// Too many answers wait already.
    None,
}

impl Telegram {
    /// Answers what was pressed or said, unless too many answers wait already.
    pub(super) async fn answer(&self, asked: &Asked, mut response: Response) {
        let _turn = match self.turn(&response) {
            Turn::Any => None,
            Turn::OneOfMany(permit) => Some(permit),
            Turn::None => return,
        };
        match asked {
            Asked::Press(pressed) => self.answer_press(pressed, &response).await,
            Asked::Words { said, is_whoami } => {
                if let (true, Response::Words(words)) = (*is_whoami, &mut response) {
                    // The configuration wants it, and no client shows it.
                    let _infallible = write!(words, "\nThis group is `{}`.", conversation(said));
                }
                let answered = self.answer_words(said, &response);
                let answered = tokio::time::timeout(WORDS_ANSWERED_WITHIN, answered);
                if answered.await.is_err() {
                    tracing::warn!("a reply could not be sent in time");
                }
            }
        }
    }

    async fn answer_press(&self, pressed: &Pressed, response: &Response) {
        let (words, is_alert) = match response {
            Response::Counted { words, .. } => (words.as_str(), false),
            Response::Words(words) | Response::Over(words) | Response::DialogError(words) => {
                (words.as_str(), true)
            }
            Response::Nothing => ("", false),
        };
        let words: String = words.chars().take(ALERT_CHARS_MAX).collect();
        let mut params = json!({ "callback_query_id": pressed.id, "show_alert": is_alert });
        if let (false, Some(params)) = (words.is_empty(), params.as_object_mut()) {
            params.insert("text".to_owned(), json!(words));
        }
        let answered = self.inner.api.call::<bool>("answerCallbackQuery", &params);
        let answered = tokio::time::timeout(PRESS_ANSWERED_WITHIN, answered);
        let painted = async {
            match (response, &pressed.message) {
                (
                    Response::Counted {
                        order, delivered, ..
                    },
                    message,
                ) => {
                    let below = message.as_ref().filter(|it| it.reply_to_message.is_some());
                    if let (Some(said), Some(data)) = (below, Data::read(&pressed.data))
                        && matches!(data.proof, Proof::Dialog { .. })
                    {
                        // The second yes was said.
                        let reference = format!("{}/{}", said.chat.id, said.message_id);
                        note(self.take_buttons(&reference).await);
                    }
                    self.paint_again(delivered, order).await
                }
                // Any client can send what another card carries, on this one; only of a copy, which
                // says itself what it is about, the buttons go.
                (Response::Over(_), Some(message)) if is_about(message, &pressed.data) => {
                    let reference = format!("{}/{}", message.chat.id, message.message_id);
                    self.take_buttons(&reference).await
                }
                (
                    Response::Words(_)
                    | Response::Over(_)
                    | Response::DialogError(_)
                    | Response::Nothing,
                    _,
                ) => Ok(()),
            }
        };
        let (answered, painted) = tokio::join!(answered, painted);
        // A press that waited for us is too old to be answered, and counts nevertheless.
        if let Ok(Err(error)) = answered
            && !error.says("query is too old")
        {
            tracing::warn!(%error, "a press could not be answered");
        }
        note(painted);
    }

    /// Returns the right to answer.
    fn turn(&self, response: &Response) -> Turn<'_> {
        if matches!(response, Response::Counted { .. }) {
            return Turn::Any;
        }
        let Ok(permit) = self.inner.answers.try_acquire() else {
            tracing::warn!("too many answers wait; one more is left out");
            return Turn::None;
        };
        Turn::OneOfMany(permit)
    }

    /// Answers a message: where others read along, to its author alone.
    async fn answer_words(&self, said: &Said, response: &Response) {
        let words = match response {
            Response::Counted {
                order,
                delivered,
                words,
            } => {
                note(self.paint_again(delivered, order).await);
                words
            }
            Response::Words(words) | Response::Over(words) | Response::DialogError(words) => words,
            Response::Nothing => return,
        };
        let here = (
            said.chat.id,
            said.message_thread_id.filter(|_| said.is_topic_message),
        );
        let account = said.from.as_ref().map_or(said.chat.id, |from| from.id);
        let to = if said.chat.is_private() {
            here
        } else {
            (account, None)
        };
        let below = said.chat.is_private().then_some(said.message_id);
        match self.send_parts(to, words, below).await {
            Ok(()) => {}
            // A bot may not begin a conversation.
            Err(error) if error.code() == Some(403) && to != here => {
                // Everybody in the group reads it, and anybody there can make us say it.
                let (group, account) = (said.chat.id.to_string(), account.to_string());
                let hints = &self.inner.hints;
                if !hints.in_groups.is_due(&group) || !hints.to_people.is_due(&account) {
                    return;
                }
                let mut hint = Rich::default();
                hint.plain(
                    "I answer you alone: open a conversation with me, press Start, and ask again.",
                );
                let hint = self.send_rich(here, &hint, &Value::Null, Some(said.message_id));
                note(hint.await.map(drop));
            }
            Err(error) => tracing::warn!(%error, "a reply could not be sent"),
        }
    }
}

fn note(done: Result<(), ApiError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "a message could not be changed");
    }
}
