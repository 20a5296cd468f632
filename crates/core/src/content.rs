//! Content checks of a text: crisis, secrets, personal data, human impact.

pub mod crisis;
#[cfg(test)]
mod damage;
pub mod impact;
mod keywords;
mod operations;
pub mod personal;
mod quick;
pub mod secrets;
pub(crate) mod tables;
