//! Retries a change that lost a race against another writer.
//!
//! Records change by compare-and-set. Whoever loses reads the state again and decides anew.

use countersign_store::StoreError;

use crate::GateError;

/// Attempts at one change. Each reads the state anew, so more than a few means that something is
/// wrong.
const ATTEMPTS_MAX: usize = 16;

/// An error that may say that another writer was faster.
pub(crate) trait Conflict {
    /// Whether another writer was faster.
    fn is_conflict(&self) -> bool;
}

impl Conflict for GateError {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Store(StoreError::Conflict { .. }))
    }
}

/// Runs `attempt`, which must read the state it changes, until it does not end in a conflict.
/// Returns the last conflict if there are too many.
pub(crate) async fn retry_on_conflict<T, E, F>(attempt: impl Fn() -> F) -> Result<T, E>
where
    E: Conflict,
    F: Future<Output = Result<T, E>>,
{
    for _ in 1..ATTEMPTS_MAX {
        match attempt().await {
            Err(error) if error.is_conflict() => {}
            settled => return settled,
        }
    }
    attempt().await
}

/// Returns what an asker is told in place of a conflict: `message`, and to try again.
pub(crate) fn busy(message: &'static str) -> impl FnOnce(GateError) -> GateError {
    move |error| {
        if error.is_conflict() {
            return GateError::TooMany {
                message,
                retry_after: 1,
            };
        }
        error
    }
}
