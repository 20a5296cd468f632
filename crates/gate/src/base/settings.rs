//! Settings of the gate, and the source of policies.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_channels::push::PushSettings;
use countersign_core::assessment::SideEffect;
use countersign_core::card::Redacts;
use countersign_core::policy::Policy;

/// Settings of the gate.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a question waits.
    pub timeouts: Timeouts,
    /// How long people may extend a question beyond its first deadline, in all, in milliseconds.
    pub extend_max_millis: i64,
    /// How long a denial is remembered, in milliseconds.
    pub deny_memory_millis: i64,
    /// The undo hold, in milliseconds.
    pub undo_millis: i64,
    /// How long a token lives, in seconds.
    pub token_seconds: i64,
    /// Whether who started a run of the built-in agent may answer its cards.
    pub starter_may_answer: bool,
    /// Whether allowing a critical call takes a second step, such as Enter after the number.
    pub confirm_critical: bool,
    /// The `iss` of tokens.
    pub issuer: String,
    /// Programs that may raise what the judge concludes.
    pub assessors: Vec<AssessorSettings>,
    /// Channels that are tried one after the other until one has the card; all others get it at once.
    pub fallback: Vec<String>,
    /// How devices are told.
    pub push: PushSettings,
    /// How much a notification on a device tells.
    pub push_shows: PushShows,
}

/// How much a notification on a device tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PushShows {
    /// That something waits.
    #[default]
    That,
    /// What waits, too, unless a person in crisis may be concerned.
    What,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeouts: Timeouts::default(),
            extend_max_millis: 60 * 60 * 1000,
            deny_memory_millis: 10 * 60 * 1000,
            undo_millis: 0,
            token_seconds: 120,
            starter_may_answer: true,
            confirm_critical: true,
            issuer: "countersign".to_owned(),
            assessors: Vec::new(),
            fallback: Vec::new(),
            push: PushSettings::default(),
            push_shows: PushShows::That,
        }
    }
}

/// How long a question waits, in milliseconds: usually, by what the call changes, and by where
/// people are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Where nothing else is said.
    pub usual: i64,
    /// For calls of this side effect.
    pub by_side_effect: BTreeMap<SideEffect, i64>,
    /// For cards in the channel of this name.
    pub by_channel: BTreeMap<String, i64>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            usual: 5 * 60 * 1000,
            by_side_effect: BTreeMap::new(),
            by_channel: BTreeMap::new(),
        }
    }
}

impl Timeouts {
    /// Returns how long a question about a call of this side effect waits whose card goes to
    /// `channels`. A channel has its own time, or else the one of the side effect; the slowest
    /// channel counts, so that nobody is shown a card that ends before they can be expected to look.
    pub fn of<'a>(
        &self,
        side_effect: SideEffect,
        channels: impl IntoIterator<Item = &'a str>,
    ) -> i64 {
        let usual = self.by_side_effect.get(&side_effect);
        let usual = usual.copied().unwrap_or(self.usual);
        channels
            .into_iter()
            .map(|channel| self.by_channel.get(channel).copied().unwrap_or(usual))
            .max()
            .unwrap_or(usual)
    }

    /// Returns the longest time any question may wait.
    pub fn longest(&self) -> i64 {
        let others = self.by_side_effect.values().chain(self.by_channel.values());
        others.copied().fold(self.usual, i64::max)
    }
}

/// A program that may raise what the judge concludes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssessorSettings {
    /// How it is asked.
    pub reach: AssessorReach,
    /// How long it may take, in milliseconds.
    pub timeout_millis: u64,
    /// Whether it may lower, too.
    pub may_lower: bool,
}

/// How an assessor is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssessorReach {
    /// A shell command that reads JSON and writes JSON.
    Command(String),
    /// An address that is sent JSON and answers JSON.
    Url(String),
}

/// Where policies come from: the owner's file, and what projects tighten.
pub trait Policies: Send + Sync + std::fmt::Debug {
    /// Returns the policy for a call from `cwd`, and a hash of it; or why it cannot be read.
    fn at(&self, cwd: Option<&str>) -> Result<Arc<Ruleset>, String>;
}

/// A policy and the hash it is known by.
#[derive(Clone, Debug)]
pub struct Ruleset {
    /// The policy.
    pub policy: Policy,
    /// SHA-256 of what it was read from, 64 hexadecimal digits.
    pub hash: String,
}

/// The same policy everywhere.
#[derive(Clone, Debug)]
pub struct OnePolicy(pub Arc<Ruleset>);

impl OnePolicy {
    /// Returns `policy` for every directory.
    pub fn new(policy: Policy) -> Self {
        Self(Arc::new(Ruleset {
            policy,
            hash: "0".repeat(64),
        }))
    }
}

impl Policies for OnePolicy {
    fn at(&self, _cwd: Option<&str>) -> Result<Arc<Ruleset>, String> {
        Ok(Arc::clone(&self.0))
    }
}

/// Returns what `policy` redacts where a call is shown.
pub(crate) const fn redacts(policy: &Policy) -> Redacts {
    if policy.redact_secrets {
        Redacts::Secrets
    } else {
        Redacts::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_waits_as_long_as_the_slowest_place_it_is_asked_in_needs() {
        let timeouts = Timeouts {
            usual: 300,
            by_side_effect: BTreeMap::from([(SideEffect::Critical, 600)]),
            by_channel: BTreeMap::from([("chat".to_owned(), 900), ("pager".to_owned(), 60)]),
        };
        let rows: [(&str, SideEffect, &[&str], i64); 7] = [
            ("no channel", SideEffect::External, &[], 300),
            ("no channel, critical", SideEffect::Critical, &[], 600),
            (
                "a channel without a time",
                SideEffect::Critical,
                &["mail"],
                600,
            ),
            ("a slow channel", SideEffect::Critical, &["chat"], 900),
            ("a fast channel", SideEffect::Critical, &["pager"], 60),
            (
                "the slower of two",
                SideEffect::External,
                &["pager", "chat"],
                900,
            ),
            (
                "a fast one and one without a time",
                SideEffect::External,
                &["pager", "mail"],
                300,
            ),
        ];
        for (name, side_effect, channels, expected) in rows {
            let waits = timeouts.of(side_effect, channels.iter().copied());
            assert_eq!(waits, expected, "{name}");
        }
        assert_eq!(timeouts.longest(), 900);
    }
}
