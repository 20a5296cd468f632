//! Loads the inbox from the gateway and applies events.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::status::{ClarificationStatus, ReviewStatus, Status};
use countersign_core::time::UnixMillis;
use countersign_gate::base::practice::is_practice;
use countersign_gate::base::principal::Role;
use countersign_gate::records::event::Event;
use countersign_gate::records::view::ApprovalView;
use countersign_gate::reviews::ReviewView;
use serde::de::DeserializeOwned;

use super::hour::LastHour;
use super::standing::{take_grants, take_overrides, take_reviews};
use super::waiting::{Item, Kind};
use super::{Inbox, get};
use crate::client::{Answer, segment};
use crate::tui::screen::{News, Tag, Wish};
use crate::wire::lists::{
    ApprovalList, ClarificationList, GrantList, KeyList, OverrideList, ReviewList, TraceList,
};
use crate::words::{refusal, sentence};

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
        let missing = self.waiting.all().filter(|item| item.whole.is_missing());
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
    pub(super) fn answered(&mut self, tag: &Tag, answer: &Answer) -> Vec<Wish> {
        match tag.what {
            "waiting" => match self.read::<ApprovalList>(answer) {
                Some(list) => return self.take_waiting(list),
                None => self.lost(tag),
            },
            "card" => self.take_card(&tag.id, answer),
            "history" => match self.read::<TraceList>(answer) {
                Some(list) => self.history.take_page(tag, list),
                None => self.lost(tag),
            },
            "questions" => {
                if let Ok(list) = answer.read() {
                    self.take_questions(list);
                }
            }
            "trace" => {
                if let Ok(trace) = answer.read() {
                    self.history.take_whole(trace);
                }
            }
            "hour" => {
                if let Ok(list) = answer.read() {
                    self.hour.take(&list);
                }
            }
            "reviews" | "grants" | "overrides" => {
                self.take_standing(tag.what, answer);
                return self.loaded(tag.what);
            }
            "keys" => {
                let is_agent = |list: KeyList| list.keys.iter().any(|key| key.role == Role::Agent);
                // Who may not see the keys is not told to make one.
                self.has_agent = Some(answer.read().map_or(true, is_agent));
            }
            "batch" => return self.batch_answered(&tag.id, answer),
            "settle" => {
                let words = match answer.read::<ReviewView>() {
                    Ok(review) if review.status == ReviewStatus::Undoing => {
                        "The agent is told to undo it.".to_owned()
                    }
                    _ if answer.is_success() => tag.id.clone(),
                    _ => refusal(answer),
                };
                self.said = Some(words);
                return self.load_standing();
            }
            _ => {}
        }
        Vec::new()
    }

    /// Reads an answer, or says why it cannot be had.
    fn read<T: DeserializeOwned>(&mut self, answer: &Answer) -> Option<T> {
        match answer.read() {
            Ok(read) => return Some(read),
            Err(_) if !answer.is_success() => self.said = Some(refusal(answer)),
            Err(complaint) => self.said = Some(sentence(complaint.message())),
        }
        None
    }

    /// Takes a list of what stands. One that is refused leaves what is known.
    fn take_standing(&mut self, what: &str, answer: &Answer) {
        match what {
            "reviews" => {
                if let Ok(list) = answer.read::<ReviewList>() {
                    take_reviews(&mut self.reviews, list.reviews);
                }
            }
            "grants" => {
                if let Ok(list) = answer.read::<GrantList>() {
                    take_grants(&mut self.grants, list.grants);
                }
            }
            _ => {
                if let Ok(list) = answer.read::<OverrideList>() {
                    take_overrides(&mut self.overrides, &list.overrides);
                }
            }
        }
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

    fn take_waiting(&mut self, list: ApprovalList) -> Vec<Wish> {
        let Some(mut seen) = self.loading.pages.take() else {
            return Vec::new();
        };
        for approval in list.approvals {
            seen.insert(approval.approval_id.clone());
            self.waiting.put(Item::of_approval(approval));
        }
        let Some(next) = list.next.filter(|_| seen.len() < WAITING_MAX) else {
            self.waiting.retain(Kind::Approval, &seen);
            self.loading.is_done = true;
            return Vec::new();
        };
        let path = format!("/v1/approvals?status=waiting&limit={PAGE}&behind={next}");
        self.loading.pages = Some(seen);
        vec![get("waiting", &next, path)]
    }

    fn take_card(&mut self, id: &str, answer: &Answer) {
        if self.loading.card.as_deref() == Some(id) {
            self.loading.card = None;
        }
        match answer.read::<ApprovalView>() {
            Ok(approval) if approval.status == Status::Waiting => {
                self.waiting.put(Item::of_approval(approval));
                self.open_awaited(id);
            }
            Err(_) if answer.is_success() => {
                self.waiting.cannot_be_read(id);
                self.open_awaited(id);
            }
            Ok(_) | Err(_) => {
                self.waiting.settle(id);
            }
        }
    }

    /// Opens the card that was waited for.
    fn open_awaited(&mut self, id: &str) {
        if self.opening.as_deref() == Some(id) {
            self.said = None;
            self.opening = None;
            self.open_card();
        }
    }

    fn take_questions(&mut self, list: ClarificationList) {
        let mut seen = BTreeSet::new();
        let questions = list.clarifications.into_iter();
        for question in questions.filter(|it| it.status == ClarificationStatus::Waiting) {
            seen.insert(question.clarification_id.clone());
            self.waiting.put(Item::of_question(question));
        }
        self.waiting.retain(Kind::Question, &seen);
    }

    /// Takes what happened.
    #[expect(clippy::wildcard_enum_match_arm, reason = "an inbox shows some events")]
    pub(super) fn happened(&mut self, event: &Event, now: UnixMillis, wishes: &mut Vec<Wish>) {
        match event {
            Event::ApprovalRequired(asked) => self.arrived(Item::of_event(asked), now, wishes),
            Event::ClarifyRequired(asked) => self.arrived(Item::of_asked(asked), now, wishes),
            Event::ApprovalResolved(told) => {
                self.history.settled(told);
                self.waiting.settle(&told.approval_id);
            }
            Event::ClarifyResolved(told) => {
                self.waiting.settle(&told.clarification_id);
            }
            Event::ApprovalHeld(told)
            | Event::ApprovalTakenBack(told)
            | Event::ApprovalExtended(told) => {
                wishes.extend(self.load_card(&told.approval_id));
            }
            Event::CallAssessed(call) => {
                self.history.judged(call);
                self.hour.event(call);
                if !is_practice(&call.command) {
                    self.has_agent = Some(true);
                }
            }
            Event::ReviewRequired(_) | Event::ReviewResolved(_) | Event::ToolCompleted(_) => {
                wishes.extend(self.load_once("reviews"));
            }
            Event::GrantCreated(_) | Event::GrantUsed(_) | Event::GrantRevoked(_) => {
                wishes.extend(self.load_once("grants"));
            }
            Event::OverrideStarted(_) | Event::OverrideEnded(_) => {
                wishes.extend(self.load_once("overrides"));
            }
            _ => {}
        }
    }

    fn arrived(&mut self, item: Item, now: UnixMillis, wishes: &mut Vec<Wish>) {
        if self.waiting.put(item) {
            self.ring(now, wishes);
        }
    }

    /// Tells the card that is shown.
    pub(super) fn told_panel(&mut self, news: &News) -> Vec<Wish> {
        let open = self.open.as_mut();
        open.map_or_else(Vec::new, |open| open.told(news))
    }
}
