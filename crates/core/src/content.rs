//! What a text says: signs of a person in crisis, secrets, personal data, other human impact.

pub mod crisis;
pub mod impact;
pub mod personal;
pub mod secrets;
