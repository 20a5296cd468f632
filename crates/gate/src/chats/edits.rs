//! Edits that are typed in a chat: judged at once, remembered until the same person allows them.
//!
//! A chat has no editor with two steps, so the first message proposes an edit and the second allows it. What
//! is remembered is in this process alone: after a restart the edit is typed again.

use std::sync::{Mutex, PoisonError};

use countersign_channels::press::Click;
use countersign_core::card::edited_args;
use serde_json::Value;

use crate::GateError;
use crate::base::principal::Principal;
use crate::chats::Chats;
use crate::chats::click::{Clicked, Refusal};
use crate::records::error::invalid;
use crate::records::view::EditedView;

/// Most edits that are remembered; the oldest makes room.
const REMEMBERED_MAX: usize = 256;

/// Edits that were judged and not allowed yet.
#[derive(Debug, Default)]
pub(super) struct Edits {
    remembered: Mutex<Vec<Edit>>,
}

#[derive(Debug)]
struct Edit {
    person: String,
    approval: String,
    args: Value,
}

impl Edits {
    fn remember(&self, edit: Edit) {
        let mut all = self
            .remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| (&it.person, &it.approval) != (&edit.person, &edit.approval));
        if all.len() >= REMEMBERED_MAX {
            all.remove(0);
        }
        all.push(edit);
    }

    fn of(&self, person: &str, approval: &str) -> Option<Value> {
        let all = self
            .remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let edit = all
            .iter()
            .find(|it| it.person == person && it.approval == approval)?;
        Some(edit.args.clone())
    }
}

impl Chats {
    /// Judges the call of the question `id` with `text` in place of what can be edited, and remembers it
    /// for `who`. Answers nothing.
    pub async fn propose_edit(
        &self,
        who: &Principal,
        id: &str,
        text: &str,
    ) -> Result<EditedView, GateError> {
        let view = self.approvals.approval(who, id).await?;
        if !view.editable {
            let message = "this call cannot be edited: the agent takes no changed arguments, or not all \
                           of them are shown";
            return Err(invalid("args", "not_editable", message));
        }
        let args = edited_args(&view.args, text)
            .ok_or_else(|| invalid("args", "args_not_object", "this is not a JSON object"))?;
        let judged = self.approvals.assess_edited(who, id, &args).await?;
        self.edits.remember(Edit {
            person: who.name.clone(),
            approval: id.to_owned(),
            args,
        });
        Ok(judged)
    }

    /// Allows a call as the person proposed it; `None` if they proposed nothing.
    pub async fn click_edited(
        &self,
        who: &Principal,
        click: &Click,
    ) -> Option<Result<Clicked, Refusal>> {
        let args = self.edits.of(&who.name, &click.subject)?;
        Some(self.click_with(click, Some(args)).await)
    }
}
