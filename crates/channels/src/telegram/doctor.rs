//! Diagnoses the setup of a Telegram bot and suggests fixes.

use countersign_core::display::inline;
use reqwest::Url;
use serde_json::json;

use super::api::ApiError;
use super::wire::{Member, Place, WebhookInfo};
use super::{Telegram, locked};
use crate::chat::Finding;

/// So many updates wait only where nobody asks for them.
const PENDING_MAX: i64 = 50;

impl Telegram {
    /// Looks at everything that usually goes wrong.
    pub(super) async fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        // The token may have been revoked since.
        let us = match self.asked_anew().await {
            Ok(us) => us,
            Err(error @ ApiError::Away(_)) => {
                findings.push(Finding::bad(
                    "server",
                    format!("{} cannot be used: {error}", self.inner.settings.url),
                    "can this machine reach it? Leave `url` out for Telegram's own server; a proxy or a firewall may block it",
                ));
                return findings;
            }
            Err(error) => {
                findings.push(Finding::bad(
                    "token",
                    error.to_string(),
                    "the token is wrong or was revoked; BotFather shows it: /mybots → the bot → API Token",
                ));
                return findings;
            }
        };
        findings.push(Finding::good("token", format!("bot @{}", us.username)));
        findings.push(if us.can_read_all_group_messages {
            Finding::doubtful(
                "privacy",
                "the bot receives every message of its groups",
                "it needs only those that name it: BotFather → /setprivacy → Enable, then remove it from the group and add it again",
            )
        } else {
            Finding::good("privacy", "in groups it receives commands, mentions and replies alone")
        });
        findings.push(self.updates().await);
        findings.push(self.usual(us.id).await);
        findings.push(self.menu().await);
        findings
    }

    async fn updates(&self) -> Finding {
        let check = "updates";
        let info: WebhookInfo = match self.inner.api.call("getWebhookInfo", &json!({})).await {
            Ok(info) => info,
            Err(error) => return Finding::doubtful(check, error.to_string(), ""),
        };
        let last = inline(&info.last_error_message);
        match &self.inner.settings.callback_url {
            None if !info.url.is_empty() => Finding::bad(
                check,
                format!(
                    "a webhook is set to {}, so nothing can be asked for",
                    host(&info.url)
                ),
                "another program uses this bot, or did: give Countersign a bot of its own, or call deleteWebhook once",
            ),
            None => match locked(&self.inner.deaf).clone() {
                Some(why) if why.contains("409") => Finding::bad(
                    check,
                    "another program asks for the updates of this bot",
                    "one bot serves one gateway: stop the other, or make another bot",
                ),
                Some(why) => Finding::bad(check, why, "see the log of the gateway"),
                None if info.pending_update_count > PENDING_MAX => Finding::doubtful(
                    check,
                    format!("{} wait to be asked for", info.pending_update_count),
                    "is the gateway running, and can it reach Telegram?",
                ),
                None => Finding::good(check, "by long poll; no inbound port is needed"),
            },
            Some(wanted) if !info.url.starts_with(wanted.as_str()) => Finding::bad(
                check,
                format!("the webhook is set to `{}`", host(&info.url)),
                "the gateway sets it when it starts; another program with this bot has changed it",
            ),
            Some(_) if !last.is_empty() => Finding::bad(
                check,
                format!("Telegram could not deliver: {last}"),
                "`callback_url` must be https with a valid certificate, at port 443, 80, 88 or 8443, and lead to this gateway",
            ),
            Some(_) => Finding::good(check, "by webhook"),
        }
    }

    async fn usual(&self, bot: i64) -> Finding {
        let check = "channel";
        let Some((chat, topic)) = self.inner.usual else {
            return Finding::good(check, "none: cards go to each approver directly");
        };
        let chat = self.moved(chat);
        let place: Place = match self
            .inner
            .api
            .call("getChat", &json!({ "chat_id": chat }))
            .await
        {
            Ok(place) => place,
            Err(ApiError::Refused {
                moved_to: Some(new),
                ..
            }) => {
                return Finding::bad(
                    check,
                    format!("the group became a supergroup; its id is now {new}"),
                    format!("set `channel: \"{new}\"`"),
                );
            }
            Err(error) => {
                return Finding::bad(
                    check,
                    format!("{chat} cannot be seen: {error}"),
                    "add the bot to the group; ids of groups are negative, those of supergroups begin with -100",
                );
            }
        };
        if topic.is_some() && !place.is_forum {
            return Finding::bad(
                check,
                format!("`{}` has no topics", inline(&place.title)),
                "leave /TOPIC out, or turn topics on in the settings of the group",
            );
        }
        let params = json!({ "chat_id": chat, "user_id": bot });
        let member: Member = match self.inner.api.call("getChatMember", &params).await {
            Ok(member) => member,
            Err(error) => return Finding::doubtful(check, error.to_string(), ""),
        };
        let title = inline(&place.title);
        match member.status.as_str() {
            "left" | "kicked" => Finding::bad(
                check,
                format!("the bot is not in `{title}`"),
                "add it to the group again",
            ),
            "restricted" if member.can_send_messages != Some(true) => Finding::bad(
                check,
                format!("the bot may not write in `{title}`"),
                "allow it in the permissions of the group, or make it an administrator",
            ),
            _ => Finding::good(check, format!("the bot is in `{title}`")),
        }
    }

    async fn menu(&self) -> Finding {
        match self.set_commands().await {
            Ok(0) => Finding::good("commands", "no menu, as configured"),
            Ok(count) => Finding::good("commands", format!("{count} in the menu")),
            Err(error) => Finding::bad("commands", error.to_string(), "see the log of the gateway"),
        }
    }

    /// Looks at the account that is listed for a person.
    pub(super) async fn account(&self, person: &str, account: &str) -> Option<Finding> {
        let check = "account";
        let shown = inline(account);
        let Some(id) = account.parse::<i64>().ok().filter(|id| *id > 0) else {
            let found = format!("{person}: `{shown}` is no id, so nobody answers as {person}");
            let fix =
                "ids are numbers, names change hands; write `/whoami` to the bot to see yours";
            return Some(Finding::bad(check, found, fix));
        };
        if account == self.inner.tenant {
            let found = format!("{person}: {shown} is the bot itself and cannot answer");
            return Some(Finding::bad(check, found, "list a person's own account"));
        }
        let params = json!({ "chat_id": id, "action": "typing" });
        let reached = self.inner.api.call::<bool>("sendChatAction", &params).await;
        if let Err(error @ ApiError::Refused { .. }) = reached {
            let found = format!("{person}: the bot may not write to {shown}: {error}");
            let fix = format!("{person} opens a conversation with the bot and presses Start");
            return Some(Finding::bad(check, found, fix));
        }
        let (chat, _) = self.inner.usual?;
        let params = json!({ "chat_id": self.moved(chat), "user_id": id });
        let member = self
            .inner
            .api
            .call::<Member>("getChatMember", &params)
            .await;
        let is_there = match &member {
            Ok(member) => !matches!(member.status.as_str(), "left" | "kicked"),
            // The group itself is looked at elsewhere.
            Err(error) => !error.says("user not found"),
        };
        (!is_there).then(|| {
            let found = format!("{person}: {shown} is not in the group of the cards");
            Finding::doubtful(check, found, format!("add {person} to the group"))
        })
    }
}

/// Returns the host of an address. What follows it may be a secret of another program.
fn host(url: &str) -> String {
    let host = Url::parse(url).ok();
    let host = host.as_ref().and_then(Url::host_str);
    inline(host.unwrap_or("another address"))
}
