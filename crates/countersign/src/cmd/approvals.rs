//! `countersign approvals`: what waits for an answer, calls and questions; `countersign answer`:
//! answering it.

use std::fmt::Write as _;
use std::process::ExitCode;

use countersign_core::card::Card;
use countersign_core::display::inline;
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::follow::clarified;
use crate::cli::{Answer, Approvals};
use crate::client::{Client, Reach, expect_done, refused, segment};
use crate::complaint::{Complaint, written};
use crate::config::read::at;
use crate::config::schema::seconds_of;
use crate::show::{QUIET, ago, print, print_json, table, text};
use crate::words::place;

/// What the id of a question begins with.
const QUESTION: &str = "clar_";
/// What an approval can be answered with.
const CHOICES: [&str; 4] = ["once", "session", "always", "deny"];

/// Shows what waits, or one card.
pub(crate) fn list(args: &Approvals, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    if let Some(id) = &args.id {
        let is_question = id.starts_with(QUESTION);
        let kind = if is_question {
            "clarifications"
        } else {
            "approvals"
        };
        let waiting = client.get(&format!("/v1/{kind}/{}", segment(id)))?;
        let shown = if args.json {
            print_json(&waiting)
        } else if is_question {
            print(&question(&waiting))
        } else {
            print(&card(&waiting))
        };
        return written(shown, ExitCode::SUCCESS);
    }
    let status = if args.all { "" } else { "?status=waiting" };
    let mut answer = client.get(&format!("/v1/approvals{status}"))?;
    let asked = client.get("/v1/clarifications")?;
    if let Some(answer) = answer.as_object_mut() {
        let questions = at(&asked, "clarifications").clone();
        answer.insert("clarifications".to_owned(), questions);
    }
    if args.json {
        return written(print_json(&answer), ExitCode::SUCCESS);
    }
    written(print(&shown_list(&answer, args.all)), ExitCode::SUCCESS)
}

fn shown_list(answer: &Value, all: bool) -> String {
    let approvals = at(answer, "approvals").as_array();
    let rows: Vec<Vec<String>> = approvals
        .into_iter()
        .flatten()
        .map(|it| {
            let state = match at(it, "decision.by").as_str() {
                Some(_) => format!(
                    "{} by {}",
                    text(it, "status"),
                    text(at(it, "decision"), "by")
                ),
                None => text(it, "status"),
            };
            vec![
                text(it, "approval_id"),
                text(at(it, "card"), "risk"),
                text(it, "command"),
                ago(it, "created_at"),
                if all { state } else { ago(it, "expires_at") },
            ]
        })
        .collect();
    let questions = questions(answer);
    if rows.is_empty() && questions.is_empty() {
        let nothing = if all {
            "No approvals yet."
        } else {
            "Nothing is waiting for an answer."
        };
        return format!(
            "{nothing}\n\
             `countersign try` puts a practice card here; `countersign history` shows what ran.\n"
        );
    }
    if rows.is_empty() {
        return questions;
    }
    let last = if all { "state" } else { "ends" };
    let mut out = table(&["approval", "risk", "what", "asked", last], &rows);
    let _infallible = write!(
        out,
        "\n{QUIET}`countersign approvals ID` shows one in full; \
         `countersign answer ID once|session|always|deny` answers it.{QUIET:#}\n"
    );
    if !questions.is_empty() {
        out.push('\n');
        out.push_str(&questions);
    }
    out
}

/// Returns what agents ask people, and how it is answered; nothing if they ask nothing.
fn questions(answer: &Value) -> String {
    let rows: Vec<Vec<String>> = at(answer, "clarifications")
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            vec![
                text(it, "clarification_id"),
                text(it, "question"),
                ago(it, "expires_at"),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut out = table(&["question", "what an agent asks", "ends"], &rows);
    let _infallible = write!(
        out,
        "\n{QUIET}`countersign approvals ID` shows one with its choices; \
         `countersign answer ID NUMBER` or `… ID 'WORDS'` answers it.{QUIET:#}\n"
    );
    out
}

/// Returns a question of an agent with its choices.
fn question(asked: &Value) -> String {
    let mut out = format!("{}\n", text(asked, "question"));
    let choices = at(asked, "choices").as_array().into_iter().flatten();
    for (number, choice) in choices.filter_map(Value::as_str).enumerate() {
        let _infallible = writeln!(out, "  {}. {}", number + 1, inline(choice));
    }
    let state = match at(asked, "status").as_str() {
        Some("waiting") => format!(
            "It is waiting for an answer and expires {}.",
            ago(asked, "expires_at")
        ),
        Some("answered") => {
            let answer = at(asked, "answer");
            format!(
                "Answered by {}: {}",
                text(answer, "by"),
                text(answer, "text")
            )
        }
        Some(_) | None => "Nobody answered in time.".to_owned(),
    };
    let _infallible = writeln!(out, "{state}");
    out
}

/// Returns the card of `approval`, and what may be granted with it.
pub(crate) fn card(approval: &Value) -> String {
    let card: Option<Card> = serde_json::from_value(at(approval, "card").clone()).ok();
    let mut out = card.map_or_else(String::new, |card| card.plain_text());
    if !out.ends_with('\n') {
        out.push('\n');
    }
    let scopes = at(approval, "scopes").as_array();
    let offers = at(approval, "choices")
        .as_array()
        .is_some_and(|choices| choices.iter().any(|choice| choice == "session"));
    if at(approval, "status") == "waiting" && offers {
        out.push_str(
            "\nSession and always would create one of these grants, the narrowest first:\n",
        );
        for (number, scope) in scopes.into_iter().flatten().enumerate() {
            let _infallible = writeln!(out, "  {}. {}", number + 1, text(scope, "words"));
        }
    }
    out
}

/// Answers a question of an agent with the number of a choice, or with words.
fn answer_question(args: &Answer, client: &Client) -> Result<ExitCode, Complaint> {
    let is_granting = args.scope.is_some() || args.lasts.is_some() || args.uses.is_some();
    if is_granting || args.note.is_some() {
        return Err(Complaint::usage(
            format!("{} is a question from an agent", segment(&args.id)),
            "--note, --scope, --for and --uses are for approvals",
        ));
    }
    let path = format!("/v1/clarifications/{}", segment(&args.id));
    let asked = client.get(&path)?;
    let body = clarified(&args.choice, &asked);
    let answer = client.ask(Method::POST, &format!("{path}/answer"), Some(&body))?;
    if args.json {
        let code = u8::from(!answer.0.is_success());
        return written(print_json(&answer.1), ExitCode::from(code));
    }
    expect_done(answer)?;
    written(print("Answered.\n"), ExitCode::SUCCESS)
}

/// Answers an approval, or a question.
pub(crate) fn answer(args: &Answer, reach: &Reach) -> Result<ExitCode, Complaint> {
    if args.id.starts_with(QUESTION) {
        return answer_question(args, &Client::new(reach)?);
    }
    if !CHOICES.contains(&args.choice.as_str()) {
        return Err(Complaint::usage(
            format!(
                "`{}` is not a valid answer to an approval",
                inline(&args.choice)
            ),
            format!(
                "use {}; see `countersign answer --help`",
                CHOICES.join(", ")
            ),
        ));
    }
    let client = Client::new(reach)?;
    let mut body = Map::new();
    body.insert("choice".to_owned(), json!(args.choice));
    if let Some(note) = &args.note {
        body.insert("note".to_owned(), json!(note));
    }
    if let Some(lasts) = &args.lasts {
        let seconds = seconds_of(lasts).ok_or_else(|| {
            Complaint::usage(
                format!("`{lasts}` is not a time"),
                "such as 90s, 30m, 2h or 1d",
            )
        })?;
        body.insert("lasts_seconds".to_owned(), json!(seconds));
    }
    if let Some(uses) = args.uses {
        body.insert("uses".to_owned(), json!(uses));
    }
    let path = format!("/v1/approvals/{}", segment(&args.id));
    if let Some(number) = args.scope {
        let approval = client.get(&path)?;
        let scope = number
            .checked_sub(1)
            .and_then(|index| at(&approval, "scopes").get(index))
            .ok_or_else(|| {
                let hint = "`countersign approvals ID` lists what is offered, from 1";
                Complaint::usage(format!("there is no scope {number}"), hint)
            })?;
        body.insert("scope".to_owned(), at(scope, "scope").clone());
    }
    let (status, answered) = client.ask(
        Method::POST,
        &format!("{path}/resolve"),
        Some(&Value::Object(body)),
    )?;
    if args.json {
        let code = u8::from(!status.is_success());
        return written(print_json(&answered), ExitCode::from(code));
    }
    if status.is_success() {
        let decision = at(&answered, "decision");
        let held = at(&answered, "held_until").is_number();
        let line = if held {
            format!(
                "{} takes effect in a moment, unless it is undone.\n",
                args.choice
            )
        } else {
            format!(
                "{} by {}.\n",
                capital(&text(decision, "outcome")),
                text(decision, "by")
            )
        };
        return written(print(&line), ExitCode::SUCCESS);
    }
    let decision = at(&answered, "decision");
    if matches!(status, StatusCode::CONFLICT | StatusCode::GONE) && decision.is_object() {
        let by = match at(decision, "by").as_str() {
            Some(_) => format!(
                " by {} via {}",
                text(decision, "by"),
                place(&text(decision, "via"))
            ),
            None => String::new(),
        };
        let message = format!(
            "it was {}{by} {}; nothing was changed",
            text(decision, "outcome"),
            ago(decision, "at")
        );
        return Err(Complaint::failed(
            message,
            "`countersign approvals` shows what is still waiting",
        ));
    }
    Err(refused(status, &answered))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
