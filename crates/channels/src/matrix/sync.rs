//! Hears what happens in rooms, in order, and goes on after a restart where it was.
//!
//! The homeserver keeps everything, so reactions made while we were away arrive late; whether they are
//! in time is for the gate's clock to say. How far was heard is kept by the gate. What arrives twice
//! counts once: an event is a ticket. Where more happened than the server tells at once, the gap is
//! read page by page.

use std::collections::BTreeSet;
use std::time::Duration;

use countersign_core::display::inline;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::api::ApiError;
use super::rooms::ENCRYPTED;
use super::send::spoken;
use super::wire::{Event, Invited, Joined, Page, Rooms, Synced, events, text};
use super::{Known, Matrix, locked};
use crate::chat::{Heard, Met, Since};
use crate::hearing::{PAUSE_FIRST, rest};
use crate::press::{Clicker, Standing};

/// How long the server waits for something new.
const POLL: Duration = Duration::from_secs(30);
/// How long the gate may take before what came after is asked for.
const TAKEN_WITHIN: Duration = Duration::from_secs(10);
/// Pages of a gap that are read; what is before them is not heard.
const GAP_PAGES_MAX: usize = 100;
/// How often one event may fail before it is left out.
const FAILURES_MAX: u32 = 5;
/// Events that are told at once for a room, and on a page of a gap.
const EVENTS: u32 = 50;
/// What is heard of.
const HEARD: [&str; 5] = [
    "m.room.message",
    "m.reaction",
    "m.room.redaction",
    "m.room.member",
    "m.room.encryption",
];

/// What is under way because of one event: it can be confirmed, and it was answered.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) taken: oneshot::Receiver<()>,
    pub(super) answered: JoinHandle<()>,
}

impl Matrix {
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
        if heard.send(Heard::Connected).await.is_err() {
            return;
        }
        let mut since = since.cursor;
        let mut pause = PAUSE_FIRST;
        loop {
            let polled = tokio::select! {
                polled = self.poll(since.as_deref(), &heard) => polled,
                () = heard.closed() => return,
            };
            match polled {
                Ok(next) => {
                    self.note_deaf(None);
                    pause = PAUSE_FIRST;
                    if since.as_ref() != Some(&next)
                        && heard.send(Heard::Cursor(next.clone())).await.is_err()
                    {
                        return;
                    }
                    since = Some(next);
                }
                Err(error) => {
                    self.note_deaf(Some(error.to_string()));
                    tracing::warn!(%error, "what is new could not be asked for");
                    let is_unknown = error.is("M_UNKNOWN_POS") || error.is("M_INVALID_PARAM");
                    if is_unknown && since.take().is_some() {
                        tracing::warn!(
                            "the homeserver does not know how far was heard; it begins now"
                        );
                    }
                    if !rest(&heard, &mut pause).await {
                        return;
                    }
                }
            }
        }
    }

    /// Learns who we are, and goes where cards go.
    async fn begin(&self) -> Result<(), ApiError> {
        self.known().await?;
        let went = async {
            match self.usual().await? {
                Some(room) if !self.joined().await?.contains(&room) => self.join(&room).await,
                Some(_) | None => Ok(()),
            }
        };
        if let Err(error) = went.await {
            // Everything else works without it, the doctor says so, and it is tried again with a card.
            tracing::warn!(%error, "the bot cannot go into the room for cards");
        }
        Ok(())
    }

    pub(super) fn note_deaf(&self, why: Option<String>) {
        *locked(&self.inner.deaf) = why;
    }

    /// Asks for what is new, deals with it and returns where to go on.
    async fn poll(
        &self,
        since: Option<&str>,
        heard: &mpsc::Sender<Heard>,
    ) -> Result<String, ApiError> {
        let known = self.known().await?;
        let synced = self.synced(since).await?;
        let mut under_way = Vec::new();
        for (id, room) in synced.rooms.invite {
            self.invited(&known, &id, room, heard).await;
        }
        for (id, room) in synced.rooms.join {
            self.note_changes(&id, &room);
            // What was said before we listened for the first time was not said to us.
            let Some(since) = since else {
                continue;
            };
            let new = self.new_in(&known, &id, room.timeline, since).await?;
            let mut answers = Vec::new();
            let last = new.last().map(|event| event.id.clone());
            for event in new {
                if !locked(&self.inner.memory).is_new(&event.id) {
                    continue;
                }
                match self.deal_with(&known, &id, &event, heard).await {
                    Ok(None) => {}
                    Ok(Some(UnderWay { taken, answered })) => {
                        under_way.push(taken);
                        answers.push(answered);
                    }
                    Err(error) if self.is_given_up(&event.id) => {
                        tracing::warn!(%error, room = id, event = event.id, "an event is left out: it failed again and again");
                    }
                    Err(error) => {
                        // It is told again, because the next question is the same.
                        locked(&self.inner.memory).forget(&event.id);
                        return Err(error);
                    }
                }
            }
            if let Some(last) = last {
                self.read_soon(id, last, answers);
            }
        }
        if tokio::time::timeout(TAKEN_WITHIN, join_all(under_way))
            .await
            .is_err()
        {
            tracing::warn!("something takes long; what comes after it does not wait for it");
        }
        locked(&self.inner.failed).clear();
        Ok(synced.next_batch)
    }

    /// Counts that an event could not be dealt with. Whether it failed so often that everything after it
    /// shall not wait any longer.
    fn is_given_up(&self, event: &str) -> bool {
        let mut failed = locked(&self.inner.failed);
        let count = failed.entry(event.to_owned()).or_default();
        *count += 1;
        *count >= FAILURES_MAX
    }

    async fn synced(&self, since: Option<&str>) -> Result<Synced, ApiError> {
        let nothing = json!({ "not_types": ["*"] });
        let filter = json!({
            "presence": nothing,
            "account_data": nothing,
            "room": {
                "timeline": { "limit": EVENTS, "types": HEARD },
                "state": { "types": ["m.room.member", "m.room.encryption"] },
                "ephemeral": nothing,
                "account_data": nothing,
            },
        });
        let filter = filter.to_string();
        let wait = since.map_or(Duration::ZERO, |_| POLL);
        let timeout = wait.as_millis().to_string();
        let mut query = vec![("timeout", timeout.as_str()), ("filter", filter.as_str())];
        query.extend(since.map(|since| ("since", since)));
        self.inner.api.sync(&query, wait).await
    }

    /// Returns what is new in a room, oldest first, with what the server left out.
    async fn new_in(
        &self,
        known: &Known,
        room: &str,
        timeline: super::wire::Timeline,
        since: &str,
    ) -> Result<Vec<Event>, ApiError> {
        let mut new = events(timeline.events);
        let joined = |event: &Event| {
            event.kind == "m.room.member"
                && event.state_key.as_deref() == Some(known.user.as_str())
                && text(&event.content, "membership") == "join"
        };
        if let (true, Some(from)) = (timeline.limited, timeline.prev_batch)
            && !new.iter().any(joined)
        {
            let mut gap = self.gap(room, from, since).await?;
            gap.append(&mut new);
            new = gap;
        }
        // What was said before we came was not said to us.
        if let Some(at) = new.iter().rposition(joined) {
            new.drain(..at);
        }
        Ok(new)
    }

    /// Reads what happened between two points, oldest first.
    async fn gap(&self, room: &str, from: String, to: &str) -> Result<Vec<Event>, ApiError> {
        let filter = json!({ "types": HEARD }).to_string();
        let limit = EVENTS.to_string();
        let mut from = Some(from);
        let mut gap = Vec::new();
        for _ in 0..GAP_PAGES_MAX {
            let Some(at) = from.take() else {
                break;
            };
            let query = [
                ("dir", "b"),
                ("from", at.as_str()),
                ("to", to),
                ("limit", limit.as_str()),
                ("filter", filter.as_str()),
            ];
            let page: Page = self
                .inner
                .api
                .get(&["rooms", room, "messages"], &query)
                .await?;
            let is_over = page.chunk.is_empty() || page.end.as_deref() == Some(at.as_str());
            gap.extend(events(page.chunk));
            from = page.end.filter(|_| !is_over);
        }
        if from.is_some() {
            tracing::warn!(
                room,
                "more happened than is read; what is older is not heard"
            );
        }
        gap.reverse();
        Ok(gap)
    }

    /// Notes that members or the encryption of a room changed.
    fn note_changes(&self, id: &str, room: &Joined) {
        let changes = ["m.room.member", "m.room.encryption"];
        let all = room.timeline.events.iter().chain(&room.state.events);
        let has_changed = all
            .filter(|it| it.get("state_key").is_some())
            .any(|it| changes.contains(&text(it, "type")));
        // In a gap anything may have happened.
        if has_changed || room.timeline.limited {
            self.forget_room(id);
        }
    }

    /// Shows how far we have read, once everything was answered.
    fn read_soon(&self, room: String, event: String, answers: Vec<JoinHandle<()>>) {
        let bot = self.clone();
        let before = locked(&self.inner.reads).remove(&room);
        let key = room.clone();
        let reading = tokio::spawn(async move {
            // What came before may be answered later.
            if let Some(before) = before {
                let _ended = before.await;
            }
            join_all(answers).await;
            let path = ["rooms", room.as_str(), "receipt", "m.read", event.as_str()];
            let body = json!({});
            let read = bot.inner.api.call::<Value>(Method::POST, &path, &body);
            if let Err(error) = read.await {
                tracing::debug!(%error, "it cannot be shown how far was read");
            }
        });
        let mut reads = locked(&self.inner.reads);
        reads.retain(|_, reading| !reading.is_finished());
        reads.insert(key, reading);
    }

    /// Goes where somebody listed wants us, unless it is encrypted.
    async fn invited(&self, known: &Known, id: &str, room: Invited, heard: &mpsc::Sender<Heard>) {
        let state = events(room.invite_state.events);
        let inviter = inviter(&state, &known.user);
        let is_encrypted = state.iter().any(|it| it.kind == "m.room.encryption");
        let usual = self.usual().await.ok().flatten();
        let is_usual = usual.as_deref() == Some(id);
        let is_listed = is_usual || self.is_listed(&inviter, heard).await;
        if !is_listed {
            tracing::info!(
                room = id,
                "an invitation of somebody who is not listed is left alone"
            );
            return;
        }
        let joined = if is_encrypted {
            let words =
                format!("I do not come into that room: {ENCRYPTED}. You can write to me here.");
            self.told(&inviter, &words).await
        } else {
            self.join(id).await
        };
        if let Err(error) = joined {
            tracing::warn!(%error, room = id, "an invitation could not be taken");
        }
    }

    async fn told(&self, account: &str, words: &str) -> Result<(), ApiError> {
        let to = (self.direct(account).await?, None);
        let (content, key) = (spoken(words), super::send::unique());
        self.say_in(to, &content, &key).await.map(drop)
    }

    async fn is_listed(&self, account: &str, heard: &mpsc::Sender<Heard>) -> bool {
        let (reply, response) = oneshot::channel();
        let clicker = clicker(account);
        let told = heard.send(Heard::Invited { clicker, reply }).await;
        told.is_ok() && response.await.unwrap_or(false)
    }

    /// Returns the rooms the bot is in or invited to, and who invited it. Nothing changes by looking.
    pub(super) async fn met_lately(&self) -> Vec<Met> {
        let (Ok(known), Ok(synced)) = (self.known_without_room().await, self.synced(None).await)
        else {
            return Vec::new();
        };
        let mut met = Vec::new();
        let Rooms { join, invite } = synced.rooms;
        for (id, room) in invite {
            let state = events(room.invite_state.events);
            met.push(Met {
                what: format!("invited to the room {}", called(&state)),
                id,
            });
            let inviter = inviter(&state, &known);
            if !inviter.is_empty() {
                met.push(Met {
                    id: inviter,
                    what: "the person who invited the bot".to_owned(),
                });
            }
        }
        for id in join.into_keys() {
            let mut state = Vec::new();
            for kind in ["m.room.name", "m.room.encryption"] {
                let content = self.state(&id, kind).await.ok().flatten();
                state.extend(content.map(|content| Event {
                    kind: kind.to_owned(),
                    content,
                    ..Event::default()
                }));
            }
            met.push(Met {
                what: format!("the room {}", called(&state)),
                id,
            });
        }
        met.dedup();
        met
    }

    async fn known_without_room(&self) -> Result<String, ApiError> {
        let me: super::wire::Whoami = self.inner.api.get(&["account", "whoami"], &[]).await?;
        Ok(me.user_id)
    }
}

/// Returns who invited us; empty if nobody did, or if it is not certain: the server of a room can add
/// what it likes to what our own server says.
fn inviter(state: &[Event], us: &str) -> String {
    let invites = state.iter().filter(|it| {
        it.kind == "m.room.member"
            && it.state_key.as_deref() == Some(us)
            && text(&it.content, "membership") == "invite"
    });
    let senders: BTreeSet<&str> = invites.map(|it| it.sender.as_str()).collect();
    match (senders.len(), senders.first()) {
        (1, Some(sender)) => (*sender).to_owned(),
        _ => String::new(),
    }
}

/// Returns what a room is called, and whether it is encrypted.
fn called(state: &[Event]) -> String {
    let name = state.iter().find(|it| it.kind == "m.room.name");
    let name = name.map_or("", |it| text(&it.content, "name"));
    let is_encrypted = state.iter().any(|it| it.kind == "m.room.encryption");
    let how = if is_encrypted {
        ", which is encrypted"
    } else {
        ""
    };
    format!("`{}`{how}", inline(name))
}

/// Returns somebody. Which accounts are those of programs nobody says.
pub(super) fn clicker(account: &str) -> Clicker {
    Clicker {
        account: account.to_owned(),
        standing: Standing::Person,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inviter_is_known_only_if_all_invitations_are_of_the_same() {
        let invite = |sender: &str, to: &str| Event {
            kind: "m.room.member".to_owned(),
            sender: sender.to_owned(),
            state_key: Some(to.to_owned()),
            content: json!({ "membership": "invite" }),
            ..Event::default()
        };
        let (ana, eve) = (invite("@ana:x", "@bot:x"), invite("@eve:y", "@bot:x"));
        let other = invite("@eve:y", "@ben:x");
        let rows = [
            (vec![], ""),
            (vec![ana.clone()], "@ana:x"),
            (vec![ana.clone(), ana.clone()], "@ana:x"),
            (vec![other, ana.clone()], "@ana:x"),
            (vec![ana.clone(), eve.clone()], ""),
            (vec![eve, ana], ""),
        ];
        for (state, expected) in rows {
            assert_eq!(inviter(&state, "@bot:x"), expected, "{state:?}");
        }
    }
}
