//! Calls of agents: submitting, waiting for the answer, tokens, permits, reports.

pub(crate) mod assessors;
pub(crate) mod idempotency;
pub(crate) mod lifecycle;
pub mod permit;
pub(crate) mod sending;
pub mod submit;
pub(crate) mod written_files;
