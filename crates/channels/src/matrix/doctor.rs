//! Diagnoses the setup of a Matrix bot and suggests fixes.

use countersign_core::display::inline;
use serde_json::Value;

use super::api::ApiError;
use super::wire::{Profile, text};
use super::{Known, Matrix, locked};
use crate::chat::Finding;

/// Checks of the room for cards.
const ROOM: &str = "channel";
/// The power of somebody of whom nothing else is said, and what it takes to send an event.
const POWER_DEFAULT: i64 = 0;

impl Matrix {
    /// Looks at everything that usually goes wrong.
    pub(super) async fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        // The token may have been revoked since.
        let known = match self.asked_anew().await {
            Ok(known) => known,
            Err(error) => {
                findings.push(self.unknown(&error));
                return findings;
            }
        };
        findings.push(if known.is_guest {
            let fix = "guests are limited and can be removed; give the bot an account of its own";
            Finding::bad("token", format!("{} is a guest", inline(&known.user)), fix)
        } else {
            Finding::good("token", format!("bot {}", inline(&known.user)))
        });
        findings.push(self.hears());
        findings.push(self.rate());
        findings.extend(self.place(&known).await);
        findings
    }

    /// Says why the server did not say who we are.
    fn unknown(&self, error: &ApiError) -> Finding {
        let url = &self.inner.settings.url;
        if error.is("M_UNKNOWN_TOKEN") || error.is("M_MISSING_TOKEN") {
            return Finding::bad(
                "token",
                error.to_string(),
                "the token is wrong, or somebody signed that session out; sign in as the bot and copy its access token again",
            );
        }
        if error.is("M_USER_DEACTIVATED") || error.is("M_USER_LOCKED") {
            let fix = "the bot's account is closed; the administrator of the homeserver can open it again";
            return Finding::bad("token", error.to_string(), fix);
        }
        Finding::bad(
            "server",
            format!("{url} cannot be used: {error}"),
            "is it the address of the homeserver itself, not of a client such as Element, and can this machine reach it? \
             https://YOUR-SERVER/.well-known/matrix/client names it",
        )
    }

    fn hears(&self) -> Finding {
        match locked(&self.inner.deaf).clone() {
            Some(why) => Finding::bad("updates", why, "see the log of the gateway"),
            None => Finding::good("updates", "by /sync; no inbound port is needed"),
        }
    }

    fn rate(&self) -> Finding {
        match self.inner.api.too_many() {
            0 => Finding::good("limits", "the homeserver has not slowed the bot down"),
            count => Finding::doubtful(
                "limits",
                format!("the homeserver told the bot {count} times to wait"),
                "cards arrive late; on Synapse an administrator can raise the limit of the bot alone: POST \
                 /_synapse/admin/v1/users/BOT/override_ratelimit",
            ),
        }
    }

    async fn place(&self, known: &Known) -> Vec<Finding> {
        let room = match self.usual().await {
            Ok(Some(room)) => room,
            Ok(None) => {
                let found = "none: cards go to each approver in a conversation that the bot opens";
                return vec![Finding::good(ROOM, found)];
            }
            Err(error) => {
                let alias = inline(self.inner.settings.channel.as_deref().unwrap_or_default());
                let found = format!("{alias} leads to no room: {error}");
                let fix = "use the room's id: in Element, Room settings → Advanced";
                return vec![Finding::bad(ROOM, found, fix)];
            }
        };
        let shown = inline(&room);
        match self.joined().await {
            Ok(rooms) if rooms.contains(&room) => {}
            Ok(_) => {
                if let Err(error) = self.join(&room).await {
                    let found = format!("the bot is not in {shown}: {error}");
                    let fix = "invite the bot to the room; ids of rooms begin with `!` and are in Room settings → Advanced";
                    return vec![Finding::bad(ROOM, found, fix)];
                }
            }
            Err(error) => return vec![Finding::doubtful(ROOM, error.to_string(), "")],
        }
        match self.looked_at(known, &room).await {
            Ok(findings) => findings,
            Err(error) => vec![Finding::doubtful(ROOM, error.to_string(), "")],
        }
    }

    async fn looked_at(&self, known: &Known, room: &str) -> Result<Vec<Finding>, ApiError> {
        let mut findings = Vec::new();
        if let Some(state) = self.state(room, "m.room.tombstone").await? {
            let new = inline(text(&state, "replacement_room"));
            findings.push(Finding::bad(
                ROOM,
                format!("the room was upgraded; it goes on in {new}"),
                format!("invite the bot there and set `channel: \"{new}\"`"),
            ));
        }
        self.forget_room(room);
        if self.room(room).await?.is_encrypted {
            findings.push(Finding::bad(
                ROOM,
                "the room is encrypted, so no card is sent there: Countersign has no encryption for Matrix",
                "create another room with encryption turned off, and invite the bot and the approvers; it cannot be turned off later",
            ));
        }
        let power = self
            .state(room, "m.room.power_levels")
            .await?
            .unwrap_or_default();
        if level_of(&power, &known.user) < needed(&power, "m.room.message") {
            let fix = "give the bot a power level that may send messages: Room settings → Roles & Permissions";
            findings.push(Finding::bad(ROOM, "the bot may not write in the room", fix));
        }
        let everybody = number(&power, "users_default").unwrap_or(POWER_DEFAULT);
        if everybody < needed(&power, "m.reaction") {
            let fix = "let everybody send reactions: Room settings → Roles & Permissions";
            findings.push(Finding::doubtful(
                ROOM,
                "not everybody may react in the room",
                fix,
            ));
        }
        let rules = self
            .state(room, "m.room.join_rules")
            .await?
            .unwrap_or_default();
        if text(&rules, "join_rule") == "public" {
            let fix = "make it private: Room settings → Security & Privacy. Only listed people can answer, but everybody can read";
            findings.push(Finding::doubtful(
                ROOM,
                "anybody can join the room and read cards",
                fix,
            ));
        }
        let history = self.state(room, "m.room.history_visibility").await?;
        if text(&history.unwrap_or_default(), "history_visibility") == "world_readable" {
            let fix = "let members alone read the history: Room settings → Security & Privacy";
            findings.push(Finding::bad(ROOM, "the whole world can read the room", fix));
        }
        if findings.is_empty() {
            let found = format!("the bot is in {}, which is not encrypted", inline(room));
            findings.push(Finding::good(ROOM, found));
        }
        Ok(findings)
    }

    /// Looks at the account that is listed for a person.
    pub(super) async fn account(&self, person: &str, account: &str) -> Option<Finding> {
        let check = "account";
        let shown = inline(account);
        let Some((_, server)) = account.strip_prefix('@').and_then(|it| it.split_once(':')) else {
            let found = format!("{person}: `{shown}` is no id, so nobody answers as {person}");
            let fix = "ids look like @name:example.org; `!countersign whoami` in the room answers with yours";
            return Some(Finding::bad(check, found, fix));
        };
        let known = self.known().await.ok()?;
        if account == known.user {
            let found = format!("{person}: {shown} is the bot itself and cannot answer");
            return Some(Finding::bad(check, found, "list a person's own account"));
        }
        let profile: Result<Profile, ApiError> = self
            .inner
            .api
            .get(&["profile", account, "displayname"], &[])
            .await;
        if let Err(error) = profile
            && error.is("M_NOT_FOUND")
        {
            let found = format!("{person}: the homeserver knows no {shown}");
            let fix = "ids are exact, with small letters; the client shows it in its settings";
            return Some(Finding::bad(check, found, fix));
        }
        if let Ok(Some(room)) = self.usual().await
            && self
                .room(&room)
                .await
                .is_ok_and(|it| !it.people.contains(account))
        {
            let found = format!("{person}: {shown} is not in the room of the cards");
            return Some(Finding::doubtful(
                check,
                found,
                format!("invite {person} to the room"),
            ));
        }
        let (_, ours) = known.user.split_once(':')?;
        (server != ours).then(|| {
            let found = format!(
                "{person}: {shown} is on another homeserver, whose administrators can answer as {person}"
            );
            Finding::doubtful(check, found, format!("prefer an account on {}", inline(ours)))
        })
    }
}

/// Returns the power of an account.
fn level_of(power: &Value, account: &str) -> i64 {
    let own = power.get("users").and_then(|it| number(it, account));
    if let Some(own) = own {
        return own;
    }
    // Who created a room of the newer kind has every power and is not listed.
    number(power, "users_default").unwrap_or(POWER_DEFAULT)
}

/// Returns the power it takes to send an event.
fn needed(power: &Value, kind: &str) -> i64 {
    let own = power.get("events").and_then(|it| number(it, kind));
    own.or_else(|| number(power, "events_default"))
        .unwrap_or(POWER_DEFAULT)
}

fn number(object: &Value, key: &str) -> Option<i64> {
    object.get(key).and_then(Value::as_i64)
}
