//! Hears what people do, by long poll or at the route, and answers it.
//!
//! Telegram keeps what nobody has confirmed for a day, so presses made while we were away arrive late;
//! whether they are in time is for the gate's clock to say. How far was heard is confirmed by the next
//! request and kept by the gate. What arrives twice counts once: a press and a command are tickets.

use std::time::Duration;

use countersign_core::command::TABLE;
use countersign_core::display::inline;
use countersign_core::id::{ApprovalId, ClarificationId};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::answers::Asked;
use super::api::ApiError;
use super::send::unix_seconds;
use super::wire::{Pressed, Said, Update, User};
use super::{REPLIED_MAX, Telegram, locked};
use crate::chat::{Heard, Message, Met, Received, Response, Route, Since, Typed};
use crate::data::Data;
use crate::hearing::{PAUSE_FIRST, arrive, is_about_a_question, rest};
use crate::press::{Click, Clicker, Proof, Standing, Untrusted};

/// How long the server waits for something new.
const POLL: Duration = Duration::from_secs(50);
/// How long what was kept says something about the next number, in seconds: after a week without
/// news Telegram begins at another.
const CURSOR_SECONDS_MAX: i64 = 6 * 24 * 3600;
/// How long the gate may take before what came after is asked for.
pub(super) const TAKEN_WITHIN: Duration = Duration::from_secs(10);
/// Most answers that wait to be sent: anybody can press and write.
pub(super) const ANSWERS_MAX: usize = 256;
/// What is heard of.
const ALLOWED: [&str; 2] = ["message", "callback_query"];
/// What every bot is greeted with.
const START: &str = "start";
/// Where no card of ours is.
const ELSEWHERE: &str = "elsewhere";
/// The command that says who somebody is.
const WHOAMI: &str = "whoami";

/// What has to be answered, and where the response comes from.
type Asks = (Asked, oneshot::Receiver<Response>);

impl Telegram {
    /// Tells what happens, for as long as it is polled.
    pub(super) async fn listen(&self, since: Since, heard: mpsc::Sender<Heard>) {
        let mut pause = PAUSE_FIRST;
        while let Err(error) = self.begin().await {
            self.note_deaf(Some(error.to_string()));
            tracing::warn!(%error, "the bot cannot listen yet");
            if !rest(&heard, &mut pause).await {
                return;
            }
        }
        self.note_deaf(None);
        if heard.send(Heard::Connected).await.is_err() {
            return;
        }
        if self.inner.settings.callback_url.is_some() {
            *locked(&self.inner.arriving) = Some(heard.clone());
            heard.closed().await;
            *locked(&self.inner.arriving) = None;
        } else {
            self.poll(since.cursor.as_deref().and_then(offset), &heard)
                .await;
        }
    }

    /// Learns who we are, and says how updates are to come.
    async fn begin(&self) -> Result<(), ApiError> {
        self.known().await?;
        let settings = &self.inner.settings;
        let (Some(url), Some(secret)) = (&settings.callback_url, &settings.secret) else {
            return Ok(());
        };
        let url = format!(
            "{}/channels/{}/action",
            url.trim_end_matches('/'),
            settings.name
        );
        let params = json!({ "url": url, "secret_token": secret, "allowed_updates": ALLOWED });
        let _set: bool = self.inner.api.call("setWebhook", &params).await?;
        Ok(())
    }

    /// Returns who wrote to the bot and from where, of what nobody has confirmed yet; nothing is
    /// confirmed by looking.
    pub(super) async fn met_lately(&self) -> Vec<Met> {
        let params = json!({ "timeout": 0, "allowed_updates": ALLOWED });
        let asked = self
            .inner
            .api
            .call::<Vec<Value>>("getUpdates", &params)
            .await;
        let said = asked
            .unwrap_or_default()
            .into_iter()
            .filter_map(|it| serde_json::from_value::<Update>(it).ok()?.message);
        let mut met: Vec<Met> = Vec::new();
        for said in said {
            let place = (!said.chat.is_private()).then(|| Met {
                id: conversation(&said),
                what: format!("the group `{}`", inline(&said.chat.title)),
            });
            let person = said
                .from
                .as_ref()
                .filter(|from| !from.is_bot)
                .map(|from| Met {
                    id: from.id.to_string(),
                    what: format!("person `{}`", inline(&from.first_name)),
                });
            for one in place.into_iter().chain(person) {
                if !met.contains(&one) {
                    met.push(one);
                }
            }
        }
        met
    }

    async fn poll(&self, offset: Option<i64>, heard: &mpsc::Sender<Heard>) {
        let mut offset = offset;
        let mut pause = PAUSE_FIRST;
        loop {
            let mut params = json!({ "timeout": POLL.as_secs(), "allowed_updates": ALLOWED });
            if let (Some(offset), Some(params)) = (offset, params.as_object_mut()) {
                params.insert("offset".to_owned(), json!(offset));
            }
            let polled = self
                .inner
                .api
                .wait::<Vec<Value>>("getUpdates", &params, POLL);
            let polled = tokio::select! {
                polled = polled => polled,
                () = heard.closed() => return,
            };
            let updates = match polled {
                Ok(updates) => updates,
                Err(error) => {
                    self.note_deaf(Some(error.to_string()));
                    tracing::warn!(%error, "what is new could not be asked for");
                    if !rest(heard, &mut pause).await {
                        return;
                    }
                    continue;
                }
            };
            self.note_deaf(None);
            pause = PAUSE_FIRST;
            let number = |update: &Value| update.get("update_id").and_then(Value::as_i64);
            let Some(last) = updates.iter().filter_map(number).max() else {
                continue;
            };
            let mut taken = Vec::new();
            for update in updates {
                let id = number(&update);
                if let Ok(update) = serde_json::from_value(update) {
                    taken.extend(self.deal_with(update, heard).await);
                } else {
                    // Asked for again it would be no better, and it would hold up all others.
                    tracing::warn!(id, "an update cannot be read");
                }
            }
            if tokio::time::timeout(TAKEN_WITHIN, join_all(taken))
                .await
                .is_err()
            {
                tracing::warn!("something takes long; what comes after it does not wait for it");
            }
            if heard.is_closed() {
                // Nobody took it, so it is not confirmed.
                return;
            }
            offset = Some(last + 1);
            let cursor = format!("{}@{}", last + 1, unix_seconds());
            if heard.send(Heard::Cursor(cursor)).await.is_err() {
                return;
            }
        }
    }

    fn note_deaf(&self, why: Option<String>) {
        *locked(&self.inner.deaf) = why;
    }

    /// Tells of one update, in order, and deals with it beside all others; what it returns ends when
    /// the update can be confirmed. Answers may take longer: a chat that takes no more messages holds
    /// up nobody else.
    pub(super) async fn deal_with(
        &self,
        update: Update,
        heard: &mpsc::Sender<Heard>,
    ) -> Option<oneshot::Receiver<()>> {
        let (asked, response) = match (update.callback_query, update.message) {
            (Some(pressed), _) => self.pressed(pressed, heard).await?,
            (None, Some(said)) => self.said(said, heard).await?,
            (None, None) => return None,
        };
        let (taken, is_taken) = oneshot::channel();
        let bot = self.clone();
        tokio::spawn(async move {
            let Ok(response) = response.await else {
                return;
            };
            drop(taken);
            bot.answer(&asked, response).await;
        });
        Some(is_taken)
    }

    async fn pressed(&self, pressed: Pressed, heard: &mpsc::Sender<Heard>) -> Option<Asks> {
        let (route, received) = match self.read_press(&pressed) {
            Some(click) => (
                match click.proof {
                    Proof::Dialog { .. } => Route::Dialog,
                    Proof::Button { .. } | Proof::OnCard | Proof::Typed => Route::Action,
                },
                Received::Click {
                    click: Box::new(click),
                    handle: pressed.id.clone(),
                },
            ),
            None => (Route::Action, Received::Refused(Untrusted::Malformed)),
        };
        let response = arrive(heard, route, received).await?;
        Some((Asked::Press(pressed), response))
    }

    /// Reads a press. Of the message Telegram says where it is; all else is the button's.
    fn read_press(&self, pressed: &Pressed) -> Option<Click> {
        let message = pressed.message.as_ref()?;
        let data = Data::read(&pressed.data)?;
        let place = message.chat.id.to_string();
        let card = match data.proof {
            // A second yes stands below its card.
            Proof::Dialog { .. } => message.reply_to_message.as_ref()?.message_id,
            Proof::Button { .. } | Proof::OnCard | Proof::Typed => message.message_id,
        };
        Some(Click {
            ticket: Some(format!("press:{}", pressed.id)),
            proof: data.proof,
            subject: data.subject,
            press: data.press,
            reference: format!("{place}/{card}"),
            place,
            ..self.click(clicker(&pressed.from))
        })
    }

    /// Tells of what was said; what has to be answered is returned.
    async fn said(&self, said: Said, heard: &mpsc::Sender<Heard>) -> Option<Asks> {
        let from = said.from.as_ref()?;
        // Nobody can say who speaks as a group, and programs are not talked to.
        if said.sender_chat.is_some() || from.is_bot || said.text.is_empty() {
            return None;
        }
        let us = self.known().await.ok()?;
        let person = clicker(from);
        let click = self.answer_to_prompt(&said, &us, person.clone());
        let typed = self.typed(&said, &us, person.clone());
        if (click.is_some() || typed.is_some()) && !said.is_typed() {
            // Whoever passes words on, or lets a program write them, has not said them.
            return None;
        }
        if let Some(click) = click {
            let received = Received::Click {
                click: Box::new(click),
                handle: String::new(),
            };
            let response = arrive(heard, Route::Dialog, received).await?;
            let is_whoami = false;
            return Some((Asked::Words { said, is_whoami }, response));
        }
        if let Some(typed) = typed {
            let is_whoami = typed.name == WHOAMI && !said.chat.is_private();
            let received = Received::Typed(Box::new(typed));
            let response = arrive(heard, Route::Command, received).await?;
            return Some((Asked::Words { said, is_whoami }, response));
        }
        let text = meant_for(&said, &us).filter(|_| self.inner.settings.talk)?;
        let message = Message {
            id: format!("{}/{}", said.chat.id, said.message_id),
            thread: conversation(&said),
            clicker: person,
            text,
            // Numbers of messages grow in every conversation, and no two are the same.
            at: said.message_id,
        };
        heard.send(Heard::Message(message)).await.ok()?;
        None
    }

    /// Returns the click that a reply to one of our prompts is.
    fn answer_to_prompt(&self, said: &Said, us: &User, clicker: Clicker) -> Option<Click> {
        let prompt = said.reply_to_message.as_ref()?;
        if prompt.from.as_ref()?.id != us.id {
            return None;
        }
        let (data, card) = prompt.text.lines().next_back()?.rsplit_once('.')?;
        // What a button carries is no prompt of ours, whoever wrote it into a message of the bot.
        let data = Data::read(data).filter(|data| {
            matches!(data.proof, Proof::Dialog { .. }) && data.press.needs_words()
        })?;
        let card: i64 = card.parse().ok()?;
        let place = said.chat.id.to_string();
        Some(Click {
            ticket: Some(format!("reply:{place}/{}", said.message_id)),
            proof: data.proof,
            subject: data.subject,
            press: data.press,
            reference: format!("{place}/{card}"),
            place,
            text: Some(said.text.clone()).filter(|text| !text.trim().is_empty()),
            ..self.click(clicker)
        })
    }

    fn typed(&self, said: &Said, us: &User, clicker: Clicker) -> Option<Typed> {
        let (name, rest) = command(&said.text, us)?;
        let place = said.chat.id.to_string();
        // Below any message it is meant for that one, whether or not it is a card.
        let above = above(said).filter(|_| is_about_a_question(name, rest));
        if let Some((reference, card)) = &above
            && let Some(subject) = card.and_then(|card| question_of(&card.text))
        {
            let mut replied = locked(&self.inner.replied);
            replied.push_back((reference.clone(), subject));
            if replied.len() > REPLIED_MAX {
                replied.pop_front();
            }
        }
        Some(Typed {
            name: name.to_owned(),
            rest: rest.to_owned(),
            clicker,
            is_reply: above.is_some(),
            thread: above.map_or_else(|| conversation(said), |(reference, _)| reference),
            ticket: Some(format!("typed:{place}/{}", said.message_id)),
            place,
            transport: Ok(()),
        })
    }
}

fn clicker(user: &User) -> Clicker {
    Clicker {
        account: user.id.to_string(),
        standing: if user.is_bot {
            Standing::Bot
        } else {
            Standing::Person
        },
    }
}

/// Returns the conversation a message belongs to: its chat, and the topic if there is one.
pub(super) fn conversation(said: &Said) -> String {
    let topic = said.message_thread_id.filter(|_| said.is_topic_message);
    match topic {
        Some(topic) => format!("{}/{topic}", said.chat.id),
        None => said.chat.id.to_string(),
    }
}

/// Returns where the message is that another replies to, and the message if it is of the same chat.
fn above(said: &Said) -> Option<(String, Option<&Said>)> {
    if said.external_reply.is_some() {
        return Some((ELSEWHERE.to_owned(), None));
    }
    let above = said.reply_to_message.as_deref()?;
    // In a topic everything replies at least to what opened the topic.
    let is_topic = said.is_topic_message && said.message_thread_id == Some(above.message_id);
    (!is_topic).then(|| {
        (
            format!("{}/{}", said.chat.id, above.message_id),
            Some(above),
        )
    })
}

/// Returns where to go on, if what was kept is not too old to say so.
fn offset(cursor: &str) -> Option<i64> {
    let (offset, at) = cursor.split_once('@')?;
    let at: i64 = at.parse().ok()?;
    let is_young = unix_seconds().saturating_sub(at) < CURSOR_SECONDS_MAX;
    offset.parse().ok().filter(|_| is_young)
}

/// Whether a card says itself that it is about the question of `data`.
pub(super) fn is_about(message: &Said, data: &str) -> bool {
    let subject = Data::read(data).map(|data| data.subject);
    subject.is_some() && question_of(&message.text) == subject
}

/// Returns the question a card of ours is about, as its last line says.
fn question_of(text: &str) -> Option<String> {
    let last = text.lines().next_back()?;
    let id = last.split(' ').next()?;
    let is_question = ApprovalId::is_id(id) || ClarificationId::is_id(id);
    is_question.then(|| id.to_owned())
}

/// Returns the command of ours that a text is, and what follows it. `/name@other` is another bot's.
fn command<'a>(text: &'a str, us: &User) -> Option<(&'static str, &'a str)> {
    let line = text.strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (name, bot) = name.split_once('@').unwrap_or((name, ""));
    if !bot.is_empty() && !bot.eq_ignore_ascii_case(&us.username) {
        return None;
    }
    let name = name.to_ascii_lowercase();
    if name == START {
        // Whoever presses Start learns who they are to us.
        return Some((WHOAMI, ""));
    }
    let row = TABLE.iter().find(|row| row.name == name)?;
    Some((row.name, rest.trim()))
}

/// Returns what was said to us: everything in a conversation of two, elsewhere what names us or
/// replies to us.
fn meant_for(said: &Said, us: &User) -> Option<String> {
    let name = format!("@{}", us.username);
    let is_named = |word: &str| {
        let word = word.trim_end_matches([',', ':', ';', '.', '!', '?']);
        word.eq_ignore_ascii_case(&name)
    };
    let reply = said.reply_to_message.as_ref();
    let to_us = reply.is_some_and(|it| it.from.as_ref().is_some_and(|from| from.id == us.id));
    let is_meant = said.chat.is_private() || to_us || said.text.split_whitespace().any(is_named);
    if !is_meant {
        return None;
    }
    let text = said.text.trim();
    let first = text.split_whitespace().next().unwrap_or("");
    let rest = if is_named(first) {
        text.get(first.len()..).unwrap_or_default()
    } else {
        text
    };
    Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us() -> User {
        User {
            id: 1,
            is_bot: true,
            username: "cs_bot".to_owned(),
            ..User::default()
        }
    }

    #[test]
    fn a_command_is_ours_or_another_bots() {
        let rows = [
            ("/approve appr_1 once", Some(("approve", "appr_1 once"))),
            ("/approve@CS_bot", Some(("approve", ""))),
            ("/approve@other_bot", None),
            ("/start", Some(("whoami", ""))),
            ("/unknown", None),
            ("approve", None),
            ("/ approve", None),
        ];
        for (text, expected) in rows {
            assert_eq!(command(text, &us()), expected, "{text}");
        }
    }

    #[test]
    fn a_kept_number_is_worth_something_for_days_only() {
        let now = unix_seconds();
        assert_eq!(offset(&format!("12@{now}")), Some(12));
        assert_eq!(
            offset(&format!("12@{}", now - CURSOR_SECONDS_MAX - 1)),
            None
        );
        assert_eq!(offset("12"), None);
    }

    #[test]
    fn only_what_names_us_is_meant_for_us_unless_we_are_alone() {
        let said = |kind: &str, text: &str| Said {
            chat: super::super::wire::Place {
                kind: kind.to_owned(),
                ..Default::default()
            },
            text: text.to_owned(),
            ..Said::default()
        };
        let rows = [
            ("private", "hello", Some("hello")),
            ("group", "hello", None),
            ("group", "@cs_bot, clean up", Some("clean up")),
            ("group", "please @cs_bot look", Some("please @cs_bot look")),
            ("group", "@cs_botx clean up", None),
            ("group", "@cs_bot", None),
        ];
        for (kind, text, expected) in rows {
            let meant = meant_for(&said(kind, text), &us());
            assert_eq!(meant.as_deref(), expected, "{kind}: {text}");
        }
    }
}
