//! Mentions of those who may answer a card, so that their devices tell them.
//!
//! Separate from the painter, which asks no server: people are listed by id and mentioned by name.

use serde_json::json;

use super::wire::User;
use super::{Mattermost, locked};
use crate::order::Order;

/// Most people that one card mentions.
const MENTIONS_MAX: usize = 20;

impl Mattermost {
    /// Returns the mentions of a card that waits; empty where they are switched off or not known.
    pub(super) async fn mentions(&self, order: &Order) -> String {
        let is_open = order.closing.is_none();
        if !self.inner.settings.mention || !is_open || order.callees.is_empty() {
            return String::new();
        }
        let callees: Vec<&String> = order.callees.iter().take(MENTIONS_MAX).collect();
        let unknown: Vec<&String> = {
            let names = locked(&self.inner.names);
            let is_unknown = |id: &&&String| !names.contains_key(id.as_str());
            callees.iter().filter(is_unknown).copied().collect()
        };
        if !unknown.is_empty() {
            let path = ["users", "ids"];
            match self
                .inner
                .api
                .post::<Vec<User>>(&path, &json!(unknown))
                .await
            {
                Ok(users) => {
                    let known = users.into_iter().map(|user| (user.id, user.username));
                    locked(&self.inner.names).extend(known);
                }
                // A card without mentions is better than none.
                Err(error) => tracing::warn!(%error, "those who may answer cannot be mentioned"),
            }
        }
        let names = locked(&self.inner.names);
        let names = callees.iter().filter_map(|id| names.get(id.as_str()));
        let names = names.filter(|name| is_name(name));
        let mentions: Vec<String> = names.map(|name| format!("@{name}")).collect();
        mentions.join(" ")
    }
}

/// Whether `text` is a username and nothing that a chat would read as anything else.
fn is_name(text: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let calls_all = ["all", "channel", "here"].contains(&text);
    !text.is_empty() && !calls_all && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_usernames_are_mentioned() {
        let rows = [
            ("ana", true),
            ("ana.b-c_1", true),
            ("all", false),
            ("channel", false),
            ("", false),
            ("a b", false),
            ("a](http://e.example)", false),
        ];
        for (name, expected) in rows {
            assert_eq!(is_name(name), expected, "{name}");
        }
    }
}
