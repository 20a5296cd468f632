//! `countersign approvals` lists waiting approvals and questions; `countersign answer` answers one,
//! `countersign extend` gives one more time.

use std::fmt::Write as _;
use std::process::ExitCode;

use countersign_core::approval::Choice;
use countersign_core::canonical;
use countersign_core::display::inline;
use countersign_core::status::{ClarificationStatus, Outcome, Status};
use countersign_gate::clarifications::ClarificationView;
use countersign_gate::records::view::{ApprovalView, DecisionView};
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::check::input;
use super::follow::clarified;
use crate::cli::{Answer, Approvals, Extend};
use crate::client::{Answer as Answered, Client, Reach, segment};
use crate::complaint::{Complaint, written};
use crate::config::schema::seconds_of;
use crate::show::{QUIET, ago, maybe, print, print_json, table, text};
use crate::wire::lists::{ApprovalList, ClarificationList};
use crate::words::{answer_of, one_line, place, sentence};

/// The prefix of a question's id.
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
            print_json(waiting.json())
        } else if is_question {
            print(&question(&waiting.read()?))
        } else {
            print(&card(&waiting.read()?))
        };
        return written(shown, ExitCode::SUCCESS);
    }
    let status = if args.all { "" } else { "?status=waiting" };
    let answer = client.get(&format!("/v1/approvals{status}"))?;
    let asked = client.get("/v1/clarifications")?;
    let questions: ClarificationList = asked.read()?;
    if args.json {
        let mut answer = answer.into_json();
        if let Some(answer) = answer.as_object_mut() {
            let questions = json!(questions.clarifications);
            answer.insert("clarifications".to_owned(), questions);
        }
        return written(print_json(&answer), ExitCode::SUCCESS);
    }
    let list: ApprovalList = answer.read()?;
    let shown = shown_list(&list.approvals, &questions.clarifications, args.all);
    written(print(&shown), ExitCode::SUCCESS)
}

fn shown_list(approvals: &[ApprovalView], asked: &[ClarificationView], all: bool) -> String {
    let rows: Vec<Vec<String>> = approvals
        .iter()
        .map(|it| {
            let by = it.decision.as_ref().and_then(|it| it.by.as_deref());
            let state = match by {
                Some(by) => format!("{} by {}", it.status, text(by)),
                None => it.status.to_string(),
            };
            vec![
                text(&it.approval_id),
                it.card.risk.to_string(),
                one_line(&text(&it.command)),
                ago(it.created_at),
                if all { state } else { ago(it.expires_at) },
            ]
        })
        .collect();
    let questions = questions(asked);
    if rows.is_empty() && questions.is_empty() {
        let nothing = if all {
            "No approvals yet."
        } else {
            "Nothing is waiting for an answer."
        };
        return format!(
            "{nothing}\n\
             `countersign try` shows a practice card here; `countersign history` lists past calls.\n"
        );
    }
    if rows.is_empty() {
        return questions;
    }
    let last = if all { "state" } else { "expires" };
    let mut out = table(&["approval", "risk", "command", "asked", last], &rows);
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
fn questions(asked: &[ClarificationView]) -> String {
    let rows: Vec<Vec<String>> = asked
        .iter()
        .map(|it| {
            vec![
                text(&it.clarification_id),
                text(&it.question),
                ago(it.expires_at),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut out = table(&["question", "text", "expires"], &rows);
    let _infallible = write!(
        out,
        "\n{QUIET}`countersign approvals ID` shows one with its choices; \
         `countersign answer ID NUMBER` or `… ID 'WORDS'` answers it.{QUIET:#}\n"
    );
    out
}

/// Returns a question of an agent with its choices.
fn question(asked: &ClarificationView) -> String {
    let mut out = format!("{}\n", text(&asked.question));
    for (number, choice) in asked.choices.iter().enumerate() {
        let _infallible = writeln!(out, "  {}. {}", number + 1, inline(choice));
    }
    let answer = answer_of(asked);
    let state = match asked.status {
        ClarificationStatus::Waiting => {
            format!(
                "It is waiting for an answer and expires {}.",
                ago(asked.expires_at)
            )
        }
        ClarificationStatus::Answered => format!(
            "Answered by {}: {}",
            maybe(answer.as_ref().and_then(|it| it.by.as_deref())),
            maybe(answer.as_ref().and_then(|it| it.text.as_deref()))
        ),
        ClarificationStatus::Expired => "Nobody answered in time.".to_owned(),
    };
    let _infallible = writeln!(out, "{state}");
    out
}

/// Returns the card of `approval`, and what may be granted with it.
pub(crate) fn card(approval: &ApprovalView) -> String {
    let mut out = approval.card.plain_text();
    if !out.ends_with('\n') {
        out.push('\n');
    }
    let offers = approval.choices.contains(&Choice::Session);
    if approval.status == Status::Waiting && offers {
        out.push_str(
            "\nSession and always would create one of these grants, the narrowest first:\n",
        );
        for (number, scope) in approval.scopes.iter().enumerate() {
            let only = if scope.session_only {
                " (session only)"
            } else {
                ""
            };
            let (number, words) = (number + 1, text(&scope.words));
            let _infallible = writeln!(out, "  {number}. {words}{only}");
        }
    }
    out
}

/// Answers a question of an agent with the number of a choice, or with words.
fn answer_question(args: &Answer, client: &Client) -> Result<ExitCode, Complaint> {
    let is_granting = args.scope.is_some() || args.lasts.is_some() || args.uses.is_some();
    if is_granting || args.note.is_some() || args.args.is_some() {
        return Err(Complaint::usage(
            format!("{} is a question from an agent", segment(&args.id)),
            "--args, --note, --scope, --for and --uses are for approvals",
        ));
    }
    let path = format!("/v1/clarifications/{}", segment(&args.id));
    let asked: ClarificationView = client.get(&path)?.read()?;
    let body = clarified(&args.choice, &asked.choices);
    let answer = client.ask(Method::POST, &format!("{path}/answer"), Some(&body))?;
    if args.json {
        let code = u8::from(!answer.is_success());
        return written(print_json(answer.json()), ExitCode::from(code));
    }
    answer.done()?;
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
    if let Some(edited) = edited(args)? {
        body.insert("args".to_owned(), edited);
    }
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
        let approval: ApprovalView = client.get(&path)?.read()?;
        let scope = number
            .checked_sub(1)
            .and_then(|index| approval.scopes.get(index))
            .ok_or_else(|| {
                let hint = "`countersign approvals ID` lists the choices, from 1";
                Complaint::usage(format!("there is no scope {number}"), hint)
            })?;
        body.insert("scope".to_owned(), json!(scope.scope));
    }
    let answered = client.ask(
        Method::POST,
        &format!("{path}/resolve"),
        Some(&Value::Object(body)),
    )?;
    if args.json {
        let code = u8::from(!answered.is_success());
        return written(print_json(answered.json()), ExitCode::from(code));
    }
    if !answered.is_success() {
        return Err(not_answered(&answered));
    }
    let approval: ApprovalView = answered.read()?;
    let line = match &approval.decision {
        Some(decision) if approval.held_until.is_none() => format!(
            "{} by {}{}.\n",
            sentence(decision.outcome.word()),
            maybe(decision.by.as_deref()),
            if decision.args.is_some() {
                " with edited arguments"
            } else {
                ""
            }
        ),
        Some(_) | None => format!(
            "{} takes effect in a moment, unless it is undone.\n",
            args.choice
        ),
    };
    written(print(&line), ExitCode::SUCCESS)
}

/// Returns the arguments that are to take the place of the agent's. The gateway judges them again and
/// binds the answer to them.
fn edited(args: &Answer) -> Result<Option<Value>, Complaint> {
    let Some(typed) = &args.args else {
        return Ok(None);
    };
    if args.choice != "once" {
        return Err(Complaint::usage(
            "edited arguments can only be allowed once",
            "use `countersign answer ID once --args JSON`",
        ));
    }
    let text = if typed == "-" {
        input()?
    } else {
        typed.clone()
    };
    let hint = r#"--args takes a JSON object, such as '{"command": "ls"}'; - reads it from standard input"#;
    let edited = canonical::parse(text.as_bytes())
        .map_err(|error| Complaint::usage(format!("the arguments are not JSON: {error}"), hint))?;
    if !edited.is_object() {
        return Err(Complaint::usage("the arguments are no JSON object", hint));
    }
    Ok(Some(edited))
}

/// Gives an approval more time.
pub(crate) fn extend(args: &Extend, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let path = format!("/v1/approvals/{}/extend", segment(&args.id));
    let extended = client.ask(Method::POST, &path, Some(&json!({})))?;
    if args.json {
        let code = u8::from(!extended.is_success());
        return written(print_json(extended.json()), ExitCode::from(code));
    }
    if !extended.is_success() {
        return Err(not_answered(&extended));
    }
    let approval: ApprovalView = extended.read()?;
    let line = format!(
        "It now expires {}. It is still waiting for an answer.\n",
        ago(approval.expires_at)
    );
    written(print(&line), ExitCode::SUCCESS)
}

/// Says why an answer changed nothing: somebody else was faster, or it may not be given.
fn not_answered(answered: &Answered) -> Complaint {
    let is_late = matches!(answered.status(), StatusCode::CONFLICT | StatusCode::GONE);
    match answered.refusal().decision {
        Some(decision) if is_late => late(&decision),
        Some(_) | None => answered.complaint(),
    }
}

fn late(decision: &DecisionView) -> Complaint {
    let by = match &decision.by {
        Some(by) => format!(
            " by {} via {}",
            text(by),
            place(&maybe(decision.via.as_deref()))
        ),
        None => String::new(),
    };
    let how = match decision.outcome {
        Outcome::Expired => "it expired".to_owned(),
        outcome @ (Outcome::Approved
        | Outcome::Denied
        | Outcome::Withdrawn
        | Outcome::Allowed
        | Outcome::Refused) => format!("it was {outcome}"),
    };
    let message = format!(
        "{how}{by} {}; nothing was changed",
        ago(decision.at.as_seconds())
    );
    Complaint::failed(message, "`countersign approvals` lists the waiting cards")
}
