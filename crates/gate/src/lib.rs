//! Runs the core against clock, keys, store and channels; the only writer; wakes waiting calls.
//!
//! Reading order: [`Gate`] is the one object, [`request`] what it is asked, [`view`] what it
//! answers, [`principal`] who may ask for what. `submit` and `answer` are the two halves of a
//! call's way; `approvals` drives [`countersign_core::approval::step`] against the store.

pub mod anchor;
pub mod answer;
mod approvals;
mod assessors;
mod audience;
mod calls;
mod checkpoint;
pub mod chronicle;
pub mod clarifications;
pub mod click;
pub mod clock;
pub mod credentials;
pub mod crisis;
pub mod delivery;
mod denials;
pub mod deputy;
mod entries;
mod error;
pub mod event;
pub mod evidence;
pub mod flood;
pub mod gate;
pub mod grants;
mod handover;
pub mod health;
pub mod history;
pub mod keys;
mod moment;
pub mod names;
pub mod permit;
pub mod principal;
mod probe;
mod published;
mod recipients;
mod remembered;
mod repeated;
pub mod request;
pub mod reviews;
pub mod runs;
mod seals;
pub mod search;
pub mod sessions;
pub mod settings;
mod stored;
pub mod submit;
mod sync;
pub mod threads;
mod told;
pub mod usage;
pub mod view;
mod waiting;
mod written;

pub use error::GateError;
pub use gate::{Gate, Parts};
