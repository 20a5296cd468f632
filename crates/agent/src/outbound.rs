//! Outbound tools: nothing is sent without an approval of exactly that message.
//!
//! A sender builds what it is about to hand over ([`Outgoing`]) and has it [cleared](clear): what the
//! permit permits is compared with what is in hand, and the token behind it is verified once more,
//! here, against a digest of exactly that recipient, text and bytes. Then it is noted, durably, that
//! it is handed over now. The transports ([`Messenger`], [`Mailer`]) take only what was
//! [`Cleared`], so no other way leads outside.

mod contacts;

use countersign_core::digest::Digest;
use countersign_gate::calls::permit::{Permit, Presented};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::BoxFuture;
use crate::around::Around;

pub use contacts::Contacts;

/// The error if the approval is missing, expired, used, or for something else.
pub const APPROVAL_REQUIRED: &str = "This action requires user approval. Ask the user to confirm.";
/// The argument a token may come in.
const TOKEN_ARGUMENT: &str = "user_approval_token";

/// Whether a sender wants to see a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// It does.
    #[default]
    Required,
    /// The owner said that this tool needs none (`tools.NAME.approval_required: false`). One that
    /// comes along is still verified.
    Waived,
}

/// What a sender has in hand.
#[derive(Clone, Debug)]
pub struct Outgoing<T> {
    /// The tool that sends it.
    pub tool: &'static str,
    /// What is sent, in the shape of the tool's arguments.
    pub content: T,
    /// The bytes that go with it, in the order of the arguments.
    pub attachments: Vec<Vec<u8>>,
}

/// A message cleared for sending, once. Only [`clear`] creates it.
#[derive(Debug)]
pub struct Cleared<T> {
    outgoing: Outgoing<T>,
    key: String,
}

impl<T> Cleared<T> {
    /// Returns what is sent.
    pub const fn content(&self) -> &T {
        &self.outgoing.content
    }

    /// Returns the bytes that go with it.
    pub fn attachments(&self) -> &[Vec<u8>] {
        &self.outgoing.attachments
    }

    /// Names the sending, so that a receiver can tell one message from two.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// Why something may not be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCleared {
    /// There is no yes to exactly this.
    #[error("{APPROVAL_REQUIRED}")]
    NotApproved,
    /// It could not be noted that it is sent, so it is not.
    #[error("it was not sent: {0}")]
    NotNoted(String),
}

/// Why something was not sent, or may not have been.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendFailed {
    /// Nothing was sent.
    #[error("it was not sent: {0}")]
    NotSent(String),
    /// Nobody can tell.
    #[error("it may or may not have been sent, and is not sent again: {0}")]
    Unknown(String),
}

/// Hands messages to chats.
pub trait Messenger: Send + Sync + std::fmt::Debug {
    /// Sends `message` to [`Chat::address`] by [`Chat::channel`], at most once.
    fn send(&self, message: Cleared<Chat>) -> BoxFuture<'_, Result<(), SendFailed>>;
}

/// Hands mail to a server.
pub trait Mailer: Send + Sync + std::fmt::Debug {
    /// Sends `mail`, at most once.
    fn send(&self, mail: Cleared<Mail>) -> BoxFuture<'_, Result<(), SendFailed>>;
}

/// A message for a chat, as its sender was asked to send it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chat {
    /// To whom: `ana (mattermost:@ana)`.
    pub to: String,
    /// What is said.
    pub text: String,
}

impl Chat {
    /// Returns the channel, which stands in [`Chat::to`].
    pub fn channel(&self) -> &str {
        self.destination().0
    }

    /// Returns the address in it.
    pub fn address(&self) -> &str {
        self.destination().1
    }

    fn destination(&self) -> (&str, &str) {
        let inside = self.to.strip_suffix(')');
        let inside = inside.and_then(|to| to.rsplit_once(" ("));
        inside
            .and_then(|(_, inside)| inside.split_once(':'))
            .unwrap_or_default()
    }
}

/// A letter, as its sender was asked to send it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// To whom: `ana <ana@example.org>`, or an address.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// The text.
    pub body: String,
    /// Files that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
}

impl Mail {
    /// Returns the address, which stands in [`Mail::to`].
    pub fn address(&self) -> &str {
        let inside = self.to.strip_suffix('>');
        let inside = inside.and_then(|to| to.rsplit_once(" <"));
        inside.map_or(&self.to, |(_, address)| address)
    }
}

/// Returns what may be sent now, if `permit` permits exactly `outgoing` and a person's yes to it is
/// there where one is needed.
pub async fn clear<T: Serialize + Sync>(
    permit: Permit,
    outgoing: Outgoing<T>,
    approval: Approval,
    around: &Around,
) -> Result<Cleared<T>, NotCleared> {
    check(&permit, &outgoing, approval, around).await?;
    around
        .gate
        .hand_over(&around.who, &permit)
        .await
        .map_err(|error| NotCleared::NotNoted(error.to_string()))?;
    Ok(Cleared {
        outgoing,
        key: permit.call_id().to_owned(),
    })
}

/// Checks that `permit` permits exactly `outgoing`. Clearing does this; it changes nothing.
pub async fn check<T: Serialize + Sync>(
    permit: &Permit,
    outgoing: &Outgoing<T>,
    approval: Approval,
    around: &Around,
) -> Result<(), NotCleared> {
    let args = serde_json::to_value(&outgoing.content).map_err(|_| NotCleared::NotApproved)?;
    let in_hand = Presented {
        tool: outgoing.tool.to_owned(),
        args,
        cwd: permit.action().cwd.clone(),
        executor: format!("tool:{}", outgoing.tool),
        attachments: outgoing
            .attachments
            .iter()
            .map(|bytes| Digest::of(bytes))
            .collect(),
    };
    if in_hand != *permit.action() || permit.session() != around.session {
        tracing::warn!(call = permit.call_id(), "not what was permitted");
        return Err(NotCleared::NotApproved);
    }
    match (permit.token(), approval) {
        (Some(token), Approval::Required | Approval::Waived) => {
            let session = &around.session;
            let checked = around
                .gate
                .check_token(&around.who, session, &in_hand, token);
            match checked.await {
                Ok(_) => Ok(()),
                Err(error) => {
                    tracing::warn!(call = permit.call_id(), %error, "not sent");
                    Err(NotCleared::NotApproved)
                }
            }
        }
        (None, Approval::Waived) => Ok(()),
        (None, Approval::Required) => Err(NotCleared::NotApproved),
    }
}

/// Returns `args` without the token a model may have put among them, and the token. A call with a
/// token is not judged anew but [redeemed](countersign_gate::Gate::redeem).
pub fn split_token(mut args: Value) -> (Value, Option<String>) {
    let token = args
        .as_object_mut()
        .and_then(|map| map.shift_remove(TOKEN_ARGUMENT));
    let token = match token {
        None | Some(Value::Null) => None,
        Some(Value::String(token)) => Some(token),
        // No token, but not nothing either: it opens nothing.
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => {
            Some(other.to_string())
        }
    };
    (args, token)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_is_taken_out_and_the_rest_stays_as_it_was() {
        let rows = [
            ("none", json!({"to": "a"}), json!({"to": "a"}), None),
            (
                "one",
                json!({"user_approval_token": "t", "to": "a"}),
                json!({"to": "a"}),
                Some("t"),
            ),
            (
                "null",
                json!({"to": "a", "user_approval_token": null}),
                json!({"to": "a"}),
                None,
            ),
            (
                "a number",
                json!({"user_approval_token": 1}),
                json!({}),
                Some("1"),
            ),
            ("no object", json!([1]), json!([1]), None),
        ];
        for (name, args, rest, token) in rows {
            let (got, found) = split_token(args);
            assert_eq!((got, found.as_deref()), (rest, token), "{name}");
        }
    }

    #[test]
    fn where_something_goes_is_read_from_what_was_approved() {
        let chat = |to: &str| Chat {
            to: to.to_owned(),
            text: String::new(),
        };
        let ana = chat("ana (mattermost:@ana)");
        assert_eq!((ana.channel(), ana.address()), ("mattermost", "@ana"));
        let room = chat("the team (pager:room:7)");
        assert_eq!((room.channel(), room.address()), ("pager", "room:7"));
        assert_eq!(chat("ana").channel(), "");
        let mail = |to: &str| Mail {
            to: to.to_owned(),
            subject: String::new(),
            body: String::new(),
            attachments: Vec::new(),
        };
        assert_eq!(mail("ana <ana@example.org>").address(), "ana@example.org");
        assert_eq!(mail("bo@example.org").address(), "bo@example.org");
    }
}
