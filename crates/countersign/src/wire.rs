//! The JSON of the API: requests, and lists in responses.

pub(crate) mod call;
pub(crate) mod edits;
pub(crate) mod lists;
pub(crate) mod practice;
pub(crate) mod queries;
pub(crate) mod refusal;
pub(crate) mod requests;
pub(crate) mod rows;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod shown;

/// Where a person sits who uses a key, in the word of their own program. It is shown and decides
/// nothing.
pub(crate) const CLIENT_HEADER: &str = "countersign-client";
