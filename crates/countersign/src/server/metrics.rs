//! Prometheus metrics. Counts and times only: no names, ids or texts.
//!
//! Decisions are counted by following the ledger, so that answers from chats and questions that
//! expire by themselves count too. With several gateways on one database each of them counts all.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use countersign_core::ledger::Entry;
use countersign_core::status::{Outcome, Status};
use countersign_gate::Gate;
use countersign_gate::base::practice::is_practice;
use countersign_store::{Kind, Query};
use serde::Deserialize;

/// Upper ends of the classes of time to an answer, in seconds.
const CLASSES: [f64; 9] = [1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0];
/// Questions whose beginning is remembered.
const ASKED_MAX: usize = 10_000;
/// How fields of a call begin in the body of its entry.
const COMMAND: &str = "\"command\":\"";
const VERDICT: &str = "\"verdict\":\"";
/// Entries that are taken at once.
const BATCH: u32 = 256;

/// Failures of the store that a client was told of. One per process, because they are counted where
/// errors become answers, which knows no gateway.
static STORAGE_FAILURES: AtomicU64 = AtomicU64::new(0);

/// Counts a failure of the store.
pub(crate) fn storage_failed() {
    STORAGE_FAILURES.fetch_add(1, Ordering::Relaxed);
}

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Readers of events right now.
    pub(crate) readers: AtomicUsize,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    verdicts: BTreeMap<String, u64>,
    outcomes: BTreeMap<String, u64>,
    asked: HashMap<String, i64>,
    /// Questions that count nowhere.
    practice: HashSet<String>,
    answered: [u64; CLASSES.len()],
    answers: u64,
    seconds: f64,
}

impl Metrics {
    /// Follows the ledger of `gate` from now on; never returns by itself.
    pub(crate) async fn follow(&self, gate: &Gate) {
        let tail = gate.store().tail();
        let mut last = tail.last();
        let mut seen = *last.borrow_and_update();
        while last.changed().await.is_ok() {
            let end = *last.borrow_and_update();
            while seen < end {
                let Some(entries) = next(gate, seen).await else {
                    break;
                };
                let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
                for entry in &entries {
                    counts.take(entry);
                    seen = entry.seq;
                }
                if entries.is_empty() {
                    break;
                }
            }
        }
    }

    /// Returns everything in the text format.
    pub(crate) async fn text(&self, gate: &Gate) -> String {
        let query = Query {
            status: Some(Status::Waiting.word().to_owned()),
            ..Query::of(Kind::Approval)
        };
        let waiting = gate.store().count(query).await.ok();
        let mut out = String::with_capacity(2048);
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(&mut out);
        if let Some(waiting) = waiting {
            let help = "Approvals waiting for an answer.";
            single(&mut out, "approvals_waiting", "gauge", help, waiting);
        }
        let readers = self.readers.load(Ordering::Relaxed);
        let help = "Readers of events right now.";
        single(&mut out, "event_readers", "gauge", help, readers);
        let failures = STORAGE_FAILURES.load(Ordering::Relaxed);
        let help = "Failures of the store.";
        single(
            &mut out,
            "storage_failures_total",
            "counter",
            help,
            failures,
        );
        let last = *gate.store().tail().last().borrow();
        let help = "Number of the last entry of the ledger.";
        single(&mut out, "ledger_entries", "gauge", help, last);
        out
    }
}

impl Counts {
    fn write(&self, out: &mut String) {
        head(out, "calls_total", "counter", "Calls by verdict.");
        for (verdict, count) in &self.verdicts {
            let labels = format!("{{verdict=\"{verdict}\"}}");
            line(out, "calls_total", &labels, *count);
        }
        let help = "Approvals that ended, by outcome.";
        head(out, "approvals_total", "counter", help);
        for (outcome, count) in &self.outcomes {
            let labels = format!("{{outcome=\"{outcome}\"}}");
            line(out, "approvals_total", &labels, *count);
        }
        let help = "From the question to a person's answer.";
        head(out, "answer_seconds", "histogram", help);
        let bucket = "answer_seconds_bucket";
        for (class, count) in CLASSES.iter().zip(self.answered) {
            line(out, bucket, &format!("{{le=\"{class}\"}}"), count);
        }
        line(out, bucket, "{le=\"+Inf\"}", self.answers);
        line(out, "answer_seconds_sum", "", self.seconds);
        line(out, "answer_seconds_count", "", self.answers);
    }

    fn take(&mut self, entry: &Entry) {
        let draft = &entry.draft;
        let told = || serde_json::from_str::<Told<'_>>(&draft.body).unwrap_or_default();
        match draft.event.as_str() {
            "call.assessed" if is_practice(word(&draft.body, COMMAND)) => {}
            "call.assessed" => {
                count(
                    &mut self.verdicts,
                    Cow::Borrowed(word(&draft.body, VERDICT)),
                );
            }
            "approval.required" => {
                if self.asked.len() + self.practice.len() >= ASKED_MAX {
                    return;
                }
                if is_practice(&told().command) {
                    self.practice.insert(draft.subject.clone());
                } else {
                    self.asked.insert(draft.subject.clone(), draft.at.0);
                }
            }
            "approval.resolved" if self.practice.remove(&draft.subject) => {}
            "approval.resolved" => {
                let told = told();
                let is_person = matches!(
                    told.outcome.parse(),
                    Ok(Outcome::Approved | Outcome::Denied)
                );
                count(&mut self.outcomes, told.outcome);
                let asked = self.asked.remove(&draft.subject);
                if let (Some(asked), true) = (asked, is_person) {
                    self.answered(draft.at.0.saturating_sub(asked));
                }
            }
            _ => {}
        }
    }

    fn answered(&mut self, millis: i64) {
        #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
        let seconds = millis.max(0) as f64 / 1000.0;
        self.answers += 1;
        self.seconds += seconds;
        for (class, count) in CLASSES.iter().zip(&mut self.answered) {
            *count += u64::from(seconds <= *class);
        }
    }
}

/// Returns a text that the body of a call tells, up to its first quotation mark. Every call passes
/// here, so the body is not parsed: within a text a quotation mark is never bare, and there is no
/// object within this one.
fn word<'a>(body: &'a str, field: &str) -> &'a str {
    let (_, rest) = body.split_once(field).unwrap_or_default();
    let (word, _) = rest.split_once('"').unwrap_or_default();
    word
}

/// What is counted of a question and its decision.
#[derive(Debug, Default, Deserialize)]
struct Told<'a> {
    #[serde(borrow, default)]
    outcome: Cow<'a, str>,
    #[serde(borrow, default)]
    command: Cow<'a, str>,
}

/// Counts a word of the event; anything else would let a caller write into the text format.
fn count(counts: &mut BTreeMap<String, u64>, word: Cow<'_, str>) {
    let is_word = |it: u8| it.is_ascii_lowercase() || it == b'_';
    let word = if !word.is_empty() && word.bytes().all(is_word) {
        word
    } else {
        Cow::Borrowed("other")
    };
    match counts.get_mut(&*word) {
        Some(count) => *count += 1,
        None => drop(counts.insert(word.into_owned(), 1)),
    }
}

async fn next(gate: &Gate, seen: u64) -> Option<Vec<std::sync::Arc<Entry>>> {
    let limit = usize::try_from(BATCH).unwrap_or(1);
    if let Some(entries) = gate.store().tail().recent(seen, limit) {
        return Some(entries);
    }
    let entries = gate.store().entries(seen, BATCH).await.ok()?;
    Some(entries.into_iter().map(std::sync::Arc::new).collect())
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _infallible = writeln!(
        out,
        "# HELP countersign_{name} {help}\n# TYPE countersign_{name} {kind}"
    );
}

fn single(out: &mut String, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
    head(out, name, kind, help);
    line(out, name, "", value);
}

fn line(out: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let _infallible = writeln!(out, "countersign_{name}{labels} {value}");
}

#[cfg(test)]
mod tests {
    use countersign_core::digest::Digest;
    use countersign_core::ledger::Draft;
    use countersign_core::time::UnixMillis;

    use super::*;

    fn entry(event: &str, at: i64, body: &str) -> Entry {
        let draft = Draft {
            at: UnixMillis(at),
            event: event.to_owned(),
            subject: "appr_1".to_owned(),
            body: body.to_owned(),
            ..Draft::default()
        };
        Entry::seal(draft, 1, Digest([0; 32]))
    }

    #[test]
    fn an_answer_counts_in_every_class_it_fits_and_no_text_gets_in() {
        let mut counts = Counts::default();
        counts.take(&entry("approval.required", 1000, "{}"));
        counts.take(&entry(
            "approval.resolved",
            5000,
            r#"{"outcome":"approved"}"#,
        ));
        assert_eq!(counts.answered, [0, 0, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(counts.answers, 1);
        counts.take(&entry("call.assessed", 0, r#"{"verdict":"x\"} 1\n"}"#));
        assert_eq!(counts.verdicts.get("other"), Some(&1));
    }

    #[test]
    fn practice_counts_nowhere_and_what_only_quotes_it_does() {
        let mut counts = Counts::default();
        let practice = r#"{"command":"rm -rf /srv/countersign-practice","verdict":"ask"}"#;
        let quotes = r#"{"command":"echo rm -rf /srv/countersign-practice","verdict":"ask"}"#;
        for (body, calls) in [(practice, None), (quotes, Some(&1))] {
            counts.take(&entry("call.assessed", 0, body));
            counts.take(&entry("approval.required", 0, body));
            counts.take(&entry("approval.resolved", 10, r#"{"outcome":"approved"}"#));
            assert_eq!(counts.verdicts.get("ask"), calls, "{body}");
            assert_eq!(counts.outcomes.get("approved"), calls, "{body}");
            assert_eq!(counts.answers, *calls.unwrap_or(&0), "{body}");
        }
        assert!(counts.practice.is_empty());
    }
}
