//! Edits a call before it is allowed: typing the text, then reading the edited call as the gateway
//! judges it, then *once* or *deny*.
//!
//! The edited call takes the place of the card, so that all that holds for reading a card holds for
//! it. Escape goes back one step, and never answers. No editor is started: that would run a program.

use countersign_core::approval::Choice;
use countersign_core::card::{edited_args, edited_text, telling_argument};
use countersign_core::time::UnixMillis;
use countersign_gate::records::view::EditedView;
use ratatui::crossterm::event::KeyEvent;
use reqwest::Method;
use serde_json::{Value, json};

use super::change::Columns;
use super::subject::Subject;
use super::{ASSESS, ApprovalPanel, Step, Text, draw, wish};
use crate::client::Answer;
use crate::tui::input::{Input, Lines};
use crate::tui::keys::{Act, Place, act};
use crate::tui::panel::Reaction;
use crate::words::{assessed, refusal};

/// Longest text that is edited, in bytes; the gateway takes 256 KiB of arguments.
const TEXT_BYTES_MAX: usize = 128 * 1024;
/// Most rows the editor takes.
const ROWS_MAX: usize = 8;

/// A call that is being edited.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    /// The argument that is edited; `None`: all of them, as JSON.
    name: Option<&'static str>,
    input: Input,
    /// The call as the agent asked.
    original: Box<Subject>,
    /// The arguments that the gateway was asked about.
    args: Value,
}

/// An edited call as the gateway judged it.
#[derive(Clone, Debug)]
pub(super) struct Edited {
    /// What is sent with the answer.
    pub(super) args: Value,
    /// The arguments as the agent sent them, and as edited, line by line.
    pub(super) before: String,
    pub(super) after: String,
}

impl Edit {
    fn of(subject: &Subject) -> Self {
        let mut input = Input::new(Lines::Many, TEXT_BYTES_MAX);
        input.set(&edited_text(&subject.args));
        Self {
            name: telling_argument(&subject.args),
            input,
            original: Box::new(subject.clone()),
            args: Value::Null,
        }
    }

    /// Returns what is typed.
    pub(super) const fn input(&self) -> &Input {
        &self.input
    }

    /// Returns the call as the agent asked.
    pub(super) const fn original(&mut self) -> &mut Subject {
        &mut self.original
    }

    /// Returns how many rows the editor takes at `width` cells.
    pub(super) fn rows(&self, width: usize) -> usize {
        let rows = self.input.drawn(width.saturating_sub(2).max(1)).len();
        rows.clamp(1, ROWS_MAX)
    }

    /// Returns what is edited, in words.
    pub(super) fn title(&self) -> String {
        match self.name {
            Some(name) => format!("Edit `{name}`; it is judged again before you can allow it"),
            None => "Edit the arguments (JSON); they are judged again before you can allow them"
                .to_owned(),
        }
    }

    /// Returns the arguments as they were typed; `None` if that is no JSON object.
    fn typed(&self) -> Option<Value> {
        edited_args(&self.original.args, &self.input.text())
    }
}

impl ApprovalPanel {
    /// Edits the call by a command: opens the editor, or has `text` judged at once.
    pub(crate) fn edit_to(&mut self, text: Option<&str>) -> Reaction {
        let reaction = self.begin_edit();
        match (text, &mut self.edit) {
            (Some(text), Some(edit)) => {
                edit.input.set(text);
                self.check_edit()
            }
            _ => reaction,
        }
    }

    /// Allows the call once as it was edited, by a command.
    pub(crate) fn choose_edited(&mut self, now: UnixMillis) -> Reaction {
        if self.subject.edited.is_some() {
            return self.choose(Choice::Once, now);
        }
        self.notice = Some("You have not edited this call. /edit does that first.".to_owned());
        Reaction::STAYS
    }

    /// Opens the editor, where the call can be edited.
    pub(super) fn begin_edit(&mut self) -> Reaction {
        if !self.is_waiting() || self.sent.is_some() || self.subject.edited.is_some() {
            return Reaction::STAYS;
        }
        if !self.subject.editable {
            let words = "This call cannot be edited: the agent takes no changed arguments, or not \
                         all of them are shown.";
            self.notice = Some(words.to_owned());
            return Reaction::STAYS;
        }
        if let Some(why) = self.block(Choice::Once) {
            self.notice = Some(why.to_owned());
            return Reaction::STAYS;
        }
        self.edit = Some(Edit::of(&self.subject));
        self.step = Step::Editing;
        Reaction::STAYS
    }

    pub(super) fn key_of_edit(&mut self, key: KeyEvent) -> Reaction {
        let Some(edit) = &mut self.edit else {
            return self.back();
        };
        if act(Place::Chat, key) == Some(Act::NewLine) {
            edit.input.insert("\n");
            return Reaction::STAYS;
        }
        match act(Place::Line, key) {
            Some(Act::Confirm) => self.check_edit(),
            Some(Act::Leave) => {
                self.edit = None;
                self.sent = None;
                self.back()
            }
            Some(_) | None => {
                edit.input.key(key);
                Reaction::STAYS
            }
        }
    }

    pub(super) fn pasted_into_edit(&mut self, text: &str) {
        if let Some(edit) = &mut self.edit {
            edit.input.insert(text);
        }
    }

    fn check_edit(&mut self) -> Reaction {
        let Some(edit) = self.edit.as_mut().filter(|_| self.sent.is_none()) else {
            return Reaction::STAYS;
        };
        let Some(args) = edit.typed() else {
            self.notice = Some("This is not a JSON object. Correct it, or press Esc.".to_owned());
            return Reaction::STAYS;
        };
        if args == edit.original.args {
            self.notice =
                Some("Nothing is changed. Press Esc to leave the call as it is.".to_owned());
            return Reaction::STAYS;
        }
        edit.args = args.clone();
        self.sent = Some("Checking the edited call…");
        let body = json!({ "args": args });
        let request = wish(
            ASSESS,
            &self.subject.id,
            Method::POST,
            "/assess",
            Some(body),
        );
        Reaction::wants(vec![request])
    }

    /// Takes how the edited call is judged: it takes the place of the card and has to be read.
    pub(super) fn edit_judged(&mut self, answer: &Answer) {
        self.sent = None;
        let Some(edit) = self
            .edit
            .as_ref()
            .filter(|_| matches!(self.step, Step::Editing))
        else {
            return;
        };
        match answer.read::<EditedView>() {
            Ok(view) => {
                let mut subject = edit.original.as_ref().clone();
                subject.edited = Some(Edited {
                    before: readable(&edit.original.args),
                    after: readable(&view.args),
                    args: edit.args.clone(),
                });
                subject.files = None;
                subject.confirm_allow = view.confirm_allow;
                subject.assessment = assessed(&view.assessment);
                subject.card = view.card;
                self.show_anew(subject);
            }
            Err(_) if !answer.is_success() => {
                self.notice = Some(format!("{} Nothing was answered.", refusal(answer)));
            }
            Err(complaint) => self.notice = Some(complaint.message().to_owned()),
        }
    }

    /// Goes from the edited call back to the text.
    pub(super) fn back_to_text(&mut self) -> Reaction {
        let Some(edit) = &self.edit else {
            return Reaction::STAYS;
        };
        let original = edit.original.as_ref().clone();
        self.show_anew(original);
        self.step = Step::Editing;
        Reaction::STAYS
    }

    /// Forgets the edit, and shows the call as the agent asked.
    pub(super) fn drop_edit(&mut self) {
        let Some(edit) = self.edit.take() else {
            return;
        };
        if self.subject.edited.is_some() {
            self.show_anew(*edit.original);
        }
        self.step = Step::Choosing;
    }

    fn show_anew(&mut self, subject: Subject) {
        self.subject = subject;
        self.text = Text::default();
        self.columns = Columns::One;
        self.pages = draw::Pages::new(&self.subject, self.columns, self.theme);
        self.step = Step::Choosing;
        self.arming.out_of_view();
        self.select_first();
    }
}

/// Returns arguments as lines: a name, then its text.
fn readable(args: &Value) -> String {
    let Some(args) = args.as_object() else {
        return args.to_string();
    };
    let row = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("{name}: {value}")
        }
    };
    args.iter().map(row).collect::<Vec<_>>().join("\n")
}
