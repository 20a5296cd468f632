//! Builds the channels that the configuration names.
//!
//! Separate from the gateway, which sees webhooks and chats and does not care how they are made.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_channels::chat::Chat;
use countersign_channels::notifier::Notifier;
use countersign_channels::platform::{Platform, Settings};
use countersign_channels::registry::{self, PLATFORMS, TYPES, WEBHOOK};
use countersign_channels::{Channel, Webhook, WebhookSettings};
use countersign_gate::people::PersonView;
use countersign_gate::{Gate, GateError};
use serde_json::Value;

use crate::complaint::Complaint;
use crate::config::borrowed::with_borrowed;
use crate::config::read::at;

/// The channels of a gateway.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channels {
    pub(crate) webhooks: Vec<Webhook>,
    /// Those that only tell.
    pub(crate) notifiers: Vec<Arc<dyn Notifier>>,
    /// Those people answer and talk in.
    pub(crate) chats: Vec<Arc<dyn Chat>>,
}

impl Channels {
    /// Returns all of them: webhooks, those that only tell, then chats.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Channel>> {
        let webhooks = self.webhooks.iter();
        let webhooks = webhooks.map(|it| Arc::new(it.clone()) as Arc<dyn Channel>);
        let notifiers = self.notifiers.iter();
        let notifiers = notifiers.map(|it| Arc::clone(it) as Arc<dyn Channel>);
        let chats = self.chats.iter();
        let chats = chats.map(|it| Arc::clone(it) as Arc<dyn Channel>);
        webhooks.chain(notifiers).chain(chats).collect()
    }

    /// Returns the hosts under which chats call this gateway back.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &str> {
        self.chats.iter().filter_map(|chat| chat.callback_host())
    }
}

/// Returns the channels of the configuration.
pub(crate) fn build(config: &Value) -> Result<Channels, Complaint> {
    let named = at(config, "channels").as_object();
    let mut channels = Channels::default();
    let type_of = |settings: &Value| at(settings, "type").as_str().unwrap_or_default().to_owned();
    for (name, values) in named.into_iter().flatten() {
        let wanted = type_of(values);
        let mut settings = Settings {
            name,
            values,
            accounts: vec![name.clone()],
            variables: BTreeMap::new(),
        };
        if wanted == WEBHOOK {
            channels.webhooks.push(webhook(&settings)?);
            continue;
        }
        // With several servers of a platform an id says nothing without the server it is of.
        let all = named.into_iter().flatten();
        let is_only = all.filter(|(_, it)| type_of(it) == wanted).count() == 1;
        if is_only && *name != wanted {
            settings.accounts.push(wanted.clone());
        }
        if let Some(kind) = registry::notifier(&wanted) {
            let section = with_borrowed(kind, values, config);
            settings.values = &section;
            let notifier = (kind.build)(&settings).map_err(|why| unusable(name, &why, kind.needs));
            channels.notifiers.push(notifier?);
            continue;
        }
        let Some(platform) = registry::platform(&wanted) else {
            let message = format!("`channels.{name}`: `{wanted}` is no known type");
            let hint = format!("known: {}", TYPES.join(", "));
            return Err(Complaint::usage(message, hint));
        };
        let chat =
            (platform.build)(settings).map_err(|why| unusable(name, &why, platform.needs))?;
        channels.chats.push(chat);
    }
    for name in at(config, "approvals.fallback")
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

fn webhook(settings: &Settings<'_>) -> Result<Webhook, Complaint> {
    let needs =
        "it needs `type: webhook`, a `url`, and `secret_env`, the variable its secret is in";
    let wrong = |why: String| unusable(settings.name, &why, needs);
    let settings = WebhookSettings {
        name: settings.name.to_owned(),
        url: settings.text("url").unwrap_or_default(),
        secret: settings.secret("secret_env").map_err(wrong)?.into_bytes(),
    };
    Webhook::new(settings).map_err(wrong)
}

fn unusable(name: &str, why: &str, needs: &str) -> Complaint {
    Complaint::usage(format!("`channels.{name}` cannot be used: {why}"), needs)
}

/// Makes the accounts that a platform's variable lists approvers, and takes that back from those it
/// no longer lists.
pub(crate) async fn announce_allowed(gate: &Gate, channels: &Channels) -> Result<(), Complaint> {
    for platform in PLATFORMS {
        let chats = channels.chats.iter();
        let chats: Vec<&dyn Chat> = chats
            .map(|chat| &**chat)
            .filter(|chat| chat.kind() == platform.name)
            .collect();
        announce_allowed_by(gate, platform, &chats).await?;
    }
    Ok(())
}

async fn announce_allowed_by(
    gate: &Gate,
    platform: &Platform,
    chats: &[&dyn Chat],
) -> Result<(), Complaint> {
    let owner = super::owner(platform.allowed_users);
    let prefix = format!("{}:", platform.name);
    let failed = |error: GateError| Complaint::failed(error.to_string(), "see the log");
    let people = gate.people(&owner).await.map_err(failed)?.items;
    let is_from_variable = |person: &PersonView| person.name.starts_with(&prefix);
    let [chat] = chats else {
        // An id says nothing without the one server it is of; who was allowed before is not now.
        for person in people.iter().filter(|person| is_from_variable(person)) {
            gate.remove_person(&owner, &person.name)
                .await
                .map_err(failed)?;
        }
        return Ok(());
    };
    let listed = std::env::var(platform.allowed_users).unwrap_or_default();
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
        let mut name = format!("{prefix}{username}");
        // Usernames change hands, ids do not: nobody takes another's place.
        if people.iter().any(|person| person.name == name) {
            name = format!("{prefix}{id}");
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
