//! What a call means for people: secrets and personal data that leave, steps that change a life, and
//! signs of a person in crisis in what is said or answered.
//!
//! Only calls that reach somebody or cannot be undone are looked at: reading about a crisis is fine,
//! and a draft that stays here hurts nobody.

use super::arguments;
use super::gather::Gathered;
use crate::act::Act;
use crate::assessment::{Finding, Severity, SideEffect};
use crate::call::ToolCall;
use crate::content::{crisis, impact, personal, secrets};
use crate::knowledge::Effect;
use crate::score::Score;
use crate::shell::syntax::Span;

/// Longest conversation that is read; of a longer one nobody can say that it is harmless.
const CONVERSATION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How weighty a step must be to be called a matter of life and safety.
const LIFE: Score = Score::new(800);
/// How a file is named in the text of a message that carries it.
const MEDIA_MARK: &str = "MEDIA:";

/// Judges what `call` means for people.
pub(super) fn judge(call: &ToolCall, gathered: &mut Gathered) {
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
    let text = spoken(call);
    if outbound || asks_network || outside && !gathered.terminal {
        leaving_secrets(&text, gathered);
    }
    if !(outbound || final_act || outside) {
        return;
    }
    if outbound || outside && !gathered.terminal {
        personal_data(&text, gathered);
        steps(&text, gathered);
    }
    crisis_signs(call, &text, gathered);
    let to_people = gathered.sender
        && gathered
            .acts
            .iter()
            .any(|act| act.effect == Effect::Message);
    if to_people && call.replying_to.is_empty() {
        let aside = "context: the message being answered was not given".to_owned();
        gathered.findings.push(Finding {
            code: "context.missing",
            severity: Severity::Info,
            message: aside.clone(),
            span: None,
        });
        gathered.asides.push(aside);
    }
}

/// Returns the kinds of secrets in a text, in words.
pub(super) fn secret_kinds(text: &str) -> String {
    let mut kinds: Vec<&str> = secrets::scan(text).iter().map(|find| find.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.join(", ")
}

/// Returns the files that the text of a message carries along.
pub(super) fn attached_paths(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(MEDIA_MARK).filter_map(|(at, mark)| {
        let rest = text.get(at + mark.len()..)?.trim_start();
        rest.split(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`'))
            .find(|path| !path.is_empty())
    })
}

/// Returns `text` with `%41` and `+` decoded, where it holds any.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let ahead = rest.clone().next().zip(rest.clone().nth(1));
        let digit = |byte: u8| char::from(byte).to_digit(16);
        match (byte, ahead) {
            (b'%', Some((high, low))) => match digit(high)
                .zip(digit(low))
                .and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
            {
                Some(decoded) => {
                    bytes.push(decoded);
                    rest.nth(1);
                }
                None => bytes.push(byte),
            },
            _ => bytes.push(byte),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns everything the call says, also where it is wrapped for the journey.
fn spoken(call: &ToolCall) -> String {
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

fn personal_data(text: &str, gathered: &mut Gathered) {
    let finds = personal::scan(text);
    let Some(worst) = finds.iter().max_by_key(|find| find.weight) else {
        return;
    };
    gathered.findings.push(Finding {
        code: "content.personal",
        severity: Severity::Medium,
        message: format!("holds personal data ({})", worst.kind),
        span: None,
    });
    for act in gathered
        .acts
        .iter_mut()
        .filter(|act| act.side_effect() >= SideEffect::External)
    {
        act.target = act.target.max(worst.weight);
    }
}

fn steps(text: &str, gathered: &mut Gathered) {
    let finds = impact::scan(text);
    let Some(worst) = finds.iter().max_by_key(|find| find.score) else {
        return;
    };
    gathered.human_impact = gathered.human_impact.max(worst.score);
    gathered.impact_evidence = worst.kind.to_owned();
    gathered.findings.push(Finding {
        code: "content.impact",
        severity: Severity::High,
        message: format!("changes something in a person's life ({})", worst.kind),
        span: None,
    });
    if finds
        .iter()
        .any(|find| matches!(find.kind, "medical" | "safety") && find.score >= LIFE)
    {
        gathered.at_least = SideEffect::Critical;
        gathered
            .notes
            .push("tells somebody what to do about life or safety".to_owned());
    }
}

fn crisis_signs(call: &ToolCall, text: &str, gathered: &mut Gathered) {
    let before = call.replying_to.iter().map(|turn| turn.text.as_str());
    let length = before
        .clone()
        .map(str::len)
        .fold(0_usize, usize::saturating_add);
    let too_long = length > CONVERSATION_BYTES_MAX;
    let sensitive = too_long || crisis::scan_conversation(text, before).is_sensitive();
    if !sensitive {
        return;
    }
    gathered.crisis_sensitive = true;
    gathered.human_impact = Score::ONE;
    gathered.impact_evidence = if too_long {
        "a conversation too long to be read"
    } else {
        "signs of a person in crisis"
    }
    .to_owned();
    gathered.at_least = SideEffect::Critical;
    let message = "a person in crisis may be touched".to_owned();
    gathered.notes.insert(0, message.clone());
    gathered.findings.push(Finding {
        code: "crisis",
        severity: Severity::High,
        message,
        span: None,
    });
}
