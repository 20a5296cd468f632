//! Human impact of a call: outgoing secrets and personal data, life-changing steps, and signs of a
//! crisis in messages.
//!
//! Only calls that reach somebody or cannot be undone are looked at: reading about a crisis is fine,
//! and a draft that stays here hurts nobody.

use std::cmp::Reverse;

use super::arguments;
use super::gather::Gathered;
use crate::act::Act;
use crate::assessment::{Assessment, Finding, Severity, SideEffect};
use crate::call::ToolCall;
use crate::content::crisis::{self, Question, Reading, SecondReading, Sensitivity};
use crate::content::{impact, personal, secrets};
use crate::encoding::percent_decoded;
use crate::knowledge::Effect;
use crate::score::Score;
use crate::shell::syntax::Span;

/// Said of every call that may reach a person in crisis.
const AFFECTED: &str = "a person in crisis may be affected";
/// Said of a call that a second reader holds.
const SEEN_AGAIN: &str = "the second reader sees a person in crisis";
/// Said of a call that a second reader should have read and did not.
const UNANSWERED: &str = "a person in crisis cannot be ruled out: the second reader did not answer";
/// Longest conversation that is read; of a longer one nobody can say that it is harmless.
const CONVERSATION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How weighty a step must be to be called a matter of life and safety.
const LIFE: Score = Score::new(800);
/// How a file is named in the text of a message that carries it.
const MEDIA_MARK: &str = "MEDIA:";
/// Most files that the text of a message may carry.
pub(super) const ATTACHED_MAX: usize = 16;
/// Longest path of such a file.
const PATH_BYTES_MAX: usize = 4096;

/// Judges what `call` means for people, where the owner wants this much held.
pub(super) fn judge(call: &ToolCall, sensitivity: Sensitivity, gathered: &mut Gathered) {
    let mut heard = None;
    if gathered.to_teammate {
        // Another agent passes on what it is told, also what concerns a person in crisis, or a secret.
        let text = spoken(call);
        let read = reading(call, &text, sensitivity, true);
        gathered.outbound |= read == Reading::Held || !secrets::scan(&text).is_empty();
        heard = Some((text, read));
    }
    let outbound = gathered.outbound || gathered.acts.iter().any(|act| act.marks.outbound);
    let final_act = gathered.acts.iter().any(|act| !act.reversible());
    let outside = gathered.side_effect() >= SideEffect::External;
    let asks_network = !gathered.terminal
        && gathered
            .acts
            .iter()
            .any(|act| act.effect == Effect::NetRead);
    if !(outbound || final_act || outside || asks_network) {
        return;
    }
    // A command that sends nothing and quotes nothing says nothing to anybody.
    if gathered.terminal && !outbound && call.replying_to.is_empty() && !quotes_something(call) {
        return;
    }
    // To read a text is most of the work of such a call, so it is read once.
    let (text, heard) = match heard {
        Some((text, read)) => (text, Some(read)),
        None => (spoken(call), None),
    };
    if outbound || asks_network || outside && !gathered.terminal {
        leaving_secrets(&text, gathered);
    }
    if !(outbound || final_act || outside) {
        return;
    }
    let speaks = gathered
        .acts
        .iter()
        .any(|act| act.effect == Effect::Message);
    if (outbound || outside) && (!gathered.terminal || speaks) {
        personal_data(&text, gathered);
        steps(&text, gathered);
    }
    let is_prose = !gathered.terminal || speaks;
    let reading = heard
        .filter(|_| is_prose)
        .unwrap_or_else(|| reading(call, &text, sensitivity, is_prose));
    crisis_signs(call, reading, gathered);
    let to_people = gathered.sender
        && gathered
            .acts
            .iter()
            .any(|act| act.effect == Effect::Message);
    if to_people && call.replying_to.is_empty() {
        let message = "context: the message being answered was not given".to_owned();
        aside(gathered, "context.missing", Severity::Info, message);
    }
}

/// Returns what a second reader is asked about `call`; `None` if that is too long to be asked.
pub fn question(call: &ToolCall) -> Option<Question> {
    crisis::question(&spoken(call), &call.replying_to)
}

/// Takes what a second reader said into an assessment of which rules and model were not sure. It can only make it
/// stricter: no answer holds like a sign, because the text was not cleared.
pub fn hear(assessment: &mut Assessment, said: SecondReading) {
    if assessment.crisis_sensitive || !assessment.marks.crisis_unsure {
        return;
    }
    let (code, severity, message) = match said {
        SecondReading::NoSign => {
            let message = "the second reader sees nobody in crisis";
            ("crisis.read_again", Severity::Info, message)
        }
        SecondReading::Crisis => (crisis::CODE, Severity::High, SEEN_AGAIN),
        SecondReading::Unanswered => (crisis::CODE, Severity::High, UNANSWERED),
    };
    let finding = Finding {
        code,
        cause: message,
        severity,
        message: message.to_owned(),
        span: None,
    };
    if said == SecondReading::NoSign {
        assessment.findings.push(finding);
        return;
    }
    assessment.findings.insert(0, finding);
    assessment.reasons.insert(0, message.to_owned());
    assessment.crisis_sensitive = true;
    assessment.marks.crisis_unsure = false;
    assessment.side_effect = SideEffect::Critical;
}

/// Whether a command holds a quoted text, a here-document or letters beyond ASCII: all places where
/// something said to people could stand.
fn quotes_something(call: &ToolCall) -> bool {
    let mut found = false;
    arguments::each_text(&call.args, &mut |_, text| {
        found |= !text.is_ascii() || text.contains(['"', '\'']) || text.contains("<<");
    });
    found
}

/// Returns the kinds of secrets in a text, in words.
pub(super) fn secret_kinds(text: &str) -> String {
    let mut kinds: Vec<&str> = secrets::scan(text).iter().map(|find| find.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.join(", ")
}

/// Returns the files that the text of a message carries along.
pub(super) fn attached_paths(text: &str) -> Vec<&str> {
    let after_mark = text
        .match_indices(MEDIA_MARK)
        .take(ATTACHED_MAX + 1)
        .filter_map(|(at, mark)| {
            let from = at + mark.len();
            // A bounded window keeps a text made of nothing but marks from being read over and over.
            let to = text.floor_char_boundary(from.saturating_add(PATH_BYTES_MAX));
            let rest = text.get(from..to)?.trim_start();
            let ends = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`');
            rest.split(ends).find(|path| !path.is_empty())
        });
    after_mark.collect()
}

/// Returns everything the call says, also where it is wrapped for the journey.
pub(super) fn spoken(call: &ToolCall) -> String {
    let mut all = arguments::all_text(&call.args);
    let mut unwrapped = String::new();
    arguments::each_text(&call.args, &mut |_, text| {
        if text.trim_start().starts_with(['{', '[']) {
            if let Ok(value) = serde_json::from_str(text) {
                unwrapped.push_str(&arguments::all_text(&value));
            }
        } else if let Some(decoded) = percent_decoded(text) {
            unwrapped.push_str(&decoded.replace('+', " "));
            unwrapped.push('\n');
        }
    });
    all.push_str(&unwrapped);
    all
}

fn leaving_secrets(text: &str, gathered: &mut Gathered) {
    let kinds = secret_kinds(text);
    if kinds.is_empty() {
        return;
    }
    let mut act = Act::new(Effect::Secret, "", Span::default())
        .because("sends a secret")
        .on(kinds)
        .target(Score::ONE);
    act.marks.outbound = true;
    gathered.acts.push(act);
}

/// Notes something that is worth a word after all others.
fn aside(gathered: &mut Gathered, code: &'static str, severity: Severity, message: String) {
    gathered.asides.push(message.clone());
    gathered.findings.push(Finding {
        code,
        cause: code,
        severity,
        message,
        span: None,
    });
}

/// Returns as much of a text as is looked through for what only adds to the score. Secrets and
/// signs of a crisis, which decide, are looked for in all of it.
fn head(text: &str) -> &str {
    const HEAD_BYTES_MAX: usize = 64 * 1024;
    let end = text.floor_char_boundary(HEAD_BYTES_MAX);
    text.get(..end).unwrap_or(text)
}

fn personal_data(text: &str, gathered: &mut Gathered) {
    let mut finds = personal::scan(head(text));
    finds.sort_by_key(|find| Reverse(find.weight));
    let Some(worst) = finds.first() else {
        return;
    };
    // All kinds, the worst first: whoever allows it decides about each of them.
    let mut kinds: Vec<&str> = Vec::new();
    for find in &finds {
        if !kinds.contains(&find.kind) {
            kinds.push(find.kind);
        }
    }
    aside(
        gathered,
        personal::CODE,
        Severity::Medium,
        format!("holds personal data ({})", kinds.join(", ")),
    );
    for act in gathered
        .acts
        .iter_mut()
        .filter(|act| act.side_effect() >= SideEffect::External)
    {
        act.target = act.target.max(worst.weight);
    }
}

fn steps(text: &str, gathered: &mut Gathered) {
    let finds = impact::scan(head(text));
    let Some(worst) = finds.iter().max_by_key(|find| find.score) else {
        return;
    };
    gathered.human_impact = gathered.human_impact.max(worst.score);
    worst.kind.clone_into(&mut gathered.impact_evidence);
    let message = format!("may change something in a person's life ({})", worst.kind);
    aside(gathered, "content.impact", Severity::High, message);
    if finds
        .iter()
        .any(|find| matches!(find.kind, "medical" | "safety") && find.score >= LIFE)
    {
        gathered.at_least = SideEffect::Critical;
        gathered
            .notes
            .push("gives life-safety instructions".to_owned());
    }
}

/// Whether a conversation is longer than what is read.
fn is_too_long(call: &ToolCall) -> bool {
    let lengths = call.replying_to.iter().map(|turn| turn.text.len());
    lengths.fold(0_usize, usize::saturating_add) > CONVERSATION_BYTES_MAX
}

/// Returns what a text and the conversation it belongs to say about a person in crisis.
fn reading(call: &ToolCall, text: &str, sensitivity: Sensitivity, is_prose: bool) -> Reading {
    if is_too_long(call) {
        return Reading::Held;
    }
    let read = if is_prose {
        crisis::read
    } else {
        crisis::read_by_rules
    };
    read(text, &call.replying_to).at(sensitivity)
}

fn crisis_signs(call: &ToolCall, reading: Reading, gathered: &mut Gathered) {
    match reading {
        Reading::Clear => return,
        Reading::Unsure => {
            gathered.crisis_unsure = true;
            return;
        }
        Reading::Held => {}
    }
    let too_long = is_too_long(call);
    gathered.crisis_sensitive = true;
    gathered.human_impact = Score::ONE;
    let seen = if too_long {
        "a conversation too long to be read"
    } else {
        "signs of a person in crisis"
    };
    seen.clone_into(&mut gathered.impact_evidence);
    gathered.at_least = SideEffect::Critical;
    let message = AFFECTED.to_owned();
    gathered.notes.insert(0, message.clone());
    gathered.findings.push(Finding {
        code: crisis::CODE,
        cause: AFFECTED,
        severity: Severity::High,
        message,
        span: None,
    });
}
