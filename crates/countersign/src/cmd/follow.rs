//! Follows a run in a terminal: its text, its actions, and its questions, which can be answered in
//! place.
//!
//! Where the terminal has a whole screen, a question is the panel of the chat. Elsewhere it is answered
//! by a whole line. What was typed before it appeared counts for nothing. It may be answered elsewhere
//! meanwhile, and then the next one is shown. Nobody there to read is a no. What happens while a
//! prompt is on its line is printed above it.

mod answers;
mod reads;

use std::collections::VecDeque;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use countersign_core::approval::Choice;
use countersign_core::display::line as one_line;
use countersign_core::status::{Cause, Ended as ToolEnded, Outcome, Status};
use countersign_gate::records::event::{
    ApprovalResolved, ClarifyRequired, Event, ToolCompleted, ToolStarted,
};
use countersign_gate::records::view::{ApprovalView, ScopeView};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::approvals::card;
use crate::client::{Client, Events, Told, segment};
use crate::complaint::Complaint;
use crate::show::{maybe, text};
use crate::words::{place, sentence};
pub(crate) use answers::{
    Choosing, answer_of, besides, chosen, clarified, extended, led_to, prompt, read_lines,
    scopes_in_words, scopes_of,
};
pub(crate) use reads::Reads;
use reads::{Typed, typed};

/// How long a gateway that went away is looked for.
const AWAY_MAX: Duration = Duration::from_mins(1);
/// Pause between two looks.
const AWAY_PAUSE: Duration = Duration::from_millis(500);

/// The view of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// Its output, for people.
    Progress,
    /// Every event, one JSON object per line.
    Events,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It came to its end.
    Completed,
    /// It could not go on.
    Failed(String),
    /// Somebody stopped it.
    Cancelled,
}

/// Follows runs, one after the other.
#[derive(Debug)]
pub(crate) struct Follow<'a> {
    client: &'a Client,
    shows: Shows,
    /// What is typed, where that can be an answer.
    reads: Reads,
    is_terminal: bool,
    /// The prompt that stands on the last line, behind which a person types.
    prompted: Option<String>,
    /// The run that is followed.
    run: String,
    /// Whether the person wants it to stop.
    wants_stop: bool,
    /// The printed part of the current message.
    message: String,
    /// The last notice that stands for a draft.
    held: Option<String>,
    /// Tools that were begun.
    begun: Vec<ToolStarted>,
    /// The open questions; the first is on screen.
    asked: VecDeque<Asked>,
    /// Whether the person chose to answer the first question in their own words.
    is_typing_words: bool,
    /// The permission the person is about to leave by answering the first question.
    granting: Option<Granting>,
}

/// A permission that was chosen and not confirmed: which of these?
#[derive(Debug)]
struct Granting {
    choice: Choice,
    scopes: Vec<ScopeView>,
}

/// A question that waits.
#[derive(Clone, Debug)]
enum Asked {
    Approval { id: String, choices: Vec<Choice> },
    Clarification(ClarifyRequired),
}

impl Asked {
    fn id(&self) -> &str {
        match self {
            Self::Approval { id, .. } => id,
            Self::Clarification(question) => &question.clarification_id,
        }
    }
}

impl<'a> Follow<'a> {
    /// Returns who follows runs of the gateway of `client`.
    pub(crate) fn new(client: &'a Client, shows: Shows, reads: Reads) -> Self {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self {
            client,
            shows,
            is_terminal: is_terminal && !matches!(reads, Reads::Nothing),
            reads,
            prompted: None,
            run: String::new(),
            wants_stop: false,
            message: String::new(),
            held: None,
            begun: Vec::new(),
            asked: VecDeque::new(),
            is_typing_words: false,
            granting: None,
        }
    }

    /// Whether somebody is there who could be asked.
    pub(crate) const fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Returns the next line that is typed; `None` at the end of input, or if the person interrupts.
    pub(crate) async fn line(&mut self, prompt: &str) -> Option<String> {
        if self.is_terminal {
            eprint!("{prompt}");
        }
        tokio::select! {
            typed = typed(&mut self.reads) => match typed {
                Typed::Line(line) => line,
                Typed::Enter => None,
            },
            _ = tokio::signal::ctrl_c() => {
                eprintln!();
                None
            }
        }
    }

    /// Follows `run` to its end.
    pub(crate) async fn run(&mut self, run: &str) -> Result<Ended, Complaint> {
        run.clone_into(&mut self.run);
        self.wants_stop = false;
        let path = format!("/v1/runs/{}/events", segment(run));
        let mut events = self.client.events(&path, None).await?;
        let mut last = None;
        let mut interrupts = 0;
        loop {
            tokio::select! {
                // What was typed ends the prompt's line, so nothing is printed before it is read.
                biased;
                _ = tokio::signal::ctrl_c() => self.wants_stop = true,
                typed = typed(&mut self.reads), if self.is_terminal && !self.asked.is_empty() => {
                    self.prompted = None;
                    match typed {
                        Typed::Line(typed) => self.answer(typed).await?,
                        Typed::Enter => self.show_question().await?,
                    }
                }
                event = events.next() => match event {
                    Some(told) => {
                        last = told.id.or(last);
                        if let Some(ended) = self.told(told).await? {
                            self.asked.clear();
                            return Ok(ended);
                        }
                    }
                    None => events = self.again(&path, last).await?,
                },
            }
            if std::mem::take(&mut self.wants_stop) {
                interrupts += 1;
                if interrupts > 1 {
                    return Ok(Ended::Cancelled);
                }
                self.stop().await?;
            }
        }
    }

    /// Asks the gateway to stop the run; its last event follows.
    async fn stop(&mut self) -> Result<(), Complaint> {
        eprintln!("\nStopping; press Ctrl-C again to exit immediately.");
        self.prompted = None;
        let path = format!("/v1/runs/{}/stop", segment(&self.run));
        let body = json!({});
        let stopped = self.client.send(Method::POST, &path, Some(&body)).await?;
        stopped.done().map(drop)
    }

    /// Comes back to a stream that broke off.
    async fn again(&self, path: &str, last: Option<u64>) -> Result<Events, Complaint> {
        let since = Instant::now();
        loop {
            match self.client.events(path, last).await {
                Ok(events) => return Ok(events),
                Err(complaint) if since.elapsed() > AWAY_MAX => return Err(complaint),
                Err(_) => tokio::time::sleep(AWAY_PAUSE).await,
            }
        }
    }

    /// Shows one event; returns how the run ended if it is the last.
    async fn told(&mut self, told: Told) -> Result<Option<Ended>, Complaint> {
        if self.shows == Shows::Events {
            let mut stdout = std::io::stdout().lock();
            // A reader that left wants no more.
            if writeln!(stdout, "{}", told.json).is_err() {
                return Ok(Some(Ended::Cancelled));
            }
        }
        let event = match told.event {
            Ok(Some(event)) => event,
            // An event this program does not know changes nothing it shows.
            Ok(None) => return Ok(None),
            Err(why) => {
                self.end_message();
                self.note(&sentence(&why));
                return Ok(None);
            }
        };
        if let Some(ended) = self.ended(&event) {
            return Ok(Some(ended));
        }
        self.happened(event).await?;
        Ok(None)
    }

    /// Returns how the run ended, if the event says so.
    #[expect(clippy::wildcard_enum_match_arm, reason = "three events end a run")]
    fn ended(&mut self, event: &Event) -> Option<Ended> {
        let ended = match event {
            Event::RunCompleted(run) => {
                let output = &run.output;
                if self.held.take().as_ref() == Some(output) {
                    return Some(Ended::Completed);
                }
                if self.message.is_empty() || !output.ends_with(&self.message) {
                    self.say_anew(output);
                }
                Ended::Completed
            }
            Event::RunFailed(run) => Ended::Failed(text(&run.error)),
            Event::RunCancelled(_) => Ended::Cancelled,
            _ => return None,
        };
        self.end_message();
        Some(ended)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "a run shows some events")]
    async fn happened(&mut self, event: Event) -> Result<(), Complaint> {
        match event {
            // That is told by `message.held`.
            Event::MessageDelta(piece) if piece.notice == Some(true) => {}
            Event::MessageSnapshot(whole) if whole.notice == Some(true) => {}
            Event::MessageDelta(piece) => self.say(&piece.delta),
            Event::MessageSnapshot(whole) => self.say_anew(&whole.text),
            Event::MessageHeld(held) => {
                self.end_message();
                if self.held.as_ref() != Some(&held.notice) {
                    self.say(&held.notice);
                    self.end_message();
                }
                self.held = Some(held.notice);
            }
            Event::CallAssessed(call)
                if call.cause == Some(Cause::Grant) && call.status == Status::Allowed =>
            {
                self.end_message();
                self.note(&format!("Allowed by a grant: {}", text(&call.command)));
            }
            Event::ToolStarted(tool) => {
                self.end_message();
                self.note(&format!("· {}", text(&tool.preview)));
                self.begun.push(tool);
            }
            Event::ToolCompleted(tool) => {
                let what = self.tool_ended(&tool);
                self.note(&format!("  {what}"));
            }
            Event::ApprovalRequired(asked) => {
                self.end_message();
                let (id, choices) = (asked.approval_id, asked.choices);
                self.asks(Asked::Approval { id, choices }).await?;
            }
            Event::ClarifyRequired(question) => {
                self.end_message();
                self.asks(Asked::Clarification(question)).await?;
            }
            Event::ApprovalResolved(told) => {
                let is_shown = self
                    .asked
                    .front()
                    .is_some_and(|it| it.id() == told.approval_id);
                if is_shown && self.prompted.take().is_some() {
                    eprintln!();
                }
                self.note(&resolved(&told));
                self.settled(&told.approval_id).await?;
            }
            Event::ClarifyResolved(told) => self.settled(&told.clarification_id).await?,
            _ => {}
        }
        Ok(())
    }

    /// Returns which tool ended, and how. Which one is said by its names, never by the order.
    fn tool_ended(&mut self, tool: &ToolCompleted) -> String {
        let mut begun = self.begun.iter();
        let by_call = begun.position(|it| it.call_id.is_some() && it.call_id == tool.call_id);
        let by_model = || {
            let mut begun = self.begun.iter();
            begun.position(|it| Some(&it.tool_call_id) == tool.tool_call_id.as_ref())
        };
        let place = by_call.or_else(by_model);
        let begun = place.map(|place| self.begun.remove(place));
        let what = begun.map_or_else(|| text(&tool.tool), |it| text(&it.preview));
        let words = maybe(tool.words.as_deref());
        match (tool.outcome, tool.error == Some(true)) {
            (Some(ToolEnded::Done), _) | (None, false) => format!("✓ {what}"),
            (Some(ToolEnded::Unknown), _) => format!("? {what}: {words}"),
            (Some(_), _) => format!("✗ {what}: {words}"),
            // An older gateway says no more than this.
            (None, true) => format!("✗ {what}: failed, or not run"),
        }
    }

    fn say(&mut self, piece: &str) {
        self.message.push_str(piece);
        if self.shows == Shows::Events {
            return;
        }
        // It comes back when the message ends.
        if self.prompted.is_some() && self.message.len() == piece.len() {
            eprintln!();
        }
        let mut stdout = std::io::stdout().lock();
        let shown = if stdout.is_terminal() {
            safe(piece)
        } else {
            piece.to_owned()
        };
        // Who does not read any more is not told; the run goes on.
        let _written = stdout.write_all(shown.as_bytes());
        let _flushed = stdout.flush();
    }

    /// Says a message of which a part may have been said already.
    fn say_anew(&mut self, message: &str) {
        let rest = message.strip_prefix(self.message.as_str());
        if let Some(rest) = rest {
            let rest = rest.to_owned();
            self.say(&rest);
        } else {
            self.end_message();
            self.say(message);
        }
    }

    fn end_message(&mut self) {
        if !self.message.is_empty() && !self.message.ends_with('\n') {
            self.say("\n");
        }
        if !self.message.is_empty()
            && let Some(prompt) = &self.prompted
        {
            eprint!("{prompt}");
        }
        self.message.clear();
    }

    /// Prints a line; above the prompt, if one is shown.
    fn note(&self, line: &str) {
        if self.shows == Shows::Events {
            return;
        }
        match &self.prompted {
            // Behind a prompt that was answered already nobody types any more.
            Some(_) if self.reads.has_line() => eprintln!("{line}"),
            Some(prompt) => eprint!("\n{line}\n{prompt}"),
            None => eprintln!("{line}"),
        }
    }

    /// Prints a prompt, behind which the person types.
    fn prompt(&mut self, prompt: String) {
        eprint!("{prompt}");
        self.prompted = Some(prompt);
    }

    async fn asks(&mut self, asked: Asked) -> Result<(), Complaint> {
        self.asked.push_back(asked);
        if self.asked.len() == 1 {
            return self.show_question().await;
        }
        if !self.is_terminal {
            // Nobody answers here, so nothing is gained by showing one after the other.
            return self.print_question(self.asked.len() - 1).await;
        }
        let more = self.asked.len() - 1;
        self.note(&format!("{more} more waiting."));
        Ok(())
    }

    /// Takes a question away that is settled, and shows the next one.
    async fn settled(&mut self, id: &str) -> Result<(), Complaint> {
        let was_first = self.asked.front().is_some_and(|asked| asked.id() == id);
        self.asked.retain(|asked| asked.id() != id);
        if was_first && self.is_terminal {
            self.prompted = None;
            self.show_question().await?;
        }
        Ok(())
    }

    /// Shows the first question, or how it can be answered elsewhere.
    async fn show_question(&mut self) -> Result<(), Complaint> {
        self.is_typing_words = false;
        self.granting = None;
        if self.asked.is_empty() {
            return Ok(());
        }
        self.forget_typed();
        if matches!(self.reads, Reads::Keys(_)) {
            return self.ask_in_panel().await;
        }
        self.print_question(0).await
    }

    /// Prints a question, and what can be typed, or how it can be answered elsewhere.
    async fn print_question(&mut self, number: usize) -> Result<(), Complaint> {
        let Some(asked) = self.asked.get(number).cloned() else {
            return Ok(());
        };
        if self.shows == Shows::Events {
            return Ok(());
        }
        match asked {
            Asked::Approval { id, choices } => {
                let path = format!("/v1/approvals/{}", segment(&id));
                let answer = self.client.send(Method::GET, &path, None).await?;
                let approval: ApprovalView = answer.read()?;
                eprintln!("\n{}", card(&approval).trim_end());
                if self.is_terminal {
                    eprintln!("{}", besides(&approval));
                    // What is typed from the prompt on counts, and nothing before it.
                    self.forget_typed();
                    // The card has numbered them.
                    self.prompt(format!("{}: ", prompt(&choices)));
                } else {
                    eprintln!("{}", elsewhere(&id, &choices));
                }
            }
            Asked::Clarification(question) => {
                let id = &question.clarification_id;
                eprintln!("\nThe agent needs your input");
                eprintln!("{}", text(&question.question));
                for (number, choice) in question.choices.iter().enumerate() {
                    eprintln!("  {}. {}", number + 1, one_line(choice));
                }
                let count = question.choices.len();
                self.forget_typed();
                if self.is_terminal && count > 0 {
                    eprintln!("  {}. Other (type your answer)", count + 1);
                    self.prompt(format!("Answer, 1 to {}: ", count + 1));
                } else if self.is_terminal {
                    self.prompt("Type your answer, then press Enter: ".to_owned());
                } else {
                    eprintln!("Waiting for an answer: countersign answer {id} ANSWER");
                }
            }
        }
        Ok(())
    }

    /// Input typed before the question does not answer it.
    fn forget_typed(&mut self) {
        match &mut self.reads {
            Reads::Lines(lines) if self.is_terminal => while lines.try_recv().is_ok() {},
            Reads::Keys(keys) => keys.forget(),
            Reads::Lines(_) | Reads::Nothing => {}
        }
    }

    /// Answers the first question with what was typed; the end of input is a no.
    async fn answer(&mut self, typed: Option<String>) -> Result<(), Complaint> {
        let Some(first) = self.asked.front() else {
            return Ok(());
        };
        let (path, body) = match first {
            Asked::Approval { id, choices } => {
                let path = format!("/v1/approvals/{}/resolve", segment(id));
                let (id, choices) = (id.clone(), choices.clone());
                let Some(body) = self.decided(&id, &choices, typed).await else {
                    return Ok(());
                };
                (path, body)
            }
            Asked::Clarification(question) => {
                let Some(typed) = typed else {
                    self.asked.pop_front();
                    return self.show_question().await;
                };
                let count = question.choices.len();
                let is_other = count > 0 && typed.trim() == (count + 1).to_string();
                if is_other && !self.is_typing_words {
                    self.is_typing_words = true;
                    self.prompt("Type your answer, then press Enter: ".to_owned());
                    return Ok(());
                }
                let id = segment(&question.clarification_id);
                let path = format!("/v1/clarifications/{id}/answer");
                // Behind *Other*, digits are words.
                let body = if std::mem::take(&mut self.is_typing_words) {
                    json!({ "text": typed.trim() })
                } else {
                    clarified(&typed, &question.choices)
                };
                (path, body)
            }
        };
        let answer = self.client.send(Method::POST, &path, Some(&body)).await?;
        let is_late = matches!(answer.status(), StatusCode::CONFLICT | StatusCode::GONE);
        if answer.is_success() || is_late {
            // The event that settles it follows, whoever it was.
            return Ok(());
        }
        self.granting = None;
        eprintln!("{}", text(&answer.refusal().error.message));
        if answer.status() == StatusCode::FORBIDDEN {
            eprintln!("Another person must answer; waiting.");
            self.asked.pop_front();
            return self.show_question().await;
        }
        self.prompt("Answer: ".to_owned());
        Ok(())
    }
}

impl Follow<'_> {
    /// Returns the answer that was typed; `None` if it is none yet. A permission is left only after
    /// it was shown.
    async fn decided(
        &mut self,
        id: &str,
        choices: &[Choice],
        typed: Option<String>,
    ) -> Option<Value> {
        let Some(typed) = typed else {
            return Some(json!({ "choice": "deny" }));
        };
        if let Some(Granting { choice, scopes }) = self.granting.take() {
            let number = typed.trim().parse::<usize>().ok();
            let scope = number.and_then(|number| scopes.get(number.checked_sub(1)?));
            if let Some(scope) = scope {
                return Some(json!({ "choice": choice.word(), "scope": scope.scope }));
            }
            eprint!("Nothing was answered. ");
            self.prompt(format!("{}: ", prompt(choices)));
            return None;
        }
        match chosen(&typed, choices) {
            Choosing::Choice(choice @ (Choice::Session | Choice::Always), _) => {
                match scopes_of(self.client, id, choice).await {
                    Ok(scopes) => {
                        self.forget_typed();
                        let words = scopes_in_words(&scopes);
                        let (shown, prompt) = words.rsplit_once('\n').unwrap_or(("", &words));
                        eprintln!("{shown}");
                        self.prompt(prompt.to_owned());
                        self.granting = Some(Granting { choice, scopes });
                    }
                    Err(complaint) => {
                        eprintln!("{}", complaint.message());
                        self.prompt(format!("{}: ", prompt(choices)));
                    }
                }
                None
            }
            Choosing::Choice(choice, note) => Some(answer_of(choice, note)),
            Choosing::Before => {
                let words = led_to(self.client, id).await;
                eprintln!("{}", words.unwrap_or_else(|it| it.message().to_owned()));
                self.prompt(format!("{}: ", prompt(choices)));
                None
            }
            Choosing::MoreTime => {
                let words = extended(self.client, id).await;
                eprintln!("{}", words.unwrap_or_else(|it| it.message().to_owned()));
                self.prompt(format!("{}: ", prompt(choices)));
                None
            }
            Choosing::Unclear => {
                self.prompt(format!("{}: ", prompt(choices)));
                None
            }
        }
    }
}

/// Returns how an approval can be answered from another terminal.
fn elsewhere(id: &str, choices: &[Choice]) -> String {
    let choices: Vec<&str> = choices.iter().map(|it| it.word()).collect();
    let choices = choices.join("|");
    format!("Waiting for an answer: countersign answer {id} {choices}")
}

fn resolved(told: &ApprovalResolved) -> String {
    let outcome = match told.outcome {
        Outcome::Approved => "Approved",
        Outcome::Denied => "Denied",
        Outcome::Expired => "Nobody answered in time; it did not run",
        Outcome::Withdrawn => "Withdrawn",
        Outcome::Allowed | Outcome::Refused => "Answered",
    };
    match &told.by {
        Some(by) => format!(
            "{outcome} by {} via {}.",
            text(by),
            place(&maybe(told.via.as_deref()))
        ),
        None => format!("{outcome}."),
    }
}

/// Returns text that cannot do anything to a terminal.
fn safe(text: &str) -> String {
    let lines = text.split('\n');
    let lines = lines.map(|line| {
        line.split('\t')
            .map(one_line)
            .collect::<Vec<_>>()
            .join("\t")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_says_cannot_move_the_cursor() {
        assert_eq!(safe("a\tb\nc "), "a\tb\nc ");
        assert!(!safe("a\u{1b}[2Jb").contains('\u{1b}'));
    }
}
