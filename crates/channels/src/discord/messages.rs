//! Messages that people write to the bot, and cards that were deleted.
//!
//! The content of a message is a privileged intent, which we do not ask for: Discord gives it without
//! that in conversations with the bot and where the bot is mentioned, which is all that is needed.

use tokio::sync::mpsc;

use super::post::millis_of;
use super::wire::{Deleted, Said, User};
use super::{Discord, locked};
use crate::chat::{Heard, Message};
use crate::press::{Clicker, Standing};

/// Deleted messages that are remembered, for cards whose posting is not confirmed yet.
const GONE_MAX: usize = 256;

impl Discord {
    /// Tells of a message that is meant for us: everything in a conversation of two, elsewhere what
    /// mentions us. Returns whether it was told.
    pub(super) async fn said(&self, said: Said, heard: &mpsc::Sender<Heard>) -> bool {
        let Ok(known) = self.known().await else {
            return false;
        };
        let is_named = said.mentions.iter().any(|it| it.id == known.user.id);
        let is_meant = said.guild_id.is_none() || is_named;
        if !self.inner.settings.talk || !is_meant || !said.is_of_a_person() {
            return false;
        }
        let id = format!("{}/{}", said.channel_id, said.id);
        let text = meant(&said, &known.user);
        if text.is_empty() || !locked(&self.inner.memory).is_new(&id) {
            return false;
        }
        let standing = match (&said.guild_id, self.home().await) {
            (None, _) => Standing::Person,
            (Some(_), Err(_)) => Standing::Unknown,
            (Some(guild), Ok(Some(home))) if *guild == home => Standing::Person,
            (Some(_), Ok(_)) => Standing::Foreign,
        };
        let message = Message {
            thread: super::thread(&said.channel_id, said.guild_id.as_ref()),
            clicker: Clicker {
                account: said.author.id,
                standing,
            },
            text,
            at: millis_of(&said.id),
            id,
        };
        heard.send(Heard::Message(message)).await.is_ok()
    }

    /// Tells of cards that were deleted. Returns whether there was one.
    pub(super) async fn deleted(&self, deleted: Deleted, heard: &mpsc::Sender<Heard>) -> bool {
        let mut is_told = false;
        for id in deleted.ids.iter().chain([&deleted.id]) {
            let reference = format!("{}/{id}", deleted.channel_id);
            {
                // Before the other is looked at: whoever is just posting it looks at this one last.
                let mut gone = locked(&self.inner.gone);
                gone.push_back(reference.clone());
                if gone.len() > GONE_MAX {
                    gone.pop_front();
                }
            }
            let subject = locked(&self.inner.subjects).remove(&reference);
            if let Some(subject) = subject {
                is_told = true;
                let _gone = heard.send(Heard::Gone { subject, reference }).await;
            }
        }
        is_told
    }
}

/// Returns the text of a message as people see it, without the mention of us in front.
fn meant(said: &Said, us: &User) -> String {
    let mention = |user: &User| [format!("<@{}>", user.id), format!("<@!{}>", user.id)];
    let mut text = said.content.trim_start();
    for mention in mention(us) {
        text = text.strip_prefix(&mention).unwrap_or(text);
    }
    let mut text = text.to_owned();
    for user in &said.mentions {
        for mention in mention(user) {
            text = text.replace(&mention, &format!("@{}", user.username));
        }
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_read_as_people_see_them() {
        let user = |id: &str, name: &str| User {
            id: id.to_owned(),
            username: name.to_owned(),
            bot: false,
        };
        let us = user("1", "countersign");
        let rows = [
            ("<@1> clean up", "clean up"),
            ("<@!1> clean up", "clean up"),
            ("please, <@1>, ask <@2>", "please, @countersign, ask @ana"),
            ("<@3> is not known", "<@3> is not known"),
            ("<@1>", ""),
        ];
        for (content, expected) in rows {
            let said = Said {
                content: content.to_owned(),
                mentions: vec![us.clone(), user("2", "ana")],
                ..Said::default()
            };
            assert_eq!(meant(&said, &us), expected, "{content}");
        }
    }
}
