//! What every room stands on: clock, signing key, settings, principals, cache, waiting.

pub(crate) mod cache;
pub mod clock;
pub mod principal;
pub(crate) mod readiness;
pub mod settings;
pub mod signer;
pub(crate) mod sync;
pub(crate) mod waiting;
