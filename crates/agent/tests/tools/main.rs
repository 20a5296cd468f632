//! The tools, each behind a real gate: what runs is what was judged, and nothing is sent unapproved.

mod files;
mod killed;
mod mutations;
mod outside;
mod reviews;
mod shell;
mod support;
mod talking;
