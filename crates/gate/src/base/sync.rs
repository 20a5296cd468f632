//! What waiting is made of. Only a name: the model in `tests/model.rs` puts a scheduler's locks and
//! a time of its own in its place, and tries `waiting.rs` in many thousand orders of events.

pub(crate) use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use tokio::time::{Instant, sleep};
