//! Past calls: traces, search, statistics, and replay under another policy or other thresholds.

pub mod before;
pub mod recent_calls;
pub mod search;
pub mod statistics;
pub mod traces;
pub mod what_if;

use std::sync::Arc;

use crate::base::Base;
use crate::people::People;

/// Past calls.
#[derive(Debug)]
pub struct History {
    base: Arc<Base>,
    people: Arc<People>,
    recent: recent_calls::Shared,
}

impl History {
    pub(crate) fn new(base: Arc<Base>, people: Arc<People>) -> Self {
        Self {
            base,
            people,
            recent: recent_calls::Shared::default(),
        }
    }
}
