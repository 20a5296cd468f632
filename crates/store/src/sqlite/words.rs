//! Texts for SQLite's errors.

use rusqlite::ErrorCode;

use crate::failure::Failure;

/// What is said of an error, and whether it is about the change alone: another would be written.
const WORDS: &[(ErrorCode, &str)] = &[
    (ErrorCode::DiskFull, "the disk is full"),
    (ErrorCode::DatabaseBusy, "the database is locked"),
    (ErrorCode::DatabaseLocked, "the database is locked"),
    (
        ErrorCode::FileLockingProtocolFailed,
        "the database is locked",
    ),
    (ErrorCode::ReadOnly, "the database is read-only"),
    (
        ErrorCode::PermissionDenied,
        "the database may not be opened",
    ),
    (ErrorCode::CannotOpen, "the database cannot be opened"),
    (ErrorCode::SystemIoFailure, "the disk reports an error"),
    (ErrorCode::DatabaseCorrupt, "the database is damaged"),
    (ErrorCode::NotADatabase, "the file is not a database"),
    (ErrorCode::OutOfMemory, "there is not enough memory"),
    (ErrorCode::TooBig, REFUSED),
    (ErrorCode::ConstraintViolation, REFUSED),
    (ErrorCode::TypeMismatch, REFUSED),
];

/// The database works, but not with this.
const REFUSED: &str = "the database refused what was to be written";

/// What was written would be found by nobody.
pub(super) const MOVED: &str =
    "the database's file was moved, replaced or deleted; put it back, or restart the gateway";

/// Errors behind which the connection itself goes on working.
const PASSING: &[&str] = &["the disk is full", "the database is locked", REFUSED, MOVED];

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(super) fn failure(error: rusqlite::Error) -> Failure {
    let code = error.sqlite_error_code();
    let why = WORDS
        .iter()
        .find(|(known, _)| Some(*known) == code)
        .map_or("the database does not work", |(_, why)| why);
    Failure::new(why, error.to_string())
}

/// Tells whether the failure is about one change, and others would be written.
pub(super) fn is_refusal(failure: &Failure) -> bool {
    failure.why == REFUSED
}

/// Tells whether a new connection should be made.
pub(super) fn breaks_connection(failure: &Failure) -> bool {
    !PASSING.contains(&failure.why)
}
