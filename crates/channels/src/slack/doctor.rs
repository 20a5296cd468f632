//! Diagnoses a Slack setup and suggests fixes.

use countersign_core::display::inline;
use reqwest::header::HeaderMap;

use super::api::{ApiError, As};
use super::manifest::SCOPES;
use super::settings::Arrival;
use super::signature::AGE_SECONDS_MAX;
use super::wire::{Auth, BotInfo, ChannelInfo, Connection, Places};
use super::{Slack, is_id, locked, unix_millis};
use crate::chat::Finding;
use crate::press::Standing;

/// Where an app is set up.
const APPS: &str = "https://api.slack.com/apps";
/// Length of a signing secret.
const SECRET_CHARS: usize = 32;

impl Slack {
    /// Looks at everything that usually goes wrong.
    pub(super) async fn findings(&self) -> Vec<Finding> {
        let tested = self.inner.api.call_as::<Auth>(As::Bot, "auth.test", &[]);
        let (auth, headers) = match tested.await {
            Ok(tested) => tested,
            Err(error) => return vec![Self::no_token(&error)],
        };
        let mut findings = vec![
            Finding::good(
                "token",
                format!("@{} in {} ({})", auth.user, auth.team, auth.team_id),
            ),
            self.workspace(&auth),
            scopes(&headers),
        ];
        findings.extend(clock(&headers));
        findings.push(match &self.inner.settings.arrival {
            Arrival::Socket { .. } => self.connection().await,
            Arrival::Requests {
                signing_secret,
                callback_url,
            } => requests(signing_secret, callback_url),
        });
        findings.extend(self.same_app(&auth).await);
        findings.extend(self.others());
        findings.extend(self.place().await);
        findings
    }

    fn no_token(error: &ApiError) -> Finding {
        let fix = match error.word() {
            "invalid_auth" | "not_authed" => {
                format!(
                    "copy the Bot User OAuth Token again: {APPS} → your app → OAuth & Permissions"
                )
            }
            "account_inactive" | "token_revoked" => {
                "the app was uninstalled: install it to the workspace again, and copy the new token"
                    .to_owned()
            }
            "token_expired" => "switch token rotation off, or install the app again".to_owned(),
            _ => "can this machine reach slack.com, and does a proxy stand between?".to_owned(),
        };
        let (check, found) = match error {
            ApiError::Away(_) => ("slack", format!("it cannot be used: {error}")),
            ApiError::Refused { .. } => ("token", error.to_string()),
        };
        Finding::bad(check, found, fix)
    }

    fn workspace(&self, auth: &Auth) -> Finding {
        let check = "workspace";
        match &self.inner.settings.team {
            Some(team) if *team != auth.team_id => Finding::bad(
                check,
                format!(
                    "the token is of {}, but `team` says {}",
                    auth.team_id,
                    inline(team)
                ),
                "install the app to the right workspace, or correct `team`",
            ),
            Some(_) => Finding::good(check, format!("{} is the one that is meant", auth.team_id)),
            None => Finding::good(check, format!("{}, {}", auth.team_id, inline(&auth.url))),
        }
    }

    /// Whether presses and messages can come by a connection.
    async fn connection(&self) -> Finding {
        let check = "connection";
        let opened = self
            .inner
            .api
            .call_as::<Connection>(As::App, "apps.connections.open", &[]);
        let opened = opened.await;
        if let Err(error) = &opened {
            let fix = match error.word() {
                "invalid_auth" | "not_authed" | "token_revoked" => format!(
                    "make an app-level token with `connections:write`: {APPS} → your app → Basic Information → App-Level Tokens"
                ),
                "not_allowed_token_type" => {
                    "`app_token_env` must hold the token that begins with xapp-".to_owned()
                }
                "missing_scope" | "missing_scope, it needs connections:write" => {
                    "give the app-level token the scope `connections:write`".to_owned()
                }
                _ => format!("switch Socket Mode on: {APPS} → your app → Socket Mode"),
            };
            return Finding::bad(check, error.to_string(), fix);
        }
        if let Ok((connection, _)) = opened
            && let Some(app) = app_of(&connection.url)
        {
            locked(&self.inner.wire).app = Some(app);
        }
        if locked(&self.inner.heard).is_none() {
            // Nobody listens in this process; a gateway will.
            return Finding::good(check, "Socket Mode, it can be opened");
        }
        let wire = locked(&self.inner.wire).clone();
        if wire.open > 0 && wire.why.is_none() {
            return Finding::good(check, "Socket Mode, connected");
        }
        let why = wire.why.unwrap_or_else(|| "not connected yet".to_owned());
        Finding::bad(
            check,
            why,
            "does a proxy refuse websockets to wss-primary.slack.com? See the gateway's log",
        )
    }

    /// Two tokens of two apps: cards arrive and no press ever does.
    async fn same_app(&self, auth: &Auth) -> Option<Finding> {
        let theirs = locked(&self.inner.wire).app.clone()?;
        let args = [("bot", auth.bot_id.as_str())];
        let info: BotInfo = self.inner.api.call("bots.info", &args).await.ok()?;
        let ours = info.bot.app_id;
        if ours.is_empty() || ours == theirs {
            return Some(Finding::good("app", format!("both tokens are of {theirs}")));
        }
        Some(Finding::bad(
            "app",
            format!("the bot's token is of {ours}, the app's token of {theirs}"),
            "take both tokens from the same app, or no press ever arrives",
        ))
    }

    /// Other programs that listen with the same token take presses away.
    fn others(&self) -> Option<Finding> {
        let wire = locked(&self.inner.wire).clone();
        (wire.connections > wire.open.max(1)).then(|| {
            Finding::doubtful(
                "other connections",
                format!(
                    "{} programs listen for this app; Slack gives each press to one of them",
                    wire.connections
                ),
                "that is right for several gateways on one database; otherwise stop the others, or make an app of their own",
            )
        })
    }

    async fn place(&self) -> Vec<Finding> {
        let check = "channel";
        let Some(place) = &self.inner.settings.channel else {
            return vec![Finding::good(check, "cards go to each approver directly")];
        };
        let args = [("channel", place.as_str())];
        let info = self
            .inner
            .api
            .call::<ChannelInfo>("conversations.info", &args);
        let channel = match info.await {
            Ok(info) => info.channel,
            Err(error) => {
                return vec![Finding::bad(
                    check,
                    format!("{place}: {error}"),
                    "is it the id at the end of the channel's details? A private channel is seen only after `/invite @countersign` in it",
                )];
            }
        };
        let name = inline(&channel.name);
        let mut findings = vec![if channel.is_archived {
            let fix = "restore it, or name another one";
            Finding::bad(check, format!("#{name} is archived"), fix)
        } else if !channel.is_member && !channel.is_im {
            let fix = "type `/invite @countersign` in it";
            Finding::bad(check, format!("the bot is not in #{name}"), fix)
        } else {
            Finding::good(check, format!("#{name}"))
        }];
        if channel.is_ext_shared {
            findings.push(Finding::doubtful(
                "shared channel",
                format!("#{name} is shared with another organisation, whose people read the cards"),
                "they cannot answer; use a channel of your own if they should not read either",
            ));
        }
        findings
    }

    /// Looks at the account that is listed for a person.
    pub(super) async fn account(&self, person: &str, account: &str) -> Option<Finding> {
        let check = "account";
        let (person, shown) = (inline(person), inline(account));
        if !is_id(account, &['U', 'W']) {
            return Some(Finding::bad(
                check,
                format!("{person}: `{shown}` is no id"),
                "in Slack: the person's profile → ⋮ → Copy member ID; or they type `/countersign whoami`",
            ));
        }
        let found = match self.standing(account, self.user(account).await).await {
            Standing::Person => return self.membership(&person, account).await,
            Standing::Bot => "is a bot's, and bots cannot answer",
            Standing::Closed => "is deactivated",
            Standing::Foreign => "is of another organisation, whose people cannot answer",
            Standing::Unknown | Standing::Unasked => "is unknown to Slack",
        };
        let fix = "list the person's own account in this workspace";
        Some(Finding::bad(
            check,
            format!("{person}: {shown} {found}"),
            fix,
        ))
    }

    /// Whether somebody is in the channel of the cards.
    async fn membership(&self, person: &str, account: &str) -> Option<Finding> {
        let place = self.inner.settings.channel.as_ref()?;
        let args = [
            ("user", account),
            ("types", "public_channel,private_channel"),
            ("limit", "1000"),
        ];
        let method = "users.conversations";
        let places: Places = self.inner.api.call(method, &args).await.ok()?;
        let is_there = places.channels.iter().any(|it| it.id == *place);
        let is_all = places.response_metadata.next_cursor.is_empty();
        (!is_there && is_all).then(|| {
            Finding::doubtful(
                "account",
                format!("{person}: {account} is not in the channel of the cards"),
                format!("type `/invite <@{account}>` in the channel"),
            )
        })
    }
}

/// Returns the app that an address for a connection belongs to.
fn app_of(url: &str) -> Option<String> {
    let url = reqwest::Url::parse(url).ok()?;
    let app = url.query_pairs().find(|(name, _)| name == "app_id")?;
    Some(app.1.into_owned())
}

/// Compares what a token permits with what is needed.
fn scopes(headers: &HeaderMap) -> Finding {
    let check = "scopes";
    let granted = headers.get("x-oauth-scopes");
    let Some(granted) = granted.and_then(|value| value.to_str().ok()) else {
        return Finding::doubtful(check, "Slack does not say what the token permits", "");
    };
    let granted: Vec<&str> = granted.split(',').map(str::trim).collect();
    let missing: Vec<String> = SCOPES
        .iter()
        .filter(|(scope, _)| !granted.contains(scope))
        .map(|(scope, why)| format!("{scope} ({why})"))
        .collect();
    if missing.is_empty() {
        return Finding::good(check, format!("all {} there", SCOPES.len()));
    }
    Finding::bad(
        check,
        format!("missing: {}", missing.join(", ")),
        "paste `countersign channels manifest slack` into the app's manifest, then install the app again",
    )
}

/// Signatures are believed for a few minutes around now.
fn clock(headers: &HeaderMap) -> Option<Finding> {
    let date = headers.get("date")?.to_str().ok()?;
    let theirs = crate::zone::http_date(date)?;
    let apart = (unix_millis() / 1000 - theirs).abs();
    if apart < AGE_SECONDS_MAX / 5 {
        return Some(Finding::good("clock", format!("{apart} s apart")));
    }
    Some(Finding::bad(
        "clock",
        format!("this machine and Slack are {apart} s apart"),
        "set the clock by NTP; requests of Slack count for five minutes",
    ))
}

fn requests(secret: &str, callback_url: &str) -> Finding {
    let check = "requests";
    if !callback_url.starts_with("https://") && !callback_url.contains("127.0.0.1") {
        return Finding::bad(
            check,
            format!("Slack calls only https, not {}", inline(callback_url)),
            "put a certificate in front of the gateway, or use Socket Mode (`app_token_env`)",
        );
    }
    let is_secret = secret.len() == SECRET_CHARS && secret.bytes().all(|it| it.is_ascii_hexdigit());
    if !is_secret {
        return Finding::doubtful(
            check,
            "the signing secret does not look like one: 32 hexadecimal digits",
            format!(
                "{APPS} → your app → Basic Information → Signing Secret, not the client secret"
            ),
        );
    }
    Finding::good(check, format!("signed, to {}", inline(callback_url)))
}
