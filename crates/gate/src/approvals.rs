//! Questions about calls: how they are answered, change, expire and are limited.

pub(crate) mod admission;
pub mod answer;
pub(crate) mod change;
pub(crate) mod denials;
pub mod flood;
pub(crate) mod recipients;
pub mod smart;
