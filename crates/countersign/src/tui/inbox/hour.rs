//! What ran by itself and what was refused in the last hour.

use std::collections::VecDeque;

use countersign_core::time::UnixMillis;
use serde_json::Value;

use super::get;
use crate::config::read::at;
use crate::tui::screen::Wish;
use crate::tui::words::moment;

const HOUR_MILLIS: i64 = 3_600_000;
/// Calls that are counted one by one; more are "more than".
const CALLS_MAX: usize = 500;

/// How a call ended without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Ran,
    Refused,
}

/// The calls of the last hour that nobody was asked about, the newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct LastHour {
    calls: VecDeque<(UnixMillis, Fate)>,
    is_known: bool,
    /// Whether there were more than are counted.
    has_more: bool,
}

impl LastHour {
    /// Asks for them.
    pub(super) fn load(now: UnixMillis) -> Wish {
        let since = now.plus(-HOUR_MILLIS).as_seconds();
        let path = format!("/v1/traces?limit={CALLS_MAX}&since={since}");
        get("hour", "", path)
    }

    /// Takes them.
    pub(super) fn take(&mut self, body: &Value) {
        self.calls.clear();
        self.is_known = true;
        self.has_more = at(body, "next").is_string();
        for call in at(body, "traces").as_array().into_iter().flatten() {
            let fate = fate(at(call, "status").as_str().unwrap_or_default());
            if let (Some(fate), Some(at)) = (fate, moment(call, "created_at")) {
                self.calls.push_back((at, fate));
            }
        }
    }

    /// Takes a call that was judged.
    pub(super) fn event(&mut self, event: &Value) {
        let fate = fate(at(event, "status").as_str().unwrap_or_default());
        if let (Some(fate), Some(at)) = (fate, moment(event, "timestamp")) {
            self.calls.push_front((at, fate));
            if self.calls.len() > CALLS_MAX {
                self.calls.pop_back();
                self.has_more = true;
            }
        }
    }

    /// Says it; `None` before it is known.
    pub(super) fn sentence(&self, now: UnixMillis) -> Option<String> {
        let recent = |at: UnixMillis| now.since(at) < HOUR_MILLIS;
        let count = |fate| {
            let counted = self
                .calls
                .iter()
                .filter(|(at, it)| recent(*at) && *it == fate);
            counted.count()
        };
        let (ran, refused) = (count(Fate::Ran), count(Fate::Refused));
        let oldest = self.calls.back().is_some_and(|(at, _)| recent(*at));
        let more = if self.has_more && oldest {
            "More than "
        } else {
            ""
        };
        let calls = if ran == 1 { "call" } else { "calls" };
        let was = if refused == 1 { "was" } else { "were" };
        let words = match (ran, refused) {
            (0, 0) => "No call was made in the last hour.".to_owned(),
            (ran, 0) => format!("{more}{ran} {calls} ran by themselves in the last hour."),
            (ran, refused) => format!(
                "{more}{ran} {calls} ran by themselves in the last hour, {refused} {was} refused."
            ),
        };
        let words = words.replace("1 call ran by themselves", "1 call ran by itself");
        self.is_known.then_some(words)
    }
}

fn fate(status: &str) -> Option<Fate> {
    match status {
        "allowed" => Some(Fate::Ran),
        "refused" => Some(Fate::Refused),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_last_hour_counts() {
        let now = UnixMillis(10_000_000);
        let mut hour = LastHour::default();
        assert_eq!(hour.sentence(now), None);
        let call = |status: &str, at: f64| json!({ "status": status, "created_at": at });
        hour.take(&json!({ "next": null, "traces": [
            call("allowed", 9_999.0), call("refused", 9_000.0), call("denied", 9_000.0),
            call("allowed", 6_300.0),
        ] }));
        let wanted = "1 call ran by itself in the last hour, 1 was refused.";
        assert_eq!(hour.sentence(now).as_deref(), Some(wanted));
        hour.event(&json!({ "status": "allowed", "timestamp": 10_000.0 }));
        let wanted = "2 calls ran by themselves in the last hour, 1 was refused.";
        assert_eq!(hour.sentence(now).as_deref(), Some(wanted));
        let later = now.plus(HOUR_MILLIS);
        let wanted = "No call was made in the last hour.";
        assert_eq!(hour.sentence(later).as_deref(), Some(wanted));
    }
}
