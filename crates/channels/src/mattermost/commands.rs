//! Registers our slash commands with the server.
//!
//! A client sends everything that begins with a slash to the server, which knows only what was
//! registered there. Our own commands are kept as they should be; somebody else's are left alone; a
//! name that is taken gets a prefix.

use std::time::Duration;

use countersign_core::command::TABLE;
use serde_json::json;
use subtle::ConstantTimeEq as _;

use super::api::ApiError;
use super::wire::{ServerCommand, WantedCommand};
use super::{Mattermost, locked};

/// How often the commands are looked at.
const AUDIT_EVERY: Duration = Duration::from_hours(1);
/// Pause after they could not be looked at.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// How long a command that was typed waits until it is known to be registered. The server waits longer.
const TYPED_WAITS: Duration = Duration::from_secs(8);
/// Names the server keeps for itself.
const RESERVED: &[&str] = &[
    "away",
    "online",
    "offline",
    "dnd",
    "status",
    "header",
    "purpose",
    "rename",
    "code",
    "echo",
    "expand",
    "collapse",
    "exportlink",
    "groupmsg",
    "help",
    "invite",
    "invite_people",
    "join",
    "leave",
    "logout",
    "marketplace",
    "me",
    "msg",
    "mute",
    "open",
    "remove",
    "kick",
    "search",
    "settings",
    "shortcuts",
    "shrug",
    "test",
];

/// The commands that are registered.
#[derive(Debug, Default)]
pub(super) struct Registered(Vec<Known>);

#[derive(Clone)]
struct Known {
    name: &'static str,
    trigger: String,
    token: String,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the token: who has it can send commands as the server.
        f.debug_struct("Known")
            .field("trigger", &self.trigger)
            .finish_non_exhaustive()
    }
}

/// What was done about the commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Audit {
    pub(super) kept: usize,
    pub(super) made: usize,
    pub(super) changed: usize,
    pub(super) removed: usize,
    /// Names that belong to somebody else.
    pub(super) foreign: Vec<String>,
}

impl Registered {
    /// Returns how the command `name` is typed.
    pub(super) fn trigger(&self, name: &str) -> Option<&str> {
        let known = self.0.iter().find(|known| known.name == name);
        known.map(|known| known.trigger.as_str())
    }

    /// Returns name and token of what is typed as `trigger`.
    pub(super) fn command(&self, trigger: &str) -> Option<(&'static str, String)> {
        let known = self.0.iter();
        let mut known = known.filter(|known| known.trigger.eq_ignore_ascii_case(trigger));
        known.next().map(|known| (known.name, known.token.clone()))
    }

    /// Puts a command in the place of the one with its name.
    fn learn(&mut self, known: Known) {
        self.0.retain(|it| it.name != known.name);
        self.0.push(known);
    }
}

impl Mattermost {
    /// Registers the commands and looks after them, for as long as it is polled.
    pub(super) async fn keep_commands(&self) {
        let settings = &self.inner.settings;
        if self.inner.action_url.is_none() {
            return;
        }
        loop {
            let audited = if settings.commands {
                self.audit_commands().await
            } else {
                self.inner.registering.send_replace(false);
                self.remove_commands().await
            };
            let pause = match audited {
                Ok(_) if !settings.commands => return,
                Ok(audit) => {
                    tracing::info!(?audit, channel = settings.name, "slash commands");
                    AUDIT_EVERY
                }
                Err(error @ ApiError::Refused { .. }) => {
                    // Usually a permission; the doctor says which.
                    tracing::warn!(%error, channel = settings.name, "no slash commands");
                    AUDIT_EVERY
                }
                Err(error @ ApiError::Away(_)) => {
                    tracing::warn!(%error, channel = settings.name, "no slash commands yet");
                    RETRY_AFTER
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Returns the name of the command that is typed as `trigger`, if the server sent its `token`. The server
    /// knows a command a moment before its token is known here, so one that is being registered is waited for.
    pub(super) async fn typed_command(&self, trigger: &str, token: &str) -> Option<&'static str> {
        let mut progress = self.inner.registering.subscribe();
        let waited = tokio::time::timeout(TYPED_WAITS, async {
            loop {
                let is_registering = *progress.borrow_and_update();
                let known = locked(&self.inner.registered).command(trigger);
                let known = known.filter(|(_, it)| it.as_bytes().ct_eq(token.as_bytes()).into());
                if known.is_some() || !is_registering {
                    return known;
                }
                progress.changed().await.ok()?;
            }
        });
        waited.await.ok().flatten().map(|(name, _)| name)
    }

    /// Makes the commands at the server as they should be.
    pub(super) async fn audit_commands(&self) -> Result<Audit, ApiError> {
        self.inner.registering.send_replace(true);
        let audited = self.register_commands().await;
        self.inner.registering.send_replace(false);
        audited
    }

    async fn register_commands(&self) -> Result<Audit, ApiError> {
        let known = self.known().await?;
        let Some(team) = known.team else {
            return Ok(Audit::default());
        };
        let mut there = self.commands_there(&team).await?;
        let (mut audit, mut registered) = (Audit::default(), Vec::new());
        for row in TABLE {
            let prefixed = format!("{}{}", self.inner.settings.command_prefix, row.name);
            let plain = (!RESERVED.contains(&row.name)).then(|| row.name.to_owned());
            for trigger in plain.into_iter().chain([prefixed]) {
                let wanted = self.wanted(&team, &trigger, row);
                let kept = self
                    .keep(&wanted, &mut there, &known.bot.id, &mut audit)
                    .await?;
                if let Some(token) = kept {
                    let command = Known {
                        name: row.name,
                        trigger,
                        token,
                    };
                    registered.push(command.clone());
                    locked(&self.inner.registered).learn(command);
                    self.inner.registering.send_replace(true);
                    break;
                }
                tracing::warn!(trigger, "another integration owns this slash command");
                audit.foreign.push(trigger);
            }
        }
        locked(&self.inner.registered).0 = registered;
        Ok(audit)
    }

    /// Takes our commands away from the server, where they are switched off: nobody should be offered
    /// what is not answered. Others' are left alone, and those of another gateway with the same bot.
    async fn remove_commands(&self) -> Result<Audit, ApiError> {
        let known = self.known().await?;
        let mut audit = Audit::default();
        let Some(team) = known.team else {
            return Ok(audit);
        };
        let url = self.route_url("command").unwrap_or_default();
        for command in self.commands_there(&team).await? {
            if command.creator_id == known.bot.id && command.wanted.url == url {
                let path = ["commands", command.id.as_str()];
                self.inner.api.delete(&path).await?;
                audit.removed += 1;
            }
        }
        Ok(audit)
    }

    /// Makes one command as it should be and returns its token; `None` if the name is taken.
    async fn keep(
        &self,
        wanted: &WantedCommand,
        there: &mut Vec<ServerCommand>,
        bot: &str,
        audit: &mut Audit,
    ) -> Result<Option<String>, ApiError> {
        let api = &self.inner.api;
        for _ in 0..2 {
            let found = there
                .iter()
                .find(|it| it.wanted.trigger.eq_ignore_ascii_case(&wanted.trigger));
            if let Some(found) = found {
                if found.creator_id != bot {
                    return Ok(None);
                }
                if found.wanted == *wanted {
                    audit.kept += 1;
                    return Ok(Some(found.token.clone()));
                }
                let body = json!(ServerCommand {
                    wanted: wanted.clone(),
                    ..found.clone()
                });
                let path = ["commands", found.id.as_str()];
                let changed: ServerCommand = api.put(&path, &body).await?;
                audit.changed += 1;
                // The token stays, and some servers do not repeat it.
                let token = Some(changed.token).filter(|token| !token.is_empty());
                return Ok(Some(token.unwrap_or_else(|| found.token.clone())));
            }
            match api
                .post::<ServerCommand>(&["commands"], &json!(wanted))
                .await
            {
                Ok(made) => {
                    audit.made += 1;
                    return Ok(Some(made.token));
                }
                // Somebody has it whose commands we may not see, or has just made it.
                Err(ApiError::Refused { status: 400, .. }) => {
                    *there = self.commands_there(&wanted.team_id).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    async fn commands_there(&self, team: &str) -> Result<Vec<ServerCommand>, ApiError> {
        let query = [("team_id", team), ("custom_only", "true")];
        self.inner.api.get(&["commands"], &query).await
    }

    pub(super) fn wanted(
        &self,
        team: &str,
        trigger: &str,
        row: countersign_core::command::Row,
    ) -> WantedCommand {
        WantedCommand {
            team_id: team.to_owned(),
            trigger: trigger.to_owned(),
            method: "P".to_owned(),
            url: self.route_url("command").unwrap_or_default(),
            auto_complete: true,
            auto_complete_hint: row.hint.to_owned(),
            auto_complete_desc: row.does.to_owned(),
            display_name: format!("Countersign: /{trigger}"),
            description: row.does.to_owned(),
        }
    }
}
