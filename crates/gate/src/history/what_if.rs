//! What other lines would have meant for the newest calls.
//!
//! Lines move only what rules 11 and 12 decided: every rule before them comes first whatever the
//! lines are. Which rule decided, the risk and the confidence were written down, so nothing has to
//! be judged again and the answer comes while a finger is still on the slider.
//!
//! What was not written down is whether a call that ran could have been rolled back. So where the
//! review lane is on, a call that new lines would not let run counts as a question, unless it was
//! in that lane already.

use countersign_core::verdict::{Rule, Verdict};

use super::recent_calls::{Chronicle, Line};
use crate::GateError;
use crate::base::principal::Principal;
use crate::history::History;
use crate::history::traces::{CHANGED_MAX, Replayed, ReplayedCall};

/// Lines of rule 11, each 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines {
    /// Risk below this runs.
    pub auto_below: f64,
    /// Risk above this asks.
    pub ask_above: f64,
    /// Between the two, confidence below this asks.
    pub confidence_min: f64,
}

impl History {
    /// Says what `lines` would have meant for the newest calls since `since` (milliseconds).
    pub async fn what_if(
        &self,
        who: &Principal,
        since: i64,
        lines: Lines,
    ) -> Result<Replayed, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("agents cannot replay calls"));
        }
        self.looked_through(move |chronicle| chronicle.under(since, lines))
            .await
    }
}

impl Chronicle {
    fn under(&self, since: i64, lines: Lines) -> Replayed {
        let mut replayed = Replayed::default();
        for line in self.newest().filter(|line| line.at >= since) {
            let now = verdict_under(line, lines);
            replayed.calls += 1;
            let row = replayed.verdicts.entry(line.verdict.word().to_owned());
            *row.or_default().entry(now.word().to_owned()).or_default() += 1;
            if now != line.verdict && replayed.changed.len() < CHANGED_MAX {
                replayed.changed.push(ReplayedCall {
                    call_id: line.call_id.to_string(),
                    command: line.command.to_string(),
                    was: line.verdict.word().to_owned(),
                    now: now.word().to_owned(),
                    reason: Rule::Lines.sentence().to_owned(),
                });
            }
        }
        replayed
    }
}

fn verdict_under(line: &Line, lines: Lines) -> Verdict {
    let was_in_review = line.rule == Rule::Review.number();
    if line.rule != Rule::Lines.number() && !was_in_review {
        return line.verdict;
    }
    let (risk, confidence) = (
        per_mille(line.risk.into()),
        per_mille(line.confidence.into()),
    );
    let asks = risk > per_mille(lines.ask_above)
        || risk >= per_mille(lines.auto_below) && confidence < per_mille(lines.confidence_min);
    if !asks {
        Verdict::Allow
    } else if was_in_review && risk <= per_mille(lines.ask_above) {
        Verdict::AllowThenReview
    } else {
        Verdict::Ask
    }
}

/// Scores are whole numbers per mille where they are judged by.
#[expect(
    clippy::cast_possible_truncation,
    reason = "scores are between 0 and 1"
)]
fn per_mille(score: f64) -> i32 {
    (score * 1000.0).round() as i32
}
