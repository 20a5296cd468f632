//! Diagnoses a Discord setup and suggests fixes.

use countersign_core::display::inline;
use reqwest::header::HeaderMap;

use super::api::{ApiError, code};
use super::permissions::{NEEDED, missing};
use super::settings::Arrival;
use super::signature::AGE_SECONDS_MAX;
use super::wire::{Application, GatewayBot, Guild, Member, Place, TEXT_KINDS, User};
use super::{Discord, is_id, locked, unix_millis};
use crate::chat::{Finding, Met};

/// Where an application is set up.
const PORTAL: &str = "https://discord.com/developers/applications";
/// New sessions left of which somebody should know.
const STARTS_FEW: u32 = 50;
/// Channels of a server that are listed to choose from.
const MET_MAX: usize = 50;

impl Discord {
    /// Looks at everything that usually goes wrong.
    pub(super) async fn findings(&self) -> Vec<Finding> {
        let asked = self.inner.api.get_with_headers::<User>(&["users", "@me"]);
        let (user, headers) = match asked.await {
            Ok(asked) => asked,
            Err(error) => return vec![self.no_token(&error)],
        };
        let name = inline(&user.username);
        let mut findings = vec![if user.bot {
            Finding::good("token", format!("the bot {name} ({})", user.id))
        } else {
            Finding::bad(
                "token",
                format!("it is the token of a person, {name}"),
                format!("use a bot's: {PORTAL} → your application → Bot → Reset Token"),
            )
        }];
        findings.extend(self.clock(&headers));
        findings.push(self.interactions().await);
        findings.push(self.connected().await);
        findings.extend(self.place(&user).await);
        findings.push(self.registered().await);
        findings
    }

    fn no_token(&self, error: &ApiError) -> Finding {
        if error.status() == Some(401) {
            let fix = format!(
                "the token is wrong or was reset; make a new one: {PORTAL} → your application → Bot → Reset Token"
            );
            return Finding::bad("token", error.to_string(), fix);
        }
        Finding::bad(
            "discord",
            format!("{} cannot be used: {error}", self.inner.settings.url),
            "can this machine reach discord.com, and does a proxy stand between? Leave `url` out for Discord's own address",
        )
    }

    /// Requests are refused if the clocks differ.
    fn clock(&self, headers: &HeaderMap) -> Option<Finding> {
        if self.inner.settings.arrival == Arrival::Gateway {
            return None;
        }
        let date = headers.get("date")?.to_str().ok()?;
        let theirs = jiff::fmt::rfc2822::parse(date)
            .ok()?
            .timestamp()
            .as_second();
        let apart = (unix_millis() / 1000)
            .saturating_sub(theirs)
            .saturating_abs();
        Some(if apart > AGE_SECONDS_MAX / 2 {
            Finding::bad(
                "clock",
                format!("this machine's clock and Discord's differ by {apart} s"),
                "set the clock: requests older than five minutes are refused",
            )
        } else {
            Finding::good("clock", "as Discord's")
        })
    }

    /// Interactions go to one of two places, and the application says to which.
    async fn interactions(&self) -> Finding {
        let check = "interactions";
        let application = self.inner.api.get::<Application>(&["applications", "@me"]);
        let application = match application.await {
            Ok(application) => application,
            Err(error) => return Finding::doubtful(check, error.to_string(), ""),
        };
        let general = format!(
            "{PORTAL} → {} → General Information",
            inline(&application.name)
        );
        let set = application
            .interactions_endpoint_url
            .filter(|it| !it.is_empty());
        match (&self.inner.settings.arrival, set) {
            (Arrival::Gateway, None) => Finding::good(check, "by the gateway connection"),
            (Arrival::Gateway, Some(url)) => Finding::bad(
                check,
                format!("presses go to {}, not to this gateway", inline(&url)),
                format!("empty the Interactions Endpoint URL: {general}"),
            ),
            (
                Arrival::Requests {
                    public_key,
                    callback_url,
                },
                set,
            ) => {
                let base = callback_url.trim_end_matches('/');
                let wanted = format!("{base}/channels/{}/action", self.inner.settings.name);
                if !application
                    .verify_key
                    .eq_ignore_ascii_case(public_key.trim())
                {
                    return Finding::bad(
                        check,
                        "`public_key` is that of another application",
                        format!("copy the Public Key: {general}"),
                    );
                }
                match set {
                    Some(url) if url == wanted => Finding::good(check, format!("to {wanted}")),
                    Some(url) => Finding::bad(
                        check,
                        format!("the Interactions Endpoint URL is {}", inline(&url)),
                        format!("set it to {wanted}: {general}"),
                    ),
                    None => Finding::bad(
                        check,
                        "the Interactions Endpoint URL is empty, so Discord sends nothing here",
                        format!("set it to {wanted}: {general}"),
                    ),
                }
            }
        }
    }

    async fn connected(&self) -> Finding {
        let check = "gateway";
        let (is_open, why) = {
            let wire = locked(&self.inner.wire);
            (wire.is_open, wire.why.clone())
        };
        // While a channel is added nobody listens yet.
        let is_wanted = locked(&self.inner.heard).is_some();
        if !is_open && is_wanted {
            let why = why.unwrap_or_else(|| "it is not connected yet".to_owned());
            let fix =
                "look again in a minute; a proxy or a firewall may block wss://gateway.discord.gg";
            return Finding::bad(check, why, fix);
        }
        match self.inner.api.get::<GatewayBot>(&["gateway", "bot"]).await {
            Ok(bot) if bot.session_start_limit.remaining < STARTS_FEW => {
                let limit = bot.session_start_limit;
                Finding::doubtful(
                    check,
                    format!(
                        "{} of {} new sessions are left today",
                        limit.remaining, limit.total
                    ),
                    "does another program use the same token? Reset it, and give each its own application",
                )
            }
            Ok(_) if is_open => Finding::good(check, "connected"),
            Ok(_) => Finding::good(check, "it can be opened"),
            Err(error) => Finding::doubtful(check, error.to_string(), ""),
        }
    }

    /// Looks at the channel of cards, and at the server.
    async fn place(&self, us: &User) -> Vec<Finding> {
        let settings = &self.inner.settings;
        let mut findings = Vec::new();
        let place = match &settings.channel {
            None => None,
            Some(id) => match self.inner.api.get::<Place>(&["channels", id]).await {
                Ok(place) => Some(place),
                Err(error) => {
                    findings.push(no_channel(id, &error));
                    None
                }
            },
        };
        let of_channel = place.as_ref().and_then(|it| it.guild_id.clone());
        let Some(home) = settings.guild.clone().or_else(|| of_channel.clone()) else {
            if settings.channel.is_none() {
                let words =
                    "none: cards go to each approver directly, and nothing in a server counts";
                findings.push(Finding::good("channel", words));
            }
            return findings;
        };
        let guild = match self.inner.api.get::<Guild>(&["guilds", &home]).await {
            Ok(guild) => guild,
            Err(error) => {
                findings.push(Finding::bad(
                    "server",
                    format!("the bot is not in the server {home}: {error}"),
                    format!("add it: {PORTAL} → your application → OAuth2 → URL Generator, scopes `bot` and `applications.commands`"),
                ));
                return findings;
            }
        };
        findings.push(Finding::good("server", inline(&guild.name)));
        if let Some(place) = &place {
            if of_channel.as_ref() != Some(&home) {
                findings.push(Finding::bad(
                    "channel",
                    "it is in another server than `guild`",
                    "correct `guild` or `channel`: right-click → Copy ID",
                ));
            } else if TEXT_KINDS.contains(&place.kind) {
                findings.push(self.may_post(&guild, place, us).await);
            } else {
                findings.push(Finding::bad(
                    "channel",
                    "it takes no messages",
                    "choose a text channel: right-click → Copy Channel ID",
                ));
            }
        }
        findings
    }

    async fn may_post(&self, guild: &Guild, place: &Place, us: &User) -> Finding {
        let path = ["guilds", &guild.id, "members", &us.id];
        let member: Member = match self.inner.api.get(&path).await {
            Ok(member) => member,
            Err(error) => return Finding::doubtful("channel", error.to_string(), ""),
        };
        let name = inline(place.name.as_deref().unwrap_or_default());
        let missing = missing(guild, &member, place, &us.id);
        if missing.is_empty() {
            return Finding::good("channel", format!("#{name}"));
        }
        Finding::bad(
            "channel",
            format!("in #{name} the bot lacks {}", missing.join(", ")),
            format!(
                "Edit Channel → Permissions → add the bot, and allow {}",
                NEEDED.map(|(_, name)| name).join(", ")
            ),
        )
    }

    async fn registered(&self) -> Finding {
        match self.set_commands().await {
            Ok(0) => Finding::good("commands", "none, as configured"),
            Ok(count) => Finding::good("commands", format!("{count} slash commands")),
            Err(error) => Finding::doubtful(
                "commands",
                error.to_string(),
                "add the bot to the server again with the scope `applications.commands`",
            ),
        }
    }

    /// Looks at the account that is listed for a person; `None` if it is as it should be.
    pub(super) async fn account(&self, person: &str, account: &str) -> Option<Finding> {
        let (person, shown) = (inline(person), inline(account));
        if !is_id(account) {
            return Some(Finding::bad(
                "account",
                format!("{shown} of {person} is no id"),
                "switch on Developer Mode, right-click the person → Copy User ID",
            ));
        }
        let user: User = match self.inner.api.get(&["users", account]).await {
            Ok(user) => user,
            Err(ApiError::Away(_)) => return None,
            Err(error) => {
                return Some(Finding::bad(
                    "account",
                    format!("{shown} of {person} does not exist: {error}"),
                    "switch on Developer Mode, right-click the person → Copy User ID",
                ));
            }
        };
        if user.bot {
            return Some(Finding::bad(
                "account",
                format!("{shown} of {person} is a bot"),
                "list the account of a person",
            ));
        }
        let home = self.home().await.ok()??;
        let path = ["guilds", &home, "members", account];
        match self.inner.api.get::<Member>(&path).await {
            Err(error) if error.is(code::UNKNOWN_MEMBER) => Some(Finding::doubtful(
                "account",
                format!(
                    "{} of {person} is not in the server",
                    inline(&user.username)
                ),
                "invite them: the bot can write directly only to people it shares a server with",
            )),
            Ok(_) | Err(_) => None,
        }
    }

    /// Returns the channels that cards can go to.
    pub(super) async fn met_lately(&self) -> Vec<Met> {
        let guilds = self
            .inner
            .api
            .get::<Vec<Guild>>(&["users", "@me", "guilds"]);
        let mut met = Vec::new();
        for guild in guilds.await.unwrap_or_default() {
            let path = ["guilds", &guild.id, "channels"];
            let places: Vec<Place> = self.inner.api.get(&path).await.unwrap_or_default();
            let places = places
                .into_iter()
                .filter(|it| TEXT_KINDS.contains(&it.kind));
            met.extend(places.take(MET_MAX).map(|place| {
                let name = inline(place.name.as_deref().unwrap_or_default());
                Met {
                    id: place.id,
                    what: format!("the channel `#{name}` of `{}`", inline(&guild.name)),
                }
            }));
        }
        met
    }
}

fn no_channel(id: &str, error: &ApiError) -> Finding {
    if error.is(code::MISSING_ACCESS) {
        return Finding::bad(
            "channel",
            format!("the bot may not see the channel {id}"),
            "Edit Channel → Permissions → add the bot, and allow View Channel",
        );
    }
    Finding::bad(
        "channel",
        format!("there is no channel {id}: {error}"),
        "switch on Developer Mode, right-click the channel → Copy Channel ID",
    )
}
