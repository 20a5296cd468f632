//! Counts of the last hour: allowed, refused and asked.

use std::collections::VecDeque;
use std::fmt::Write as _;

use countersign_core::status::Status;
use countersign_core::time::UnixMillis;
use countersign_gate::base::practice::is_practice;
use countersign_gate::records::event::CallAssessed;

use super::get;
use crate::tui::screen::Wish;
use crate::wire::lists::TraceList;

const HOUR_MILLIS: i64 = 3_600_000;
/// Calls that are counted one by one; more are "more than".
const CALLS_MAX: usize = 500;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Ran,
    Refused,
    /// A person was asked, whatever came of it.
    Asked,
}

/// The calls of the last hour, the newest first.
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
    pub(super) fn take(&mut self, list: &TraceList) {
        self.is_known = true;
        self.has_more = list.next.is_some();
        let traces = list.traces.iter();
        let traces = traces.filter(|trace| !is_practice(&trace.command));
        let calls = traces.map(|trace| &trace.call);
        let calls = calls.map(|call| (UnixMillis::of_seconds(call.created_at), fate(call.status)));
        self.calls = calls.collect();
    }

    /// Takes a call that was judged.
    pub(super) fn event(&mut self, event: &CallAssessed) {
        if is_practice(&event.command) {
            return;
        }
        let at = UnixMillis::of_seconds(event.timestamp);
        self.calls.push_front((at, fate(event.status)));
        if self.calls.len() > CALLS_MAX {
            self.calls.pop_back();
            self.has_more = true;
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
        let (ran, refused, asked) = (count(Fate::Ran), count(Fate::Refused), count(Fate::Asked));
        let oldest = self.calls.back().is_some_and(|(at, _)| recent(*at));
        let more = if self.has_more && oldest {
            "More than "
        } else {
            ""
        };
        let was = |count: usize| if count == 1 { "was" } else { "were" };
        let mut words = match ran {
            0 if refused + asked == 0 => "No call was made in the last hour".to_owned(),
            0 => "No call ran without a question in the last hour".to_owned(),
            1 => format!("{more}1 call ran without a question in the last hour"),
            ran => format!("{more}{ran} calls ran without a question in the last hour"),
        };
        for (count, what) in [(refused, "refused"), (asked, "asked about")] {
            if count > 0 {
                let _infallible = write!(words, ", {count} {} {what}", was(count));
            }
        }
        words.push('.');
        self.is_known.then_some(words)
    }
}

const fn fate(status: Status) -> Fate {
    match status {
        Status::Allowed => Fate::Ran,
        Status::Refused => Fate::Refused,
        Status::Waiting
        | Status::Approved
        | Status::Denied
        | Status::Expired
        | Status::Withdrawn => Fate::Asked,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use countersign_gate::records::event::Event;

    use super::*;
    use crate::samples;

    fn calls(calls: &[(&str, f64)]) -> TraceList {
        let traces: Vec<_> = calls
            .iter()
            .map(|(status, at)| samples::trace(json!({ "status": status, "created_at": at })))
            .collect();
        samples::read(json!({ "next": null, "traces": traces }))
    }

    fn judged(status: &str, at: f64) -> CallAssessed {
        let event = json!({ "event": "call.assessed", "status": status, "timestamp": at });
        let Event::CallAssessed(event) = samples::event(event) else {
            panic!("another event");
        };
        event
    }

    #[test]
    fn only_the_last_hour_counts() {
        let now = UnixMillis(10_000_000);
        let mut hour = LastHour::default();
        assert_eq!(hour.sentence(now), None);
        hour.take(&calls(&[
            ("allowed", 9_999.0),
            ("refused", 9_000.0),
            ("denied", 9_000.0),
            ("allowed", 6_300.0),
        ]));
        let wanted =
            "1 call ran without a question in the last hour, 1 was refused, 1 was asked about.";
        assert_eq!(hour.sentence(now).as_deref(), Some(wanted));
        hour.event(&judged("allowed", 10_000.0));
        let wanted =
            "2 calls ran without a question in the last hour, 1 was refused, 1 was asked about.";
        assert_eq!(hour.sentence(now).as_deref(), Some(wanted));
        let later = now.plus(HOUR_MILLIS);
        let wanted = "No call was made in the last hour.";
        assert_eq!(hour.sentence(later).as_deref(), Some(wanted));
    }

    #[test]
    fn practice_is_no_call() {
        let now = UnixMillis(10_000_000);
        let practice = countersign_gate::base::practice::COMMAND;
        let trace = samples::trace(json!({
            "status": "approved", "created_at": 9_900.0, "command": practice,
        }));
        let mut hour = LastHour::default();
        hour.take(&samples::read(json!({ "next": null, "traces": [trace] })));
        hour.event(&CallAssessed {
            command: practice.to_owned(),
            ..judged("waiting", 9_990.0)
        });
        let wanted = "No call was made in the last hour.";
        assert_eq!(hour.sentence(now).as_deref(), Some(wanted));
    }

    #[test]
    fn calls_that_people_were_asked_about_are_calls() {
        let now = UnixMillis(10_000_000);
        let mut hour = LastHour::default();
        hour.take(&calls(&[("denied", 9_900.0), ("approved", 9_880.0)]));
        hour.event(&judged("waiting", 9_990.0));
        let wanted = "No call ran without a question in the last hour, 3 were asked about.";
        assert_eq!(hour.sentence(now).as_deref(), Some(wanted));
    }
}
