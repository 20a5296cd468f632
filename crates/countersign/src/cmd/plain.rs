//! The line-mode inbox: numbered lists, a number and Enter. For screen readers and simple
//! terminals.
//!
//! A question is answered by a whole line; what was typed before it was asked counts for nothing.

use std::fmt::Write as _;
use std::pin::Pin;

use countersign_core::approval::Choice;
use countersign_core::card::label;
use countersign_core::display::{inline, shortened};
use countersign_core::grant::Scope;
use countersign_core::status::ClarificationStatus;
use countersign_gate::clarifications::ClarificationView;
use countersign_gate::records::event::Event;
use countersign_gate::records::view::ApprovalView;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::approvals::card;
use super::follow::{
    Choosing, answer_of, besides, chosen, clarified, extended, led_to, prompt, read_lines,
    scopes_in_words, scopes_of,
};
use crate::client::{Answer, Client, segment};
use crate::complaint::Complaint;
use crate::show::print;
use crate::slash::lifted;
use crate::tui::drive::{Heard, follow};
use crate::tui::screen::News;
use crate::wire::lists::{ApprovalList, ClarificationList, OverrideList};
use crate::words::{decided, outcome, refusal, sentence};

/// Events that may wait to be told.
const EVENTS_MAX: usize = 256;
/// Things that are listed; the others follow when these are answered.
const LISTED_MAX: usize = 200;

const AWAY: &str =
    "The gateway is down. Calls are being refused. Start it with `countersign serve`.";

/// Shows what waits and takes answers until the input ends.
pub(crate) fn run(client: &Client) -> Result<(), Complaint> {
    client.block_on(async {
        let (tell, heard) = mpsc::channel(EVENTS_MAX);
        let mut plain = Plain {
            client,
            lines: read_lines(),
            heard,
            following: Box::pin(follow(client, "/v1/events".to_owned(), tell)),
        };
        plain.run().await
    })
}

struct Plain<'a> {
    client: &'a Client,
    lines: mpsc::Receiver<String>,
    heard: mpsc::Receiver<Heard>,
    following: Pin<Box<dyn Future<Output = ()> + 'a>>,
}

/// What comes while somebody is asked.
enum Came {
    /// A line, or the end of them.
    Line(Option<String>),
    /// News.
    News(News),
}

/// The waiting items, as listed.
enum Listed {
    Approval(Box<ApprovalView>),
    Question(Box<ClarificationView>),
}

impl Plain<'_> {
    async fn run(&mut self) -> Result<(), Complaint> {
        loop {
            let listed = self.list().await;
            match &listed {
                Ok(listed) => {
                    say(&self.lifted().await.unwrap_or_default())?;
                    say(&shown(listed))?;
                }
                // It is looked for; whoever types Enter looks again.
                Err(complaint) => say(&format!("{}\n{AWAY}\n", complaint.message()))?,
            }
            let listed = listed.unwrap_or_default();
            let prompt = "Type a number and Enter to open one, Enter to refresh, q to quit: ";
            let Some(line) = self.ask(prompt, None).await? else {
                return Ok(());
            };
            let typed = line.trim();
            if matches!(typed, "q" | "quit" | "exit") {
                return Ok(());
            }
            let number = typed.parse::<usize>().ok();
            let here = number.and_then(|number| listed.get(number.checked_sub(1)?));
            let told = match here {
                Some(Listed::Approval(approval)) => self.approval(approval).await,
                Some(Listed::Question(question)) => self.question(question).await,
                None if typed.is_empty() => Ok(()),
                None => say(&format!("There is no {}.\n", inline(typed))),
            };
            if let Err(complaint) = told {
                say(&format!("{}\n", complaint.message()))?;
            }
        }
    }

    /// Returns the sessions that run without questions, a line each; nothing if there is none.
    async fn lifted(&self) -> Result<String, Complaint> {
        let answer = self.client.send(Method::GET, "/v1/overrides", None).await?;
        let list: OverrideList = answer.read()?;
        let lines = list.overrides.iter().map(|it| format!("{}\n", lifted(it)));
        Ok(lines.collect())
    }

    async fn list(&self) -> Result<Vec<Listed>, Complaint> {
        let path = format!("/v1/approvals?status=waiting&limit={LISTED_MAX}");
        let answer = self.client.send(Method::GET, &path, None).await?;
        let approvals = answer.read::<ApprovalList>()?.approvals.into_iter();
        // The gateway has the newest first; the oldest ends first.
        let approvals = approvals.rev().map(|it| Listed::Approval(Box::new(it)));
        let mut listed: Vec<Listed> = approvals.collect();
        let path = "/v1/clarifications";
        let answer = self.client.send(Method::GET, path, None).await?;
        let questions = answer
            .read::<ClarificationList>()?
            .clarifications
            .into_iter();
        let waiting = questions.filter(|it| it.status == ClarificationStatus::Waiting);
        listed.extend(waiting.map(|it| Listed::Question(Box::new(it))));
        Ok(listed)
    }

    /// Asks for a line. What was typed before counts for nothing. An end of input, and a settled
    /// `about`, is no line.
    async fn ask(
        &mut self,
        prompt: &str,
        about: Option<&str>,
    ) -> Result<Option<String>, Complaint> {
        while self.lines.try_recv().is_ok() {}
        say(prompt)?;
        loop {
            match self.next().await {
                Came::Line(line) => return Ok(line),
                Came::News(news) => {
                    let Some(words) = told(&news) else { continue };
                    say(&format!("\n{words}\n"))?;
                    if let (News::Event(event), Some(about)) = (&news, about)
                        && is_end_of(event, about)
                    {
                        return Ok(None);
                    }
                    say(prompt)?;
                }
            }
        }
    }

    async fn next(&mut self) -> Came {
        loop {
            tokio::select! {
                line = self.lines.recv() => return Came::Line(line),
                Some(heard) = self.heard.recv() => {
                    if let Heard::News(news) = heard {
                        return Came::News(news);
                    }
                }
                () = &mut self.following => {}
            }
        }
    }

    async fn approval(&mut self, listed: &ApprovalView) -> Result<(), Complaint> {
        let id = listed.approval_id.clone();
        let path = format!("/v1/approvals/{}", segment(&id));
        let answer = self.client.send(Method::GET, &path, None).await?;
        let approval: ApprovalView = answer.read()?;
        say(&format!("\n{}\n", card(&approval).trim_end()))?;
        let choices = &approval.card.choices;
        if choices.is_empty() {
            return Ok(());
        }
        for choice in choices {
            say(&format!("{}. {}\n", choice.number(), label(*choice)))?;
        }
        say(&format!("{}\n", besides(&approval)))?;
        let prompt = format!("{}; Enter alone goes back: ", prompt(choices));
        loop {
            let Some(line) = self.ask(&prompt, Some(&id)).await? else {
                return Ok(());
            };
            if line.trim().is_empty() {
                return Ok(());
            }
            match chosen(&line, choices) {
                Choosing::Unclear => say("There is no such choice.\n")?,
                Choosing::Before => say(&format!("{}\n", led_to(self.client, &id).await?))?,
                Choosing::MoreTime => {
                    say(&format!("{}\n", extended(self.client, &id).await?))?;
                }
                Choosing::Choice(choice, note) => {
                    let body = answer_of(choice, note);
                    return self.answer(&id, &path, choice, body).await;
                }
            }
        }
    }

    async fn answer(
        &mut self,
        id: &str,
        path: &str,
        choice: Choice,
        mut body: Value,
    ) -> Result<(), Complaint> {
        if matches!(choice, Choice::Session | Choice::Always) {
            let Some(scope) = self.scope(id, choice).await? else {
                return Ok(());
            };
            if let Some(fields) = body.as_object_mut() {
                fields.insert("scope".to_owned(), json!(scope));
            }
        }
        let path = format!("{path}/resolve");
        let answered = self.client.send(Method::POST, &path, Some(&body)).await?;
        say(&format!("{}\n\n", came_of(&answered)))
    }

    /// Asks which permission to leave, the narrowest first.
    async fn scope(&mut self, id: &str, choice: Choice) -> Result<Option<Scope>, Complaint> {
        let scopes = scopes_of(self.client, id, choice).await?;
        let prompt = scopes_in_words(&scopes);
        let line = self.ask(&prompt, Some(id)).await?.unwrap_or_default();
        let number = line.trim().parse::<usize>().ok();
        let scope = number.and_then(|number| scopes.get(number.checked_sub(1)?));
        if scope.is_none() {
            say("Nothing was answered.\n")?;
        }
        Ok(scope.map(|scope| scope.scope.clone()))
    }

    async fn question(&mut self, question: &ClarificationView) -> Result<(), Complaint> {
        let id = question.clarification_id.clone();
        let words = shortened(&question.question);
        say(&format!("\nAn agent needs your input\n{words}\n"))?;
        let count = question.choices.len();
        for (number, choice) in question.choices.iter().enumerate() {
            say(&format!("{}. {choice}\n", number + 1))?;
        }
        let prompt = match count {
            0 => "Type your answer and Enter, or Enter to go back: ".to_owned(),
            _ => format!(
                "Type a number from 1 to {count} or your answer, and Enter; Enter alone goes back: "
            ),
        };
        let line = self.ask(&prompt, Some(&id)).await?.unwrap_or_default();
        if line.trim().is_empty() {
            return Ok(());
        }
        let path = format!("/v1/clarifications/{}/answer", segment(&id));
        let body = clarified(&line, &question.choices);
        let answered = self.client.send(Method::POST, &path, Some(&body)).await?;
        let words = if answered.is_success() {
            "Answered.".to_owned()
        } else {
            refusal(&answered)
        };
        say(&format!("{words}\n\n"))
    }
}

/// Writes, and shows it at once.
fn say(text: &str) -> Result<(), Complaint> {
    use std::io::Write as _;
    let written = print(text).and_then(|()| std::io::stdout().flush());
    written.map_err(|error| {
        Complaint::failed(format!("cannot write: {error}"), "is the terminal gone?")
    })
}

fn shown(listed: &[Listed]) -> String {
    if listed.is_empty() {
        return "Nothing is waiting for an answer.\n".to_owned();
    }
    let mut out = match listed.len() {
        1 => "1 waiting for an answer.\n".to_owned(),
        count => format!("{count} waiting for an answer.\n"),
    };
    for (number, it) in listed.iter().enumerate() {
        let words = match it {
            Listed::Approval(approval) => {
                let (risk, command) = (approval.card.risk, shortened(&approval.command));
                format!("{risk} risk: {command}")
            }
            Listed::Question(question) => {
                let words = question.question.replace('\n', " ");
                format!("question: {}", shortened(&words))
            }
        };
        let _infallible = writeln!(out, "{}. {words}", number + 1);
    }
    out
}

/// Returns what is said of news; nothing of what somebody who answers need not know.
fn told(news: &News) -> Option<String> {
    match news {
        News::Away { .. } => Some(AWAY.to_owned()),
        News::Unreadable { why } => Some(sentence(why)),
        News::Back => Some("The gateway is back.".to_owned()),
        News::Event(event) => told_event(event),
        News::Answered { .. } | News::Unanswered { .. } => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "three events matter here")]
fn told_event(event: &Event) -> Option<String> {
    match event {
        Event::ApprovalRequired(asked) => {
            Some(format!("1 more waiting: {}", shortened(&asked.command)))
        }
        Event::ClarifyRequired(_) => Some("1 more waiting: a question.".to_owned()),
        Event::ApprovalResolved(told) => Some(format!("{}.", outcome(&decided(told)))),
        _ => None,
    }
}

/// Whether `event` settles the question `id`.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "two events settle questions"
)]
fn is_end_of(event: &Event, id: &str) -> bool {
    match event {
        Event::ApprovalResolved(told) => told.approval_id == id,
        Event::ClarifyResolved(told) => told.clarification_id == id,
        _ => false,
    }
}

fn came_of(answered: &Answer) -> String {
    if !answered.is_success() {
        let decision = answered.refusal().decision;
        return decision.map_or_else(|| refusal(answered), |it| format!("{}.", outcome(&it)));
    }
    match answered.read::<ApprovalView>() {
        Ok(approval) => match &approval.decision {
            Some(decision) if approval.held_until.is_none() => format!("{}.", outcome(decision)),
            Some(_) | None => {
                "Your answer takes effect in a moment, unless it is undone.".to_owned()
            }
        },
        Err(complaint) => complaint.message().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn what_waits_is_numbered_in_the_words_of_the_cards() {
        let approval = samples::approval(json!({ "card": { "risk": "critical" } }));
        let question = samples::question(json!({ "question": "Which port?\nThere are two." }));
        let listed = [
            Listed::Approval(samples::read(approval)),
            Listed::Question(samples::read(question)),
        ];
        let wanted = "2 waiting for an answer.\n\
                      1. critical risk: rm -rf /srv/www\n\
                      2. question: Which port? There are two.\n";
        assert_eq!(shown(&listed), wanted);
        assert_eq!(shown(&[]), "Nothing is waiting for an answer.\n");
    }

    #[test]
    fn news_is_told_in_one_sentence_and_only_if_it_matters_to_whoever_answers() {
        let resolved = samples::event(json!({ "event": "approval.resolved", "outcome": "denied" }));
        assert!(is_end_of(&resolved, "appr_1"));
        assert!(!is_end_of(&resolved, "appr_2"));
        let rows = [
            (
                News::Event(Box::new(resolved)),
                Some("Denied by ana via the page."),
            ),
            (
                News::Event(Box::new(samples::event(
                    json!({ "event": "call.assessed" }),
                ))),
                None,
            ),
            (News::Back, Some("The gateway is back.")),
            (
                News::Unreadable {
                    why: "the gateway's event x cannot be read".to_owned(),
                },
                Some("The gateway's event x cannot be read"),
            ),
        ];
        for (news, wanted) in rows {
            assert_eq!(told(&news).as_deref(), wanted, "{news:?}");
        }
    }
}
