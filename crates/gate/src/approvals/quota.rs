//! How many questions an asker may put to people.
//!
//! Asking and taking back costs an agent nothing and a person their attention, so each asker has a
//! stock of questions: [`BURST`] at once, and one more every [`REFILL_MILLIS`]. A question that was
//! answered is given back, because people answer at their own pace; one that was withdrawn or
//! expired is not.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_core::time::UnixMillis;

use crate::records::stored::StoredCall;

/// Questions one asker may put at once.
pub const BURST: i64 = 30;
/// After how many milliseconds it may put one more.
pub const REFILL_MILLIS: i64 = 10_000;
/// Askers whose stock is remembered; when there are more, those with a full stock are forgotten.
const ASKERS_MAX: usize = 4096;

/// What each asker may still put to people.
#[derive(Debug, Default)]
pub(crate) struct Quota(Mutex<HashMap<String, Stock>>);

/// Questions an asker may put, in thousandths.
#[derive(Clone, Copy, Debug)]
struct Stock {
    left: i64,
    at: UnixMillis,
}

impl Quota {
    /// Takes one question from the stock of whoever makes `call`; returns after how many seconds
    /// there is one again if none is left.
    pub(crate) fn takes(&self, call: &StoredCall) -> Option<u32> {
        let mut stocks = self.stocks();
        let now = call.at;
        if stocks.len() >= ASKERS_MAX {
            stocks.retain(|_, stock| stock.refilled(now).left < BURST * 1000);
        }
        let full = Stock {
            left: BURST * 1000,
            at: now,
        };
        let stock = stocks.entry(asker(call)).or_insert(full);
        *stock = stock.refilled(now);
        if stock.left >= 1000 {
            stock.left -= 1000;
            return None;
        }
        let wait = (1000 - stock.left) * REFILL_MILLIS / 1000;
        Some(u32::try_from((wait + 999) / 1000).unwrap_or(1).max(1))
    }

    /// Gives a question back: somebody answered it.
    pub(crate) fn answered(&self, call: &StoredCall) {
        if let Some(stock) = self.stocks().get_mut(&asker(call)) {
            stock.left = (stock.left + 1000).min(BURST * 1000);
        }
    }

    fn stocks(&self) -> MutexGuard<'_, HashMap<String, Stock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stock {
    fn refilled(self, now: UnixMillis) -> Self {
        let passed = (now.0 - self.at.0).max(0);
        let more = passed.saturating_mul(1000) / REFILL_MILLIS;
        Self {
            left: self.left.saturating_add(more).min(BURST * 1000),
            // What is not yet a thousandth goes on counting.
            at: UnixMillis(self.at.0 + more.saturating_mul(REFILL_MILLIS) / 1000),
        }
    }
}

/// Returns who asks: a key, or who started the run where runs share one.
pub(crate) fn asker(call: &StoredCall) -> String {
    format!("{}\n{}", call.key, call.starter.as_deref().unwrap_or(""))
}
