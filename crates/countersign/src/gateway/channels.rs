//! Channels as the configuration names them.

use std::sync::Arc;

use countersign_channels::chat::Chat;
use countersign_channels::mattermost::{Mattermost, MattermostSettings, PLATFORM};
use countersign_channels::{Channel, Webhook, WebhookSettings};
use countersign_gate::people::PersonView;
use countersign_gate::{Gate, GateError};
use serde_json::Value;

use crate::complaint::Complaint;
use crate::config::read::at;

/// The variable that names approvers of Mattermost besides `people`.
const ALLOWED_USERS: &str = "MATTERMOST_ALLOWED_USERS";
/// What stands before a command whose own name is taken, if nothing is said.
const COMMAND_PREFIX: &str = "cs-";

/// The channels of a gateway.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channels {
    pub(crate) webhooks: Vec<Webhook>,
    pub(crate) mattermosts: Vec<Mattermost>,
    /// Hosts under which chats reach this gateway.
    pub(crate) hosts: Vec<String>,
}

impl Channels {
    /// Returns all of them, in the order of the configuration's types.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Channel>> {
        let webhooks = self.webhooks.iter();
        let webhooks = webhooks.map(|it| Arc::new(it.clone()) as Arc<dyn Channel>);
        let chats = self.mattermosts.iter();
        let chats = chats.map(|it| Arc::new(it.clone()) as Arc<dyn Channel>);
        webhooks.chain(chats).collect()
    }

    /// Returns those people answer and talk in.
    pub(crate) fn chats(&self) -> Vec<Arc<dyn Chat>> {
        let chats = self.mattermosts.iter();
        chats
            .map(|it| Arc::new(it.clone()) as Arc<dyn Chat>)
            .collect()
    }
}

/// Returns the channels of the configuration.
pub(crate) fn build(values: &Value) -> Result<Channels, Complaint> {
    let named = at(values, "channels").as_object();
    let mut channels = Channels::default();
    let is_chat = |settings: &Value| at(settings, "type").as_str() == Some(PLATFORM);
    let chats = named.into_iter().flatten();
    let chats = chats.filter(|(_, settings)| is_chat(settings)).count();
    for (name, settings) in named.into_iter().flatten() {
        match at(settings, "type").as_str().unwrap_or_default() {
            "webhook" => channels.webhooks.push(webhook(name, settings)?),
            PLATFORM => {
                let mut accounts = vec![name.clone()];
                // With several servers an id says nothing without the server it is of.
                if chats == 1 && name != PLATFORM {
                    accounts.push(PLATFORM.to_owned());
                }
                let chat = mattermost(name, settings, accounts, &mut channels.hosts)?;
                channels.mattermosts.push(chat);
            }
            other => {
                let message = format!("`channels.{name}`: `{other}` is no known type");
                return Err(Complaint::usage(message, "known: webhook, mattermost"));
            }
        }
    }
    for name in at(values, "approvals.fallback")
        .as_array()
        .into_iter()
        .flatten()
    {
        let name = name.as_str().unwrap_or_default();
        if !named.is_some_and(|named| named.contains_key(name)) {
            let message = format!("`approvals.fallback` names `{name}`, which is no channel");
            return Err(Complaint::usage(message, "it lists names of `channels`"));
        }
    }
    Ok(channels)
}

fn webhook(name: &str, settings: &Value) -> Result<Webhook, Complaint> {
    let wrong = |why: String| {
        Complaint::usage(
            format!("`channels.{name}` cannot be used: {why}"),
            "it needs `type: webhook`, a `url`, and `secret_env`, the variable its secret is in",
        )
    };
    let settings = WebhookSettings {
        name: name.to_owned(),
        url: text(settings, "url").unwrap_or_default(),
        secret: variable(settings, "secret_env")
            .map_err(wrong)?
            .into_bytes(),
    };
    Webhook::new(settings).map_err(wrong)
}

fn mattermost(
    name: &str,
    settings: &Value,
    accounts: Vec<String>,
    hosts: &mut Vec<String>,
) -> Result<Mattermost, Complaint> {
    let wrong = |why: String| {
        Complaint::usage(
            format!("`channels.{name}` cannot be used: {why}"),
            "it needs `type: mattermost`, the server's `url`, and `token_env`, the variable the bot's token is in",
        )
    };
    let flag = |key: &str| at(settings, key).as_bool().unwrap_or(true);
    let callback_url = text(settings, "callback_url");
    let host = callback_url
        .as_deref()
        .and_then(|url| url.split_once("://"))
        .map(|(_, rest)| rest.split('/').next().unwrap_or_default());
    hosts.extend(host.map(str::to_owned));
    let settings = MattermostSettings {
        name: name.to_owned(),
        url: text(settings, "url").unwrap_or_default(),
        token: variable(settings, "token_env").map_err(wrong)?,
        team: text(settings, "team"),
        channel: text(settings, "channel"),
        callback_url,
        commands: flag("commands"),
        command_prefix: text(settings, "command_prefix")
            .unwrap_or_else(|| COMMAND_PREFIX.to_owned()),
        talk: flag("talk"),
        accounts,
    };
    Mattermost::new(settings).map_err(wrong)
}

/// Makes the accounts of `MATTERMOST_ALLOWED_USERS` approvers, and takes that back from those that
/// are not in it any more.
pub(crate) async fn announce_allowed(gate: &Gate, channels: &Channels) -> Result<(), Complaint> {
    let owner = super::owner(ALLOWED_USERS);
    let failed = |error: GateError| Complaint::failed(error.to_string(), "see the log");
    let people = gate.people(&owner).await.map_err(failed)?.items;
    let is_from_variable = |person: &PersonView| person.name.starts_with(&format!("{PLATFORM}:"));
    let [chat] = channels.mattermosts.as_slice() else {
        // An id says nothing without the one server it is of; who was allowed before is not now.
        for person in people.iter().filter(|person| is_from_variable(person)) {
            gate.remove_person(&owner, &person.name)
                .await
                .map_err(failed)?;
        }
        return Ok(());
    };
    let listed = std::env::var(ALLOWED_USERS).unwrap_or_default();
    let listed: Vec<&str> = listed
        .split(|letter: char| letter == ',' || letter == ';' || letter.is_whitespace())
        .map(str::trim)
        .filter(|id| !id.is_empty())
        .collect();
    let account = |person: &PersonView| {
        let names = chat.accounts();
        let account = names.iter().find_map(|name| person.accounts.get(*name));
        account.cloned()
    };
    for person in &people {
        let is_listed = account(person).is_some_and(|id| listed.contains(&id.as_str()));
        if is_from_variable(person) && !is_listed {
            gate.remove_person(&owner, &person.name)
                .await
                .map_err(failed)?;
        }
    }
    for id in listed {
        if people
            .iter()
            .any(|person| account(person).as_deref() == Some(id))
        {
            continue;
        }
        let username = chat.username(id).await.unwrap_or_else(|| id.to_owned());
        let mut name = format!("{PLATFORM}:{username}");
        // Usernames change hands, ids do not: nobody takes another's place.
        if people.iter().any(|person| person.name == name) {
            name = format!("{PLATFORM}:{id}");
        }
        let person = PersonView {
            name,
            roles: vec!["approver".to_owned()],
            accounts: [(chat.name().to_owned(), id.to_owned())].into(),
        };
        gate.put_person(&owner, person).await.map_err(failed)?;
    }
    Ok(())
}

fn text(settings: &Value, key: &str) -> Option<String> {
    let text = at(settings, key).as_str();
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn variable(settings: &Value, key: &str) -> Result<String, String> {
    let name = text(settings, key).ok_or_else(|| format!("`{key}` is not set"))?;
    std::env::var(&name).map_err(|_| format!("the variable `{name}` is not set"))
}
