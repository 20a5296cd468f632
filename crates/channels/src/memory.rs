//! Remembers which messages were heard, so that one that is read again is told once, and who was told
//! something lately, so that nobody is told it again and again.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Messages that are remembered.
const HEARD_MAX: usize = 4096;

/// The messages heard last.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    heard: HashSet<String>,
    order: VecDeque<String>,
}

impl Memory {
    /// Whether `id` is new.
    pub(crate) fn is_new(&mut self, id: &str) -> bool {
        if !self.heard.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > HEARD_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.heard.remove(&oldest);
        }
        true
    }

    /// Forgets `id`, which was not dealt with.
    pub(crate) fn forget(&mut self, id: &str) {
        self.heard.remove(id);
        self.order.retain(|known| known != id);
    }
}

/// Those who are remembered as told.
const TOLD_MAX: usize = 1000;

/// Something that nobody is told often.
#[derive(Debug)]
pub struct Seldom {
    every: Duration,
    told: Mutex<HashMap<String, Instant>>,
}

impl Seldom {
    /// Returns something that is told once within `every`.
    pub fn new(every: Duration) -> Self {
        Self {
            every,
            told: Mutex::default(),
        }
    }

    /// Whether `who` is to be told now; then it counts as told.
    pub fn is_due(&self, who: &str) -> bool {
        self.is_due_at(who, Instant::now())
    }

    fn is_due_at(&self, who: &str, now: Instant) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() > TOLD_MAX {
            told.clear();
        }
        let last = told.get(who);
        let is_due = last.is_none_or(|at| now.duration_since(*at) > self.every);
        if is_due {
            told.insert(who.to_owned(), now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_once_in_a_while() {
        let seldom = Seldom::new(Duration::from_mins(10));
        let start = Instant::now();
        let minutes = |count: u64| start + Duration::from_mins(count);
        let told = [
            ("eve", 0),
            ("eve", 1),
            ("mal", 1),
            ("eve", 10),
            ("eve", 11),
            ("mal", 11),
        ];
        let told = told.map(|(who, at)| seldom.is_due_at(who, minutes(at)));
        assert_eq!(told, [true, false, true, false, true, false]);
    }
}
