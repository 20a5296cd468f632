//! The tools, each behind a real gate: what runs is what was judged, and nothing is sent unapproved.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests may fail loudly"
)]

mod files;
mod killed;
mod mutations;
mod outside;
mod reviews;
mod shell;
mod support;
mod talking;
