//! Answers that are typed as lines: which choice, which scope, which words.

use std::fmt::Write as _;
use std::io::BufRead as _;

use countersign_core::approval::Choice;
use countersign_core::time::UnixMillis;
use countersign_gate::records::view::{ApprovalView, ScopeView};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::client::{Client, segment};
use crate::complaint::Complaint;
use crate::show::{ago, text};
use crate::wire::lists::ScopeList;
use crate::words::{before, refusal, span};

/// Lines that may be typed ahead.
const LINES_MAX: usize = 64;

/// The line that asks for more time.
const MORE: &str = "+";

/// The line that asks what led to a call.
const BEFORE: &str = "b";

/// What a person typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choosing {
    /// One of the choices, and what the agent is told with a denial.
    Choice(Choice, Option<String>),
    /// More time.
    MoreTime,
    /// What led to the call.
    Before,
    /// None of them.
    Unclear,
}

/// Returns the permissions that `choice` could leave for `id`, the narrowest first.
pub(crate) async fn scopes_of(
    client: &Client,
    id: &str,
    choice: Choice,
) -> Result<Vec<ScopeView>, Complaint> {
    let body = json!({ "approval_id": id });
    let path = "/v1/grants/preview";
    let answer = client.send(Method::POST, path, Some(&body)).await?;
    let mut scopes = answer.read::<ScopeList>()?.scopes;
    scopes.retain(|scope| choice == Choice::Session || !scope.session_only);
    Ok(scopes)
}

/// Returns what `scopes` would let run, numbered, and the question which of them it shall be.
pub(crate) fn scopes_in_words(scopes: &[ScopeView]) -> String {
    let mut out =
        "This would run without a question from now on, the narrowest first:\n".to_owned();
    for (number, scope) in scopes.iter().enumerate() {
        let (words, number) = (text(&scope.words), number + 1);
        let (matched, of) = (scope.matched.unwrap_or(0), scope.of.unwrap_or(0));
        let _infallible = writeln!(
            out,
            "{number}. {words} (would have matched {matched} of the last {of} calls)"
        );
    }
    let count = scopes.len();
    let _infallible = write!(
        out,
        "Type a number from 1 to {count} and Enter to create this rule, or Enter to go back: "
    );
    out
}

/// Reads standard input in a thread of its own, because reading it cannot be broken off.
pub(crate) fn read_lines() -> mpsc::Receiver<String> {
    let (typed, lines) = mpsc::channel(LINES_MAX);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if typed.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Returns which of `choices` was typed, by its number or its word. Words after a denial are its note;
/// nothing may follow a permission.
pub(crate) fn chosen(typed: &str, choices: &[Choice]) -> Choosing {
    let typed = typed.trim();
    if typed == MORE {
        return Choosing::MoreTime;
    }
    if typed == BEFORE {
        return Choosing::Before;
    }
    let (first, note) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    // Digits alone: `+1` is a slip on the way to `+`.
    let is_number = first.bytes().all(|it| it.is_ascii_digit());
    let number = first.parse::<usize>().ok().filter(|_| is_number);
    let meant = |choice: &&Choice| {
        first.eq_ignore_ascii_case(choice.word()) || number == Some(choice.number())
    };
    let note = Some(note.trim().to_owned()).filter(|note| !note.is_empty());
    match choices.iter().find(meant) {
        Some(choice) if note.is_none() || *choice == Choice::Deny => {
            Choosing::Choice(*choice, note)
        }
        Some(_) | None => Choosing::Unclear,
    }
}

/// Returns what can be typed besides an answer: for what led here, and for more time where that is offered.
pub(crate) fn besides(approval: &ApprovalView) -> String {
    let before = format!("Type {BEFORE} and Enter for what led here");
    match approval.extend_seconds {
        Some(seconds) => {
            let more = span(UnixMillis::of_seconds(seconds).0);
            format!("{before}, {MORE} and Enter for {more} more")
        }
        None => before,
    }
}

/// Returns what led to the call of `id`, in words.
pub(crate) async fn led_to(client: &Client, id: &str) -> Result<String, Complaint> {
    let path = format!("/v1/approvals/{}/before", segment(id));
    let answer = client.send(Method::GET, &path, None).await?;
    if !answer.is_success() {
        return Ok(refusal(&answer));
    }
    Ok(before(&answer.read()?, ago))
}

/// Gives `id` more time; returns what came of it, in words.
pub(crate) async fn extended(client: &Client, id: &str) -> Result<String, Complaint> {
    let path = format!("/v1/approvals/{}/extend", segment(id));
    let answer = client.send(Method::POST, &path, Some(&json!({}))).await?;
    if !answer.is_success() {
        return Ok(refusal(&answer));
    }
    let approval: ApprovalView = answer.read()?;
    Ok(format!("It now expires {}.", ago(approval.expires_at)))
}

/// Returns the answer `choice` with its note, as the gateway takes it.
pub(crate) fn answer_of(choice: Choice, note: Option<String>) -> Value {
    match note {
        Some(note) => json!({ "choice": choice.word(), "note": note }),
        None => json!({ "choice": choice.word() }),
    }
}

/// Returns what to type, with the numbers of `choices`.
pub(crate) fn prompt(choices: &[Choice]) -> String {
    let note = if choices.contains(&Choice::Deny) {
        "; words after 4 tell the agent why"
    } else {
        ""
    };
    format!("Type {} and Enter{note}", numbers(choices))
}

/// Returns the numbers of `choices`, as a person reads them: `1, 2 or 4`.
fn numbers(choices: &[Choice]) -> String {
    let numbers: Vec<String> = choices.iter().map(|it| it.number().to_string()).collect();
    match numbers.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Returns the answer to a question: the number of one of its choices, or words.
pub(crate) fn clarified(typed: &str, choices: &[String]) -> Value {
    match typed.trim().parse::<usize>() {
        Ok(number) if (1..=choices.len()).contains(&number) => json!({ "choice": number }),
        Ok(_) | Err(_) => json!({ "text": typed.trim() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_choice_that_was_offered_is_an_answer() {
        let choices = [Choice::Once, Choice::Deny];
        let because = || Some("use a copy".to_owned());
        let rows = [
            ("1", Choosing::Choice(Choice::Once, None)),
            (" 4 ", Choosing::Choice(Choice::Deny, None)),
            ("4 use a copy", Choosing::Choice(Choice::Deny, because())),
            (
                "deny  use a copy ",
                Choosing::Choice(Choice::Deny, because()),
            ),
            ("1 use a copy", Choosing::Unclear),
            ("2", Choosing::Unclear),
            ("Deny", Choosing::Choice(Choice::Deny, None)),
            ("always", Choosing::Unclear),
            ("0", Choosing::Unclear),
            ("3", Choosing::Unclear),
            ("", Choosing::Unclear),
            ("y", Choosing::Unclear),
            (" + ", Choosing::MoreTime),
            ("b", Choosing::Before),
            ("+1", Choosing::Unclear),
        ];
        for (typed, wanted) in rows {
            assert_eq!(chosen(typed, &choices), wanted, "{typed}");
        }
    }

    #[test]
    fn a_question_is_answered_by_number_or_in_words() {
        let question = ["a", "b"].map(str::to_owned);
        assert_eq!(clarified("2", &question), json!({ "choice": 2 }));
        assert_eq!(clarified("3", &question), json!({ "text": "3" }));
        assert_eq!(clarified(" both ", &question), json!({ "text": "both" }));
    }
}
