//! Batch answers: deny anything, allow low and medium risk once, never create a grant.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use reqwest::StatusCode;
use serde_json::json;

use super::ask::{Asking, Deed, Sure, line};
use super::waiting::Kind;
use super::{Inbox, get, post};
use crate::client::{Answer, segment};
use crate::tui::screen::Wish;
use crate::words::refusal;

/// Answers that are under way, and what came of the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// `Denied` or `Allowed`.
    done_word: &'static str,
    open: BTreeSet<String>,
    done: usize,
    /// Answered by somebody else before.
    late: usize,
    wrong: Option<String>,
}

impl Inbox {
    /// Asks for the note with which everything selected is denied.
    pub(super) fn deny_chosen(&mut self) {
        let ids = self.chosen_or_here();
        let approvals: Vec<String> = ids
            .iter()
            .filter(|id| self.is_approval(id))
            .cloned()
            .collect();
        if approvals.is_empty() {
            self.said = Some("There is nothing to deny here.".to_owned());
            return;
        }
        let (note, ids) = (line(), approvals);
        self.asking = Asking::Note { note, ids };
    }

    /// Asks whether what is selected shall be allowed once, as far as that may be done in a batch.
    pub(super) fn allow_chosen(&mut self) {
        let ids = self.chosen_or_here();
        if ids.is_empty() {
            return;
        }
        let may = |id: &&String| {
            let item = self.waiting.get(id);
            item.is_some_and(super::waiting::Item::may_be_allowed_in_a_batch)
        };
        let allowed: Vec<String> = ids.iter().filter(may).cloned().collect();
        let staying = ids.len() - allowed.len();
        if allowed.is_empty() {
            let words =
                "Only low and medium risk can be allowed from the list. Enter opens the card.";
            self.said = Some(words.to_owned());
            return;
        }
        let stays = match staying {
            0 => String::new(),
            1 => " 1 of higher risk stays waiting; answer it separately.".to_owned(),
            more => format!(" {more} of higher risk stay waiting; answer them separately."),
        };
        let question = format!("Allow {} once?{stays}", calls(allowed.len()));
        let yes = format!("Allow {} once", calls(allowed.len()));
        let deed = Deed::Allow(allowed);
        self.asking = Asking::Sure(Sure::new(question, yes, "Leave them waiting", deed));
    }

    /// Answers all of `ids` with `choice`.
    pub(super) fn answer_all(
        &mut self,
        choice: &'static str,
        note: &str,
        ids: &[String],
    ) -> Vec<Wish> {
        let done_word = if choice == "deny" {
            "Denied"
        } else {
            "Allowed once"
        };
        self.batch = Batch {
            done_word,
            open: ids.iter().cloned().collect(),
            ..Batch::default()
        };
        self.waiting.choose_none();
        let mut body = json!({ "choice": choice });
        if let Some(fields) = body.as_object_mut().filter(|_| !note.is_empty()) {
            fields.insert("note".to_owned(), json!(note));
        }
        let path = |id: &str| format!("/v1/approvals/{}/resolve", segment(id));
        let answers = ids
            .iter()
            .map(|id| post("batch", id, path(id), body.clone()));
        answers.collect()
    }

    /// Takes what came of one answer of a batch.
    pub(super) fn batch_answered(&mut self, id: &str, answer: &Answer) -> Vec<Wish> {
        self.batch.open.remove(id);
        match answer.status() {
            status if status.is_success() => self.batch.done += 1,
            StatusCode::NOT_FOUND | StatusCode::CONFLICT | StatusCode::GONE => self.batch.late += 1,
            _ => self.batch.wrong = Some(refusal(answer)),
        }
        self.say_batch();
        if answer.is_success() {
            return Vec::new();
        }
        // What it is now is not known from a refusal.
        vec![get("card", id, format!("/v1/approvals/{}", segment(id)))]
    }

    /// Nothing came back for one answer of a batch. It stays in the list until something is known.
    pub(super) fn batch_unanswered(&mut self, id: &str, why: &str) {
        self.batch.open.remove(id);
        self.batch.wrong = Some(format!("The gateway did not confirm it: {why}"));
        self.say_batch();
    }

    fn say_batch(&mut self) {
        let Batch {
            done_word,
            open,
            done,
            late,
            wrong,
        } = &self.batch;
        if !open.is_empty() {
            return;
        }
        let mut words = format!("{done_word}: {}.", calls(*done));
        if *late > 0 {
            let _infallible = write!(words, " Already answered: {late}.");
        }
        if let Some(wrong) = wrong {
            let _infallible = write!(words, " {wrong}");
        }
        self.said = Some(words);
    }

    /// Returns what is selected, or what the cursor is on.
    fn chosen_or_here(&mut self) -> Vec<String> {
        let chosen: Vec<String> = self.waiting.chosen().iter().cloned().collect();
        if chosen.is_empty() {
            self.waiting.under_cursor()
        } else {
            chosen
        }
    }

    fn is_approval(&self, id: &str) -> bool {
        let item = self.waiting.get(id);
        item.is_some_and(|item| item.kind == Kind::Approval)
    }
}

/// Returns a number of calls in words.
pub(super) fn calls(count: usize) -> String {
    match count {
        1 => "1 call".to_owned(),
        count => format!("{count} calls"),
    }
}
