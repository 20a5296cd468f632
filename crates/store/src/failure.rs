//! Store errors, with one text for people and one for the log.

use crate::StoreError;

/// Why nothing was written or read. Unlike an error it can be given to many who waited.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// For a person.
    pub(crate) why: &'static str,
    /// For the log.
    pub(crate) cause: String,
}

impl Failure {
    pub(crate) fn new(why: &'static str, cause: impl Into<String>) -> Self {
        Self {
            why,
            cause: cause.into(),
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        Self::Unavailable {
            why: failure.why,
            cause: failure.cause.into(),
        }
    }
}
