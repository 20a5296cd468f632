//! The approval panel: the call, its risk, who asks, and numbered choices.
//!
//! Made from the answer to `GET /v1/approvals/{id}`; whoever shows it hands it keys and news, and sends
//! what it wishes. A key answers only when the card was read, and outside a burst of keys. Escape
//! answers nothing. Whoever allows has had the whole call before them: if it does not fit, it must be
//! opened, and if the risk is high, read to its end.

mod before;
mod change;
mod choosing;
mod draw;
mod edit;
mod extend;
mod files;
mod grant;
mod subject;
#[cfg(test)]
pub(in crate::tui) mod tests;
mod why;

use countersign_core::approval::Choice;
use countersign_core::time::UnixMillis;
use countersign_gate::history::before::BeforeView;
use countersign_gate::history::traces::TraceView;
use countersign_gate::records::event::Event;
use countersign_gate::records::view::{ApprovalView, DecisionView};
use ratatui::crossterm::event::KeyEvent;
use reqwest::Method;
use serde_json::{Value, json};

use self::change::Columns;
use self::choosing::Row;
use self::edit::Edit;
use self::grant::{Chosen, Granting};
use self::subject::Subject;
use super::arming::{Armed, Arming};
use super::input::{Input, Lines};
use super::keys::{Act, Place, act, is_press};
use super::panel::Reaction;
use super::screen::{News, Tag, Wish};
use super::theme::Theme;
use crate::client::{Answer, segment};
use crate::wire::lists::ScopeList;
use crate::words::{decided, outcome, refusal, span_changes_at};

/// Longest note, in bytes; the gateway takes 16 KiB.
const NOTE_BYTES_MAX: usize = 4096;
/// Said to a key that came while somebody was typing or had not had time to read.
const TOO_SOON: &str = "Too fast: that key was ignored. Press it again.";

/// Said to a command about a card that was not before the person.
const UNSEEN: &str = "This card is new to you, so nothing was answered. Read it, then answer.";

/// Said while it is looked up whether an answer arrived.
const UNKNOWN: &str = "The gateway did not confirm your answer; checking";

/// What its requests are called.
const CARD: &str = "approval.card";
const RESOLVE: &str = "approval.resolve";
const PREVIEW: &str = "approval.preview";
const VIEWED: &str = "approval.viewed";
const TAKE_BACK: &str = "approval.take_back";
const EXTEND: &str = "approval.extend";
const TRACE: &str = "approval.trace";
const ASSESS: &str = "approval.assess";
const CHANGES: &str = "approval.changes";
const BEFORE: &str = "approval.before";

/// One approval on the screen.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalPanel {
    theme: Theme,
    subject: Subject,
    arming: Arming,
    face: Face,
    step: Step,
    selected: usize,
    text: Text,
    columns: Columns,
    /// Something to be read once.
    notice: Option<String>,
    /// Requests without a response yet.
    sent: Option<&'static str>,
    was_answered_here: bool,
    /// Whether the gateway is away, or it is not known yet what happened meanwhile.
    is_away: bool,
    /// The trace of the call, once it was asked for.
    trace: Option<Box<TraceView>>,
    /// What led to the call, once it was asked for.
    before: Option<Box<BeforeView>>,
    /// The call while it is being edited.
    edit: Option<Edit>,
    pages: draw::Pages,
}

/// The visible side of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Face {
    Card,
    Why,
    Before,
    Keys,
}

/// How far the answer is.
#[derive(Clone, Debug)]
enum Step {
    Choosing,
    /// It is a no; why?
    Note(Input),
    Granting(Granting),
    /// The call is being edited.
    Editing,
}

/// What was seen of the text.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is its own yes or no")]
struct Text {
    /// Whether it was too long for its place when it was last drawn.
    is_long: bool,
    is_open: bool,
    /// Whether there was no room for it at all.
    is_unreadable: bool,
    /// Whether its end has been on the screen.
    is_read: bool,
    /// The first row that is drawn.
    first: usize,
    /// How many rows were drawn last, and how many there are.
    shown: usize,
    rows: usize,
}

impl ApprovalPanel {
    /// Shows `approval`.
    pub(crate) fn new(approval: ApprovalView, theme: Theme) -> Self {
        Self::about(Subject::new(approval), theme)
    }

    /// Shows the answer to `GET /v1/approvals/{id}`. What cannot be read can only be denied.
    pub(crate) fn of_answer(id: &str, answer: &Answer, theme: Theme) -> Self {
        Self::about(Subject::of_answer(id, answer), theme)
    }

    /// Shows the approval `id`, whose card cannot be read.
    pub(crate) fn unreadable(id: &str, theme: Theme) -> Self {
        Self::about(Subject::unreadable(id), theme)
    }

    fn about(subject: Subject, theme: Theme) -> Self {
        let mut panel = Self {
            theme,
            pages: draw::Pages::new(&subject, Columns::One, theme),
            subject,
            arming: Arming::default(),
            face: Face::Card,
            step: Step::Choosing,
            selected: 0,
            text: Text::default(),
            columns: Columns::One,
            notice: None,
            sent: None,
            was_answered_here: false,
            is_away: false,
            trace: None,
            before: None,
            edit: None,
        };
        panel.select_first();
        panel
    }

    /// Returns the request that fetches the card of `id`, whose answer is handed to
    /// [`ApprovalPanel::of_answer`] or to [`ApprovalPanel::told`].
    pub(crate) fn fetch(id: &str) -> Wish {
        wish(CARD, id, Method::GET, "", None)
    }

    /// Whether `tag` is that of [`ApprovalPanel::fetch`].
    pub(crate) fn is_card(tag: &Tag) -> bool {
        tag.what == CARD
    }

    /// Returns which approval it is.
    pub(crate) fn id(&self) -> &str {
        &self.subject.id
    }

    /// Whether it waits for an answer.
    pub(crate) const fn is_waiting(&self) -> bool {
        self.subject.is_waiting && self.subject.held_until.is_none()
    }

    /// Whether a key pressed now could answer.
    pub(crate) fn is_armed(&self, now: UnixMillis) -> bool {
        self.arming.may_answer(now)
    }

    /// Whether it was answered by a key pressed here.
    pub(crate) const fn was_answered_here(&self) -> bool {
        self.was_answered_here && !self.is_waiting()
    }

    /// Whether an answer can still be taken back.
    pub(crate) fn is_held(&self, now: UnixMillis) -> bool {
        self.subject.held_until.is_some_and(|until| until > now)
    }

    /// It is covered or not drawn; it must be read again when it comes back.
    pub(crate) const fn out_of_view(&mut self) {
        self.arming.out_of_view();
    }

    /// Notes a key that went elsewhere, so that the next one is known to be part of a burst.
    pub(crate) const fn typed_elsewhere(&mut self, now: UnixMillis) {
        self.arming.typed(now);
    }

    /// Whether something is being typed into it, so that every key is its own.
    pub(crate) const fn is_typing(&self) -> bool {
        match &self.step {
            Step::Note(_) | Step::Editing => true,
            Step::Granting(granting) => granting.edited().is_some(),
            Step::Choosing => false,
        }
    }

    /// Takes a key.
    pub(crate) fn key(&mut self, key: KeyEvent, now: UnixMillis) -> Reaction {
        if !is_press(key) {
            return Reaction::STAYS;
        }
        let armed = Armed::from(self.arming.key(now));
        self.notice = None;
        match &mut self.step {
            Step::Note(_) => self.key_of_note(key),
            Step::Editing => self.key_of_edit(key),
            Step::Granting(granting) => match granting.key(key, armed) {
                Chosen::Stays => Reaction::STAYS,
                Chosen::Leaves => self.back(),
                Chosen::TooSoon => self.too_soon(),
                Chosen::Answer(body) => {
                    // The gateway may have gone away since the choice was made.
                    let choice = granting.choice;
                    if let Some(why) = self.block(choice) {
                        self.notice = Some(why.to_owned());
                        return Reaction::STAYS;
                    }
                    self.resolve(body)
                }
            },
            Step::Choosing if self.face == Face::Card => self.key_of_card(key, armed, now),
            Step::Choosing => self.key_of_page(key),
        }
    }

    /// Takes pasted text. It answers nothing; it is typed where something can be typed.
    pub(crate) fn pasted(&mut self, text: &str, now: UnixMillis) {
        self.arming.typed(now);
        match &mut self.step {
            Step::Note(note) => note.insert(text),
            Step::Granting(granting) => granting.pasted(text),
            Step::Editing => self.pasted_into_edit(text),
            Step::Choosing => {}
        }
    }

    fn key_of_card(&mut self, key: KeyEvent, armed: Armed, now: UnixMillis) -> Reaction {
        let Some(act) = act(Place::Card, key) else {
            return Reaction::NOT_MINE;
        };
        let rows = self.rows();
        match act {
            Act::Number(number) => match rows.iter().position(|row| row.number() == number) {
                Some(_) if armed == Armed::No => return self.too_soon(),
                Some(at) => {
                    self.selected = at;
                    return self.press_selected();
                }
                None => {}
            },
            Act::Confirm if !self.is_waiting() => return Reaction::LEAVES,
            Act::Confirm => match rows.get(self.selected) {
                Some(_) if armed == Armed::No => return self.too_soon(),
                Some(row) => return self.pick(*row),
                None => {}
            },
            Act::DenyWithNote if self.is_waiting() && self.sent.is_none() => {
                self.step = Step::Note(Input::new(Lines::One, NOTE_BYTES_MAX));
            }
            Act::DenyWithNote => {}
            Act::Up => self.selected = self.selected.saturating_sub(1),
            Act::Down => self.selected = (self.selected + 1).min(rows.len().saturating_sub(1)),
            Act::Edit => return self.begin_edit(),
            Act::Leave if self.subject.edited.is_some() => return self.back_to_text(),
            Act::Leave => return Reaction::LEAVES,
            Act::PageDown | Act::End if !self.text.is_open && self.text.is_long => {
                let wishes = self.open();
                if act == Act::End {
                    self.scroll(act);
                }
                return Reaction::wants(wishes);
            }
            Act::PageUp | Act::PageDown | Act::Top | Act::End => self.scroll(act),
            Act::NextMark => return self.go_to_next_mark(),
            Act::Why => return self.turn_to_why(),
            Act::Before => return self.turn_to_before(),
            Act::Keys => self.turn(Face::Keys),
            Act::SideBySide => return self.compare(),
            Act::TakeBack if self.is_held(now) => {
                let (id, body) = (&self.subject.id, Some(json!({})));
                let request = wish(TAKE_BACK, id, Method::POST, "/take_back", body);
                return Reaction::wants(vec![request]);
            }
            Act::TakeBack => self.notice = Some("There is nothing to undo.".to_owned()),
            Act::Extend => return self.extend(),
            Act::EditLimit
            | Act::SwitchFocus
            | Act::NewLine
            | Act::Steer
            | Act::Earlier
            | Act::Later
            | Act::Interrupt
            | Act::EndOfInput
            | Act::List(_) => return Reaction::NOT_MINE,
        }
        Reaction::STAYS
    }

    /// Takes a key while something else than the card is turned to the person. Nothing is answered.
    fn key_of_page(&mut self, key: KeyEvent) -> Reaction {
        match act(Place::Card, key) {
            Some(Act::Leave | Act::Confirm) => self.turn(Face::Card),
            Some(Act::Why) if self.face == Face::Why => self.turn(Face::Card),
            Some(Act::Before) if self.face == Face::Before => self.turn(Face::Card),
            Some(Act::Keys) if self.face == Face::Keys => self.turn(Face::Card),
            Some(Act::Why) => return self.turn_to_why(),
            Some(Act::Before) => return self.turn_to_before(),
            Some(Act::Keys) => self.turn(Face::Keys),
            Some(
                act @ (Act::PageUp | Act::PageDown | Act::Top | Act::End | Act::Up | Act::Down),
            ) => {
                self.scroll(act);
            }
            Some(_) => {}
            None => return Reaction::NOT_MINE,
        }
        Reaction::STAYS
    }

    fn key_of_note(&mut self, key: KeyEvent) -> Reaction {
        let Step::Note(note) = &mut self.step else {
            return Reaction::STAYS;
        };
        match act(Place::Line, key) {
            Some(Act::Confirm) => {
                let note = note.take();
                self.deny(Some(&note))
            }
            Some(Act::Leave) => self.back(),
            Some(_) | None => {
                note.key(key);
                Reaction::STAYS
            }
        }
    }

    fn scroll(&mut self, act: Act) {
        let Text {
            shown, rows, first, ..
        } = self.text;
        let last = rows.saturating_sub(shown);
        let page = shown.saturating_sub(2).max(1);
        let back = first.min(last);
        let steps = [
            (Act::Top, 0),
            // The rows are counted when they are drawn, which comes next.
            (Act::End, usize::MAX),
            (Act::PageUp, back.saturating_sub(page)),
            (Act::PageDown, first.saturating_add(page)),
            (Act::Up, back.saturating_sub(1)),
            (Act::Down, first.saturating_add(1)),
        ];
        let to = steps.iter().find(|(step, _)| *step == act);
        let to = to.map_or(first, |(_, row)| *row);
        self.text.first = to;
    }

    fn turn(&mut self, face: Face) {
        self.face = face;
        self.text.first = 0;
        self.arming.out_of_view();
    }

    fn turn_to_why(&mut self) -> Reaction {
        self.turn(Face::Why);
        if self.trace.is_some() {
            return Reaction::STAYS;
        }
        let call = segment(&self.subject.call);
        Reaction::wants(vec![Wish::Send {
            tag: tag(TRACE, &self.subject.id),
            method: Method::GET,
            path: format!("/v1/traces/{call}"),
            body: None,
        }])
    }

    /// Shows what led to the call.
    pub(crate) fn turn_to_before(&mut self) -> Reaction {
        self.turn(Face::Before);
        if self.before.is_some() {
            return Reaction::STAYS;
        }
        let id = &self.subject.id;
        Reaction::wants(vec![wish(BEFORE, id, Method::GET, "/before", None)])
    }

    /// Compares the call with the files it would change, or shows the comparison in other columns.
    fn compare(&mut self) -> Reaction {
        let can_compare = self.is_waiting()
            && self.subject.edited.is_none()
            && self.subject.files.is_none()
            && !self.subject.is_command();
        let wishes = if can_compare {
            let id = &self.subject.id;
            vec![wish(CHANGES, id, Method::GET, "/changes", None)]
        } else {
            Vec::new()
        };
        if self.subject.is_change() {
            self.columns = match self.columns {
                Columns::One => Columns::Two,
                Columns::Two => Columns::One,
            };
            self.text.first = 0;
        } else if !can_compare {
            self.notice = Some("This call does not change a file.".to_owned());
        }
        Reaction::wants(wishes)
    }

    /// Takes the comparison. It stands above the call, which has to be found again.
    fn compared(&mut self, answer: &Answer) {
        match answer.read() {
            Ok(changes) if self.subject.edited.is_none() => {
                self.subject.files = Some(changes);
                self.pages = draw::Pages::new(&self.subject, self.columns, self.theme);
                self.text.first = 0;
                self.text.is_read = false;
                self.arming.out_of_view();
            }
            Ok(_) => {}
            Err(complaint) => self.notice = Some(complaint.message().to_owned()),
        }
    }

    fn back(&mut self) -> Reaction {
        self.step = Step::Choosing;
        self.arming.out_of_view();
        Reaction::STAYS
    }

    fn too_soon(&mut self) -> Reaction {
        self.notice = Some(TOO_SOON.to_owned());
        Reaction::STAYS
    }

    fn resolve(&mut self, body: Value) -> Reaction {
        self.step = Step::Choosing;
        self.sent = Some("Sending your answer…");
        let id = &self.subject.id;
        let request = wish(RESOLVE, id, Method::POST, "/resolve", Some(body));
        Reaction::wants(vec![request])
    }

    /// Takes news; what does not concern this approval is left alone.
    pub(crate) fn told(&mut self, news: &News) -> Vec<Wish> {
        match news {
            News::Answered { tag, answer } if tag.id == self.subject.id => {
                self.answered(tag.what, answer)
            }
            News::Unanswered { tag, why } if tag.id == self.subject.id => {
                self.unanswered(tag.what, why)
            }
            News::Event(event) => self.happened(event),
            // Anything may have happened meanwhile.
            News::Back => vec![Self::fetch(&self.subject.id)],
            News::Away { .. } => {
                self.is_away = true;
                Vec::new()
            }
            News::Answered { .. } | News::Unanswered { .. } | News::Unreadable { .. } => Vec::new(),
        }
    }

    fn answered(&mut self, what: &str, answer: &Answer) -> Vec<Wish> {
        let is_done = answer.is_success();
        match what {
            CARD | RESOLVE | TAKE_BACK if is_done => {
                self.is_away = false;
                if what != CARD {
                    self.sent = None;
                    self.was_answered_here = what == RESOLVE;
                }
                self.update(Subject::of_answer(&self.subject.id, answer));
                self.looked_up();
            }
            RESOLVE | TAKE_BACK => {
                self.sent = None;
                if let Some(decision) = answer.refusal().decision {
                    self.settle(decision);
                } else {
                    self.notice = Some(refusal(answer));
                    self.select_first();
                    // What it is now is not known from a refusal.
                    return vec![Self::fetch(&self.subject.id)];
                }
            }
            PREVIEW => {
                if let Step::Granting(granting) = &mut self.step {
                    match answer.read::<ScopeList>() {
                        Ok(list) => granting.offer(list.scopes),
                        Err(_) if !is_done => granting.fail(&refusal(answer)),
                        Err(complaint) => granting.fail(complaint.message()),
                    }
                    self.arming.out_of_view();
                }
            }
            EXTEND => self.extended(answer),
            ASSESS => self.edit_judged(answer),
            CHANGES => self.compared(answer),
            BEFORE => match answer.read() {
                Ok(before) => self.before = Some(Box::new(before)),
                Err(complaint) => self.notice = Some(complaint.message().to_owned()),
            },
            TRACE => {
                if let Ok(trace) = answer.read() {
                    self.trace = Some(Box::new(trace));
                    self.pages.forget_why();
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// It is known again how things are.
    fn looked_up(&mut self) {
        let was_unknown = |notice: &String| notice.starts_with(UNKNOWN);
        if self.notice.as_ref().is_some_and(was_unknown) {
            let still_waits = "Your answer did not arrive. The call is still waiting.";
            self.notice = self.is_waiting().then(|| still_waits.to_owned());
        }
    }

    fn unanswered(&mut self, what: &str, why: &str) -> Vec<Wish> {
        match what {
            RESOLVE | TAKE_BACK => {
                self.sent = None;
                self.notice = Some(format!("{UNKNOWN} ({why})."));
                vec![Self::fetch(&self.subject.id)]
            }
            ASSESS => {
                self.sent = None;
                self.notice = Some(format!("The edited call could not be checked ({why})."));
                Vec::new()
            }
            PREVIEW => {
                if let Step::Granting(granting) = &mut self.step {
                    granting.fail(why);
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "four events concern a card")]
    fn happened(&mut self, event: &Event) -> Vec<Wish> {
        match event {
            Event::ApprovalResolved(told) if told.approval_id == self.subject.id => {
                self.settle(decided(told));
                if told.edited {
                    // The event does not say to what.
                    return vec![Self::fetch(&self.subject.id)];
                }
            }
            Event::ApprovalHeld(told) | Event::ApprovalTakenBack(told)
                if told.approval_id == self.subject.id && self.sent.is_none() =>
            {
                return vec![Self::fetch(&self.subject.id)];
            }
            Event::ApprovalExtended(told) if told.approval_id == self.subject.id => {
                return vec![self.fetch_time()];
            }
            _ => {}
        }
        Vec::new()
    }

    /// Takes the approval as it is now. What the person has seen and typed stays.
    fn update(&mut self, mut fresh: Subject) {
        if self.subject.edited.is_some() {
            self.drop_edit();
        }
        let is_same_call = fresh.card.digest == self.subject.card.digest;
        let was_waiting = self.is_waiting();
        if is_same_call {
            fresh.files = self.subject.files.take();
        }
        self.subject = fresh;
        if !is_same_call {
            // Somebody changed what would run; it has to be read anew.
            self.text = Text::default();
            self.arming.out_of_view();
            self.pages = draw::Pages::new(&self.subject, self.columns, self.theme);
        }
        if !self.is_waiting() {
            self.edit = None;
            self.step = Step::Choosing;
        } else if !was_waiting {
            self.select_first();
            self.arming.out_of_view();
        }
    }

    /// It is answered, by whomever.
    fn settle(&mut self, decision: DecisionView) {
        self.drop_edit();
        self.subject.is_waiting = false;
        self.subject.held_until = None;
        self.subject.decision = Some(decision);
        self.step = Step::Choosing;
        self.sent = None;
    }

    fn select_first(&mut self) {
        let is_deny = |row: &Row| *row == Row::Answer(Choice::Deny);
        self.selected = if self.subject.is_high() {
            self.rows().iter().position(is_deny).unwrap_or(0)
        } else {
            0
        };
    }

    /// Returns how it ended, in words; `None` while it waits.
    pub(crate) fn outcome(&self) -> Option<String> {
        self.subject.decision.as_ref().map(outcome)
    }

    /// Returns when it must be drawn again although nothing happens.
    pub(crate) fn changes_at(&self, now: UnixMillis) -> Option<UnixMillis> {
        let held = self.subject.held_until.filter(|until| *until > now);
        let counted = held.or_else(|| {
            let end = self.subject.expires_at;
            (self.is_waiting() && end > now).then_some(end)
        });
        let counted = counted.map(|end| span_changes_at(end, now));
        let decided = self.subject.decision.as_ref();
        let decided = decided.map(|decision| span_changes_at(decision.at, now));
        [counted, decided, self.arming.armed_at(now)]
            .into_iter()
            .flatten()
            .min()
    }
}

fn tag(what: &'static str, id: &str) -> Tag {
    Tag {
        what,
        id: id.to_owned(),
    }
}

fn wish(what: &'static str, id: &str, method: Method, end: &str, body: Option<Value>) -> Wish {
    Wish::Send {
        tag: tag(what, id),
        method,
        path: format!("/v1/approvals/{}{end}", segment(id)),
        body,
    }
}
