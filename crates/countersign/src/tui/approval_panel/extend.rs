//! More time for a question. It answers nothing, and what was read or typed stays.

use reqwest::Method;
use serde_json::json;

use super::edit::Edit;
use super::subject::Subject;
use super::{ApprovalPanel, EXTEND, wish};
use crate::client::Answer;
use crate::tui::panel::Reaction;
use crate::tui::screen::Wish;
use crate::words::refusal;

impl ApprovalPanel {
    /// Asks for more time, where that is offered.
    pub(in crate::tui) fn extend(&mut self) -> Reaction {
        if !self.is_waiting() || self.subject.extension.is_none() {
            self.notice = Some("No more time can be added.".to_owned());
            return Reaction::STAYS;
        }
        let id = &self.subject.id;
        let request = wish(EXTEND, id, Method::POST, "/extend", Some(json!({})));
        Reaction::wants(vec![request])
    }

    /// Returns the request that looks how much time there is.
    pub(super) fn fetch_time(&self) -> Wish {
        wish(EXTEND, &self.subject.id, Method::GET, "", None)
    }

    /// Takes how much time there is now.
    pub(super) fn extended(&mut self, answer: &Answer) {
        if !answer.is_success() {
            match answer.refusal().decision {
                Some(decision) => self.settle(decision),
                None => self.notice = Some(refusal(answer)),
            }
            return;
        }
        let fresh = Subject::of_answer(&self.subject.id, answer);
        let original = self.edit.as_mut().map(Edit::original);
        for subject in [Some(&mut self.subject), original].into_iter().flatten() {
            subject.expires_at = fresh.expires_at;
            subject.extension = fresh.extension;
        }
    }
}
