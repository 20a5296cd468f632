//! A cache of recently read records.
//!
//! Other processes write to the same database, so nothing is believed for longer than
//! [`BELIEVED`], and everything is forgotten as soon as the ledger tells of an event that could
//! have changed it. A value that was read before such an event and arrives after it is not kept.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_store::Tail;

/// How long a value is believed without looking again.
const BELIEVED: Duration = Duration::from_secs(1);
/// Values that are kept; when there are more, all are forgotten.
const VALUES_MAX: usize = 4096;

/// Values that were read from the store a moment ago.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    /// Events after which nothing is believed.
    unsettling: &'static [&'static str],
    state: Mutex<State<K, V>>,
}

#[derive(Debug)]
struct State<K, V> {
    /// Entries up to this number were looked at.
    looked: u64,
    /// The last entry after which nothing was believed.
    unsettled: u64,
    values: HashMap<K, (Instant, V)>,
}

impl<K: Hash + Eq, V: Clone> Cache<K, V> {
    /// Returns an empty memory that is cleared by the events named.
    pub(crate) fn until(unsettling: &'static [&'static str]) -> Self {
        Self {
            unsettling,
            state: Mutex::new(State {
                looked: 0,
                unsettled: 0,
                values: HashMap::new(),
            }),
        }
    }

    /// Returns what is known under `key`, if it can still be believed.
    pub(crate) fn get<Q>(&self, tail: &Tail, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let state = self.caught_up(tail);
        let (read_at, value) = state.values.get(key)?;
        (read_at.elapsed() < BELIEVED).then(|| value.clone())
    }

    /// Keeps `value`, which was read when the ledger ended at number `as_of`.
    pub(crate) fn put(&self, tail: &Tail, as_of: u64, key: K, value: V) {
        let mut state = self.caught_up(tail);
        if as_of < state.unsettled {
            return;
        }
        if state.values.len() >= VALUES_MAX {
            state.values.clear();
        }
        state.values.insert(key, (Instant::now(), value));
    }

    /// Forgets everything that was read before entry number `seq`.
    pub(crate) fn forget(&self, seq: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.unsettled = state.unsettled.max(seq);
        state.values.clear();
    }

    /// Forgets one value.
    pub(crate) fn drop_one<Q>(&self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.values.remove(key);
    }

    fn caught_up(&self, tail: &Tail) -> MutexGuard<'_, State<K, V>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let last = ended_at(tail);
        if last > state.looked {
            let unsettled = match tail.recent(state.looked, usize::MAX) {
                Some(entries) => entries
                    .iter()
                    .rev()
                    .find(|entry| self.unsettling.contains(&entry.draft.event.as_str()))
                    .map(|entry| entry.seq),
                None => Some(last),
            };
            if let Some(seq) = unsettled {
                state.unsettled = state.unsettled.max(seq);
                state.values.clear();
            }
            state.looked = last;
        }
        state
    }
}

/// Returns the number of the last entry, to be taken before the store is read.
pub(crate) fn ended_at(tail: &Tail) -> u64 {
    *tail.last().borrow()
}

#[cfg(test)]
mod tests {
    use countersign_core::ledger::Draft;
    use countersign_store::{Change, Database};

    use super::*;

    async fn happens(store: &Database, event: &str) {
        let entries = vec![Draft {
            event: event.to_owned(),
            ..Draft::default()
        }];
        let puts = Vec::new();
        store.commit(Change { puts, entries }).await.unwrap();
    }

    #[tokio::test]
    async fn a_value_is_believed_until_the_ledger_tells_of_a_change() {
        let home = tempfile::tempdir().unwrap();
        let store = Database::sqlite(&home.path().join("db")).await.unwrap();
        let tail = store.tail();
        let memory = Cache::until(&["key.revoked"]);
        memory.put(tail, ended_at(tail), "a", 1);
        happens(&store, "key.created").await;
        assert_eq!(memory.get(tail, "a"), Some(1), "that changes nothing");
        happens(&store, "key.revoked").await;
        assert_eq!(memory.get(tail, "a"), None);
    }

    #[tokio::test]
    async fn a_value_read_before_a_change_and_kept_after_it_is_not_believed() {
        let home = tempfile::tempdir().unwrap();
        let store = Database::sqlite(&home.path().join("db")).await.unwrap();
        let tail = store.tail();
        let memory = Cache::until(&["key.revoked"]);
        let as_of = ended_at(tail);
        happens(&store, "key.revoked").await;
        memory.put(tail, as_of, "a", 1);
        assert_eq!(memory.get(tail, "a"), None);
        memory.put(tail, ended_at(tail), "a", 2);
        assert_eq!(memory.get(tail, "a"), Some(2));
    }

    #[tokio::test]
    async fn what_is_kept_is_bounded() {
        let home = tempfile::tempdir().unwrap();
        let store = Database::sqlite(&home.path().join("db")).await.unwrap();
        let tail = store.tail();
        let memory = Cache::until(&[]);
        for number in 0..10_000 {
            memory.put(tail, 0, number, ());
        }
        let kept = memory.state.lock().unwrap().values.len();
        assert!(kept <= VALUES_MAX, "{kept}");
    }
}
