//! Texts for PostgreSQL's errors.

use crate::failure::Failure;

/// What is said of a state; the first row it begins with.
const WORDS: &[(&str, &str)] = &[
    ("08", UNREACHABLE),
    ("22", REFUSED),
    ("23", REFUSED),
    ("25006", "the database is read-only"),
    ("28", "the database refuses the user or the password"),
    ("3D000", "there is no such database"),
    ("40", "the database is locked"),
    ("42501", "the database user may not do this"),
    ("53100", "the disk is full"),
    ("53200", "there is not enough memory"),
    ("53300", "the database has no connection left"),
    ("54", REFUSED),
    ("55P03", "the database is locked"),
    ("57014", "the database does not respond in time"),
    ("57", "the database is starting or stopping"),
    ("58", "the disk reports an error"),
    ("XX001", "the database is damaged"),
    ("XX002", "the database is damaged"),
];

/// The database works, but not with this.
const REFUSED: &str = "the database refused what was to be written";

const UNREACHABLE: &str = "the database cannot be reached";

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(super) fn failure(error: sqlx::Error) -> Failure {
    let cause = error.to_string();
    if let sqlx::Error::Database(answer) = &error {
        let state = answer.code().unwrap_or_default();
        let words = WORDS.iter().find(|(known, _)| state.starts_with(known));
        let why = words.map_or("the database does not work", |(_, why)| why);
        return Failure::new(why, format!("{cause} ({state})"));
    }
    Failure::new(UNREACHABLE, cause)
}

/// Returns the failure of something that took too long.
pub(super) fn too_slow() -> Failure {
    Failure::new(UNREACHABLE, "no answer in time")
}

/// Tells whether the failure is about one change, and others would be written.
pub(super) fn is_refusal(failure: &Failure) -> bool {
    failure.why == REFUSED
}
