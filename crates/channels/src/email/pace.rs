//! Decides what becomes a letter of its own and what is collected, so that a burst of cards does not
//! become a burst of letters.
//!
//! Separate from the channel: this knows times and names of letters, not what stands in them. Each
//! person has two lines, one of cards and one of endings. The first few of a line leave at once; the
//! rest waits and leaves as one letter. Nothing is dropped: whoever enters is told what became of it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::DeliveryError;

/// Entries of one collected letter at most; the others wait for the next one.
const COLLECTED_MAX: usize = 1000;
/// How long those wait for each other that were in one letter which may have arrived.
const AGAIN_WITHIN: Duration = Duration::from_secs(2);
/// Letters that may have arrived and are remembered.
const UNSURE_MAX: usize = 8192;

/// How fast letters follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How many leave alone, per person and [`Pace::every`].
    pub alone: usize,
    /// How long it takes from one collected letter to the next.
    pub every: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            alone: 5,
            every: Duration::from_mins(1),
        }
    }
}

impl Pace {
    /// How long a collected letter waits for more.
    fn gathers(self) -> Duration {
        self.every / 6
    }
}

/// What became of an entry: the `Message-ID` of the letter it stands in.
pub(super) type Told = Result<String, DeliveryError>;

/// The lines of everybody.
#[derive(Debug)]
pub(super) struct Lines<T> {
    pace: Pace,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    lines: HashMap<String, Line<T>>,
    /// The letter in which an entry may have arrived, by the name of the entry.
    unsure: HashMap<String, String>,
}

#[derive(Debug)]
struct Line<T> {
    /// When letters left that stood for themselves.
    alone: VecDeque<Instant>,
    collected: Option<Instant>,
    waiting: Vec<Waiting<T>>,
    is_driven: bool,
}

#[derive(Debug)]
struct Waiting<T> {
    name: String,
    entry: T,
    since: Instant,
    /// The collected letter it may have arrived in.
    again: Option<String>,
    tell: oneshot::Sender<Told>,
}

/// What happens with an entry.
#[derive(Debug)]
pub(super) enum Turn {
    /// It leaves now, as a letter of its own.
    Alone,
    /// It waits.
    Waits {
        /// Tells what became of it.
        told: oneshot::Receiver<Told>,
        /// Whether nobody sees to the line yet.
        wants_driver: bool,
    },
}

/// Entries that leave in one letter.
#[derive(Debug)]
pub(super) struct Batch<T> {
    /// The name of a letter they may have arrived in; then they leave under the same name.
    pub(super) again: Option<String>,
    /// Their names, and they themselves.
    pub(super) entries: Vec<(String, T)>,
    tells: Vec<oneshot::Sender<Told>>,
}

impl<T> Batch<T> {
    /// Tells everybody who waits what became of it.
    pub(super) fn tell(self, told: &Told) {
        for tell in self.tells {
            // Whoever no longer waits need not know.
            let _gone = tell.send(told.clone());
        }
    }
}

impl<T> Lines<T> {
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            pace,
            state: Mutex::new(State {
                lines: HashMap::new(),
                unsure: HashMap::new(),
            }),
        }
    }

    /// Lets an entry into a line.
    pub(super) fn enter(&self, line: &str, name: &str, entry: T, now: Instant) -> Turn {
        let mut state = self.locked();
        let again = state.unsure.get(name).cloned();
        let line = state.line(line);
        line.forget_before(now, self.pace.every);
        let may_leave = match &again {
            // What was a letter of its own is tried again as that letter.
            Some(letter) => letter == name,
            None => line.waiting.is_empty() && line.alone.len() < self.pace.alone,
        };
        if may_leave {
            line.alone.push_back(now);
            return Turn::Alone;
        }
        let (tell, told) = oneshot::channel();
        line.waiting.push(Waiting {
            name: name.to_owned(),
            entry,
            since: now,
            again,
            tell,
        });
        Turn::Waits {
            told,
            wants_driver: !std::mem::replace(&mut line.is_driven, true),
        }
    }

    /// Returns when a letter of a line is due; `None` if nothing waits, and then nobody sees to the
    /// line any more.
    pub(super) fn due(&self, line: &str) -> Option<Instant> {
        let mut state = self.locked();
        let line = state.line(line);
        // Whoever gave up is not written about.
        line.waiting.retain(|it| !it.tell.is_closed());
        let due = line.due_again().into_iter().chain(line.due(self.pace));
        let due = due.min();
        line.is_driven = due.is_some();
        due
    }

    /// Takes what is due in a line.
    pub(super) fn take(&self, line: &str, now: Instant) -> Batch<T> {
        let mut state = self.locked();
        let line = state.line(line);
        let is_again = line.due_again().is_some_and(|due| due <= now);
        let mut waiting = line.waiting.iter();
        let again = waiting
            .find(|it| is_again && it.again.is_some())
            .and_then(|it| it.again.clone());
        if again.is_none() {
            line.collected = Some(now);
        }
        let mut batch = Batch {
            again,
            entries: Vec::new(),
            tells: Vec::new(),
        };
        for it in std::mem::take(&mut line.waiting) {
            if it.again == batch.again && batch.entries.len() < COLLECTED_MAX {
                batch.entries.push((it.name, it.entry));
                batch.tells.push(it.tell);
            } else {
                line.waiting.push(it);
            }
        }
        batch
    }

    /// Remembers that entries may have arrived in a letter, so that they are tried again in it.
    pub(super) fn note_unsure<'a>(&self, names: impl Iterator<Item = &'a str>, letter: &str) {
        let mut state = self.locked();
        if state.unsure.len() > UNSURE_MAX {
            // Most of them were never tried again: their questions are over.
            state.unsure.clear();
        }
        for name in names {
            state.unsure.insert(name.to_owned(), letter.to_owned());
        }
    }

    /// Notes that entries have arrived, or certainly have not.
    pub(super) fn note_sure<'a>(&self, names: impl Iterator<Item = &'a str>) {
        let mut state = self.locked();
        for name in names {
            state.unsure.remove(name);
        }
    }

    /// Gives a letter back that was to stand for itself and has not left.
    pub(super) fn give_back(&self, line: &str) {
        self.locked().line(line).alone.pop_back();
    }

    fn locked(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn line(&mut self, name: &str) -> &mut Line<T> {
        self.lines.entry(name.to_owned()).or_insert_with(|| Line {
            alone: VecDeque::new(),
            collected: None,
            waiting: Vec::new(),
            is_driven: false,
        })
    }
}

impl<T> Line<T> {
    fn forget_before(&mut self, now: Instant, every: Duration) {
        while self.alone.front().is_some_and(|at| *at + every <= now) {
            self.alone.pop_front();
        }
    }

    /// Returns when those are due that may have arrived.
    fn due_again(&self) -> Option<Instant> {
        let again = self.waiting.iter().filter(|it| it.again.is_some());
        again.map(|it| it.since + AGAIN_WITHIN).min()
    }

    /// Returns when the others are due.
    fn due(&self, pace: Pace) -> Option<Instant> {
        let fresh = self.waiting.iter().filter(|it| it.again.is_none());
        let first = fresh.map(|it| it.since).min()? + pace.gathers();
        Some(
            self.collected
                .map_or(first, |last| first.max(last + pace.every)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "ana";

    fn lines() -> Lines<u32> {
        Lines::new(Pace::default())
    }

    /// Lets `numbers` in and returns which left alone, and what the others wait for.
    fn entered(
        lines: &Lines<u32>,
        numbers: std::ops::Range<u32>,
        now: Instant,
    ) -> (Vec<u32>, Vec<oneshot::Receiver<Told>>) {
        let (mut alone, mut waiting) = (Vec::new(), Vec::new());
        for number in numbers {
            match lines.enter(LINE, &format!("n{number}"), number, now) {
                Turn::Alone => alone.push(number),
                Turn::Waits { told, .. } => waiting.push(told),
            }
        }
        (alone, waiting)
    }

    /// Takes what is due next.
    fn taken(lines: &Lines<u32>) -> (Instant, Batch<u32>) {
        let due = lines.due(LINE).unwrap();
        (due, lines.take(LINE, due))
    }

    fn numbers(batch: &Batch<u32>) -> Vec<u32> {
        batch.entries.iter().map(|(_, number)| *number).collect()
    }

    #[test]
    fn the_first_leave_alone_and_the_rest_as_one() {
        let (lines, start) = (lines(), Instant::now());
        let (alone, waiting) = entered(&lines, 0..1000, start);
        assert_eq!(alone, [0, 1, 2, 3, 4]);
        let (due, batch) = taken(&lines);
        assert_eq!(due - start, Duration::from_secs(10));
        assert_eq!(numbers(&batch), (5..1000).collect::<Vec<_>>());
        batch.tell(&Ok("<digest>".to_owned()));
        for mut told in waiting {
            assert_eq!(told.try_recv().unwrap(), Ok("<digest>".to_owned()));
        }
        assert_eq!(lines.due(LINE), None, "nothing is left");
    }

    #[test]
    fn collected_letters_are_a_minute_apart_and_calm_gives_letters_of_their_own() {
        let (lines, start) = (lines(), Instant::now());
        let (_, _first) = entered(&lines, 0..6, start);
        let (sent, batch) = taken(&lines);
        batch.tell(&Ok(String::new()));
        let (alone, _second) = entered(&lines, 6..7, sent);
        assert!(alone.is_empty(), "five have left within this minute");
        let (due, batch) = taken(&lines);
        assert_eq!(due - sent, Duration::from_mins(1));
        assert_eq!(numbers(&batch), [6]);
        assert_eq!(entered(&lines, 7..8, due).0, [7]);
    }

    #[test]
    fn what_may_have_arrived_is_tried_again_in_the_same_letter() {
        let (lines, start) = (lines(), Instant::now());
        let (_, waiting) = entered(&lines, 0..8, start);
        let (at, batch) = taken(&lines);
        let names: Vec<String> = batch.entries.iter().map(|(name, _)| name.clone()).collect();
        lines.note_unsure(names.iter().map(String::as_str), "digest");
        lines.note_unsure(["n0"].into_iter(), "n0");
        drop((batch, waiting));
        assert_eq!(lines.due(LINE), None);
        // Others come in between; the letter is still the same.
        let (alone, _told) = entered(&lines, 0..20, at);
        assert_eq!(alone, [0]);
        let (due, batch) = taken(&lines);
        assert_eq!(due - at, AGAIN_WITHIN);
        assert_eq!(batch.again.as_deref(), Some("digest"));
        assert_eq!(numbers(&batch), [5, 6, 7]);
        lines.note_sure(names.iter().map(String::as_str));
        let (_, batch) = taken(&lines);
        assert_eq!(batch.again, None);
        assert_eq!(numbers(&batch), (1..5).chain(8..20).collect::<Vec<_>>());
    }

    #[test]
    fn whoever_gave_up_is_not_written_about() {
        let (lines, start) = (lines(), Instant::now());
        let (_, mut waiting) = entered(&lines, 0..7, start);
        drop(waiting.remove(0));
        assert_eq!(numbers(&taken(&lines).1), [6]);
    }

    #[test]
    fn a_letter_that_has_not_left_takes_nobodys_place() {
        let (lines, start) = (lines(), Instant::now());
        assert_eq!(entered(&lines, 0..5, start).0.len(), 5);
        lines.give_back(LINE);
        assert_eq!(entered(&lines, 5..6, start).0, [5]);
    }
}
