//! Diagnoses a Mattermost setup and suggests fixes.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use countersign_core::display::inline;
use reqwest::Url;
use serde_json::{Value, json};

use super::api::ApiError;
use super::trigger::ServerKey;
use super::wire::{TeamMember, User};
use super::{Known, Mattermost, is_id, is_local, unix_millis};
use crate::chat::{Chat as _, Finding};

/// Oldest server this was made for.
const VERSION_MIN: (u32, u32) = (9, 11);
/// How long our own address may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How far the clocks may differ, in milliseconds; a signature is believed for a minute.
const SKEW_MILLIS_MAX: i64 = 20_000;

impl Mattermost {
    /// Looks at everything that usually goes wrong.
    pub(super) async fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let path = ["config", "client"];
        let config = self
            .inner
            .api
            .get::<Value>(&path, &[("format", "old")])
            .await;
        let config = match config {
            Ok(config) => config,
            Err(error) => {
                findings.push(Finding::bad(
                    "server",
                    format!("{} cannot be used: {error}", self.inner.tenant),
                    "is `url` the address people open in their browser, and can this machine reach it?",
                ));
                return findings;
            }
        };
        findings.push(version(&config));
        findings.push(self.clock().await);
        findings.push(key(&config));
        findings.push(site_url(&config));
        findings.extend(edit_limit(&config));
        if !self.token(&mut findings).await {
            return findings;
        }
        match self.known().await {
            Ok(known) => {
                findings.push(self.place(&known).await);
                findings.extend(self.callback().await);
                findings.extend(self.commands(&known).await);
                findings.extend(self.way_back(&known).await);
            }
            Err(error) => findings.push(Finding::bad(
                "channel",
                format!("team or channel cannot be found: {error}"),
                "set `team` and `channel` to names as they stand in the address of the channel, and add the bot to both",
            )),
        }
        findings
    }

    async fn token(&self, findings: &mut Vec<Finding>) -> bool {
        match self.inner.api.get::<User>(&["users", "me"], &[]).await {
            Ok(user) if user.is_bot => {
                findings.push(Finding::good("token", format!("bot @{}", user.username)));
                true
            }
            Ok(user) => {
                findings.push(Finding::doubtful(
                    "token",
                    format!("@{} is a person's account, not a bot's", user.username),
                    "create a bot account (Integrations → Bot Accounts) and use its token",
                ));
                true
            }
            Err(error) => {
                let fix = match error.status() {
                    Some(401) => {
                        "the token is wrong or was revoked; make another (Integrations → Bot Accounts → Create New Token)"
                    }
                    Some(_) | None => "see the server's log",
                };
                findings.push(Finding::bad("token", error.to_string(), fix));
                false
            }
        }
    }

    async fn clock(&self) -> Finding {
        match self.inner.api.server_seconds().await {
            Some(seconds) => {
                let apart = (seconds * 1000 - unix_millis()).abs();
                if apart <= SKEW_MILLIS_MAX {
                    return Finding::good("clock", "the same as here");
                }
                Finding::bad(
                    "clock",
                    format!("{} s apart from here", apart / 1000),
                    "set both clocks by NTP: a click is valid for one minute",
                )
            }
            None => Finding::doubtful("clock", "the server does not report it", ""),
        }
    }

    async fn place(&self, known: &Known) -> Finding {
        let Some(place) = &known.place else {
            return Finding::good("channel", "none: cards go to each approver directly");
        };
        let path = ["channels", place.as_str(), "members", known.bot.id.as_str()];
        match self.inner.api.get::<Value>(&path, &[]).await {
            Ok(_) => Finding::good("channel", "the bot is in it"),
            Err(error) => Finding::bad(
                "channel",
                format!("the bot is not in it: {error}"),
                format!("type `/invite @{}` in the channel", known.bot.username),
            ),
        }
    }

    async fn callback(&self) -> Vec<Finding> {
        let Some(text) = &self.inner.settings.callback_url else {
            return vec![Finding::doubtful(
                "callback",
                "none: people answer by reaction or reply",
                "set `callback_url` to where the Mattermost server reaches this gateway, and there are buttons and commands",
            )];
        };
        let Ok(url) = Url::parse(text) else {
            return Vec::new();
        };
        let mut health = url.clone();
        if let Ok(mut segments) = health.path_segments_mut() {
            segments.pop_if_empty().push("health");
        }
        let answered = match crate::http().timeout(TIMEOUT).build() {
            Ok(http) => http
                .get(health)
                .send()
                .await
                .map_err(reqwest::Error::without_url),
            Err(error) => Err(error),
        };
        let reached = match answered {
            Ok(answer) if answer.status().is_success() => {
                Finding::good("callback", format!("{text} responds from here"))
            }
            Ok(answer) => Finding::bad(
                "callback",
                format!("{text} answers {}", answer.status()),
                "the address must lead to this gateway; behind a proxy let it pass the Host header on",
            ),
            Err(error) => Finding::doubtful(
                "callback",
                format!("{text} cannot be reached from here: {error}"),
                "the Mattermost server must reach it; `countersign channels test` shows whether it does",
            ),
        };
        let mut findings = vec![reached];
        findings.extend(self.internal(&url).await);
        findings
    }

    /// Has the server run one of our commands, as people do. Only that shows that it reaches us.
    async fn way_back(&self, known: &Known) -> Option<Finding> {
        let typed = self.typed_as("whoami")?;
        let place = match &known.place {
            Some(place) => place.clone(),
            None => self.direct(&known.bot.id).await.ok()?,
        };
        let body = json!({ "channel_id": place, "team_id": known.team, "command": typed });
        let path = ["commands", "execute"];
        let before = self.inner.own_commands.load(Ordering::Relaxed);
        let ran = self.inner.api.post::<Value>(&path, &body).await;
        let is_heard = self.inner.own_commands.load(Ordering::Relaxed) != before;
        let check = "way back";
        Some(match ran {
            Ok(_) if is_heard => Finding::good(
                check,
                format!("the server ran `{typed}` and this gateway answered it"),
            ),
            Ok(_) => Finding::doubtful(
                check,
                format!("`{typed}` was not answered by this gateway"),
                "does `callback_url` lead to another gateway, or does a proxy answer for it?",
            ),
            Err(error) => Finding::bad(
                check,
                format!("the server could not run `{typed}` here: {error}"),
                "it must reach `callback_url`: look at its name, port, certificate and firewall from the server's \
                 machine, and at AllowedUntrustedInternalConnections",
            ),
        })
    }

    /// Looks at the account that is listed for a person.
    pub(super) async fn account(&self, person: &str, account: &str) -> Option<Finding> {
        let check = "account";
        let shown = inline(account);
        if !is_id(account) {
            let name = account.trim_start_matches('@').to_lowercase();
            let path = ["users", "username", name.as_str()];
            let found = self.inner.api.get::<User>(&path, &[]).await.ok();
            let fix = match found {
                Some(user) => format!("`{shown}` is a name; the id is `{}`", user.id),
                None => "the id is in the person's profile, or type `/whoami` there".to_owned(),
            };
            let found = format!("{person}: `{shown}` is no id, so nobody answers as {person}");
            return Some(Finding::bad(check, found, fix));
        }
        let user = match self.inner.api.get::<User>(&["users", account], &[]).await {
            Ok(user) => user,
            Err(error) if error.status() == Some(404) => {
                let found = format!("{person}: there is no account `{shown}` on this server");
                return Some(Finding::bad(
                    check,
                    found,
                    "type `/whoami` there to see yours",
                ));
            }
            Err(error) => {
                let found = format!("{person}: `{shown}` cannot be looked up: {error}");
                return Some(Finding::doubtful(check, found, "see the server's log"));
            }
        };
        if user.is_bot || user.delete_at != 0 {
            let what = if user.is_bot { "a bot" } else { "deactivated" };
            let found = format!("{person}: @{} is {what} and cannot answer", user.username);
            return Some(Finding::bad(check, found, "list a person's own account"));
        }
        let place = self.known().await.ok()?.place?;
        let path = ["channels", place.as_str(), "members", account];
        let member = self.inner.api.get::<Value>(&path, &[]).await;
        let error = member.err().filter(|error| error.status() == Some(404))?;
        let found = format!(
            "{person}: @{} is not in the channel of the cards: {error}",
            user.username
        );
        let fix = format!("type `/invite @{}` in the channel", user.username);
        Some(Finding::doubtful(check, found, fix))
    }

    /// The server refuses to call private addresses that are not listed.
    async fn internal(&self, url: &Url) -> Option<Finding> {
        let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
        if !is_private(&host, url) {
            return None;
        }
        let check = "AllowedUntrustedInternalConnections";
        let fix = format!(
            "add `{host}` to System Console → Environment → Developer → Allow untrusted internal connections"
        );
        let config = self.inner.api.get::<Value>(&["config"], &[]).await;
        let listed = config.ok().and_then(|config| {
            let settings = config.get("ServiceSettings")?;
            Some(settings.get(check)?.as_str()?.to_owned())
        });
        Some(match listed {
            Some(listed) if listed.split([' ', ',']).any(|it| it == host) => {
                Finding::good(check, format!("lists {host}"))
            }
            Some(listed) => Finding::bad(
                check,
                format!(
                    "`{host}` is private and not in `{listed}`, unless a network there holds it"
                ),
                fix,
            ),
            None => Finding::doubtful(
                check,
                format!("`{host}` is private; the bot may not read whether it is listed"),
                fix,
            ),
        })
    }

    async fn commands(&self, known: &Known) -> Vec<Finding> {
        let settings = &self.inner.settings;
        if !settings.commands || self.inner.action_url.is_none() {
            return Vec::new();
        }
        let Some(team) = &known.team else {
            return vec![Finding::doubtful(
                "commands",
                "not registered, because no team is set",
                "set `team` to the name of the team",
            )];
        };
        let path = ["teams", team.as_str(), "members", known.bot.id.as_str()];
        let member = self.inner.api.get::<TeamMember>(&path, &[]).await;
        let is_admin = member
            .as_ref()
            .is_ok_and(|it| it.scheme_admin || it.roles.contains("team_admin"))
            || known.bot.roles.contains("system_admin");
        let admin = if is_admin {
            Finding::good("team admin", "the bot may register commands")
        } else {
            Finding::doubtful(
                "team admin",
                "the bot is not a team admin",
                "make it one (Team menu → Manage members), or give its role “Manage own slash commands”",
            )
        };
        let audit = match self.audit_commands().await {
            Ok(audit) if audit.foreign.is_empty() => {
                let count = audit.kept + audit.made + audit.changed;
                Finding::good("commands", format!("{count} registered"))
            }
            Ok(audit) => Finding::doubtful(
                "commands",
                format!("taken by somebody else: /{}", audit.foreign.join(", /")),
                format!(
                    "they are registered as `/{}…`; remove the others' to have the plain names",
                    settings.command_prefix
                ),
            ),
            Err(error) => Finding::bad("commands", error.to_string(), command_fix(&error)),
        };
        vec![admin, audit]
    }
}

fn command_fix(error: &ApiError) -> &'static str {
    match error.status() {
        Some(403) => "make the bot a team admin, or give its role “Manage own slash commands”",
        Some(501) => "switch custom slash commands on: System Console → Integrations",
        Some(_) | None => "see the server's log",
    }
}

fn version(config: &Value) -> Finding {
    let text = config.get("Version").and_then(Value::as_str).unwrap_or("");
    let mut parts = text.split('.').map_while(|part| part.parse::<u32>().ok());
    match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) if (major, minor) >= VERSION_MIN => {
            Finding::good("server", format!("Mattermost {major}.{minor}"))
        }
        (Some(major), Some(minor)) => Finding::doubtful(
            "server",
            format!("Mattermost {major}.{minor}"),
            "Countersign supports 9.11 and newer",
        ),
        (Some(_) | None, _) => Finding::doubtful("server", "it does not report its version", ""),
    }
}

fn key(config: &Value) -> Finding {
    let key = config.get("AsymmetricSigningPublicKey");
    if key
        .and_then(Value::as_str)
        .and_then(ServerKey::parse)
        .is_some()
    {
        return Finding::good("signing key", "clicks can be verified");
    }
    Finding::bad(
        "signing key",
        "the server gives no key by which clicks can be verified",
        "every server from 5.6 on has one; does a proxy change /api/v4/config/client?",
    )
}

fn site_url(config: &Value) -> Finding {
    let url = config.get("SiteURL").and_then(Value::as_str).unwrap_or("");
    if url.is_empty() {
        return Finding::bad(
            "SiteURL",
            "not set: slash commands and links fail",
            "System Console → Environment → Web Server → Site URL",
        );
    }
    Finding::good("SiteURL", url)
}

fn edit_limit(config: &Value) -> Option<Finding> {
    let limit = config.get("PostEditTimeLimit").and_then(Value::as_str)?;
    (limit != "-1").then(|| {
        Finding::doubtful(
            "PostEditTimeLimit",
            format!("posts can be changed for {limit} s only, so older cards keep their buttons"),
            "System Console → Site Configuration → Posts, or a longer time for the bot's role; pressing such a button shows how the question ended",
        )
    })
}

/// Whether the server counts the host as internal.
fn is_private(host: &str, url: &Url) -> bool {
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => {
            ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
        }
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unspecified(),
        // A name without a dot is one of the network's own.
        Err(_) => is_local(url) || !host.contains('.'),
    }
}
