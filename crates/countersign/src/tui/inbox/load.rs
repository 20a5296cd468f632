//! What the inbox asks of the gateway, and what it does with the answers and with what happens.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::time::UnixMillis;
use serde_json::Value;

use super::hour::LastHour;
use super::standing::{take_grants, take_overrides, take_reviews};
use super::waiting::{Item, Kind};
use super::{Inbox, get};
use crate::client::segment;
use crate::config::read::at;
use crate::tui::screen::{News, Tag, Wish};
use crate::words::refusal;

/// Approvals of one page: as many as the gateway gives.
const PAGE: u32 = 500;
/// Approvals that are shown; whoever has more waiting has another problem.
const WAITING_MAX: usize = 10_000;

/// What is under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Loading {
    /// The approvals seen so far of a list that is read page by page.
    pages: Option<BTreeSet<String>>,
    /// A card that was asked for.
    card: Option<String>,
    /// Whether the list has been read once.
    pub(super) is_done: bool,
    /// Lists of what stands that are under way, and whether to ask again afterwards.
    standing: BTreeMap<&'static str, Again>,
}

/// Whether something has changed since a list was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    No,
    Yes,
}

impl Inbox {
    /// Asks for everything.
    pub(super) fn load_all(&mut self, now: UnixMillis) -> Vec<Wish> {
        let mut wishes = self.load_waiting();
        wishes.push(get("questions", "", "/v1/clarifications".to_owned()));
        wishes.push(LastHour::load(now));
        self.loading.standing.clear();
        wishes.extend(self.load_standing());
        wishes.push(get("keys", "", "/v1/keys".to_owned()));
        wishes.extend(self.history.load());
        wishes
    }

    fn load_waiting(&mut self) -> Vec<Wish> {
        self.loading.pages = Some(BTreeSet::new());
        self.loading.card = None;
        let path = format!("/v1/approvals?status=waiting&limit={PAGE}");
        vec![get("waiting", "", path)]
    }

    /// Whether what is listed is known to be what waits now.
    pub(super) const fn is_current(&self) -> bool {
        self.away.is_none() && self.loading.pages.is_none()
    }

    /// Asks for the cards of what is known by its event alone: one by itself, several as a list.
    pub(super) fn load_missing(&mut self) -> Vec<Wish> {
        if self.loading.pages.is_some() || self.loading.card.is_some() || self.away.is_some() {
            return Vec::new();
        }
        let missing = self.waiting.all().filter(|item| item.whole.is_none());
        let missing: Vec<String> = missing.take(2).map(|item| item.id.clone()).collect();
        match missing.as_slice() {
            [] => Vec::new(),
            [only] => self.load_card(only),
            [..] => self.load_waiting(),
        }
    }

    fn load_card(&mut self, id: &str) -> Vec<Wish> {
        self.loading.card = Some(id.to_owned());
        vec![get("card", id, format!("/v1/approvals/{}", segment(id)))]
    }

    /// Takes the answer to a request of the inbox itself.
    pub(super) fn answered(&mut self, tag: &Tag, status: u16, body: &Value) -> Vec<Wish> {
        let is_done = (200..300).contains(&status);
        match tag.what {
            "waiting" if is_done => return self.take_waiting(body),
            "card" => self.take_card(&tag.id, is_done, body),
            "questions" if is_done => self.take_questions(body),
            "history" if is_done => self.history.take_page(tag, body),
            "trace" if is_done => self.history.take_whole(body),
            "hour" if is_done => self.hour.take(body),
            "reviews" | "grants" | "overrides" => {
                match tag.what {
                    _ if !is_done => {}
                    "reviews" => take_reviews(&mut self.reviews, body),
                    "grants" => take_grants(&mut self.grants, body),
                    _ => take_overrides(&mut self.overrides, body),
                }
                return self.loaded(tag.what);
            }
            "keys" => {
                let mut keys = at(body, "keys").as_array().into_iter().flatten();
                // Who may not see the keys is not told to make one.
                self.has_agent = Some(!is_done || keys.any(|key| at(key, "role") == "agent"));
            }
            "batch" => return self.batch_answered(&tag.id, status, body),
            "settle" if is_done => {
                let words = match at(body, "status").as_str() {
                    Some("undoing") => "The agent is told to undo it.",
                    Some(_) | None => &tag.id,
                };
                self.said = Some(words.to_owned());
                return self.load_standing();
            }
            "settle" => {
                self.said = Some(refusal(status, body));
                return self.load_standing();
            }
            "waiting" | "history" => {
                self.lost(tag);
                self.said = Some(refusal(status, body));
            }
            _ => {}
        }
        Vec::new()
    }

    /// Nothing came back. What is only shown is asked for again when the gateway is back.
    pub(super) fn unanswered(&mut self, tag: &Tag, why: &str) {
        self.lost(tag);
        match tag.what {
            "batch" => self.batch_unanswered(&tag.id, why),
            "settle" => self.said = Some(format!("The gateway did not confirm it: {why}")),
            _ => {}
        }
    }

    fn lost(&mut self, tag: &Tag) {
        match tag.what {
            "waiting" => self.loading.pages = None,
            "card" => self.loading.card = None,
            "history" => self.history.lose(),
            "reviews" | "grants" | "overrides" => {
                self.loading.standing.remove(tag.what);
            }
            _ => {}
        }
    }

    fn load_standing(&mut self) -> Vec<Wish> {
        let mut wishes = self.load_once("reviews");
        wishes.extend(self.load_once("grants"));
        wishes.extend(self.load_once("overrides"));
        wishes
    }

    /// Asks for a list of what stands, or notes that it must be asked for again.
    fn load_once(&mut self, what: &'static str) -> Vec<Wish> {
        if let Some(again) = self.loading.standing.get_mut(what) {
            *again = Again::Yes;
            return Vec::new();
        }
        self.loading.standing.insert(what, Again::No);
        vec![get(what, "", format!("/v1/{what}"))]
    }

    fn loaded(&mut self, what: &'static str) -> Vec<Wish> {
        match self.loading.standing.remove(what) {
            Some(Again::Yes) => self.load_once(what),
            Some(Again::No) | None => Vec::new(),
        }
    }

    fn take_waiting(&mut self, body: &Value) -> Vec<Wish> {
        let Some(mut seen) = self.loading.pages.take() else {
            return Vec::new();
        };
        for approval in at(body, "approvals").as_array().into_iter().flatten() {
            if let Some(item) = Item::of_approval(approval) {
                seen.insert(item.id.clone());
                self.waiting.put(item);
            }
        }
        let next = at(body, "next")
            .as_str()
            .filter(|_| seen.len() < WAITING_MAX);
        let Some(next) = next else {
            self.waiting.retain(Kind::Approval, &seen);
            self.loading.is_done = true;
            return Vec::new();
        };
        let path = format!("/v1/approvals?status=waiting&limit={PAGE}&behind={next}");
        self.loading.pages = Some(seen);
        vec![get("waiting", next, path)]
    }

    fn take_card(&mut self, id: &str, is_done: bool, body: &Value) {
        if self.loading.card.as_deref() == Some(id) {
            self.loading.card = None;
        }
        let item = Item::of_approval(body).filter(|_| is_done && at(body, "status") == "waiting");
        match item {
            Some(item) => {
                self.waiting.put(item);
                if self.opening.as_deref() == Some(id) {
                    self.said = None;
                    self.opening = None;
                    self.open_card();
                }
            }
            None => {
                self.waiting.settle(id);
            }
        }
    }

    fn take_questions(&mut self, body: &Value) {
        let mut seen = BTreeSet::new();
        for question in at(body, "clarifications").as_array().into_iter().flatten() {
            let item = Item::of_question(question);
            if let Some(item) = item.filter(|_| at(question, "status") == "waiting") {
                seen.insert(item.id.clone());
                self.waiting.put(item);
            }
        }
        self.waiting.retain(Kind::Question, &seen);
    }

    /// Takes what happened.
    pub(super) fn happened(&mut self, event: &Value, now: UnixMillis, wishes: &mut Vec<Wish>) {
        let name = at(event, "event").as_str().unwrap_or_default();
        let approval = at(event, "approval_id").as_str().unwrap_or_default();
        self.history.event(name, event);
        match name {
            "approval.required" | "clarify.required" => {
                let item = if name == "approval.required" {
                    Item::of_event(event)
                } else {
                    Item::of_question(event)
                };
                if item.is_some_and(|item| self.waiting.put(item)) {
                    self.ring(now, wishes);
                }
            }
            "approval.resolved" => {
                self.waiting.settle(approval);
            }
            "clarify.resolved" => {
                let id = at(event, "clarification_id").as_str().unwrap_or_default();
                self.waiting.settle(id);
            }
            "approval.held" | "approval.taken_back" => wishes.extend(self.load_card(approval)),
            "call.assessed" => {
                self.hour.event(event);
                self.has_agent = Some(true);
            }
            "review.required" | "review.resolved" | "tool.completed" => {
                wishes.extend(self.load_once("reviews"));
            }
            "grant.created" | "grant.used" | "grant.revoked" => {
                wishes.extend(self.load_once("grants"));
            }
            "session.override_started" | "session.override_ended" => {
                wishes.extend(self.load_once("overrides"));
            }
            _ => {}
        }
    }

    /// Tells the card that is shown.
    pub(super) fn told_panel(&mut self, news: &News, now: UnixMillis) -> Vec<Wish> {
        let open = self.open.as_mut();
        open.map_or_else(Vec::new, |open| open.told(news, now))
    }
}
