//! How a card is answered: a number answers once the card was read, and only the *allow* of a critical
//! call waits for Enter after it. A denial is never harder than a permission.

use countersign_core::approval::{Choice, VIEW_NUMBER};
use countersign_core::time::UnixMillis;
use reqwest::Method;
use serde_json::json;

use super::grant::Granting;
use super::{ApprovalPanel, PREVIEW, Step, Text, UNSEEN, VIEWED, tag, wish};
use crate::tui::panel::Reaction;
use crate::tui::screen::Wish;

/// Said to the number of a permission that waits for Enter.
const CONFIRM: &str = "This call is critical. Press Enter to allow it, or 4 to deny.";

/// Rows shown above a mark.
const MARK_CONTEXT: usize = 2;

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    Answer(Choice),
    View,
}

impl Row {
    /// Returns its number, which never changes.
    pub(super) const fn number(self) -> usize {
        match self {
            Self::Answer(choice) => choice.number(),
            Self::View => VIEW_NUMBER,
        }
    }
}

impl ApprovalPanel {
    /// Answers with `choice`, as its number would: what must be read first must be read first. The
    /// words that choose are typed elsewhere, so only the time in view counts.
    pub(crate) fn choose(&mut self, choice: Choice, now: UnixMillis) -> Reaction {
        if !self.is_waiting() || !self.subject.card.choices.contains(&choice) {
            self.notice = Some("This was not offered.".to_owned());
            return Reaction::STAYS;
        }
        if choice != Choice::Deny && !self.arming.had_time_to_read(now) {
            self.notice = Some(UNSEEN.to_owned());
            return Reaction::STAYS;
        }
        self.pick(Row::Answer(choice))
    }

    /// Denies it, and tells the agent why.
    pub(crate) fn deny(&mut self, note: Option<&str>) -> Reaction {
        let mut body = json!({ "choice": Choice::Deny.word() });
        let note = note.map(str::trim).filter(|note| !note.is_empty());
        if let (Some(fields), Some(note)) = (body.as_object_mut(), note) {
            fields.insert("note".to_owned(), json!(note));
        }
        self.resolve(body)
    }

    /// Takes the number of the selected row.
    pub(super) fn press_selected(&mut self) -> Reaction {
        match self.rows().get(self.selected).copied() {
            // *Session* and *always* open a step of their own, which ends with Enter.
            Some(Row::Answer(choice @ Choice::Once))
                if self.subject.confirm_allow && self.block(choice).is_none() =>
            {
                self.notice = Some(CONFIRM.to_owned());
                Reaction::STAYS
            }
            Some(row) => self.pick(row),
            None => Reaction::STAYS,
        }
    }

    /// Returns the rows of the list.
    pub(super) fn rows(&self) -> Vec<Row> {
        if !self.is_waiting() {
            return Vec::new();
        }
        let choices = self.subject.card.choices.iter().copied();
        let view = (self.text.is_long && !self.text.is_open).then_some(Row::View);
        choices.map(Row::Answer).chain(view).collect()
    }

    pub(super) fn pick(&mut self, row: Row) -> Reaction {
        if self.sent.is_some() {
            return Reaction::STAYS;
        }
        match row {
            Row::View => Reaction::wants(self.open()),
            Row::Answer(choice) => match (choice, self.block(choice)) {
                (_, Some(why)) => {
                    self.notice = Some(why.to_owned());
                    Reaction::STAYS
                }
                (Choice::Deny, None) => self.deny(None),
                (Choice::Once, None) => {
                    let mut body = json!({ "choice": choice.word() });
                    if let (Some(fields), Some(edited)) =
                        (body.as_object_mut(), &self.subject.edited)
                    {
                        fields.insert("args".to_owned(), edited.args.clone());
                    }
                    self.resolve(body)
                }
                (Choice::Session | Choice::Always, None) => {
                    let whose = self.subject.whose(choice);
                    self.step = Step::Granting(Granting::new(choice, whose));
                    // What is left behind must be read before it is confirmed.
                    self.arming.out_of_view();
                    let id = &self.subject.id;
                    let body = json!({ "approval_id": id });
                    Reaction::wants(vec![Wish::Send {
                        tag: tag(PREVIEW, id),
                        method: Method::POST,
                        path: "/v1/grants/preview".to_owned(),
                        body: Some(body),
                    }])
                }
            },
        }
    }

    /// Returns why `choice` cannot be made yet.
    pub(super) fn block(&self, choice: Choice) -> Option<&'static str> {
        let Text {
            is_long,
            is_open,
            is_read,
            ..
        } = self.text;
        if choice == Choice::Deny {
            None
        } else if self.is_away {
            Some("The gateway is down; nothing can be allowed until it is back.")
        } else if !is_long {
            None
        } else if !is_open {
            Some("Open the full text first: PgDn or 5.")
        } else if self.subject.is_high() && !is_read {
            Some("Read to the end first: PgDn or End.")
        } else {
            None
        }
    }

    /// Opens the text, if it is folded, and goes to the first marked row below the one on top; behind
    /// the last, to the first again.
    pub(super) fn go_to_next_mark(&mut self) -> Reaction {
        let rows = self.pages.marked_rows();
        let Some(first) = rows.first().copied() else {
            self.notice = Some("Nothing is marked in this text.".to_owned());
            return Reaction::STAYS;
        };
        let wishes = if self.text.is_long && !self.text.is_open {
            self.open()
        } else {
            Vec::new()
        };
        let here = self.text.first;
        let next = rows
            .into_iter()
            .find(|row| row.saturating_sub(MARK_CONTEXT) > here);
        self.text.first = next.unwrap_or(first).saturating_sub(MARK_CONTEXT);
        Reaction::wants(wishes)
    }

    /// Shows the full text in place. The list loses its last row, and the selection stays in it.
    pub(super) fn open(&mut self) -> Vec<Wish> {
        self.text.is_open = true;
        self.text.first = 0;
        let last = self.rows().len().saturating_sub(1);
        self.selected = self.selected.min(last);
        let id = self.subject.id.clone();
        vec![wish(VIEWED, &id, Method::POST, "/viewed", Some(json!({})))]
    }
}
