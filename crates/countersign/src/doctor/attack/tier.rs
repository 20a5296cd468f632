//! What attempts add up to: the measured tier, its reason, and the way to the next one.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use countersign_core::display::inline;
use countersign_core::tier::Tier;
use serde_json::{Value, json};

use super::{Attempt, Gain, Outcome};

const OPEN: Style = AnsiColor::Red.on_default().bold();
const CLOSED: Style = AnsiColor::Green.on_default();
const UNSEEN: Style = AnsiColor::Yellow.on_default();
const HEAD: Style = Style::new().bold();

/// All attempts, and what they show.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    uid: u32,
    user: String,
    attempts: Vec<Attempt>,
    tier: Tier,
    reason: String,
    next: &'static str,
}

impl Measured {
    /// Measures the tier of user `uid` against a gateway that runs as `gateway`.
    pub(super) fn new(
        uid: u32,
        user: String,
        gateway: Option<u32>,
        attempts: Vec<Attempt>,
    ) -> Self {
        let (tier, reason, next) = weigh(uid, gateway, &attempts);
        Self {
            uid,
            user,
            attempts,
            tier,
            reason,
            next,
        }
    }

    /// Whether the gateway lets the role that asks answer. No set-up does; it would be a defect.
    pub(crate) fn is_broken(&self) -> bool {
        let mut breaks = self.attempts.iter().filter(|it| it.gain == Gain::Breaks);
        breaks.any(|it| it.outcome == Outcome::Can)
    }

    /// Returns it for programs.
    pub(crate) fn json(&self) -> Value {
        let attempts = self.attempts.iter().map(|it| {
            let (can, why) = match &it.outcome {
                Outcome::Can => (Some(true), None),
                Outcome::Cannot(why) => (Some(false), Some(why)),
                Outcome::Unknown(why) => (None, Some(why)),
            };
            json!({ "attempt": it.what, "can": can, "why": why })
        });
        let attempts: Vec<Value> = attempts.collect();
        json!({
            "uid": self.uid, "user": self.user, "attempts": attempts,
            "tier": self.tier.word(), "reason": self.reason, "next": self.next,
        })
    }

    /// Returns it for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "Tried as {} (uid {}). Nothing was changed.\n",
            inline(&self.user),
            self.uid
        );
        for attempt in &self.attempts {
            let (style, label, why) = match &attempt.outcome {
                Outcome::Can => (OPEN, "✗ can    ", ""),
                Outcome::Cannot(why) => (CLOSED, "✓ cannot ", why.as_str()),
                Outcome::Unknown(why) => (UNSEEN, "? unknown", why.as_str()),
            };
            let why = if why.is_empty() {
                String::new()
            } else {
                format!(" ({})", inline(why))
            };
            let what = inline(&attempt.what);
            let _infallible = writeln!(text, "{style}{label}{style:#} {what}{why}");
        }
        let (tier, sentence) = (self.tier.word(), self.tier.sentence());
        let reason = inline(&self.reason);
        let _infallible = writeln!(text, "{HEAD}Tier {tier}{HEAD:#}, {sentence}.");
        let _infallible = writeln!(text, "Why: {reason}.");
        let _infallible = writeln!(text, "Next: {}.", self.next);
        text
    }
}

fn weigh(uid: u32, gateway: Option<u32>, attempts: &[Attempt]) -> (Tier, String, &'static str) {
    let can = |gain: Gain| {
        let mut those = attempts.iter().filter(move |it| it.gain == gain);
        those.find(|it| it.outcome == Outcome::Can)
    };
    if let Some(attempt) = can(Gain::Breaks) {
        let next = "this is a defect of the gateway; please report it as SECURITY.md says";
        return (Tier::T0, format!("it can {}", attempt.what), next);
    }
    if let Some(attempt) = can(Gain::Answers) {
        let next = if uid == 0 {
            "do not run agents as root; then run this as the user they have"
        } else {
            "run the gateway under a user of its own, let agents in by `api.socket` and `api.socket_access`, keep people's keys \
             out of this account, and take passwordless sudo away from it"
        };
        return (Tier::T0, format!("it can {}", attempt.what), next);
    }
    let own = "run the gateway, from a program this user cannot change, under a user of its own";
    if let Some(attempt) = can(Gain::Stops) {
        return (Tier::T1, format!("it can {}", attempt.what), own);
    }
    let mut answers = attempts.iter().filter(|it| it.gain == Gain::Answers);
    let untried = answers.find_map(|it| match &it.outcome {
        Outcome::Unknown(why) => Some(format!("whether it can {} is not known: {why}", it.what)),
        Outcome::Can | Outcome::Cannot(_) => None,
    });
    if let Some(reason) = untried {
        let next = "try again with the gateway running, its home in --home and its socket within this user's reach";
        return (Tier::T1, reason, next);
    }
    match gateway {
        None => {
            let reason = "nothing of the firewall can be reached, but its process was not seen";
            let next = "start the gateway, and let this user reach its agents' socket";
            (Tier::T1, reason.to_owned(), next)
        }
        Some(gateway) if gateway == uid => {
            let reason = "nothing of the firewall can be reached, but it runs as the same user";
            (Tier::T1, reason.to_owned(), own)
        }
        Some(gateway) => {
            let reason =
                format!("the gateway runs as uid {gateway}, and nothing of it can be reached");
            let next = "T3 is an answer on another device: connect a chat (docs/channels.md)";
            (Tier::T2, reason, next)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(can: &[Gain]) -> Vec<Attempt> {
        let all = [
            (Gain::Answers, "read cli.key"),
            (Gain::Breaks, "answer over HTTP with the key of an agent"),
            (Gain::Stops, "stop the gateway"),
            (Gain::Bypasses, "change its own settings"),
        ];
        let attempts = all.map(|(gain, what)| {
            let outcome = if can.contains(&gain) {
                Outcome::Can
            } else {
                Outcome::Cannot("permission denied".to_owned())
            };
            Attempt::new(gain, what, outcome)
        });
        attempts.into()
    }

    fn measured(uid: u32, gateway: Option<u32>, can: &[Gain]) -> Measured {
        Measured::new(uid, "agent".to_owned(), gateway, attempts(can))
    }

    #[test]
    fn the_tier_follows_from_what_can_be_done() {
        let (answers, stops, bypasses) = (Gain::Answers, Gain::Stops, Gain::Bypasses);
        let rows = [
            (
                measured(1000, Some(1000), &[answers, stops, bypasses]),
                "T0",
            ),
            (measured(1000, Some(999), &[answers]), "T0"),
            (measured(1000, Some(1000), &[stops]), "T1"),
            (measured(1000, Some(999), &[stops]), "T1"),
            (measured(1000, Some(1000), &[]), "T1"),
            (measured(1000, None, &[]), "T1"),
            (measured(1000, Some(999), &[bypasses]), "T2"),
            (measured(1000, Some(999), &[]), "T2"),
        ];
        for (measured, expected) in rows {
            assert_eq!(measured.tier.word(), expected, "{measured:?}");
            assert!(!measured.is_broken());
        }
        let mut unknown = attempts(&[]);
        unknown[0].outcome = Outcome::Unknown("no gateway answers".to_owned());
        let unknown = Measured::new(1000, "agent".to_owned(), Some(999), unknown);
        assert_eq!(unknown.tier, Tier::T1, "what was not tried is not proven");
        let broken = measured(1000, Some(999), &[Gain::Breaks]);
        assert!(broken.is_broken());
        assert_eq!(broken.tier, Tier::T0);
    }

    #[test]
    fn people_read_each_attempt_the_tier_and_the_way_to_the_next() {
        let mut measured = measured(1000, Some(1000), &[Gain::Answers]);
        measured.attempts.push(Attempt::new(
            Gain::Stops,
            "replace the program",
            Outcome::Unknown("there is none".to_owned()),
        ));
        let text = measured.text();
        let text = anstream::adapter::strip_str(&text).to_string();
        insta::assert_snapshot!(text);
        let json = measured.json();
        assert_eq!(json["tier"], "T0");
        assert_eq!(json["attempts"][0]["can"], true);
        assert_eq!(json["attempts"][4]["can"], Value::Null);
    }
}
