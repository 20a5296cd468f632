//! Commands about one waiting call: what led to it, and editing it before it is allowed.

use std::fmt::Write as _;

use countersign_channels::chat::Typed;
use countersign_channels::press::Press;
use countersign_channels::text::{code, fenced, inert, quiet};
use countersign_core::approval::Choice;
use countersign_core::card::edited_text;
use countersign_core::command::{Command, EDITED};
use countersign_core::display::shortened;
use countersign_gate::GateError;
use countersign_gate::base::principal::Principal;
use countersign_gate::chats::click::Refusal;
use countersign_gate::history::before::BeforeView;

use super::Desk;
use super::typed::{Meant, SHOWN_CHARS_MAX, failed};
use crate::words::{ago, ending};

/// Said of a text that does not fit into a message.
const TOO_LONG: &str = "It is too long to be shown here. Edit it on the page or in the terminal.";

impl Desk {
    /// Shows what led to a call.
    pub(super) async fn before(
        &self,
        typed: &Typed,
        who: &Principal,
        id: Option<String>,
    ) -> Result<String, Refusal> {
        let subject = match self.subject(typed, who, id).await? {
            Meant::One(subject) => subject,
            Meant::Unclear(words) => return Ok(words),
        };
        match self.gate.before(who, &subject).await {
            Err(GateError::NotFound { kind, .. }) => Ok(self.no_such(kind, &Command::Pending)),
            before => Ok(self.told(&before.map_err(failed)?)),
        }
    }

    fn told(&self, before: &BeforeView) -> String {
        let now = self.gate.clock().now();
        let mut words = String::new();
        if let Some(message) = &before.message {
            let said = fenced(&message.text);
            let _infallible = writeln!(words, "{} said:\n{said}", inert(&message.from));
        }
        words.push_str(if before.calls.is_empty() {
            "This is the first call of its run."
        } else {
            "The calls before, the oldest first:"
        });
        for call in &before.calls {
            let command = code(&shortened(&call.command));
            let when = ago(
                countersign_core::time::UnixMillis::of_seconds(call.call.created_at),
                now,
            );
            let _infallible = write!(words, "\n- {command} {} · {when}", inert(&ending(call)));
        }
        words
    }

    /// Has an edited call judged and says how it can be allowed; without a text, shows what can be edited.
    pub(super) async fn edit(
        &self,
        typed: &Typed,
        who: &Principal,
        id: Option<String>,
        text: Option<String>,
    ) -> Result<String, Refusal> {
        let subject = match self.subject(typed, who, id).await? {
            Meant::One(subject) => subject,
            Meant::Unclear(words) => return Ok(words),
        };
        let Some(text) = text else {
            return self.show_editable(who, &subject).await;
        };
        let judged = match self.gate.propose_edit(who, &subject, &text).await {
            Err(GateError::NotFound { kind, .. }) => {
                return Ok(self.no_such(kind, &Command::Pending));
            }
            Err(GateError::Invalid { message, .. }) => {
                return Ok(format!("Nothing was answered: {}.", inert(&message)));
            }
            judged => judged.map_err(failed)?,
        };
        let shown = fenced(&judged.card.plain_text());
        if quiet(&shown).chars().count() > SHOWN_CHARS_MAX {
            return Ok(TOO_LONG.to_owned());
        }
        let allow = self.chat.typed_as("approve").unwrap_or_default();
        Ok(format!(
            "The edited call was judged again. Nothing was answered yet.\n{shown}\n\
             `{allow} {subject} {EDITED}` allows exactly this, once."
        ))
    }

    async fn show_editable(&self, who: &Principal, subject: &str) -> Result<String, Refusal> {
        let view = match self.gate.approval(who, subject).await {
            Err(GateError::NotFound { kind, .. }) => {
                return Ok(self.no_such(kind, &Command::Pending));
            }
            view => view.map_err(failed)?,
        };
        if !view.editable {
            return Ok(
                "This call cannot be edited: the agent takes no changed arguments, or not all of them \
                 are shown."
                    .to_owned(),
            );
        }
        let shown = fenced(&edited_text(&view.args));
        if quiet(&shown).chars().count() > SHOWN_CHARS_MAX {
            return Ok(TOO_LONG.to_owned());
        }
        let edit = self.chat.typed_as("edit").unwrap_or_default();
        Ok(format!(
            "This can be edited:\n{shown}\nType `{edit} {subject}` and the new text. It is judged again \
             before you can allow it."
        ))
    }

    /// Allows a call as this person edited it.
    pub(super) async fn approve_edited(
        &self,
        typed: &Typed,
        who: &Principal,
        id: Option<String>,
    ) -> Result<String, Refusal> {
        let subject = match self.subject(typed, who, id).await? {
            Meant::One(subject) => subject,
            Meant::Unclear(words) => return Ok(words),
        };
        let click = self.click(typed, subject, Press::Choose(Choice::Once), None);
        // It writes down itself what it refuses.
        Ok(match self.gate.click_edited(who, &click).await {
            Some(Ok(done)) => done.words,
            Some(Err(refusal)) => refusal.words(),
            None => {
                let edit = self.chat.typed_as("edit").unwrap_or_default();
                format!("You have not edited this call. `{edit}` does that first.")
            }
        })
    }
}
