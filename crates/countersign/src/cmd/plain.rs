//! The inbox line by line: numbered lists, a typed number and Enter, the same words as on the full
//! screen. For screen readers, and for terminals that can do no more.
//!
//! A question is answered by a whole line; what was typed before it was asked counts for nothing.

use std::fmt::Write as _;
use std::pin::Pin;

use countersign_core::card::label;
use countersign_core::display::{inline, shortened};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::approvals::card;
use super::follow::{Typed, chosen, clarified, read_lines, scopes_in_words, scopes_of};
use crate::client::segment;
use crate::client::{Client, expect_done};
use crate::complaint::Complaint;
use crate::config::read::at;
use crate::show::print;
use crate::slash::lifted;
use crate::tui::drive::{Heard, follow};
use crate::tui::screen::News;
use crate::wire::requests::choice;
use crate::words::{named, outcome, refusal};

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

/// What waits, as it is listed.
enum Listed {
    Approval(Value),
    Question(Value),
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
        let path = "/v1/overrides";
        let answer = expect_done(self.client.send(Method::GET, path, None).await?)?;
        let overrides = at(&answer, "overrides").as_array().into_iter().flatten();
        let mut lines = String::new();
        for it in overrides {
            lines.push_str(&lifted(it));
            lines.push('\n');
        }
        Ok(lines)
    }

    async fn list(&self) -> Result<Vec<Listed>, Complaint> {
        let path = format!("/v1/approvals?status=waiting&limit={LISTED_MAX}");
        let answer = expect_done(self.client.send(Method::GET, &path, None).await?)?;
        let approvals = at(&answer, "approvals").as_array().into_iter().flatten();
        // The gateway has the newest first; the oldest ends first.
        let mut listed: Vec<Listed> = approvals.rev().cloned().map(Listed::Approval).collect();
        let path = "/v1/clarifications";
        let answer = expect_done(self.client.send(Method::GET, path, None).await?)?;
        let questions = at(&answer, "clarifications")
            .as_array()
            .into_iter()
            .flatten();
        let waiting = questions.filter(|it| at(it, "status") == "waiting");
        listed.extend(waiting.cloned().map(Listed::Question));
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

    async fn approval(&mut self, listed: &Value) -> Result<(), Complaint> {
        let id = at(listed, "approval_id")
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let path = format!("/v1/approvals/{}", segment(&id));
        let approval = expect_done(self.client.send(Method::GET, &path, None).await?)?;
        say(&format!("\n{}\n", card(&approval).trim_end()))?;
        let choices = at(&approval, "card.choices")
            .as_array()
            .into_iter()
            .flatten();
        let choices: Vec<String> = choices
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        if choices.is_empty() {
            return Ok(());
        }
        for (number, word) in choices.iter().enumerate() {
            let label = choice(word).map_or_else(|| word.clone(), |it| label(it).to_owned());
            say(&format!("{}. {label}\n", number + 1))?;
        }
        let prompt = format!(
            "Type a number from 1 to {} and Enter, or Enter to go back: ",
            choices.len()
        );
        loop {
            let Some(line) = self.ask(&prompt, Some(&id)).await? else {
                return Ok(());
            };
            if line.trim().is_empty() {
                return Ok(());
            }
            match chosen(&line, &choices) {
                Typed::Unclear => say("There is no such choice.\n")?,
                Typed::Choice(word) => return self.answer(&id, &path, &word).await,
            }
        }
    }

    async fn answer(&mut self, id: &str, path: &str, word: &str) -> Result<(), Complaint> {
        let mut body = json!({ "choice": word });
        match word {
            "deny" => {
                let prompt = "Tell the agent why (Enter to skip): ";
                let Some(note) = self.ask(prompt, Some(id)).await? else {
                    return Ok(());
                };
                if let Some(fields) = body.as_object_mut().filter(|_| !note.trim().is_empty()) {
                    fields.insert("note".to_owned(), json!(note.trim()));
                }
            }
            "session" | "always" => {
                let Some(scope) = self.scope(id).await? else {
                    return Ok(());
                };
                if let Some(fields) = body.as_object_mut() {
                    fields.insert("scope".to_owned(), scope);
                }
            }
            _ => {}
        }
        let path = format!("{path}/resolve");
        let (status, answered) = self.client.send(Method::POST, &path, Some(&body)).await?;
        say(&format!("{}\n\n", came_of(status, &answered)))
    }

    /// Asks which permission to leave, the narrowest first.
    async fn scope(&mut self, id: &str) -> Result<Option<Value>, Complaint> {
        let scopes = scopes_of(self.client, id).await?;
        let prompt = scopes_in_words(&scopes);
        let line = self.ask(&prompt, Some(id)).await?.unwrap_or_default();
        let number = line.trim().parse::<usize>().ok();
        let scope = number.and_then(|number| scopes.get(number.checked_sub(1)?));
        if scope.is_none() {
            say("Nothing was answered.\n")?;
        }
        Ok(scope.map(|scope| at(scope, "scope").clone()))
    }

    async fn question(&mut self, question: &Value) -> Result<(), Complaint> {
        let id = at(question, "clarification_id")
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let words = at(question, "question").as_str().unwrap_or_default();
        say(&format!(
            "\nAn agent needs your input\n{}\n",
            shortened(words)
        ))?;
        let choices = at(question, "choices").as_array();
        let count = choices.map_or(0, Vec::len);
        for (number, choice) in choices.into_iter().flatten().enumerate() {
            say(&format!(
                "{}. {}\n",
                number + 1,
                choice.as_str().unwrap_or_default()
            ))?;
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
        let body = clarified(&line, question);
        let (status, answered) = self.client.send(Method::POST, &path, Some(&body)).await?;
        let words = if status.is_success() {
            "Answered.".to_owned()
        } else {
            refusal(status.as_u16(), &answered)
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
                let risk = named(at(approval, "card"), "risk").unwrap_or_default();
                let command = at(approval, "command").as_str().unwrap_or_default();
                format!("{risk} risk: {}", shortened(command))
            }
            Listed::Question(question) => {
                let words = at(question, "question").as_str().unwrap_or_default();
                format!("question: {}", shortened(&words.replace('\n', " ")))
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
        News::Back => Some("The gateway is back.".to_owned()),
        News::Event(event) => match at(event, "event").as_str()? {
            "approval.required" => {
                let command = at(event, "command").as_str().unwrap_or_default();
                Some(format!("1 more waits: {}", shortened(command)))
            }
            "clarify.required" => Some("1 more waiting: a question.".to_owned()),
            "approval.resolved" => Some(format!("{}.", outcome(event))),
            _ => None,
        },
        News::Answered { .. } | News::Unanswered { .. } => None,
    }
}

/// Whether `event` settles the question `id`.
fn is_end_of(event: &Value, id: &str) -> bool {
    let name = at(event, "event").as_str().unwrap_or_default();
    match name {
        "approval.resolved" => at(event, "approval_id") == id,
        "clarify.resolved" => at(event, "clarification_id") == id,
        _ => false,
    }
}

fn came_of(status: StatusCode, answered: &Value) -> String {
    let decision = at(answered, "decision");
    if status.is_success() && at(answered, "held_until").is_number() {
        "Your answer takes effect in a moment, unless it is undone.".to_owned()
    } else if decision.is_object() {
        format!("{}.", outcome(decision))
    } else {
        refusal(status.as_u16(), answered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_numbered_in_the_words_of_the_cards() {
        let approval = json!({ "command": "rm -rf /srv/www", "card": { "risk": "critical" } });
        let question = json!({ "question": "Which port?\nThere are two." });
        let listed = [Listed::Approval(approval), Listed::Question(question)];
        let wanted = "2 waiting for an answer.\n\
                      1. critical risk: rm -rf /srv/www\n\
                      2. question: Which port? There are two.\n";
        assert_eq!(shown(&listed), wanted);
        assert_eq!(shown(&[]), "Nothing is waiting for an answer.\n");
    }

    #[test]
    fn news_is_told_in_one_sentence_and_only_if_it_matters_to_whoever_answers() {
        let resolved = json!({ "event": "approval.resolved", "approval_id": "appr_1",
            "outcome": "denied", "by": "ana", "via": "page" });
        assert!(is_end_of(&resolved, "appr_1"));
        assert!(!is_end_of(&resolved, "appr_2"));
        let rows = [
            (News::Event(resolved), Some("Denied by ana via the page.")),
            (News::Event(json!({ "event": "call.assessed" })), None),
            (News::Back, Some("The gateway is back.")),
        ];
        for (news, wanted) in rows {
            assert_eq!(told(&news).as_deref(), wanted, "{news:?}");
        }
    }
}
