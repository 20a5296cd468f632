//! Statistics over the newest calls: verdicts over time, answers and their speed.
//!
//! One pass over the lines, so it costs the same however much is asked for: some tens of
//! milliseconds for a hundred thousand calls.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use countersign_core::approval::Choice;
use countersign_core::status::Outcome;
use countersign_core::verdict::Verdict;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::recent_calls::{Chronicle, Line, Question};
use crate::GateError;
use crate::base::principal::Principal;
use crate::history::History;
use crate::records::error::invalid;

/// Most stretches of time that are counted apart.
const BUCKETS_MAX: i64 = 500;
/// Shortest stretch, in milliseconds.
const BUCKET_MILLIS_MIN: i64 = 60_000;
/// How many stretches there are if nobody says how long one is.
const BUCKETS_USUAL: i64 = 48;
/// The default period: a week.
const USUAL_MILLIS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Rows of each list, the largest.
const ROWS_MAX: usize = 10;
/// An answer faster than this was hardly read, in milliseconds.
const HASTY_MILLIS: i64 = 1000;
/// Ends of the spans answers are counted in, in seconds; the last has none.
const SPANS: [u32; 7] = [1, 3, 10, 30, 60, 120, 300];

/// What to count.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatsFilter {
    /// At or after this moment, in milliseconds.
    pub since: Option<i64>,
    /// Before this moment, in milliseconds.
    pub until: Option<i64>,
    /// How long a stretch of time is, in milliseconds.
    pub bucket: Option<i64>,
}

/// The statistics.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct StatsView {
    /// Since when, in seconds.
    pub since: f64,
    /// Until when, in seconds.
    pub until: f64,
    /// How long a stretch of time is, in seconds.
    pub bucket_seconds: f64,
    /// Calls before this moment are not counted, because only the newest 100 000 are; null if all
    /// of them are.
    pub counted_since: Option<f64>,
    /// Calls.
    pub calls: u64,
    /// Calls by verdict, for each stretch of time, without gaps.
    pub buckets: Vec<Bucket>,
    /// Questions that were put to people.
    pub questions: QuestionCounts,
    /// How people answered.
    pub answers: AnswerCounts,
    /// The most frequent findings of questions.
    pub reasons: Vec<ReasonCount>,
    /// Calls by agent they were.
    pub agents: Vec<AgentCount>,
    /// Who answered.
    pub people: Vec<PersonCount>,
    /// Tools that were called, the most used first.
    pub tools: Vec<String>,
    /// The lines that hold now; null if the policy cannot be read.
    pub thresholds: Option<ThresholdsView>,
}

/// Lines of rule 11, each 0 to 1.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct ThresholdsView {
    /// Risk below this runs.
    pub auto_below: f64,
    /// Risk above this asks.
    pub ask_above: f64,
    /// Between the two, confidence below this asks.
    pub confidence_min: f64,
}

/// Calls of one stretch of time, by verdict.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Bucket {
    /// When it begins, in seconds.
    pub at: f64,
    /// Ran at once.
    pub allow: u64,
    /// Ran, and a person looked afterwards.
    pub allow_then_review: u64,
    /// A person was asked.
    pub ask: u64,
    /// Did not run.
    pub refuse: u64,
}

/// Questions by how they ended.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct QuestionCounts {
    /// All.
    pub asked: u64,
    /// Nobody has answered yet.
    pub waiting: u64,
    /// Allowed, whether or not the asker came for it.
    pub approved: u64,
    /// Denied.
    pub denied: u64,
    /// Nobody answered in time.
    pub expired: u64,
    /// The asker took it back.
    pub withdrawn: u64,
    /// Answered by a model on a person's behalf; counted among the above, too.
    pub by_model: u64,
}

/// How people answered, and how fast.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct AnswerCounts {
    /// Answers of people.
    pub count: u64,
    /// How many of them allowed, 0 to 1; null if nobody answered.
    pub approval_rate: Option<f64>,
    /// Half were faster than this, in seconds.
    pub p50_seconds: Option<f64>,
    /// Nine of ten were faster than this, in seconds.
    pub p90_seconds: Option<f64>,
    /// Answers within one second.
    pub under_one_second: u64,
    /// Of these the ones that allowed: a yes nobody can have read.
    pub hasty_approvals: u64,
    /// How many took how long.
    pub spans: Vec<AnswerSpan>,
}

/// Answers that took so long.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct AnswerSpan {
    /// Less than this, in seconds; null for the rest.
    pub below_seconds: Option<u32>,
    /// How many.
    pub count: u64,
}

/// A reason for questions.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct ReasonCount {
    /// A stable code of what was found; empty where nothing in particular was.
    pub code: String,
    /// An example, in words: the newest.
    pub example: String,
    /// Questions.
    pub asked: u64,
    /// Of these allowed.
    pub approved: u64,
    /// Of these denied.
    pub denied: u64,
}

/// An asker.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct AgentCount {
    /// Its key.
    pub key_id: String,
    /// The name of the key.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Of these asked about.
    pub asked: u64,
    /// Of these refused.
    pub refused: u64,
}

/// A person who answered.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct PersonCount {
    /// The name.
    pub name: String,
    /// Answers.
    pub answers: u64,
    /// Of these that allowed.
    pub approved: u64,
    /// Half were faster than this, in seconds.
    pub p50_seconds: f64,
    /// Answers within one second.
    pub under_one_second: u64,
}

/// From when to when, in stretches of which length; all in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Span {
    since: i64,
    until: i64,
    bucket: i64,
}

impl History {
    /// Counts what happened.
    pub async fn statistics(
        &self,
        who: &Principal,
        filter: StatsFilter,
    ) -> Result<StatsView, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("agents cannot see statistics"));
        }
        let span = self.span(filter)?;
        let mut counted = self.looked_through(move |it| it.counted(span)).await?;
        for agent in &mut counted.agents {
            agent.name = self.people.name_of_key(&agent.key_id).await?;
        }
        let ruleset = self.base.policies.at(None).ok();
        counted.thresholds = ruleset.map(|ruleset| {
            let thresholds = ruleset.policy.thresholds;
            ThresholdsView {
                auto_below: thresholds.auto_below.as_fraction(),
                ask_above: thresholds.ask_above.as_fraction(),
                confidence_min: thresholds.confidence_min.as_fraction(),
            }
        });
        Ok(counted)
    }

    fn span(&self, filter: StatsFilter) -> Result<Span, GateError> {
        let until = filter.until.unwrap_or_else(|| self.base.clock.now().0 + 1);
        let since = filter
            .since
            .unwrap_or_else(|| until.saturating_sub(USUAL_MILLIS));
        let length = until.saturating_sub(since);
        if length <= 0 {
            let message = "`since` must be before `until`, which is now if it is not named";
            return Err(invalid("since", "invalid_span", message));
        }
        let usual = (length / BUCKETS_USUAL).max(BUCKET_MILLIS_MIN);
        let bucket = filter.bucket.unwrap_or(usual);
        if bucket < BUCKET_MILLIS_MIN || length / bucket > BUCKETS_MAX {
            let message = "`bucket` is at least 60 seconds, and there are at most 500 of them";
            return Err(invalid("bucket", "invalid_bucket", message));
        }
        Ok(Span {
            since,
            until,
            bucket,
        })
    }
}

/// Counts that are lists in the end.
#[derive(Default)]
struct Tally<'a> {
    reasons: HashMap<&'a str, ReasonCount>,
    agents: HashMap<&'a str, AgentCount>,
    tools: HashMap<&'a str, u64>,
    people: BTreeMap<&'a str, Vec<(i64, bool)>>,
    questions: HashSet<&'a Arc<str>>,
    /// How long each answer took, and whether it allowed.
    answers: Vec<(i64, bool)>,
}

impl Chronicle {
    fn counted(&self, span: Span) -> StatsView {
        let mut view = StatsView {
            since: seconds(span.since),
            until: seconds(span.until),
            bucket_seconds: seconds(span.bucket),
            counted_since: self.begins_at().filter(|at| *at > span.since).map(seconds),
            ..StatsView::default()
        };
        let mut begins = span.since;
        while begins < span.until {
            let at = seconds(begins);
            view.buckets.push(Bucket {
                at,
                ..Bucket::default()
            });
            begins = begins.saturating_add(span.bucket);
        }
        let mut tally = Tally::default();
        for line in self.counted_lines() {
            if line.at < span.since || line.at >= span.until {
                continue;
            }
            view.calls += 1;
            let number =
                usize::try_from(line.at.saturating_sub(span.since) / span.bucket).unwrap_or(0);
            if let Some(bucket) = view.buckets.get_mut(number) {
                match line.verdict {
                    Verdict::Allow => bucket.allow += 1,
                    Verdict::AllowThenReview => bucket.allow_then_review += 1,
                    Verdict::Ask => bucket.ask += 1,
                    Verdict::Refuse => bucket.refuse += 1,
                }
            }
            tally.add_call(line);
            if let (Some(id), Some(question)) = (&line.approval, self.question_of(line))
                && tally.questions.insert(id)
            {
                tally.add_question(&mut view.questions, line, question);
            }
        }
        tally.fill(&mut view);
        view
    }
}

impl<'a> Tally<'a> {
    fn add_call(&mut self, line: &'a Line) {
        *self.tools.entry(&line.tool).or_default() += 1;
        let agent = self.agents.entry(&line.owner).or_default();
        agent.calls += 1;
        agent.asked += u64::from(line.verdict == Verdict::Ask);
        agent.refused += u64::from(line.verdict == Verdict::Refuse);
    }

    fn add_question(
        &mut self,
        counts: &mut QuestionCounts,
        line: &'a Line,
        question: &'a Question,
    ) {
        counts.asked += 1;
        let answer = question.answer.as_ref();
        let denied = answer.is_some_and(|answer| answer.choice == Choice::Deny);
        let approved = answer.is_some() && !denied;
        let ended = match question.outcome {
            Some(_) if approved => &mut counts.approved,
            Some(_) if denied => &mut counts.denied,
            Some(Outcome::Withdrawn) => &mut counts.withdrawn,
            Some(
                Outcome::Expired
                | Outcome::Allowed
                | Outcome::Approved
                | Outcome::Denied
                | Outcome::Refused,
            ) => &mut counts.expired,
            None => &mut counts.waiting,
        };
        *ended += 1;
        counts.by_model += u64::from(answer.is_some_and(|answer| answer.by_model));
        let reason = self.reasons.entry(&line.finding).or_default();
        if reason.asked == 0 {
            line.reason.as_ref().clone_into(&mut reason.example);
        }
        reason.asked += 1;
        reason.approved += u64::from(approved);
        reason.denied += u64::from(denied);
        if let Some(answer) = answer.filter(|answer| !answer.by_model) {
            let took = answer.at.saturating_sub(question.asked_at).max(0);
            let answers = self.people.entry(&answer.by).or_default();
            answers.push((took, approved));
            self.answers.push((took, approved));
        }
    }

    fn fill(mut self, view: &mut StatsView) {
        self.answers.sort_unstable();
        let approved = self
            .answers
            .iter()
            .filter(|(_, approved)| *approved)
            .count();
        let hasty = self.answers.iter().filter(|(took, _)| *took < HASTY_MILLIS);
        view.answers = AnswerCounts {
            count: self.answers.len() as u64,
            approval_rate: share(approved, self.answers.len()),
            p50_seconds: percentile(&self.answers, 50),
            p90_seconds: percentile(&self.answers, 90),
            under_one_second: hasty.clone().count() as u64,
            hasty_approvals: hasty.filter(|(_, approved)| *approved).count() as u64,
            spans: spans(&self.answers),
        };
        view.reasons = largest(self.reasons, |it| it.asked, |it, code| it.code = code);
        view.agents = largest(self.agents, |it| it.calls, |it, key| it.key_id = key);
        let people = self.people.into_iter().map(|(name, mut answers)| {
            answers.sort_unstable();
            let count = |is: fn(&(i64, bool)) -> bool| answers.iter().filter(|it| is(it)).count();
            let counted = PersonCount {
                name: String::new(),
                answers: answers.len() as u64,
                approved: count(|(_, approved)| *approved) as u64,
                p50_seconds: percentile(&answers, 50).unwrap_or(0.0),
                under_one_second: count(|(took, _)| *took < HASTY_MILLIS) as u64,
            };
            (name, counted)
        });
        view.people = largest(people, |it| it.answers, |it, name| it.name = name);
        let mut tools: Vec<(&str, u64)> = self.tools.into_iter().collect();
        tools.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        view.tools = tools
            .iter()
            .take(4 * ROWS_MAX)
            .map(|(tool, _)| (*tool).to_owned())
            .collect();
    }
}

/// Returns the rows with the largest counts, each given its name; equal ones by name.
fn largest<'a, T>(
    rows: impl IntoIterator<Item = (&'a str, T)>,
    count: impl Fn(&T) -> u64,
    name: impl Fn(&mut T, String),
) -> Vec<T> {
    let mut rows: Vec<(&str, T)> = rows.into_iter().collect();
    rows.sort_by(|a, b| count(&b.1).cmp(&count(&a.1)).then(a.0.cmp(b.0)));
    rows.truncate(ROWS_MAX);
    let named = rows.into_iter().map(|(word, mut row)| {
        name(&mut row, word.to_owned());
        row
    });
    named.collect()
}

fn spans(answers: &[(i64, bool)]) -> Vec<AnswerSpan> {
    let mut rest = answers;
    let mut spans = Vec::new();
    for below in SPANS {
        let count = rest.partition_point(|(took, _)| *took < i64::from(below) * 1000);
        rest = rest.get(count..).unwrap_or_default();
        spans.push(AnswerSpan {
            below_seconds: Some(below),
            count: count as u64,
        });
    }
    spans.push(AnswerSpan {
        below_seconds: None,
        count: rest.len() as u64,
    });
    spans
}

/// Returns how long the answer took that `percent` of the sorted answers do not exceed.
fn percentile(sorted: &[(i64, bool)], percent: usize) -> Option<f64> {
    let place = (sorted.len() * percent).div_ceil(100).checked_sub(1)?;
    sorted.get(place).map(|(took, _)| seconds(*took))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts stay far below the limit"
)]
fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds stay exact")]
fn seconds(millis: i64) -> f64 {
    millis as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_answers_that_were_given() {
        let answers: Vec<(i64, bool)> = (1..=10).map(|n| (n * 1000, true)).collect();
        let rows = [
            (50, Some(5.0)),
            (90, Some(9.0)),
            (100, Some(10.0)),
            (1, Some(1.0)),
        ];
        for (percent, wanted) in rows {
            assert_eq!(percentile(&answers, percent), wanted, "{percent}");
        }
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn every_answer_is_in_one_span() {
        let answers = [
            (0, true),
            (999, true),
            (1000, false),
            (299_999, true),
            (300_000, true),
        ];
        let counts: Vec<u64> = spans(&answers).iter().map(|span| span.count).collect();
        assert_eq!(counts, [2, 1, 0, 0, 0, 0, 1, 1]);
    }
}
