//! Replays recent calls under other thresholds.
//!
//! Thresholds change only what rules 11 and 12 decided; every earlier rule decides whatever they
//! are. The rule, the risk and the confidence of each call are stored, so nothing is judged again
//! and the page can answer while a slider moves.
//!
//! Whether a call that ran could have been rolled back is not stored. So where the review lane is
//! on, a call that new thresholds would not let run counts as a question, unless it was in that
//! lane already.

use countersign_core::verdict::{Rule, Verdict};

use super::recent_calls::{Chronicle, Line};
use crate::GateError;
use crate::base::principal::Principal;
use crate::history::History;
use crate::history::traces::{CHANGED_MAX, Replayed, ReplayedCall};

/// Thresholds to try, each 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProposedThresholds {
    /// Risk below this runs.
    pub auto_below: f64,
    /// Risk above this asks.
    pub ask_above: f64,
    /// Between the two, confidence below this asks.
    pub confidence_min: f64,
}

impl History {
    /// Replays the newest calls since `since` (milliseconds) under `thresholds`.
    pub async fn what_if(
        &self,
        who: &Principal,
        since: i64,
        thresholds: ProposedThresholds,
    ) -> Result<Replayed, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("agents cannot replay calls"));
        }
        self.looked_through(move |chronicle| chronicle.under(since, thresholds))
            .await
    }
}

impl Chronicle {
    fn under(&self, since: i64, thresholds: ProposedThresholds) -> Replayed {
        let mut replayed = Replayed::default();
        for line in self.counted_lines().filter(|line| line.at >= since) {
            let now = verdict_under(line, thresholds);
            replayed.calls += 1;
            let row = replayed.verdicts.entry(line.verdict.word().to_owned());
            *row.or_default().entry(now.word().to_owned()).or_default() += 1;
            if now != line.verdict && replayed.changed.len() < CHANGED_MAX {
                replayed.changed.push(ReplayedCall {
                    call_id: line.call_id.to_string(),
                    command: line.command.to_string(),
                    was: line.verdict.word().to_owned(),
                    now: now.word().to_owned(),
                    reason: Rule::Thresholds.sentence().to_owned(),
                });
            }
        }
        replayed
    }
}

fn verdict_under(line: &Line, thresholds: ProposedThresholds) -> Verdict {
    let was_in_review = line.rule == Rule::Review.number();
    if line.rule != Rule::Thresholds.number() && !was_in_review {
        return line.verdict;
    }
    let (risk, confidence) = (
        per_mille(line.risk.into()),
        per_mille(line.confidence.into()),
    );
    let asks = risk > per_mille(thresholds.ask_above)
        || risk >= per_mille(thresholds.auto_below)
            && confidence < per_mille(thresholds.confidence_min);
    if !asks {
        Verdict::Allow
    } else if was_in_review && risk <= per_mille(thresholds.ask_above) {
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
