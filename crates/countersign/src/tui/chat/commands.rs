//! Slash commands of the full-screen chat.

use countersign_core::command::{Command, CommandError, TABLE};
use countersign_core::time::UnixMillis;
use reqwest::Method;

use super::cards::Panel;
use super::{Attention, Chat, MODEL, Work, send};
use crate::client::Answer;
use crate::slash::{MODELS, Means, chosen_model, means, said};
use crate::tui::approval_panel::ApprovalPanel;
use crate::tui::doc::{Doc, Part};
use crate::tui::keys::{Place, help};
use crate::tui::panel::Reaction;
use crate::tui::screen::{Tag, Wish};
use crate::tui::theme::Theme;
use crate::words::{sentence, span};

/// What ends a conversation besides its keys.
const LEAVE: &[&str] = &["/quit", "/exit"];

impl Chat {
    /// Does what `line` says.
    pub(super) fn command(&mut self, line: &str, now: UnixMillis) -> Vec<Wish> {
        if LEAVE.contains(&line.trim()) {
            return vec![Wish::Leave];
        }
        let command = match Command::parse(line) {
            Ok(command) => command,
            Err(
                error @ (CommandError::NotOne
                | CommandError::Unknown { .. }
                | CommandError::Usage { .. }),
            ) => {
                self.transcript
                    .trouble(format!("{}.", sentence(&error.to_string())));
                return Vec::new();
            }
        };
        let is_help = command == Command::Help;
        match means(command, self.session.as_deref()) {
            Means::Say(_) if is_help => {
                self.transcript.table(help_table(self.theme));
                Vec::new()
            }
            Means::Say(words) => {
                self.transcript.note(words);
                Vec::new()
            }
            Means::Ask(requests) => requests
                .into_iter()
                .map(|it| send(it.what, "", it.method, it.path, it.body))
                .collect(),
            Means::Own(command) => self.own_command(command, now),
        }
    }

    fn own_command(&mut self, command: Command, now: UnixMillis) -> Vec<Wish> {
        match command {
            Command::Approve { id, choice } => self.on_card(id, |panel| panel.choose(choice, now)),
            Command::Deny { id, note } => {
                let Some(panel) = self.cards.approval(id.as_deref()) else {
                    self.transcript.note(
                        "Nothing is waiting here. /pending lists the cards waiting elsewhere.",
                    );
                    return Vec::new();
                };
                panel.deny(note.as_deref()).wishes
            }
            Command::Show { id } => self.open(Some(id)),
            Command::New => {
                if self.work != Work::Rests {
                    self.transcript
                        .note("The agent is still working; /stop stops it.");
                    return Vec::new();
                }
                self.session = None;
                self.transcript = super::Transcript::default();
                self.cards.clear();
                Vec::new()
            }
            Command::Retry => match (&self.work, self.said.last_said()) {
                (Work::Rests, Some(text)) => self.begin_run(&text),
                (Work::Rests, None) => {
                    self.transcript.note("No messages yet.");
                    Vec::new()
                }
                (Work::Begins | Work::Runs { .. }, _) => {
                    self.transcript
                        .note("The agent is still working; /stop stops it.");
                    Vec::new()
                }
            },
            Command::Steer { text } => self.tell(text),
            Command::Edit { id, text } => self.on_card(id, |panel| panel.edit_to(text.as_deref())),
            Command::ApproveEdited { id } => self.on_card(id, |panel| panel.choose_edited(now)),
            Command::Before { id } => self.on_card(id, ApprovalPanel::turn_to_before),
            Command::Extend { id } => {
                let Some(panel) = self.cards.approval(id.as_deref()) else {
                    self.transcript.note(
                        "Nothing is waiting here. /pending lists the cards waiting elsewhere.",
                    );
                    return Vec::new();
                };
                panel.extend().wishes
            }
            Command::Stop => self.stop(),
            Command::Model { name: Some(name) } => {
                vec![send(MODEL, &name, Method::GET, MODELS.to_owned(), None)]
            }
            Command::Pending
            | Command::Grants
            | Command::Revoke { .. }
            | Command::Lift { .. }
            | Command::Yolo { .. }
            | Command::YoloOff
            | Command::Status
            | Command::Usage
            | Command::Model { name: None }
            | Command::Skills
            | Command::Whoami
            | Command::Help => Vec::new(),
        }
    }

    /// Does something with the card of `id`, or the one that waits here, and turns to it.
    fn on_card(
        &mut self,
        id: Option<String>,
        does: impl FnOnce(&mut ApprovalPanel) -> Reaction,
    ) -> Vec<Wish> {
        let Some(panel) = self.cards.approval(id.as_deref()) else {
            return self.open(id);
        };
        let id = panel.id().to_owned();
        let reaction = does(panel);
        self.cards.bring_forward(&id);
        self.focus = Attention::Card;
        reaction.wishes
    }

    /// Puts a card on the screen: nobody allows what is not before them.
    fn open(&mut self, id: Option<String>) -> Vec<Wish> {
        let Some(id) = id else {
            self.transcript
                .note("Nothing is waiting here. /pending lists the cards waiting elsewhere.");
            return Vec::new();
        };
        if self.cards.has(&id) {
            self.cards.bring_forward(&id);
            self.focus = Attention::Card;
            return Vec::new();
        }
        let wish = ApprovalPanel::fetch(&id);
        self.wanted = Some(id);
        vec![wish]
    }

    /// Takes the model that was asked for, if it is one of those configured.
    pub(super) fn model_answered(&mut self, name: &str, answer: &Answer) {
        let (is_known, words) = chosen_model(name, answer);
        if is_known {
            self.model = Some(name.to_owned());
            self.transcript.note(words);
        } else {
            self.transcript.trouble(words);
        }
    }

    pub(super) fn command_answered(&mut self, tag: &Tag, answer: &Answer) {
        if tag.what.contains('.') {
            // Panels say what came of their own requests.
            return;
        }
        let mut words = said(tag.what, answer);
        if tag.what == "status" {
            words.push('\n');
            words.push_str(&self.state());
        }
        if answer.is_success() {
            self.transcript.note(words);
        } else {
            self.transcript.trouble(words);
        }
    }

    pub(super) fn command_unanswered(&mut self, tag: &Tag, why: &str) {
        if !tag.what.contains('.') {
            self.transcript.trouble(format!("{}.", sentence(why)));
        }
    }

    /// Returns how the conversation is.
    fn state(&self) -> String {
        let session = self.session.as_deref().map_or_else(
            || "No conversation yet.".to_owned(),
            |session| format!("Conversation {}.", countersign_core::display::line(session)),
        );
        let work = match &self.work {
            Work::Rests => "The agent is idle.",
            Work::Begins | Work::Runs { .. } => "The agent is working.",
        };
        let waiting = match self.cards.waiting() {
            0 => "Nothing is waiting for you here.".to_owned(),
            1 => "One card is waiting for you here.".to_owned(),
            several => format!("{several} cards are waiting for you here."),
        };
        format!("{session} {work} {waiting}")
    }

    /// Returns how long the agent has been at work.
    pub(super) fn at_work(&self, now: UnixMillis) -> Option<String> {
        match &self.work {
            Work::Rests => None,
            Work::Begins => Some("starting".to_owned()),
            Work::Runs {
                is_stopping: true, ..
            } => Some("stopping · Ctrl-C leaves".to_owned()),
            Work::Runs { since, .. } => Some(match self.waits() {
                Some(Panel::Approval(_)) => "waiting for your answer · Ctrl-C stops".to_owned(),
                Some(Panel::Question(_)) => "waiting for your input · Ctrl-C stops".to_owned(),
                None => format!("working {} · Ctrl-C stops", span(now.since(*since))),
            }),
        }
    }

    /// Returns the card that waits on the screen.
    pub(super) fn waits(&self) -> Option<&Panel> {
        self.cards.shown().filter(|panel| panel.is_waiting())
    }
}

/// Returns the commands and the keys as a table.
fn help_table(theme: Theme) -> Doc {
    let mut doc = Doc::default();
    for row in TABLE {
        let does = match row.hint {
            "" => row.does.to_owned(),
            hint => format!("{hint} · {}", row.does),
        };
        doc.push(Part::words(&format!("/{}", row.name), &does, theme.plain()));
    }
    doc.push(Part::words("/quit", "leave", theme.plain()));
    doc.push(Part::words("", " ", theme.plain()));
    for row in help(Place::Chat) {
        doc.push(Part::words(row.keys, row.does, theme.plain()));
    }
    doc
}
