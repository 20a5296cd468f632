//! `Deed`: digests of a call's effects and targets, by which a denial recognises it in another
//! spelling.
//!
//! A call comes apart into *deeds*, each a digest: an effect with its target, or an effect with one
//! of the words that say what it is about. A later call does the same again if it has all the deeds
//! of the denied one, whatever else it does besides. So another spelling, a wrapper or something
//! harmless put beside it changes nothing, and another target, package or text is another deed.
//!
//! A denied call is remembered by the deeds that made it a question. Where what runs cannot be
//! seen, all of its deeds count: `curl … | sh` is known by what is loaded.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::act::words::spelled;
use crate::act::{Act, profile};
use crate::assess::gathered;
use crate::call::ToolCall;
use crate::digest::Digest;
use crate::follow::walk::Knows;
use crate::judge::known;
use crate::knowledge::Effect;
use crate::knowledge::names::COMMENTARY;
use crate::place::Ground;
use crate::policy::Policy;

/// Deeds that are kept of one call; of a call with more, their digest is.
const DEEDS_MAX: usize = 512;

/// The effects of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// Those that made it a question; sorted.
    pub asked: Vec<Digest>,
    /// All of them; sorted.
    pub all: Vec<Digest>,
}

impl Deeds {
    /// Whether this call does all that was denied.
    pub fn include(&self, denied: &[Digest]) -> bool {
        let has = |deed: &Digest| self.all.binary_search(deed).is_ok();
        let whole = || denied == [folded(&self.asked)];
        !denied.is_empty() && (denied.iter().all(has) || whole())
    }

    /// Returns what is remembered of this call if it is denied.
    pub fn to_remember(&self) -> Vec<Digest> {
        if self.asked.len() > DEEDS_MAX {
            vec![folded(&self.asked)]
        } else {
            self.asked.clone()
        }
    }
}

/// Returns what `call` of a key that is bound to these directories would do.
pub fn deeds(policy: &Policy, call: &ToolCall, bound: &[String]) -> Deeds {
    let knows = Knows {
        recounts: true,
        ..known(policy, call, bound)
    };
    let acts = gathered(call, &knows).acts;
    let ground = Ground::new(call.cwd.as_deref(), call.workspace.as_deref());
    let all = acts.iter().flat_map(|act| of_act(act, call, &ground));
    let all: BTreeSet<Digest> = all.collect();
    let thresholds = policy.thresholds;
    let strong: Vec<&Act> = acts
        .iter()
        .filter(|act| always_asks(act) || act.risk() > thresholds.ask_above)
        .collect();
    let asking: Vec<&Act> = if strong.iter().any(|act| act.marks.unreadable) {
        let seen = acts.iter().filter(|act| act.effect > Effect::Inspect);
        seen.collect()
    } else if strong.is_empty() {
        let noticeable = acts
            .iter()
            .filter(|act| act.risk() >= thresholds.auto_below);
        noticeable.collect()
    } else {
        strong
    };
    let mut asked: BTreeSet<Digest> = asking
        .iter()
        .flat_map(|act| of_act(act, call, &ground))
        .collect();
    if asked.is_empty() {
        asked.clone_from(&all);
    }
    Deeds {
        asked: asked.into_iter().collect(),
        all: all.into_iter().collect(),
    }
}

fn always_asks(act: &Act) -> bool {
    let marks = act.marks;
    marks.floor
        || marks.unreadable
        || marks.critical
        || marks.outbound
        || marks.guard
        || marks.money
}

/// Returns the deeds of one act.
fn of_act(act: &Act, call: &ToolCall, ground: &Ground) -> Vec<Digest> {
    let code = profile(act.effect).code;
    let target = without_aside(&act.subject);
    if is_placed(act.effect) && is_path(target) {
        return vec![deed(&[code, target])];
    }
    let program = act.program.as_ref();
    let Some(words) = &act.words else {
        return of_arguments(act, call, ground);
    };
    let mut about: Vec<(&str, &str)> = Vec::new();
    for operand in &words.operands {
        // A program whose options are known has none of them here; of another they may matter.
        about.push(("", operand.trim_start_matches('+')));
    }
    for (name, value) in &words.options {
        about.push((name, value));
    }
    // What the subject says of words is said by the words themselves, of options by the effect.
    let unsaid = |token: &&str| {
        let token = spelled(ground, token);
        !token.starts_with('-') && !about.iter().any(|(_, word)| ends_with(word, &token))
    };
    let rest: Vec<&str> = target.split_whitespace().filter(unsaid).collect();
    let from = if acts_on_its_directory(act.effect) {
        words.cwd.as_str()
    } else {
        ""
    };
    let mut deeds = vec![deed(&[code, program, &rest.join(" "), from])];
    deeds.extend(
        about
            .iter()
            .map(|(name, word)| deed(&[code, program, "word", name, word])),
    );
    if let Some(input) = &words.input {
        deeds.push(deed(&[code, program, "input", input]));
    }
    deeds
}

/// Returns the deeds of an act that a tool does: what its arguments say, each by itself.
fn of_arguments(act: &Act, call: &ToolCall, ground: &Ground) -> Vec<Digest> {
    let code = profile(act.effect).code;
    let tool = call.tool.to_lowercase();
    let mut deeds = vec![deed(&[code, &tool])];
    let Some(args) = call.args.as_object() else {
        deeds.push(deed(&[code, &tool, &said(&call.args, ground)]));
        return deeds;
    };
    let tells = |(key, value): &(&String, &Value)| {
        !value.is_null() && !COMMENTARY.contains(key.to_lowercase().as_str())
    };
    deeds.extend(
        args.iter()
            .filter(tells)
            .map(|(key, value)| deed(&[code, &tool, key, &said(value, ground)])),
    );
    deeds
}

/// Returns a value as text, every text in it in one spelling.
fn said(value: &Value, ground: &Ground) -> String {
    match value {
        Value::String(text) => spelled(ground, text),
        Value::Array(values) => {
            let said: Vec<String> = values.iter().map(|value| said(value, ground)).collect();
            format!("[{}]", said.join("\u{1f}"))
        }
        Value::Object(values) => {
            let mut said: Vec<String> = values
                .iter()
                .map(|(key, value)| format!("{key}\u{1e}{}", said(value, ground)))
                .collect();
            said.sort();
            format!("{{{}}}", said.join("\u{1f}"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Whether what an effect does is said by its target alone.
const fn is_placed(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::Delete | Effect::Read | Effect::Create | Effect::Secret | Effect::Wipe
    )
}

/// Whether an effect is about the project it is run from, named or not: `npm publish`.
const fn acts_on_its_directory(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::Build
            | Effect::Project
            | Effect::Install
            | Effect::Uninstall
            | Effect::VcsLocal
            | Effect::VcsRemote
            | Effect::VcsDiscard
            | Effect::VcsForce
            | Effect::Publish
    )
}

fn is_path(subject: &str) -> bool {
    let one_word = !subject.is_empty() && !subject.contains(char::is_whitespace);
    subject.starts_with(['/', '~']) || one_word && !subject.contains("://")
}

/// Returns a subject without what the tables call it: `/etc (a system directory)`.
fn without_aside(subject: &str) -> &str {
    match subject.rsplit_once(" (") {
        Some((target, aside)) if aside.ends_with(')') && !target.is_empty() => target,
        Some(_) | None => subject,
    }
}

/// Whether `word` is `token`, or the path that `token` leads to.
fn ends_with(word: &str, token: &str) -> bool {
    let token = token.trim_start_matches('+').trim_start_matches("./");
    word.strip_suffix(token)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn deed(parts: &[&str]) -> Digest {
    let mut bytes = b"countersign/v1/deed\0".to_vec();
    for part in parts {
        bytes.extend((part.len() as u64).to_be_bytes());
        bytes.extend(part.as_bytes());
    }
    Digest::of(&bytes)
}

fn folded(deeds: &[Digest]) -> Digest {
    let mut bytes = b"countersign/v1/deeds\0".to_vec();
    for deed in deeds {
        bytes.extend(deed.0);
    }
    Digest::of(&bytes)
}
