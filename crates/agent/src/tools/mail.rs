//! The e-mail tool, with attachments.

use std::path::PathBuf;
use std::sync::Arc;

use countersign_gate::calls::permit::Permit;
use serde_json::{Value, json};

use super::{Around, Asks, Outcome, Tool, blocking, place, understood};
use crate::BoxFuture;
use crate::model::ToolSchema;
use crate::outbound::{Approval, Contacts, Mail, Mailer, Outgoing, clear};

const NAME: &str = "send_email";
/// Most files that go with a letter, and all their bytes together.
const ATTACHMENTS_MAX: usize = 16;
const ATTACHED_BYTES_MAX: usize = 20 * 1024 * 1024;
/// Longest subject, in bytes.
const SUBJECT_BYTES_MAX: usize = 500;

/// Sends e-mail.
#[derive(Clone, Debug)]
pub struct SendEmail {
    contacts: Arc<Contacts>,
    mailer: Arc<dyn Mailer>,
    approval: Approval,
}

impl SendEmail {
    /// Returns the tool.
    pub fn new(contacts: Arc<Contacts>, mailer: Arc<dyn Mailer>, approval: Approval) -> Self {
        Self {
            contacts,
            mailer,
            approval,
        }
    }

    async fn send(&self, permit: Permit, around: &Around) -> Result<String, String> {
        let mail: Mail = understood(permit.args())?;
        if self.written_out(mail.clone())? != mail {
            return Err(format!("`{}` is not in canonical form", mail.to));
        }
        let mut attachments = Vec::new();
        let mut total = 0_usize;
        for path in &mail.attachments {
            let (from, path) = (around.directory(&permit), path.clone());
            let bytes = blocking(move || place::bytes(&from, &path)).await?;
            total = total.saturating_add(bytes.len());
            attachments.push(bytes);
        }
        if total > ATTACHED_BYTES_MAX {
            return Err("the attachments are larger than 20 MiB together".to_owned());
        }
        let to = mail.to.clone();
        let outgoing = Outgoing {
            tool: NAME,
            content: mail,
            attachments,
        };
        let cleared = clear(permit, outgoing, self.approval, around)
            .await
            .map_err(|error| error.to_string())?;
        let sent = self.mailer.send(cleared).await;
        sent.map_err(|error| error.to_string())?;
        Ok(format!("sent to {to}"))
    }

    fn written_out(&self, mut mail: Mail) -> Result<Mail, String> {
        if mail.subject.chars().any(char::is_control) {
            return Err("`subject` has line breaks or control characters in it".to_owned());
        }
        if mail.subject.len() > SUBJECT_BYTES_MAX {
            return Err(format!(
                "`subject` is longer than {SUBJECT_BYTES_MAX} bytes"
            ));
        }
        if mail.body.contains('\0') {
            return Err("`body` has a zero byte in it".to_owned());
        }
        if mail.attachments.len() > ATTACHMENTS_MAX {
            return Err(format!("more than {ATTACHMENTS_MAX} attachments"));
        }
        let is_strange = |path: &String| path.chars().any(char::is_control);
        if mail.attachments.iter().any(is_strange) {
            return Err("an attachment has control characters in its name".to_owned());
        }
        mail.to = self.contacts.mail(&mail.to)?;
        Ok(mail)
    }
}

impl Tool for SendEmail {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: NAME.to_owned(),
            description: "Sends an e-mail to a contact or an address. A person is asked before it \
                          is sent."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "to": {"type": "string", "description": "the name of a contact, or an address"},
                    "subject": {"type": "string"},
                    "body": {"type": "string"},
                    "attachments": {
                        "type": "array",
                        "items": {"type": "string"},
                        "maxItems": ATTACHMENTS_MAX,
                        "description": "paths of files",
                    },
                },
                "required": ["to", "subject", "body"],
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
        let mail = self.written_out(understood(&args)?)?;
        serde_json::to_value(mail).map_err(|error| error.to_string())
    }

    fn attachments(&self, args: &Value) -> Vec<PathBuf> {
        let mail = understood::<Mail>(args);
        let paths = mail.map(|mail| mail.attachments).unwrap_or_default();
        paths.into_iter().map(PathBuf::from).collect()
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { self.send(permit, around).await.into() })
    }
}
