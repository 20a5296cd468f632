//! Key handling of the inbox. Only a focused card or a confirmation can answer.

use countersign_core::time::UnixMillis;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::json;

use super::ask::{Asking, Deed, Said, Sure, line};
use super::shelf::Entry as _;
use super::waiting::Row;
use super::{Inbox, Open, Tab, post};
use crate::client::segment;
use crate::tui::keys::{Act, ListAct, Place, act};
use crate::tui::panel::Then;
use crate::tui::screen::{Tag, Wish};
use reqwest::Method;

/// Said to a key that came too soon.
const TOO_SOON: &str = "Too fast: that key was ignored. Press it again.";
/// Said when something is to be allowed that may not be what is listed.
const NOT_CURRENT: &str = "Nothing was allowed: the inbox is not up to date yet.";

impl Inbox {
    /// Takes a key.
    pub(super) fn pressed(&mut self, key: KeyEvent, now: UnixMillis) -> Vec<Wish> {
        self.said = None;
        self.opening = None;
        let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
        if is_interrupt {
            return vec![Wish::Leave];
        }
        match std::mem::replace(&mut self.asking, Asking::Nothing) {
            Asking::Nothing => {}
            Asking::Keys => return self.key_of_keys(key),
            Asking::Filter(input) => return self.key_of_filter(input, key),
            Asking::Note { note, ids } => return self.key_of_note(note, ids, key),
            Asking::Sure(sure) => return self.key_of_question(sure, key, now),
        }
        if let Some(open) = self.open.as_mut().filter(|open| open.has_keys()) {
            let reaction = open.key(key, now);
            match reaction.then {
                Then::Leaves => self.leave_card(),
                Then::Stays | Then::NotMine => {}
            }
            return reaction.wishes;
        }
        let Some(act) = act(Place::List, key) else {
            return Vec::new();
        };
        self.act(act)
    }

    /// Takes what was pasted. It is typed where something can be typed and nothing elsewhere.
    pub(super) fn typed_in(&mut self, text: &str, now: UnixMillis) -> Vec<Wish> {
        match &mut self.asking {
            Asking::Filter(input) | Asking::Note { note: input, .. } => input.insert(text),
            Asking::Sure(sure) => sure.pasted(now),
            Asking::Nothing | Asking::Keys => {
                if let Some(open) = self.open.as_mut().filter(|open| open.has_keys()) {
                    open.pasted(text, now);
                }
            }
        }
        if let Asking::Filter(input) = &self.asking {
            let text = input.text();
            self.filter_by(&text);
        }
        Vec::new()
    }

    fn act(&mut self, act: Act) -> Vec<Wish> {
        let page = isize::try_from(self.page).unwrap_or(isize::MAX).max(1);
        match act {
            Act::Up => self.go(-1),
            Act::Down => self.go(1),
            Act::PageUp => self.go(-page),
            Act::PageDown => self.go(page),
            Act::Top => self.go(isize::MIN + 1),
            Act::End => self.go(isize::MAX),
            Act::Confirm => self.enter(),
            Act::Leave => self.escape(),
            Act::Keys => {
                self.scrolled = 0;
                self.asking = Asking::Keys;
                Vec::new()
            }
            Act::List(act) => self.act_of_list(act),
            Act::Number(_)
            | Act::DenyWithNote
            | Act::Edit
            | Act::NextMark
            | Act::Why
            | Act::Before
            | Act::SideBySide
            | Act::TakeBack
            | Act::Extend
            | Act::EditLimit
            | Act::SwitchFocus
            | Act::NewLine
            | Act::Steer
            | Act::Earlier
            | Act::Later
            | Act::Interrupt
            | Act::EndOfInput => Vec::new(),
        }
    }

    fn act_of_list(&mut self, act: ListAct) -> Vec<Wish> {
        match act {
            ListAct::NextTab => self.turn_to(self.tab.step(1)),
            ListAct::PreviousTab => self.turn_to(self.tab.step(-1)),
            ListAct::Filter => {
                let mut input = line();
                input.insert(&self.filter);
                self.asking = Asking::Filter(input);
                Vec::new()
            }
            ListAct::Select => {
                let here = self.waiting.under_cursor();
                if self.tab == Tab::Waiting {
                    self.waiting.choose(&here);
                }
                Vec::new()
            }
            ListAct::SelectRun => {
                if self.tab == Tab::Waiting {
                    self.waiting.choose_run();
                }
                Vec::new()
            }
            ListAct::Deny
            | ListAct::AllowOnce
            | ListAct::Undo
            | ListAct::Keep
            | ListAct::Revoke
            | ListAct::Lift => self.deed(act),
            ListAct::Quit => vec![Wish::Leave],
        }
    }

    /// Asks about, or does, what a letter of the list stands for.
    fn deed(&mut self, act: ListAct) -> Vec<Wish> {
        match (act, self.tab) {
            (ListAct::Deny, Tab::Waiting) => self.deny_chosen(),
            (ListAct::AllowOnce, Tab::Waiting) => self.allow_chosen(),
            (ListAct::Undo, Tab::Reviews) => {
                if let Some(review) = self.reviews.selected() {
                    let question = format!("Undo {}?", review.what);
                    let deed = Deed::Undo(review.id().to_owned());
                    let sure = Sure::new(question, "Undo it".to_owned(), "Leave it", deed);
                    self.asking = Asking::Sure(sure);
                }
            }
            (ListAct::Keep, Tab::Reviews) => {
                if let Some(review) = self.reviews.selected() {
                    let path = format!("/v1/reviews/{}/keep", segment(review.id()));
                    return vec![post("settle", "Kept.", path, json!({}))];
                }
            }
            (ListAct::Revoke, Tab::Grants) => {
                if let Some(grant) = self.grants.selected() {
                    let question = format!("Revoke this grant? {}", grant.words);
                    let deed = Deed::Revoke(grant.id().to_owned());
                    let sure = Sure::new(question, "Revoke".to_owned(), "Leave it", deed);
                    self.asking = Asking::Sure(sure);
                }
            }
            (ListAct::Lift, Tab::History) => self.lift_selected(),
            _ => {}
        }
        Vec::new()
    }

    /// Asks whether the agent may ask again about what was denied.
    fn lift_selected(&mut self) {
        let Some(past) = self.history.list.selected() else {
            return;
        };
        let Some(denial) = past.denial() else {
            self.said = Some("This call was not denied; there is nothing to lift.".to_owned());
            return;
        };
        let question = format!(
            "Lift this denial, so the agent may ask again? {}",
            past.what
        );
        let deed = Deed::Lift(denial);
        let sure = Sure::new(question, "Lift the denial".to_owned(), "Leave it", deed);
        self.asking = Asking::Sure(sure);
    }

    fn go(&mut self, rows: isize) -> Vec<Wish> {
        if self.is_detail_open {
            self.scrolled = self.scrolled.saturating_add_signed(rows);
            return Vec::new();
        }
        self.scrolled = 0;
        match self.tab {
            Tab::Waiting => self.waiting.go(rows),
            Tab::Reviews => self.reviews.go(rows),
            Tab::Grants => self.grants.go(rows),
            Tab::History => {
                self.history.list.go(rows);
                let mut wishes = self.history.more();
                wishes.extend(self.history.whole());
                return wishes;
            }
        }
        Vec::new()
    }

    fn turn_to(&mut self, tab: Tab) -> Vec<Wish> {
        self.tab = tab;
        self.is_detail_open = false;
        self.scrolled = 0;
        if tab == Tab::History {
            return self.history.whole();
        }
        Vec::new()
    }

    /// Opens what the cursor is on.
    fn enter(&mut self) -> Vec<Wish> {
        match self.tab {
            Tab::Waiting => {
                if !self.waiting.toggle_fold() {
                    self.open_card();
                }
                Vec::new()
            }
            Tab::History => {
                self.is_detail_open = self.history.list.selected().is_some();
                self.history.whole()
            }
            Tab::Reviews => {
                self.is_detail_open = self.reviews.selected().is_some();
                Vec::new()
            }
            Tab::Grants => {
                self.is_detail_open = self.grants.selected().is_some();
                Vec::new()
            }
        }
    }

    /// Opens the card of the selected row, and gives it the keys.
    pub(super) fn open_card(&mut self) {
        let Some(Row::One { id, .. }) = self.waiting.selected() else {
            return;
        };
        let id = id.clone();
        let is_shown = self.open.as_ref().is_some_and(|open| open.id() == id);
        if !is_shown {
            self.open = self.card_of(&id);
        }
        if let Some(open) = &mut self.open {
            open.give_keys();
        } else {
            self.said = Some("Loading the card.".to_owned());
            self.opening = Some(id);
        }
    }

    /// Returns the card of `id`, beside the list; `None` while it is not known.
    pub(super) fn card_of(&self, id: &str) -> Option<Open> {
        let item = self.waiting.get(id)?;
        // A question does not say who asks it; what else the run asks does.
        let asker = self.waiting.asker(&item.run).unwrap_or("The agent");
        let mut open = Open::beside(item, asker, self.theme)?;
        if let Some(why) = &self.away {
            open.is_away(why);
        }
        Some(open)
    }

    fn leave_card(&mut self) {
        self.open = None;
    }

    /// Closes, step by step, what is open. It answers nothing, and it does not end the program.
    fn escape(&mut self) -> Vec<Wish> {
        if self.is_detail_open {
            self.is_detail_open = false;
            self.scrolled = 0;
        } else if !self.waiting.chosen().is_empty() {
            self.waiting.choose_none();
        } else {
            self.filter_by("");
        }
        Vec::new()
    }

    /// Scrolls the list of keys; whatever else is pressed closes it.
    fn key_of_keys(&mut self, key: KeyEvent) -> Vec<Wish> {
        let rows = match act(Place::List, key) {
            Some(Act::Up | Act::PageUp) => -1,
            Some(Act::Down | Act::PageDown) => 1,
            Some(_) | None => {
                self.scrolled = 0;
                return Vec::new();
            }
        };
        self.scrolled = self.scrolled.saturating_add_signed(rows);
        self.asking = Asking::Keys;
        Vec::new()
    }

    fn key_of_filter(&mut self, mut input: crate::tui::input::Input, key: KeyEvent) -> Vec<Wish> {
        match act(Place::Line, key) {
            Some(Act::Confirm) => {}
            Some(Act::Leave) => self.filter_by(""),
            Some(_) | None => {
                input.key(key);
                let text = input.text();
                self.filter_by(&text);
                self.asking = Asking::Filter(input);
            }
        }
        Vec::new()
    }

    fn filter_by(&mut self, text: &str) {
        text.clone_into(&mut self.filter);
        self.waiting.filter(text);
        self.history.list.filter(text);
        self.reviews.filter(text);
        self.grants.filter(text);
    }

    fn key_of_note(
        &mut self,
        mut note: crate::tui::input::Input,
        ids: Vec<String>,
        key: KeyEvent,
    ) -> Vec<Wish> {
        match act(Place::Line, key) {
            Some(Act::Confirm) => {
                let note = note.take();
                self.answer_all("deny", note.trim(), &ids)
            }
            Some(Act::Leave) => Vec::new(),
            Some(_) | None => {
                note.key(key);
                self.asking = Asking::Note { note, ids };
                Vec::new()
            }
        }
    }

    fn key_of_question(&mut self, mut sure: Sure, key: KeyEvent, now: UnixMillis) -> Vec<Wish> {
        match sure.key(key, now) {
            Said::No => Vec::new(),
            Said::Nothing => {
                self.asking = Asking::Sure(sure);
                Vec::new()
            }
            Said::TooSoon => {
                self.said = Some(TOO_SOON.to_owned());
                self.asking = Asking::Sure(sure);
                Vec::new()
            }
            // What was selected may have changed since, until all of it was read again.
            Said::Yes(Deed::Allow(_)) if !self.is_current() => {
                self.said = Some(NOT_CURRENT.to_owned());
                Vec::new()
            }
            Said::Yes(Deed::Allow(ids)) => self.answer_all("once", "", &ids),
            Said::Yes(Deed::Undo(id)) => {
                let path = format!("/v1/reviews/{}/undo", segment(&id));
                vec![post("settle", "Undone.", path, json!({}))]
            }
            Said::Yes(Deed::Lift(id)) => {
                let path = format!("/v1/approvals/{}/lift", segment(&id));
                let words = "Denial lifted; the agent may ask again.";
                vec![post("settle", words, path, json!({}))]
            }
            Said::Yes(Deed::Revoke(id)) => {
                let words = "Revoked.";
                vec![Wish::Send {
                    tag: Tag {
                        what: "settle",
                        id: words.to_owned(),
                    },
                    method: Method::DELETE,
                    path: format!("/v1/grants/{}", segment(&id)),
                    body: None,
                }]
            }
        }
    }
}
