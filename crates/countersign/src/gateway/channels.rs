//! Channels as the configuration names them.

use countersign_channels::{Webhook, WebhookSettings};
use serde_json::Value;

use crate::complaint::Complaint;
use crate::config::read::at;

/// Returns the webhooks of the configuration: `channels: { NAME: { type: webhook, url, secret_env } }`.
pub(crate) fn webhooks(values: &Value) -> Result<Vec<Webhook>, Complaint> {
    let channels = at(values, "channels").as_object();
    let mut webhooks = Vec::new();
    for (name, settings) in channels.into_iter().flatten() {
        let wrong = |why: String| {
            Complaint::usage(
                format!("`channels.{name}` cannot be used: {why}"),
                "it needs `type: webhook`, a `url`, and `secret_env`, the variable its secret is in",
            )
        };
        let text = |key: &str| settings[key].as_str().unwrap_or_default();
        if text("type") != "webhook" {
            // Chats have channels of their own, which this version does not have.
            return Err(wrong(format!("`{}` is no known type", text("type"))));
        }
        let variable = text("secret_env");
        let secret = std::env::var(variable)
            .map_err(|_| wrong(format!("the variable `{variable}` is not set")))?;
        let settings = WebhookSettings {
            name: name.clone(),
            url: text("url").to_owned(),
            secret: secret.into_bytes(),
        };
        webhooks.push(Webhook::new(settings).map_err(wrong)?);
    }
    Ok(webhooks)
}
