//! Shared texts: durations, outcomes, refusals.

use countersign_core::card::label;
use countersign_core::display::inline;
use countersign_core::record::AssessmentView;
use countersign_core::score::Score;
use countersign_core::status::{Cause, Outcome};
use countersign_core::time::UnixMillis;
use countersign_gate::clarifications::{ClarificationView, ClarifiedView};
use countersign_gate::history::before::BeforeView;
use countersign_gate::history::traces::{OutcomeView, TraceView};
use countersign_gate::records::event::ApprovalResolved;
use countersign_gate::records::view::DecisionView;
use reqwest::StatusCode;
use serde_json::value::RawValue;

use crate::client::Answer;

/// Below this many seconds they are counted one by one.
const COUNTED_SECONDS: i64 = 120;

/// Returns a length of time as people say it: `42 s`, `4 min`, `3 h`, `2 days`.
pub(crate) fn span(millis: i64) -> String {
    let seconds = millis.max(0).div_euclid(1000);
    if seconds < COUNTED_SECONDS {
        format!("{seconds} s")
    } else if seconds < 7_200 {
        format!("{} min", seconds / 60)
    } else if seconds < 172_800 {
        format!("{} h", seconds / 3_600)
    } else {
        format!("{} days", seconds / 86_400)
    }
}

/// Returns how long ago `then` was: `just now`, `12 s ago`.
pub(crate) fn ago(then: UnixMillis, now: UnixMillis) -> String {
    let passed = now.since(then);
    if passed < 2_000 {
        "just now".to_owned()
    } else {
        format!("{} ago", span(passed))
    }
}

/// Returns when the words of [`span`] for what is left until `end`, or has passed since, change
/// next.
pub(crate) fn span_changes_at(moment: UnixMillis, now: UnixMillis) -> UnixMillis {
    let left = moment.since(now);
    let units = [(COUNTED_SECONDS * 1_000, 1_000), (7_200_000, 60_000)];
    let unit = units.iter().find(|(below, _)| left.abs() < *below);
    let unit = unit.map_or(3_600_000, |(_, unit)| *unit);
    // Until the moment: when the whole units left become one less. Afterwards: one more.
    now.plus(left.rem_euclid(unit) + 1)
}

/// Returns a shown command for a row of a list, where a line break is a sign. A `⟨` of the command itself is
/// written out, so nothing else is replaced.
pub(crate) fn one_line(shown: &str) -> String {
    shown.replace("⟨U+000A⟩", " ↵ ")
}

/// Returns `text` safe to show; `None` if there is none.
pub(crate) fn named(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(inline)
}

/// Returns the decision that an event tells of.
pub(crate) fn decided(event: &ApprovalResolved) -> DecisionView {
    DecisionView {
        outcome: event.outcome,
        cause: event.cause,
        choice: event.choice,
        by: event.by.clone(),
        via: event.via.clone(),
        note: event.note.clone(),
        at: UnixMillis::of_seconds(event.timestamp),
        grant_id: event.grant_id.clone(),
        args: None,
        rule: None,
        denied_at: None,
        denial_id: None,
        retry_after: None,
    }
}

/// Returns how it ended: `Denied by ana via mattermost`.
pub(crate) fn outcome(decision: &DecisionView) -> String {
    let by = named(decision.by.as_deref()).map(|by| format!(" by {by}"));
    let via = named(decision.via.as_deref()).map(|via| format!(" via {}", place(&via)));
    let who = format!("{}{}", by.unwrap_or_default(), via.unwrap_or_default());
    match decision.outcome {
        Outcome::Approved => {
            let chosen = decision.choice.map(|it| format!(": {}", label(it)));
            let edited = if decision.args.is_some() {
                ", with edited arguments"
            } else {
                ""
            };
            format!("Approved{who}{}{edited}", chosen.unwrap_or_default())
        }
        Outcome::Denied => format!("Denied{who}"),
        Outcome::Expired if decision.cause == Cause::Undeliverable => {
            "Nobody could be reached, so it did not run".to_owned()
        }
        Outcome::Expired => "Nobody answered in time, so it did not run".to_owned(),
        Outcome::Withdrawn => "Withdrawn by the agent".to_owned(),
        Outcome::Allowed => match named(decision.grant_id.as_deref()) {
            Some(grant) => format!("Allowed by the grant {grant}"),
            None => "Allowed".to_owned(),
        },
        Outcome::Refused => refused(decision),
    }
}

/// Returns what became of a call: how it was decided, and what its agent says came of it.
pub(crate) fn ending(trace: &TraceView) -> String {
    let Some(decision) = &trace.call.decision else {
        return "waiting for a person".to_owned();
    };
    let decided = outcome(decision);
    let failed = reported(trace).is_some_and(|it| it.failed);
    if trace.call.status.runs() && failed {
        return format!("{decided}; failed");
    }
    decided
}

/// Returns what led to a call, a line each; `ago` words how long ago something was.
pub(crate) fn before(view: &BeforeView, ago: impl Fn(f64) -> String) -> String {
    let mut lines = Vec::new();
    if let Some(message) = &view.message {
        let said = message.text.replace('\n', "\n│ ");
        lines.push(format!("{} said:\n│ {said}", message.from));
    }
    lines.push(if view.calls.is_empty() {
        "This is the first call of its run.".to_owned()
    } else {
        "The calls before, the oldest first:".to_owned()
    });
    lines.extend(view.calls.iter().map(|call| {
        let when = ago(call.call.created_at);
        format!("│ {}\n  {} · {when}", inline(&call.command), ending(call))
    }));
    lines.join("\n")
}

/// Returns where somebody was, from the word on the wire.
pub(crate) fn place(via: &str) -> &str {
    match via {
        "page" => "the page",
        "terminal" => "the terminal",
        "cli" => "the command line",
        "api" => "the API",
        channel => channel,
    }
}

/// Returns a score with the digits people read everywhere.
pub(crate) fn score(fraction: f64) -> String {
    Score::of_fraction(fraction).to_string()
}

/// Reads an assessment; `None` if it is of a version this program does not know.
pub(crate) fn assessed(assessment: &RawValue) -> Option<AssessmentView> {
    serde_json::from_str(assessment.get()).ok()
}

/// Returns what the asker reported of a call.
pub(crate) fn reported(trace: &TraceView) -> Option<OutcomeView> {
    serde::Deserialize::deserialize(trace.outcome.as_ref()?).ok()
}

/// Returns how a question ended; `None` while it waits.
pub(crate) fn answer_of(question: &ClarificationView) -> Option<ClarifiedView> {
    serde::Deserialize::deserialize(question.answer.as_ref()?).ok()
}

/// Returns how bad an assessment says a call is, in a word and a number: `critical 0.88`.
pub(crate) fn risk(assessment: &AssessmentView) -> String {
    let number = score(assessment.risk_score);
    // Assessments of earlier versions have no word.
    match assessment.risk {
        Some(word) => format!("{word} {number}"),
        None => number,
    }
}

/// Returns why a call was refused without a question.
fn refused(decision: &DecisionView) -> String {
    let by = named(decision.by.as_deref()).map_or_else(String::new, |by| format!(" by {by}"));
    match decision.cause {
        Cause::DenyMemory => {
            let when = decision.denied_at.map_or_else(
                || "shortly before".to_owned(),
                |then| format!("{} before", span(decision.at.since(then))),
            );
            format!("Refused because the same call was denied{by} {when}")
        }
        Cause::NoApprover => "Refused because there is no approver".to_owned(),
        Cause::Rule
        | Cause::Grant
        | Cause::Person
        | Cause::Model
        | Cause::Expiry
        | Cause::Undeliverable
        | Cause::Withdrawal
        | Cause::Flood => match named(decision.rule.as_deref()) {
            Some(rule) => format!("Refused by the deny rule {rule}"),
            None => "Refused by a rule".to_owned(),
        },
    }
}

/// Returns why something was refused, for a person.
pub(crate) fn refusal(answer: &Answer) -> String {
    let said = inline(&answer.refusal().error.message);
    match answer.status() {
        StatusCode::FORBIDDEN => format!("You cannot answer this: {said}"),
        StatusCode::NOT_FOUND => format!("It no longer exists: {said}"),
        StatusCode::UNAUTHORIZED => {
            format!("{said}; `countersign keys create` makes a key")
        }
        _ => sentence(&said),
    }
}

/// Returns `text` with a capital letter in front.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::samples;

    #[test]
    fn a_line_break_in_a_list_is_a_sign_and_no_other_text_becomes_one() {
        let rows = [
            ("set -e\nrm -rf /srv", "set -e ↵ rm -rf /srv"),
            ("echo ⟨U+000A⟩", "echo ⟨U+27E8⟩U+000A⟨U+27E9⟩"),
            ("a\rb", "a⟨U+000D⟩b"),
        ];
        for (command, wanted) in rows {
            assert_eq!(one_line(&inline(command)), wanted, "{command:?}");
        }
    }

    #[test]
    fn time_is_said_as_people_say_it() {
        let rows = [
            (-5, "0 s"),
            (999, "0 s"),
            (42_000, "42 s"),
            (119_999, "119 s"),
            (120_000, "2 min"),
            (7_199_000, "119 min"),
            (7_200_000, "2 h"),
            (200_000_000, "2 days"),
        ];
        for (millis, wanted) in rows {
            assert_eq!(span(millis), wanted, "{millis}");
        }
        assert_eq!(ago(UnixMillis(0), UnixMillis(1_999)), "just now");
        assert_eq!(ago(UnixMillis(0), UnixMillis(3_000)), "3 s ago");
    }

    #[test]
    fn a_countdown_is_drawn_again_when_its_words_change_and_not_before() {
        let end = UnixMillis(10_000_000);
        for left in [1, 500, 1_000, 42_500, 119_999, 120_000, 600_500, 9_000_000] {
            let now = end.plus(-left);
            let next = span_changes_at(end, now);
            assert!(next > now, "{left}");
            let words = |at: UnixMillis| span(end.since(at));
            assert_eq!(words(now), words(next.plus(-1)), "{left}");
            assert!(left <= 1_000 || words(now) != words(next), "{left}");
        }
    }

    #[test]
    fn how_it_ended_names_who_and_where() {
        let rows = [
            (
                json!({"outcome": "denied", "by": "ana", "via": "mattermost"}),
                "Denied by ana via mattermost",
            ),
            (
                json!({"outcome": "approved", "choice": "once", "by": "ana\u{202e}", "via": "page"}),
                "Approved by ana⟨U+202E⟩ via the page: Allow once",
            ),
            (
                json!({"outcome": "expired", "cause": "expiry"}),
                "Nobody answered in time, so it did not run",
            ),
            (
                json!({"outcome": "refused", "cause": "deny_memory", "by": "ana"}),
                "Refused because the same call was denied by ana shortly before",
            ),
            (
                json!({"outcome": "refused", "cause": "deny_memory", "at": 200.0, "denied_at": 20.0}),
                "Refused because the same call was denied 3 min before",
            ),
            (
                json!({"outcome": "refused", "cause": "rule", "rule": "no-prod"}),
                "Refused by the deny rule no-prod",
            ),
            (
                json!({"outcome": "allowed", "cause": "grant", "grant_id": "gr_1"}),
                "Allowed by the grant gr_1",
            ),
        ];
        for (told, wanted) in rows {
            let decision: DecisionView = samples::read(samples::decision(told));
            assert_eq!(outcome(&decision), wanted);
        }
    }
}
