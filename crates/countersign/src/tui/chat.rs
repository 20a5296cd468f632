//! The full-screen chat: the agent's text, its actions, and its questions, answered in place.
//!
//! A card never takes the keys from somebody who is typing. While the prompt holds something, or a
//! key was pressed a moment ago, the card says how it is reached, and that is all it does.

pub(crate) mod cards;
mod commands;
mod draw;
mod queue;
#[cfg(test)]
mod tests;
mod transcript;

use countersign_core::display::inline;
use countersign_core::status::{Cause, RunPhase, Status};
use countersign_core::time::UnixMillis;
use countersign_gate::records::event::Event;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use reqwest::Method;
use serde::Deserialize as _;
use serde_json::{Value, json};

use self::cards::{Cards, Panel};
use self::queue::Queue;
use self::transcript::{SPIN_MILLIS, Transcript};
use super::approval_panel::ApprovalPanel;
use super::arming::BURST_MILLIS;
use super::clarify_panel::ClarifyPanel;
use super::input::{Input, Lines};
use super::keys::{Act, Place, act, is_press};
use super::panel::Then;
use super::screen::{News, Screen, Tag, Wish};
use super::theme::Theme;
use crate::client::{Answer, segment};
use crate::complaint::Complaint;
use crate::wire::shown::{MessageList, MessageView, RunList, RunStanding};
use crate::words::{decided, outcome, refusal, sentence};

/// Longest thing that can be said at once, in bytes.
const INPUT_BYTES_MAX: usize = 256 * 1024;
/// Things said that are kept to be said again.
const HISTORY_MAX: usize = 500;
/// What asks when the built-in agent does.
const AGENT: &str = "The agent";

/// What its own requests are called.
const START: &str = "run.start";
const STOP: &str = "run.stop";
const RUN: &str = "run.state";
const MESSAGES: &str = "session.messages";
const MODEL: &str = "model.choice";
const STEER: &str = "run.steer";

/// A conversation.
#[derive(Clone, Debug)]
pub(crate) struct Chat {
    theme: Theme,
    /// The directory the agent works in.
    cwd: Option<String>,
    session: Option<String>,
    /// The model that was chosen here.
    model: Option<String>,
    work: Work,
    transcript: Transcript,
    input: Input,
    said: History,
    /// What was typed while the agent was at work.
    queue: Queue,
    cards: Cards,
    focus: Attention,
    key_at: Option<UnixMillis>,
    /// Since the gateway is away: why.
    away: Option<String>,
    /// A card the person asked for, answered or not.
    wanted: Option<String>,
    /// What was said and done before this is known already.
    known_until: Option<UnixMillis>,
}

/// The state of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Work {
    Rests,
    /// It was asked to begin.
    Begins,
    Runs {
        run: String,
        since: UnixMillis,
        is_stopping: bool,
    },
}

/// Where keys go while a card is on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attention {
    /// To the card, unless somebody is typing.
    Either,
    Card,
    Prompt,
}

/// Earlier messages.
#[derive(Clone, Debug, Default)]
struct History {
    said: Vec<String>,
    /// How far back the person is, and what they had typed before that.
    back: usize,
    draft: String,
}

impl Chat {
    /// A conversation in `cwd`; an old one goes on if `session` names it.
    pub(crate) fn new(session: Option<String>, cwd: Option<String>, theme: Theme) -> Self {
        Self {
            theme,
            cwd,
            session,
            model: None,
            work: Work::Rests,
            transcript: Transcript::default(),
            input: Input::new(Lines::Many, INPUT_BYTES_MAX),
            said: History::default(),
            queue: Queue::default(),
            cards: Cards::default(),
            focus: Attention::Either,
            key_at: None,
            away: None,
            wanted: None,
            known_until: None,
        }
    }

    /// Returns which conversation it is, once it is one.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Whether a key pressed now goes to the card.
    fn card_takes_keys(&self, now: UnixMillis) -> bool {
        let Some(panel) = self.cards.shown() else {
            return false;
        };
        match self.focus {
            Attention::Card => true,
            Attention::Prompt => false,
            Attention::Either => {
                let is_typing = self
                    .key_at
                    .is_some_and(|key| (0..BURST_MILLIS).contains(&now.since(key)));
                self.input.is_empty() && (!is_typing || panel.is_typing())
            }
        }
    }

    /// Whether `key` is the first letter of something that is meant for the agent: the card has only
    /// just come, and nobody who has not read it wants anything of it.
    fn begins_to_type(&self, key: KeyEvent, now: UnixMillis) -> bool {
        let KeyCode::Char(letter) = key.code else {
            return false;
        };
        let is_new = |panel: &Panel| !panel.is_armed(now) && !panel.is_typing();
        self.focus == Attention::Either
            && !letter.is_ascii_digit()
            && self.cards.shown().is_some_and(is_new)
    }

    /// Takes a key that the card did not take.
    fn key_of_prompt(&mut self, act: Option<Act>, key: KeyEvent, now: UnixMillis) -> Vec<Wish> {
        match act {
            Some(Act::Confirm) => return self.submit(now),
            Some(Act::NewLine) => self.input.insert("\n"),
            Some(Act::Steer) => return self.steer_typed(now),
            Some(Act::Earlier) if self.input.is_in_first_line() => {
                if !self.take_back_queued() {
                    self.said.earlier(&mut self.input);
                }
            }
            Some(Act::Later) if self.input.is_in_last_line() => self.said.later(&mut self.input),
            Some(Act::PageUp) => self.transcript.scroll_up(draw::PAGE_ROWS),
            Some(Act::PageDown) => self.transcript.scroll_down(draw::PAGE_ROWS),
            Some(Act::EndOfInput) if self.input.is_empty() => return vec![Wish::Leave],
            Some(_) | None => {
                self.input.key(key);
            }
        }
        Vec::new()
    }

    /// Stops what the agent is doing; if it does nothing, or is stopping, leaves.
    fn interrupt(&mut self) -> Vec<Wish> {
        match &mut self.work {
            Work::Runs {
                is_stopping: false, ..
            } => self.stop(),
            Work::Rests if !self.input.is_empty() => {
                self.input.take();
                Vec::new()
            }
            Work::Rests | Work::Begins | Work::Runs { .. } => vec![Wish::Leave],
        }
    }

    fn stop(&mut self) -> Vec<Wish> {
        let Work::Runs {
            run, is_stopping, ..
        } = &mut self.work
        else {
            self.transcript.note("The agent is idle.");
            return Vec::new();
        };
        *is_stopping = true;
        let path = format!("/v1/runs/{}/stop", segment(run));
        vec![send(STOP, run, Method::POST, path, Some(json!({})))]
    }

    /// Sends what was typed, or does what it says.
    fn submit(&mut self, now: UnixMillis) -> Vec<Wish> {
        let text = self.input.text();
        if text.trim().is_empty() {
            return Vec::new();
        }
        if text.trim_start().starts_with('/') && !text.contains('\n') {
            self.said.add(&self.input.take());
            return self.command(&text, now);
        }
        if self.work != Work::Rests {
            self.enqueue();
            return Vec::new();
        }
        self.said.add(&self.input.take());
        self.begin_run(&text)
    }

    fn begin_run(&mut self, text: &str) -> Vec<Wish> {
        self.transcript.person(text);
        self.work = Work::Begins;
        self.known_until = None;
        let mut body = json!({ "input": text, "session_id": self.session, "cwd": self.cwd });
        if let (Some(model), Some(body)) = (&self.model, body.as_object_mut()) {
            body.insert("model".to_owned(), json!(model));
        }
        let path = "/v1/runs".to_owned();
        vec![send(START, "", Method::POST, path, Some(body))]
    }

    fn answered(&mut self, tag: &Tag, answer: &Answer, now: UnixMillis) -> Vec<Wish> {
        if ApprovalPanel::is_card(tag) {
            return self.card_answered(tag, answer, now);
        }
        if ClarifyPanel::is_question(tag) && answer.is_success() && !self.cards.has(&tag.id) {
            return self.question_answered(answer);
        }
        match tag.what {
            START => match answer.read::<RunStanding>() {
                Ok(started) => self.follow(started.run_id, now),
                Err(complaint) => {
                    self.work = Work::Rests;
                    self.return_queued();
                    self.failed(answer, &complaint)
                }
            },
            STOP if !answer.is_success() => {
                self.transcript.trouble(refusal(answer));
                Vec::new()
            }
            RUN => match answer.read::<RunList>() {
                Ok(list) => self.resumed(&list, now),
                Err(complaint) => self.failed(answer, &complaint),
            },
            MESSAGES => match answer.read::<MessageList>() {
                Ok(list) => {
                    self.remember(&list);
                    // Only then, so that what a run tells meets what is remembered of it.
                    let runs = format!("/v1/runs?session_id={}&limit=1", tag.id);
                    vec![send(RUN, &tag.id, Method::GET, runs, None)]
                }
                Err(complaint) => {
                    self.session = None;
                    self.failed(answer, &complaint)
                }
            },
            STEER => self.steer_answered(&tag.id, answer),
            MODEL => {
                self.model_answered(&tag.id, answer);
                Vec::new()
            }
            _ => {
                self.command_answered(tag, answer);
                Vec::new()
            }
        }
    }

    fn card_answered(&mut self, tag: &Tag, answer: &Answer, now: UnixMillis) -> Vec<Wish> {
        if !answer.is_success() {
            self.transcript.trouble(refusal(answer));
            return Vec::new();
        }
        // The id that was asked for may have been shortened; the panel has the whole one.
        let panel = ApprovalPanel::of_answer(&tag.id, answer, self.theme);
        let is_wanted = self.wanted.take_if(|wanted| *wanted == tag.id).is_some();
        if self.cards.has(panel.id()) {
            if is_wanted {
                self.cards.bring_forward(panel.id());
                self.focus = Attention::Card;
            }
            return Vec::new();
        }
        // A run that is followed from its beginning tells of old questions, too.
        if !panel.is_waiting() && !panel.is_held(now) && !is_wanted {
            return Vec::new();
        }
        self.add(Panel::Approval(Box::new(panel)))
    }

    fn question_answered(&mut self, answer: &Answer) -> Vec<Wish> {
        let question = match answer.read() {
            Ok(question) => question,
            Err(complaint) => return self.failed(answer, &complaint),
        };
        let panel = ClarifyPanel::new(&question, AGENT, self.theme);
        if panel.is_waiting() {
            return self.add(Panel::Question(Box::new(panel)));
        }
        Vec::new()
    }

    /// Says why something was refused, or that the answer cannot be read.
    fn failed(&mut self, answer: &Answer, complaint: &Complaint) -> Vec<Wish> {
        if answer.is_success() {
            self.transcript.trouble(complaint.message());
        } else {
            self.transcript.trouble(refusal(answer));
        }
        Vec::new()
    }

    fn unanswered(&mut self, tag: &Tag, why: &str) {
        match tag.what {
            START => {
                self.work = Work::Rests;
                self.return_queued();
                let words = "Whether the agent was told is not known";
                self.transcript.trouble(format!("{words}: {why}."));
            }
            STEER => self.steer_unanswered(&tag.id, why),
            STOP | RUN | MESSAGES | MODEL => self.transcript.trouble(format!("{why}.")),
            _ => self.command_unanswered(tag, why),
        }
    }

    fn follow(&mut self, run: String, now: UnixMillis) -> Vec<Wish> {
        let path = format!("/v1/runs/{}/events", segment(&run));
        self.work = Work::Runs {
            run,
            since: now,
            is_stopping: false,
        };
        vec![Wish::Follow { path }]
    }

    /// Shows what was said before in this conversation.
    fn remember(&mut self, list: &MessageList) {
        // A message of a shape this program does not know is left out.
        let messages = list.messages.iter();
        for message in messages.filter_map(|it| MessageView::deserialize(it).ok()) {
            let content = message.content.as_deref().unwrap_or_default();
            match message.role.as_str() {
                "user" => {
                    self.transcript.person(content);
                    self.said.add(content);
                }
                "assistant" if !content.trim().is_empty() => self.transcript.agent(content),
                "tool" => self.transcript.tool_ended(&message),
                _ => {}
            }
            for call in message.tool_calls.iter().flatten() {
                let args = call.function.arguments.as_deref().unwrap_or_default();
                let preview = inline(&format!("{} {args}", call.function.name));
                self.transcript.tool(&call.id, &preview);
            }
        }
    }

    /// A conversation that goes on may have a run under way.
    fn resumed(&mut self, list: &RunList, now: UnixMillis) -> Vec<Wish> {
        let under_way = list.runs.first().filter(|run| match run.status {
            RunPhase::Started
            | RunPhase::Running
            | RunPhase::WaitingForApproval
            | RunPhase::Stopping => true,
            RunPhase::Completed | RunPhase::Failed | RunPhase::Cancelled => false,
        });
        match under_way {
            Some(run) if self.work == Work::Rests => {
                self.known_until = Some(now);
                self.follow(run.run_id.clone(), now)
            }
            Some(_) | None => {
                // Nothing goes on, so nothing more will be said about what was done.
                self.transcript.settle();
                Vec::new()
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a chat shows some events")]
    fn happened(&mut self, event: &Event) -> Vec<Wish> {
        match event {
            Event::ToolStarted(tool) if self.is_known(tool.timestamp) => {
                self.transcript.tool_known(tool);
            }
            Event::ApprovalResolved(told) if self.is_known(told.timestamp) => {}
            Event::RunStarted(run) => self.session = Some(run.session_id.clone()),
            // That is told by `message.held`.
            Event::MessageDelta(piece) if piece.notice == Some(true) => {}
            Event::MessageSnapshot(whole) if whole.notice == Some(true) => {}
            Event::MessageDelta(piece) => self.transcript.say(&piece.delta),
            Event::MessageSnapshot(whole) => self.transcript.say_anew(&whole.text),
            Event::MessageHeld(held) => self.transcript.hold(held),
            Event::CallAssessed(call)
                if call.cause == Some(Cause::Grant)
                    && call.status == Status::Allowed
                    && !self.is_known(call.timestamp) =>
            {
                let command = inline(&call.command);
                let words = format!("Allowed by a grant: {command} (/grants lists them)");
                self.transcript.note(words);
            }
            Event::ToolStarted(tool) => self.transcript.tool_started(tool),
            Event::ToolCompleted(tool) => self.transcript.tool_completed(tool),
            Event::ApprovalRequired(asked) => {
                return vec![ApprovalPanel::fetch(&asked.approval_id)];
            }
            Event::ClarifyRequired(asked) => {
                return vec![ClarifyPanel::fetch(&asked.clarification_id)];
            }
            Event::ApprovalResolved(told) => {
                self.transcript
                    .note(format!("{}.", outcome(&decided(told))));
            }
            Event::RunSteered(told) if !self.is_known(told.timestamp) => {
                self.steered(told.messages);
            }
            Event::RunCompleted(run) => {
                self.transcript.answer(&run.output);
                self.end_run();
                return self.say_queued();
            }
            Event::RunFailed(run) => {
                let why = inline(&run.error);
                self.end_run();
                self.return_queued();
                self.transcript.trouble(format!("The run failed: {why}."));
            }
            Event::RunCancelled(_) => {
                self.end_run();
                self.return_queued();
                self.cards.clear();
                self.transcript.note("Stopped.");
            }
            _ => {}
        }
        Vec::new()
    }

    /// Whether what happened at `timestamp` is known from the record.
    fn is_known(&self, timestamp: f64) -> bool {
        self.known_until > Some(UnixMillis::of_seconds(timestamp))
    }

    fn end_run(&mut self) {
        self.transcript.settle();
        self.work = Work::Rests;
        self.cards.end_run();
    }

    fn add(&mut self, panel: Panel) -> Vec<Wish> {
        let is_first = self.cards.waiting() == 0;
        let shown = self.cards.shown().map(|panel| panel.id().to_owned());
        self.cards.add(panel);
        if shown.as_deref() != self.cards.shown().map(Panel::id) {
            self.focus = Attention::Either;
        }
        let mut wishes = vec![self.title()];
        if is_first {
            wishes.push(Wish::Bell);
        }
        wishes
    }

    fn title(&self) -> Wish {
        match self.cards.waiting() {
            0 => Wish::Title("countersign chat".to_owned()),
            waiting => Wish::Title(format!("({waiting}) countersign chat")),
        }
    }

    fn leave_card(&mut self) -> Vec<Wish> {
        let is_waiting = self.cards.shown().is_some_and(Panel::is_waiting);
        if is_waiting {
            self.focus = Attention::Prompt;
            return Vec::new();
        }
        self.cards.dismiss();
        self.focus = Attention::Either;
        vec![self.title()]
    }
}

impl Screen for Chat {
    fn begin(&mut self, _now: UnixMillis) -> Vec<Wish> {
        let mut wishes = vec![self.title()];
        if let Some(session) = &self.session {
            let session = segment(session);
            let messages = format!("/v1/sessions/{session}/messages");
            wishes.push(send(MESSAGES, &session, Method::GET, messages, None));
        }
        wishes
    }

    fn key(&mut self, key: KeyEvent, now: UnixMillis) -> Vec<Wish> {
        if !is_press(key) {
            return Vec::new();
        }
        let takes_keys = self.card_takes_keys(now) && !self.begins_to_type(key, now);
        self.key_at = Some(now);
        let act = act(Place::Chat, key);
        if act == Some(Act::Interrupt) {
            return self.interrupt();
        }
        if act == Some(Act::SwitchFocus) && self.cards.shown().is_some() {
            self.focus = if takes_keys {
                Attention::Prompt
            } else {
                Attention::Card
            };
            if let Some(panel) = self.cards.front() {
                panel.typed_elsewhere(now);
            }
            return Vec::new();
        }
        let Some(panel) = self.cards.front() else {
            return self.key_of_prompt(act, key, now);
        };
        if !takes_keys {
            panel.typed_elsewhere(now);
            return self.key_of_prompt(act, key, now);
        }
        let reaction = panel.key(key, now);
        match reaction.then {
            Then::Stays => {
                // Keys of one hand's movement belong together.
                self.focus = Attention::Card;
                self.cards.sweep(now);
                reaction.wishes
            }
            Then::Leaves => self.leave_card(),
            Then::NotMine => {
                self.focus = Attention::Either;
                if self.cards.shown().is_some_and(|panel| !panel.is_waiting()) {
                    self.cards.dismiss();
                }
                self.key_of_prompt(act, key, now)
            }
        }
    }

    fn pasted(&mut self, text: &str, now: UnixMillis) -> Vec<Wish> {
        let takes_keys = self.card_takes_keys(now);
        self.key_at = Some(now);
        match self.cards.front() {
            Some(panel) if takes_keys && panel.is_typing() => panel.pasted(text, now),
            panel => {
                if let Some(panel) = panel {
                    panel.typed_elsewhere(now);
                }
                self.input.insert(text);
            }
        }
        Vec::new()
    }

    fn told(&mut self, news: News, now: UnixMillis) -> Vec<Wish> {
        let before = self.cards.waiting();
        let mut wishes = self.cards.told(&news, now);
        match &news {
            News::Answered { tag, answer } => wishes.extend(self.answered(tag, answer, now)),
            News::Unanswered { tag, why } => self.unanswered(tag, why),
            News::Event(event) => wishes.extend(self.happened(event)),
            News::Unreadable { why } => self.transcript.trouble(sentence(why)),
            News::Away { why } => self.away = Some(why.clone()),
            News::Back => self.away = None,
        }
        if self.cards.shown().is_none() {
            self.focus = Attention::Either;
        }
        if self.cards.waiting() != before {
            wishes.push(self.title());
        }
        wishes
    }

    fn draw(&mut self, frame: &mut Frame<'_>, now: UnixMillis) {
        self.cards.sweep(now);
        self.draw_all(frame, now);
    }

    fn changes_at(&self, now: UnixMillis) -> Option<UnixMillis> {
        let spins = (self.work != Work::Rests && self.away.is_none() && self.waits().is_none())
            .then(|| now.plus(SPIN_MILLIS - now.0.rem_euclid(SPIN_MILLIS)));
        let panel = self.cards.shown().and_then(|panel| panel.changes_at(now));
        let calm = self.key_at.map(|key| key.plus(BURST_MILLIS));
        let calm = calm.filter(|calm| *calm > now && self.cards.shown().is_some());
        [spins, panel, calm].into_iter().flatten().min()
    }
}

impl History {
    fn add(&mut self, text: &str) {
        self.back = 0;
        self.draft.clear();
        if self.said.last().is_none_or(|last| last != text) {
            self.said.push(text.to_owned());
        }
        if self.said.len() > HISTORY_MAX {
            self.said.remove(0);
        }
    }

    /// Returns what was last said to the agent.
    fn last_said(&self) -> Option<String> {
        let said = self.said.iter().rev();
        let mut said = said.filter(|text| !text.trim_start().starts_with('/'));
        said.next().cloned()
    }

    fn earlier(&mut self, input: &mut Input) {
        if self.back < self.said.len() {
            if self.back == 0 {
                self.draft = input.text();
            }
            self.back += 1;
            self.show(input);
        }
    }

    fn later(&mut self, input: &mut Input) {
        if self.back > 0 {
            self.back -= 1;
            self.show(input);
        }
    }

    fn show(&self, input: &mut Input) {
        let said = self.said.iter().rev().nth(self.back.wrapping_sub(1));
        input.set(said.filter(|_| self.back > 0).unwrap_or(&self.draft));
    }
}

fn send(what: &'static str, id: &str, method: Method, path: String, body: Option<Value>) -> Wish {
    Wish::Send {
        tag: Tag {
            what,
            id: id.to_owned(),
        },
        method,
        path,
        body,
    }
}
