//! Synchronisation primitives used by `waiting`. The model test in `tests/model.rs` replaces them
//! with a scheduler that tries thousands of interleavings.

pub(crate) use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use tokio::time::{Instant, sleep};
