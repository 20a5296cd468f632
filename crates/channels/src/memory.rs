//! Remembers which messages were heard, so that one that is read again is told once.

use std::collections::{HashSet, VecDeque};

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
