//! Content checks of a text: crisis, secrets, personal data, human impact.

pub mod crisis;
pub mod impact;
pub mod personal;
pub mod secrets;
