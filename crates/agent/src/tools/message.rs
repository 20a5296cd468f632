//! The chat message tool.

use std::sync::Arc;

use countersign_gate::calls::permit::Permit;
use serde_json::{Value, json};

use super::{Around, Asks, Outcome, Tool, understood};
use crate::BoxFuture;
use crate::model::ToolSchema;
use crate::outbound::{Approval, Chat, Contacts, Messenger, Outgoing, clear};

const NAME: &str = "send_message";

/// Writes to a contact in a chat.
#[derive(Clone, Debug)]
pub struct SendMessage {
    contacts: Arc<Contacts>,
    messenger: Arc<dyn Messenger>,
    approval: Approval,
}

impl SendMessage {
    /// Returns the tool.
    pub fn new(contacts: Arc<Contacts>, messenger: Arc<dyn Messenger>, approval: Approval) -> Self {
        Self {
            contacts,
            messenger,
            approval,
        }
    }

    async fn send(&self, permit: Permit, around: &Around) -> Result<String, String> {
        let chat: Chat = understood(permit.args())?;
        if self.contacts.chat(&chat.to)? != chat.to {
            return Err(format!("`{}` is not in canonical form", chat.to));
        }
        let to = chat.to.clone();
        let outgoing = Outgoing {
            tool: NAME,
            content: chat,
            attachments: Vec::new(),
        };
        let cleared = clear(permit, outgoing, self.approval, around)
            .await
            .map_err(|error| error.to_string())?;
        let sent = self.messenger.send(cleared).await;
        sent.map_err(|error| error.to_string())?;
        Ok(format!("sent to {to}"))
    }
}

impl Tool for SendMessage {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: NAME.to_owned(),
            description: "Sends a message to a contact in a chat. A person is asked before it is \
                          sent."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "to": {"type": "string", "description": "the name of a contact"},
                    "text": {"type": "string"},
                },
                "required": ["to", "text"],
                "additionalProperties": false,
            }),
        }
    }

    fn asks(&self) -> Asks {
        Asks::before_sending(self.approval)
    }

    fn approval_required(&self) -> bool {
        true
    }

    fn resolved(&self, args: Value) -> Result<Value, String> {
        let mut chat: Chat = understood(&args)?;
        if chat.text.trim().is_empty() {
            return Err("`text` is empty".to_owned());
        }
        chat.to = self.contacts.chat(&chat.to)?;
        serde_json::to_value(chat).map_err(|error| error.to_string())
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { self.send(permit, around).await.into() })
    }
}
