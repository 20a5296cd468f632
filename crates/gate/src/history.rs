//! Past calls: traces, search, statistics, and replay under another policy or other thresholds.

pub mod recent_calls;
pub mod search;
pub mod statistics;
pub mod traces;
pub mod what_if;
