//! Rooms: who is in them, whether they are encrypted, and the conversation with one person.
//!
//! What is known of a room is kept until the server tells that its members or its encryption changed.
//! An encrypted room is refused: without keys nobody there could read a card, and we could not read
//! what people say.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::api::ApiError;
use super::wire::{JoinedRooms, Page, RoomId, text};
use super::{Matrix, locked};
use crate::order::Destination;

/// Why nothing is sent to an encrypted room.
pub(super) const ENCRYPTED: &str = "the room is encrypted, and Countersign has no encryption for Matrix; use a room without encryption";
/// Rooms that are remembered.
const ROOMS_MAX: usize = 4096;
/// How often a conversation with the same person is opened again: whoever leaves them all must not let
/// us fill the server with rooms.
const OPENED_EVERY: Duration = Duration::from_mins(10);

/// What is known of a room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    /// Who is in it or invited, us included.
    pub(super) people: BTreeSet<String>,
    /// Whether there is somebody whose name cannot be read.
    pub(super) has_others: bool,
    pub(super) is_encrypted: bool,
}

impl Room {
    /// Whether nobody is in it but us and one other.
    pub(super) fn is_for_two(&self) -> bool {
        self.people.len() <= 2 && !self.has_others
    }
}

/// Conversations with one person each.
#[derive(Debug, Default)]
pub(super) struct Directs {
    by_account: BTreeMap<String, String>,
    opened: BTreeMap<String, Instant>,
}

impl Matrix {
    /// Returns what is known of a room we are in.
    pub(super) async fn room(&self, id: &str) -> Result<Room, ApiError> {
        if let Some(known) = locked(&self.inner.rooms).get(id) {
            return Ok(known.clone());
        }
        let seen = locked(&self.inner.changes).get(id).copied();
        let query = [("not_membership", "leave")];
        let page: Page = self
            .inner
            .api
            .get(&["rooms", id, "members"], &query)
            .await?;
        let (people, has_others) = people(&page.chunk);
        let room = Room {
            people,
            has_others,
            is_encrypted: self.state(id, "m.room.encryption").await?.is_some(),
        };
        // What changed while it was asked for is asked for again next time.
        if locked(&self.inner.changes).get(id).copied() == seen {
            let mut rooms = locked(&self.inner.rooms);
            if rooms.len() > ROOMS_MAX {
                rooms.clear();
            }
            rooms.insert(id.to_owned(), room.clone());
        }
        Ok(room)
    }

    /// Notes that members or the encryption of a room changed.
    pub(super) fn forget_room(&self, id: &str) {
        let mut changes = locked(&self.inner.changes);
        if changes.len() > ROOMS_MAX {
            changes.clear();
        }
        *changes.entry(id.to_owned()).or_default() += 1;
        locked(&self.inner.rooms).remove(id);
    }

    /// Returns a part of a room's state; `None` if it has none.
    pub(super) async fn state(&self, room: &str, kind: &str) -> Result<Option<Value>, ApiError> {
        let path = ["rooms", room, "state", kind, ""];
        match self.inner.api.get(&path, &[]).await {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.is("M_NOT_FOUND") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Fails if a room is encrypted.
    pub(super) async fn check_open(&self, room: &str) -> Result<(), ApiError> {
        if self.room(room).await?.is_encrypted {
            return Err(ApiError::ours(ENCRYPTED));
        }
        Ok(())
    }

    /// Whether a room is known to have nobody in it but us and one person.
    pub(super) fn is_alone_with_one(&self, room: &str) -> bool {
        let rooms = locked(&self.inner.rooms);
        rooms.get(room).is_some_and(Room::is_for_two)
    }

    /// Returns the room, and the thread in it, of a destination.
    pub(super) async fn place_of(
        &self,
        to: &Destination,
    ) -> Result<(String, Option<String>), ApiError> {
        match to {
            Destination::Usual => {
                let usual = self.usual().await?;
                let usual = usual.ok_or_else(|| ApiError::ours("no `channel` is set for cards"))?;
                Ok((usual, None))
            }
            Destination::Thread(thread) => {
                let (room, event) = super::split(thread);
                Ok((
                    room.to_owned(),
                    Some(event.to_owned()).filter(|it| !it.is_empty()),
                ))
            }
            Destination::Person(account) => Ok((self.direct(account).await?, None)),
        }
    }

    /// Returns the room that somebody is named by: a person, an alias or an id.
    pub(super) async fn named(&self, name: &str) -> Result<String, ApiError> {
        match name.chars().next() {
            Some('@') => self.direct(name).await,
            Some('#') => self.resolved(name).await,
            Some('!') => Ok(name.to_owned()),
            _ => Err(ApiError::ours(
                "the recipient is not an id: people are `@name:server`, rooms `!id` or `#name:server`",
            )),
        }
    }

    /// Returns the id of a room by its id or alias.
    pub(super) async fn resolved(&self, room: &str) -> Result<String, ApiError> {
        if !room.starts_with('#') {
            return Ok(room.to_owned());
        }
        let found: RoomId = self
            .inner
            .api
            .get(&["directory", "room", room], &[])
            .await?;
        Ok(found.room_id)
    }

    /// Returns the rooms we are in.
    pub(super) async fn joined(&self) -> Result<Vec<String>, ApiError> {
        let rooms: JoinedRooms = self.inner.api.get(&["joined_rooms"], &[]).await?;
        Ok(rooms.joined_rooms)
    }

    /// Goes into a room.
    pub(super) async fn join(&self, room: &str) -> Result<(), ApiError> {
        let path = ["join", room];
        let _joined: RoomId = self.inner.api.call(Method::POST, &path, &json!({})).await?;
        self.forget_room(room);
        Ok(())
    }

    /// Returns a room in which we are alone with somebody, without encryption; it is opened if there is
    /// none.
    pub(super) async fn direct(&self, account: &str) -> Result<String, ApiError> {
        let mut directs = self.inner.directs.lock().await;
        let us = self.known().await?.user;
        if let Some(known) = directs.by_account.get(account)
            && self.is_direct(known, &us, account).await?
        {
            return Ok(known.clone());
        }
        let path = ["user", us.as_str(), "account_data", "m.direct"];
        let mut listed: Value = match self.inner.api.get(&path, &[]).await {
            Ok(listed) => listed,
            Err(error) if error.is("M_NOT_FOUND") => json!({}),
            Err(error) => return Err(error),
        };
        let rooms = listed.get(account).and_then(Value::as_array);
        let mut rooms: Vec<Value> = rooms.cloned().unwrap_or_default();
        for room in rooms.iter().rev().filter_map(Value::as_str) {
            if self.is_direct(room, &us, account).await? {
                directs
                    .by_account
                    .insert(account.to_owned(), room.to_owned());
                return Ok(room.to_owned());
            }
        }
        let now = Instant::now();
        directs
            .opened
            .retain(|_, at| now.duration_since(*at) < OPENED_EVERY);
        if directs.opened.contains_key(account) {
            return Err(ApiError::ours(
                "the conversation with this person was opened a moment ago, and they left it or encrypted it",
            ));
        }
        let room = self.open_direct(account).await?;
        directs.opened.insert(account.to_owned(), now);
        if !self.is_direct(&room, &us, account).await? {
            return Err(ApiError::ours(
                "the homeserver encrypts new conversations by itself, and Countersign has no encryption for Matrix",
            ));
        }
        rooms.push(json!(room));
        crate::fields::set(&mut listed, account, rooms);
        let _listed: Value = self.inner.api.call(Method::PUT, &path, &listed).await?;
        directs.by_account.insert(account.to_owned(), room.clone());
        Ok(room)
    }

    async fn open_direct(&self, account: &str) -> Result<String, ApiError> {
        let body = json!({
            "preset": "trusted_private_chat", "is_direct": true, "invite": [account],
            "name": "Countersign",
        });
        let opened: Result<RoomId, ApiError> = self
            .inner
            .api
            .call(Method::POST, &["createRoom"], &body)
            .await;
        Ok(opened?.room_id)
    }

    /// Whether a room is one with this person alone, and open.
    async fn is_direct(&self, room: &str, us: &str, account: &str) -> Result<bool, ApiError> {
        match self.room(room).await {
            Ok(known) => {
                let is_ours = |it: &String| it == us || it == account;
                let is_pair = known.is_for_two()
                    && known.people.len() == 2
                    && known.people.iter().all(is_ours);
                Ok(is_pair && !known.is_encrypted)
            }
            // We are no longer in it.
            Err(ApiError::Refused { .. }) => Ok(false),
            Err(away @ ApiError::Away(_)) => Err(away),
        }
    }
}

/// Returns who is in a room or invited, and whether there is somebody whose name cannot be read. What
/// else an event says does not matter: nobody shall be overlooked because of it.
pub(super) fn people(members: &[Value]) -> (BTreeSet<String>, bool) {
    let is_in = |it: &&Value| {
        let membership = it.get("content").map_or("", |it| text(it, "membership"));
        text(it, "type") == "m.room.member" && ["join", "invite"].contains(&membership)
    };
    let names = members.iter().filter(is_in).map(|it| text(it, "state_key"));
    let mut people: BTreeSet<String> = names.map(str::to_owned).collect();
    let has_others = people.remove("");
    (people, has_others)
}
